import { InputError } from '../../../core/errors.js';
import { didYouMeanZone, isUtc, type Zone, zoneOf } from '../../../core/zone.js';
import { LINE_FEED } from '../bytes.js';
import { CsvError, type RowProblem, rowError } from '../errors.js';
import type { CsvReader, CsvReaderOptions, CsvSeriesCount, CsvSummary, OnChunk } from '../options.js';
import { checkHead, HEAD_LENGTH_MAX, type Header, hasByteOrderMark, headerEnd, readHeader } from './header.js';
import { createLongRows, RAW_METRIC } from './long.js';
import { createRecord, isBlank, Pending, recordText, splitRecord } from './record.js';
import type { ColumnRows, Rows, RowsSettings } from './rows.js';
import { createTableRows } from './table.js';

/** Small enough for the columns of a chunk to stay in cache until they are used. */
const CHUNK_ROWS = 8192;

/**
 * Reads CSV from bytes into series, chunk by chunk, in memory that does not grow with the file.
 *
 * The header tells the layout (see `CsvLayout`) and the separator: comma, semicolon or tab. Names are matched in any
 * case, quoted or not, in any order; the time column is called timestamp, time, datetime, date or ts (the first of
 * these that the header has). Quotes and line ends are those of RFC 4180, also LF alone; blank lines and a byte
 * order mark are skipped. Columns that the long layout does not know are left aside.
 *
 * Times are instants of ISO 8601, or epoch numbers: below 1e11 seconds, from there on milliseconds; they come out in
 * epoch milliseconds, UTC. Values are decimals of any length, correctly rounded, with a point; empty, null, NA, NaN
 * and inf in any case are missing and come out as NaN.
 *
 * @throws InputError for an unknown zone or a bad `chunkRows`. `push` and `end` throw a `CsvError` for a file that is
 * not CSV and, with `onBadRow: 'fail'`, for a row that cannot be read.
 * @example
 * const reader = createCsvReader({ fileName: 'office.csv' }, (series) => stream.push(series));
 * for await (const bytes of createReadStream('office.csv')) reader.push(bytes);
 * const { rows, missing } = reader.end();
 */
export function createCsvReader(options: CsvReaderOptions, onChunk: OnChunk): CsvReader {
  return new FileReader(options, onChunk);
}

/** What the command asks of a reader beyond its options. */
export interface ReaderPlace {
  /** Whether this is the only reader in the thread: then rows may stay in the memory of the kernels. */
  readonly isAlone?: boolean;
  /** Takes all rows in place of `onChunk`. */
  readonly onRows?: (rows: ColumnRows) => void;
  /** Called with the bad row that ends the reading, before the error is thrown. */
  readonly onFault?: (line: number, problem: RowProblem) => void;
  /** For files of strangers. */
  readonly limits?: CsvLimits;
}

/** What a file may have before it is refused: so that a small one takes no memory or time out of proportion. */
export interface CsvLimits {
  readonly lineBytesMax: number;
  readonly columnsMax: number;
  /** Of the long layout. */
  readonly seriesMax: number;
  /** Values of the wide layout that are held at once. */
  readonly cellsMax: number;
}

const UNLIMITED: CsvLimits = {
  lineBytesMax: Number.POSITIVE_INFINITY,
  columnsMax: Number.POSITIVE_INFINITY,
  seriesMax: Number.POSITIVE_INFINITY,
  cellsMax: Number.POSITIVE_INFINITY,
};

/** Beyond these, and two for each row, a limited file has nothing but blank lines. */
const BLANK_LINES_MAX = 10_000;

/** How far a reader has come, once the header was read. */
export interface ReaderProgress extends Omit<CsvSummary, 'series'> {
  /** Physical line of the next record. */
  readonly line: number;
  /** Bytes at the end that wait for the rest of their row. */
  readonly waitingBytes: number;
}

/** A reader that may also take parts of a file, each beginning and ending with a line. */
export class FileReader implements CsvReader {
  readonly #file: string;
  readonly #options: CsvReaderOptions;
  readonly #onFault: ReaderPlace['onFault'];
  readonly #settings: Omit<RowsSettings, 'header'>;
  readonly #limits: CsvLimits;
  readonly #pending = new Pending();
  readonly #record = createRecord();
  /** Set together with `#rows`, once the header was read. */
  #header: Header | undefined;
  #rows: Rows | undefined;
  /** Physical line of the next record. */
  #line = 1;
  #rejected = 0;
  #blank = 0;

