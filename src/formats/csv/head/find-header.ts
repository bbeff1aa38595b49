import { COMMA, LINE_FEED, QUOTE, SEMICOLON, TAB } from '../bytes.js';
import { type Encoding, failAtEncoding, isAscii, tellEncoding } from '../encoding.js';
import { CsvError } from '../errors.js';
import { BLANK_LINES_MAX, type CsvLimits } from '../read/limits.js';
import { type CsvRecord, createRecord, fieldText, recordText, splitRecord } from '../read/record.js';

/** The line of a file that names its columns. */
export interface FoundHeader {
  readonly separator: number;
  /** Names as written in the header, without quotes and outer spaces. */
  readonly columns: readonly string[];
  /** Its text, for messages. */
  readonly text: string;
  /** Its first physical line. */
  readonly line: number;
  /** The physical line after it, and the index at which that line begins. */
  readonly nextLine: number;
  readonly end: number;
  /** Whether there are annotations: lines that begin with `#` before each table, as in the CSV of InfluxDB. */
  readonly isAnnotated: boolean;
  /** The values for empty fields by column, from InfluxDB's annotation `#default`; empty without it. */
  readonly defaults: readonly string[];
  /** Undefined if it is said by nobody and left open by the header, as ASCII does. */
  readonly encoding: Encoding | undefined;
}

const PIPE = 0x7c;
const HASH = 0x23;
const SEPARATORS = [COMMA, SEMICOLON, TAB, PIPE];
/** In these, a bar may be the second byte of a character. */
const WITHOUT_PIPE: readonly (Encoding | undefined)[] = ['shift_jis', 'gb18030', 'big5'];

/** The most bytes before the rows. */
export const HEAD_LENGTH_MAX = 4_194_304;

/**
 * Finds the header: the first line that is not blank, not a comment (`# …`) and not Excel's `sep=;`. Undefined if it
 * does not end within the bytes.
 *
 * @param isLast whether the file ends with the bytes.
 */
