import { COMMA, LINE_FEED, QUOTE, SEMICOLON, TAB } from '../bytes.js';
import { CsvError } from '../errors.js';
import type { CsvLayout } from '../options.js';
import { type CsvRecord, createRecord, fieldText, recordText, splitRecord } from './record.js';

/** What the header tells of a file. */
export interface Header {
  readonly layout: CsvLayout;
  readonly separator: number;
  /** Names as they stand in the header, without quotes and outer spaces. */
  readonly columns: readonly string[];
  /** Indices of columns; −1 for those that the layout lacks. */
  readonly timeColumn: number;
  readonly idColumn: number;
  readonly metricColumn: number;
  /** The value column of the long and the single layout. */
  readonly valueColumn: number;
}

/** Names of the time column, in any case. Where a header has several, the first of this list is the time. */
const timeColumnNames = ['timestamp', 'time', 'datetime', 'date', 'ts'] as const;

const ID_NAME = 'timeseriesid';
const METRIC_NAME = 'metric';
const VALUE_NAMES = ['value', 'val'];
const SEPARATORS = [COMMA, SEMICOLON, TAB];

/**
 * Reads the header in the bytes, which end after its line feed. The separator is the one of comma, semicolon and
 * tab that gives a time column and the most columns.
 */
export function readHeader(bytes: Uint8Array, file: string, line: number, columnsMax: number): Header {
  const record = createRecord();
  let best: { separator: number; columns: string[] } | undefined;
  for (const separator of SEPARATORS) {
    splitRecord(record, bytes, 0, separator, true);
    if (record.fault !== undefined) continue;
    if (record.fieldCount > columnsMax) {
      const problem = `has ${record.fieldCount} columns; expected at most ${columnsMax}`;
      throw new CsvError('csv.header', { file, line }, `the header ${problem}`);
    }
    const columns = columnNames(record, file, line);
    if (best === undefined || rank(columns) > rank(best.columns)) best = { separator, columns };
  }
  if (best === undefined) throw new CsvError('csv.header', { file, line }, `the header ${record.fault}`);
  return layOut(best.separator, best.columns, file, line, recordText(record));
}

function rank(columns: readonly string[]): number {
  return columns.length + (timeColumnOf(columns) < 0 ? 0 : 1e6);
}

function columnNames(record: CsvRecord, file: string, line: number): string[] {
  return Array.from({ length: record.fieldCount }, (_, index) => {
    const text = fieldText(record, index);
    if (text === undefined) {
      throw new CsvError('csv.binary', { file, line }, 'the header is not UTF-8 text; save the file as UTF-8');
    }
    return text.trim();
  });
}

function timeColumnOf(columns: readonly string[]): number {
  const lowered = columns.map((name) => name.toLowerCase());
  for (const name of timeColumnNames) {
    const index = lowered.indexOf(name);
    if (index >= 0) return index;
  }
  return -1;
}

function layOut(separator: number, columns: string[], file: string, line: number, headerText: string): Header {
  const fail = (reason: string): never => {
    throw new CsvError('csv.header', { file, line }, reason, headerText);
  };
  const timeColumn = timeColumnOf(columns);
  if (timeColumn < 0) fail(noTimeReason(columns));
  failAtUnclearNames(columns, fail);
  const lowered = columns.map((name) => name.toLowerCase());
  const idColumn = lowered.indexOf(ID_NAME);
  const valueColumn = lowered.findIndex((name) => VALUE_NAMES.includes(name));
  const found = { separator, columns, timeColumn };
  if (idColumn >= 0) {
    if (valueColumn < 0) {
      fail(`the header has ${columns[idColumn]} but no column value or val; it has ${columns.join(', ')}`);
    }
    return { ...found, layout: 'long', idColumn, metricColumn: lowered.indexOf(METRIC_NAME), valueColumn };
  }
  if (columns.length === 1) fail('the header has no column but the time; expected `timestamp,value`');
  if (columns.length === 2 && valueColumn >= 0) {
    return { ...found, layout: 'single', idColumn: -1, metricColumn: -1, valueColumn };
  }
  return { ...found, layout: 'wide', idColumn: -1, metricColumn: -1, valueColumn: -1 };
}