  constructor(options: CsvReaderOptions, onChunk: OnChunk, place: ReaderPlace = {}) {
    const { isAlone = false, onRows, onFault, limits = UNLIMITED } = place;
    const { fileName, timezone, chunkRows = CHUNK_ROWS } = options;
    if (!Number.isInteger(chunkRows) || chunkRows < 1) {
      throw new InputError('option.value', `chunkRows must be a whole number of at least 1, received ${chunkRows}`);
    }
    this.#file = fileName;
    this.#options = options;
    this.#onFault = onFault;
    this.#limits = limits;
    const { seriesMax, cellsMax } = limits;
    this.#settings = { zone: findZone(timezone), chunkRows, onChunk, onRows, isAlone, seriesMax, cellsMax };
  }

  columns(): readonly string[] {
    return this.#header?.columns ?? [];
  }

  series(): readonly CsvSeriesCount[] {
    return this.#rows?.series() ?? [];
  }

  /** Takes the header alone, of bytes that go on beyond it; gives where it ends, undefined where it does not. */
  readHeader(bytes: Uint8Array): number | undefined {
    this.#pending.append(bytes, 0, bytes.length);
    const end = this.#openRows(false);
    if (end !== undefined) this.#pending.drop(this.#pending.length);
    return end;
  }

  /** How far it has come. */
  progress(): ReaderProgress {
    const { layout } = this.#header as Header; // asked for once the header was read
    const rows = this.#rows as Rows; // set with the header
    const counts = { rows: rows.taken(), rejected: this.#rejected, missing: rows.missing() };
    return { layout, ...counts, line: this.#line, waitingBytes: this.#pending.length };
  }

  push(bytes: Uint8Array): void {
    const pending = this.#pending;
    const rows = this.#rows;
    if (rows === undefined) {
      pending.append(bytes, 0, bytes.length);
      this.#readHead(false);
      return;
    }
    let from = 0;
    if (pending.length > 0) {
      // Only the row that was cut is joined; where it goes on over lines, all that is there.
      from = bytes.indexOf(LINE_FEED) + 1;
      pending.append(bytes, 0, from === 0 ? bytes.length : from);
      this.#checkLine();
      if (from === 0) return;
      pending.drop(this.#readRows(rows, pending.view(), false));
      if (pending.length > 0) {
        pending.append(bytes, from, bytes.length);
        pending.drop(this.#readRows(rows, pending.view(), false));
        return;
      }
    }
    const rest = bytes.subarray(from);
    const read = this.#readRows(rows, rest, false);
    pending.append(rest, read, rest.length);
    this.#checkLine();
  }

  // Told before more of it is held.
  #checkLine(): void {
    const { lineBytesMax } = this.#limits;
    if (this.#pending.length <= lineBytesMax) return;
    const place = { file: this.#file, line: this.#line };
    throw new CsvError('csv.row', place, `has more than ${lineBytesMax} bytes; expected a row`);
  }

  flush(): void {
    this.#rows?.flush();
  }

  end(): CsvSummary {
    const pending = this.#pending;
    if (pending.length > 0 && pending.view().at(-1) !== LINE_FEED) pending.append(lineEnd, 0, 1);
    if (this.#rows === undefined) this.#readHead(true);
    else pending.drop(this.#readRows(this.#rows, pending.view(), true));
    this.flush();
    const { layout, rows, rejected, missing } = this.progress();
    return { layout, rows, rejected, missing, series: this.series() };
  }

  #readHead(isLast: boolean): void {
    const end = this.#openRows(isLast);
    if (end === undefined) return;
    this.#pending.drop(end);
    this.#pending.drop(this.#readRows(this.#rows as Rows, this.#pending.view(), isLast)); // set by #openRows
  }

  // Reads the header and makes ready for rows; gives where it ends, undefined where it does not.
  #openRows(isLast: boolean): number | undefined {
    const file = this.#file;
    const bytes = this.#pending.view();
    let line = 1;
    let from = hasByteOrderMark(bytes) ? 3 : 0;
    let to = headerEnd(bytes, from);
    while (to > 0 && /^\s*$/.test(String.fromCharCode(...bytes.subarray(from, Math.min(to, from + 256))))) {
      if (++line > BLANK_LINES_MAX)
        throw new CsvError('csv.header', { file, line }, 'expected a header, received blank lines');
      from = to;
      to = headerEnd(bytes, from);
    }
    checkHead(bytes.subarray(0, to < 0 ? bytes.length : to), file);
    if (to < 0) {
      if (isLast && from === bytes.length) throw new CsvError('csv.empty', { file }, emptyReason);
      if (isLast) throw new CsvError('csv.header', { file, line }, 'the header opens a quote that is never closed');
      if (bytes.length > Math.min(HEAD_LENGTH_MAX, this.#limits.lineBytesMax)) {
        throw new CsvError('csv.header', { file, line }, 'the header does not end; expected a line of column names');
      }
      return undefined;
    }
    const header = readHeader(bytes.subarray(from, to), file, line, this.#limits.columnsMax);
    for (let at = from; at < to; at++) if (bytes[at] === LINE_FEED) line++;
    this.#line = line;
    this.#header = header;
    this.#rows = createRows({ ...this.#settings, header }, this.#options);
    return to;
  }

  // The place after the last whole row.
  #readRows(rows: Rows, bytes: Uint8Array, isLast: boolean): number {
    const { separator } = this.#header as Header; // set with the rows
    const record = this.#record;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const stop = bytes.lastIndexOf(LINE_FEED) + 1;
    let at = 0;
    while (at < stop) {
      const taken = rows.taken();
      at = rows.parse(bytes, view, at, stop);
      this.#line += rows.taken() - taken;
      if (!rows.isFull() && at < stop) {
        if (!splitRecord(record, bytes, at, separator, isLast)) return at;
        const problem = isBlank(record) ? this.#passBlank(rows) : rows.take(record);
        if (problem !== undefined) this.#reject(problem);
        this.#line += record.lineCount;
        at = record.end;
      }
      if (rows.isFull()) rows.flush();
    }
    return at;
  }

  #passBlank(rows: Rows): undefined {
    this.#blank++;
    if (this.#limits === UNLIMITED || this.#blank <= BLANK_LINES_MAX + 2 * rows.taken()) return;
    const place = { file: this.#file, line: this.#line };
    throw new CsvError('csv.row', place, `${this.#blank} lines so far are blank; expected rows`);
  }

  #reject(problem: RowProblem): void {
    const { onBadRow = 'fail', onReject } = this.#options;
    const place = { file: this.#file, line: this.#line };
    if (onBadRow === 'fail') {
      this.#onFault?.(place.line, problem);
      throw rowError(place.file, place.line, problem);
    }
    this.#rejected++;
    const { column, text, reason } = problem;
    onReject?.({ ...place, ...(column && { column }), text, reason, row: recordText(this.#record) });
  }
}

const lineEnd = Uint8Array.of(LINE_FEED);
const emptyReason = 'the file is empty; expected a header such as `timestamp,value` and rows below it';

function findZone(name: string | undefined): Zone | undefined {
  if (name === undefined || isUtc(name)) return undefined;
  const zone = zoneOf(name);
  if (zone !== undefined) return zone;
  const near = didYouMeanZone(name);
  const mend = near === undefined ? '' : `; ${near}`;
  throw new InputError('option.value', `timezone: ${JSON.stringify(name)} is not an IANA time zone${mend}`);
}

function createRows(settings: RowsSettings, { fileName, wanted = () => true }: CsvReaderOptions): Rows {
  const { layout, columns, timeColumn, valueColumn } = settings.header;
  if (layout === 'long') return createLongRows(settings, wanted);
  const series = columns.flatMap((name, column) => {
    if (layout === 'single' ? column !== valueColumn : column === timeColumn) return [];
    const reference = { timeseriesId: layout === 'single' ? seriesNameOf(fileName) : name, metric: RAW_METRIC };
    return [{ ...reference, column, isWanted: wanted(reference) }];
  });
  return createTableRows(settings, series);
}

// The file without its folder, `.csv` and `.gz`.
function seriesNameOf(fileName: string): string {
  const name = fileName.slice(Math.max(fileName.lastIndexOf('/'), fileName.lastIndexOf('\\')) + 1);
  if (name === '-') return 'stdin';
  return name.replace(/\.gz$/i, '').replace(/\.(?:csv|tsv|txt)$/i, '') || name;
}