export function findHeader(
  bytes: Uint8Array,
  file: string,
  skipLines: number,
  isLast: boolean,
  { lineBytesMax, columnsMax }: CsvLimits,
  said: Encoding | undefined,
): FoundHeader | undefined {
  let line = 1;
  const isMarked = hasByteOrderMark(bytes);
  let from = isMarked ? 3 : 0;
  let separator: number | undefined;
  let isAnnotated = false;
  let defaultLine = new Uint8Array(0);
  // By lines, not records: skipped lines may contain stray quotes.
  let lineEnd = bytes.indexOf(LINE_FEED, from) + 1;
  while (lineEnd > 0) {
    const start = String.fromCharCode(...bytes.subarray(from, Math.min(lineEnd, from + 256))).trim();
    const sign = /^"?sep=(.)"?$/i.exec(start)?.[1];
    separator = sign?.charCodeAt(0) ?? separator;
    if (/^"?#(?:datatype|group|default)\b/.test(start)) isAnnotated = true;
    if (/^"?#default\b/.test(start)) defaultLine = bytes.slice(from, lineEnd);
    if (line > skipLines && start !== '' && sign === undefined && bytes[from] !== HASH) break;
    from = lineEnd;
    if (++line > skipLines + BLANK_LINES_MAX) {
      throw new CsvError('csv.header', { file, line }, 'expected a header, received blank lines');
    }
    lineEnd = bytes.indexOf(LINE_FEED, from) + 1;
  }
  const to = headerEnd(bytes, from);
  checkHead(bytes.subarray(0, to < 0 ? bytes.length : to), file);
  if (hasLoneReturn(bytes.subarray(from, to < 0 ? bytes.length : to))) {
    const problem = 'lines end with CR alone; expected LF or CRLF';
    throw new CsvError('csv.header', { file, line }, problem);
  }
  if (to < 0) {
    return failWithoutEnd(bytes, from, file, line, isLast, Math.min(HEAD_LENGTH_MAX, lineBytesMax));
  }
  const header = bytes.subarray(from, to);
  const encoding = isMarked ? 'utf-8' : (said ?? tellEncoding(header));
  if (encoding === undefined && !isAscii(header)) failAtEncoding(header, file, line);
  const found = splitHeader(header, file, line, separator, columnsMax, encoding);
  let nextLine = line;
  for (let at = from; at < to; at++) if (bytes[at] === LINE_FEED) nextLine++;
  const defaults = splitDefaults(defaultLine, found.separator, encoding);
  return { ...found, line, nextLine, end: to, isAnnotated, defaults, encoding };
}

function splitDefaults(line: Uint8Array, separator: number, encoding: Encoding | undefined): string[] {
  const record = createRecord(encoding);
  if (line.length === 0 || !splitRecord(record, line, 0, separator, true) || record.fault !== undefined) return [];
  return defaultsOf(record);
}

/** The fields of an annotation `#default`, the first of which is its name. */
export function defaultsOf(record: CsvRecord): string[] {
  return Array.from({ length: record.fieldCount }, (_, index) => (index === 0 ? '' : (fieldText(record, index) ?? '')));
}

function failWithoutEnd(
  bytes: Uint8Array,
  from: number,
  file: string,
  line: number,
  isLast: boolean,
  lengthMax: number,
): undefined {
  if (isLast && from >= bytes.length) {
    const found = line > 1 ? 'all lines are empty or left out' : 'the file is empty';
    throw new CsvError('csv.empty', { file }, `${found}; ${expectedHeader}`);
  }
  if (isLast) throw new CsvError('csv.header', { file, line }, 'the header opens a quote that is never closed');
  if (bytes.length - from > lengthMax) {
    throw new CsvError('csv.header', { file, line }, 'the header does not end; expected a line of column names');
  }
  return undefined;
}

const expectedHeader = 'expected a header such as `timestamp,value` and rows below it';

// Chooses the separator that gives the most columns; rather one that cuts no quoted name in two.
function splitHeader(
  bytes: Uint8Array,
  file: string,
  line: number,
  said: number | undefined,
  columnsMax: number,
  encoding: Encoding | undefined,
): Pick<FoundHeader, 'separator' | 'columns' | 'text'> {
  const record = createRecord(encoding);
  let best: { separator: number; columns: string[]; score: number } | undefined;
  for (const separator of said === undefined ? SEPARATORS : [said]) {
    if (separator === PIPE && said === undefined && WITHOUT_PIPE.includes(encoding)) continue;
    splitRecord(record, bytes, 0, separator, true);
    if (record.fault !== undefined) continue;
    if (record.fieldCount > columnsMax) {
      const problem = `has ${record.fieldCount} columns; expected at most ${columnsMax}`;
      throw new CsvError('csv.header', { file, line }, `the header ${problem}`);
    }
    const columns = columnNames(record, file, line);
    const isWholeName = (name: string, index: number) =>
      record.isQuoted[index] === 1 || name.split('"').length % 2 === 1;
    const isWhole = columns.length > 1 && columns.every(isWholeName);
    const score = columns.length + (isWhole ? 1e9 : 0);
    if (best === undefined || score > best.score) best = { separator, columns, score };
  }
  if (best === undefined) throw new CsvError('csv.header', { file, line }, `the header ${record.fault}`);
  const { separator, columns } = best;
  return { separator, columns, text: recordText(record) };
}

/** The fields of a header. @throws CsvError if they are not text in the file's encoding. */
export function columnNames(record: CsvRecord, file: string, line: number): string[] {
  return Array.from({ length: record.fieldCount }, (_, index) => {
    const text = fieldText(record, index);
    if (text === undefined) {
      throw new CsvError('csv.binary', { file, line }, `the header is not text in ${record.encoding}`, {
        options: [{ option: 'encoding' }],
      });
    }
    return text.trim();
  });
}

/** The first bytes of other kinds of files, with what to do about them. */
const KINDS: readonly { readonly magic: readonly number[]; readonly hint: string }[] = [
  { magic: [0x1f, 0x8b], hint: 'it is compressed with gzip; name it .gz, or unpack it first' },
  { magic: [0x50, 0x4b, 0x03, 0x04], hint: 'it is a zip or an Excel file; unpack it, or export it as CSV' },
  { magic: [0x50, 0x41, 0x52, 0x31], hint: 'it is a Parquet file; name it .parquet, or say --format parquet' },
  { magic: [0x41, 0x52, 0x52, 0x4f, 0x57, 0x31], hint: 'it is an Arrow file; name it .arrow, or say --format arrow' },
  { magic: [0x28, 0xb5, 0x2f, 0xfd], hint: 'it is compressed with zstd; name it .zst, or unpack it first' },
];

/** Throws if a file does not begin with text. */
function checkHead(bytes: Uint8Array, file: string): void {
  for (const { magic, hint } of KINDS) {
    if (magic.every((byte, index) => bytes[index] === byte)) {
      const options = hint.includes('--format') ? [{ option: 'format' }] : [];
      throw new CsvError('csv.binary', { file }, `the file is not UTF-8 text: ${hint}`, { options });
    }
  }
  const nul = bytes.indexOf(0);
  if (nul >= 0) {
    const what = `the file is not text: byte ${nul + 1} is NUL`;
    const isWide = nul < 2 && bytes.length > 2 && (bytes[nul + 2] ?? 0) === 0 && bytes[1 - nul] !== 0;
    if (!isWide) throw new CsvError('csv.binary', { file }, `${what}; expected CSV in UTF-8`);
    const encoding = nul === 0 ? 'utf-16be' : 'utf-16le';
    throw new CsvError('csv.binary', { file }, `${what}; if it is UTF-16, say so (--encoding ${encoding})`, {
      options: [{ option: 'encoding', values: [encoding] }],
    });
  }
}

/** Whether the bytes begin with UTF-8's byte order mark. */
function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

// Whether a line ends with a carriage return alone: then all rows would be one header. (Two of them before a line feed
// are the work of a program that wrote CRLF as text.)
function hasLoneReturn(head: Uint8Array): boolean {
  const text = new TextDecoder('latin1').decode(head);
  return /\r[^\r\n]/.test(text.replace(/"[^"]*("|$)/g, ''));
}

/** The index after the line feed that ends the record at `from`, by counting quotes; −1 if there is none. */
function headerEnd(bytes: Uint8Array, from: number): number {
  let isQuoted = false;
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] === QUOTE) isQuoted = !isQuoted;
    else if (bytes[at] === LINE_FEED && !isQuoted) return at + 1;
  }
  return -1;
}