function noTimeReason(columns: readonly string[]): string {
  const expected = `one column must be called ${timeColumnNames.slice(0, -1).join(', ')} or ${timeColumnNames.at(-1)}`;
  const isData = columns.some((name) => /^\d/.test(name));
  const mend = isData ? '; the first line looks like data: put a header such as `timestamp,value` before it' : '';
  return `the header has no time column: it has ${columns.join(', ')}; ${expected}${mend}`;
}

// Roles are told without regard to case, series of the wide layout with it.
function failAtUnclearNames(columns: readonly string[], fail: (reason: string) => never): void {
  const isLong = columns.some((name) => name.toLowerCase() === ID_NAME);
  const firstColumn = new Map<string, number>();
  columns.forEach((name, index) => {
    if (name === '') fail(`column ${index + 1} of the header has no name`);
    const role = roleKey(name, isLong || columns.length === 2);
    const first = firstColumn.get(role);
    if (first !== undefined) {
      fail(`columns ${first + 1} (${columns[first]}) and ${index + 1} (${name}) have one meaning; rename one`);
    }
    firstColumn.set(role, index);
  });
}

function roleKey(name: string, hasValueRole: boolean): string {
  const lowered = name.toLowerCase();
  if (hasValueRole && VALUE_NAMES.includes(lowered)) return VALUE_NAMES[0]!;
  const isRole = lowered === ID_NAME || (hasValueRole && lowered === METRIC_NAME);
  return isRole || timeColumnNames.some((role) => role === lowered) ? lowered : `=${name}`;
}

/** Bytes that tell another kind of file, with what to do about it. */
const KINDS: readonly { readonly magic: readonly number[]; readonly hint: string }[] = [
  { magic: [0x1f, 0x8b], hint: 'it is compressed with gzip; name it .gz, or unpack it first' },
  { magic: [0x50, 0x4b, 0x03, 0x04], hint: 'it is a zip or an Excel file; unpack it, or export it as CSV' },
  { magic: [0x50, 0x41, 0x52, 0x31], hint: 'it is a Parquet file; export it as CSV' },
  { magic: [0x28, 0xb5, 0x2f, 0xfd], hint: 'it is compressed with zstd; unpack it first' },
  { magic: [0xff, 0xfe], hint: 'it is UTF-16 text; save it as UTF-8' },
  { magic: [0xfe, 0xff], hint: 'it is UTF-16 text; save it as UTF-8' },
];

/** Bytes before the header that are looked through; a header is shorter. */
export const HEAD_LENGTH_MAX = 4_194_304;

/** Throws where the first bytes of a file are not those of a text. */
export function checkHead(bytes: Uint8Array, file: string): void {
  for (const { magic, hint } of KINDS) {
    if (magic.every((byte, index) => bytes[index] === byte)) {
      throw new CsvError('csv.binary', { file }, `the file is not UTF-8 text: ${hint}`);
    }
  }
  const nul = bytes.indexOf(0);
  if (nul >= 0) {
    const what = `the file is not text: byte ${nul + 1} is NUL`;
    throw new CsvError('csv.binary', { file }, `${what}; expected CSV in UTF-8`);
  }
}

/** Whether the bytes begin with the byte order mark of UTF-8. */
export function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** The place after the line feed that ends the record at `from`, by the parity of its quotes; −1 without one. */
export function headerEnd(bytes: Uint8Array, from: number): number {
  let isQuoted = false;
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] === QUOTE) isQuoted = !isQuoted;
    else if (bytes[at] === LINE_FEED && !isQuoted) return at + 1;
  }
  return -1;
}
