import { wrongOption } from '../../../core/errors.js';
import type { SeriesReference } from '../../../core/series.js';
import { finish, type InTurns } from '../../../core/turns.js';
import { didYouMeanZone, isUtc, type Zone, zoneOf } from '../../../core/zone.js';
import { RepeatedHours } from '../../table/repeated-hours.js';
import type { Roles } from '../../table/roles.js';
import { LINE_FEED, POINT } from '../bytes.js';
import { encodingOf, encodings } from '../encoding.js';
import { CsvError, type RowProblem, rowError } from '../errors.js';
import { columnNames, defaultsOf } from '../head/find-header.js';
import { HeadReader } from '../head/head-reader.js';
import { type Header, isWide, namesSeries, tellHeader } from '../head/header.js';
import type { CsvReader, CsvReaderOptions, CsvSeriesCount, CsvSummary, OnChunk } from '../options.js';
import { BLANK_LINES_MAX, type CsvLimits, FILE_LIMITS } from './limits.js';
import { type CsvRecord, createRecord, fieldText, isBlank, Pending, recordText, splitRecord } from './record.js';
import type { ColumnRows, Rows, RowsSettings } from './rows.js';
import { createRows } from './rows-of-file.js';
import { MARK_BYTES_MAX, Utf16 } from './utf16.js';

/** Settings of a reader within windrow, beyond its public options. */
export interface ReaderPlace {
  /** Whether this is the only reader in the thread, so that rows may stay in the memory of the kernels. */
  readonly isAlone?: boolean;
  /** Takes all rows instead of `onChunk`. */
  readonly onRows?: (rows: ColumnRows) => void;
  /** Whether to wait for several rows even if the first one leaves nothing open. */
  readonly isPatient?: boolean;
  /** Called with each new series of the long layout, while the reader is at its row; may throw. */
  readonly onSeries?: ((series: SeriesReference) => void) | undefined;
  /** Called with the bad row that ends reading, before the error is thrown. */
  readonly onFault?: (line: number, problem: RowProblem) => void;
  /** For files from untrusted sources. */
  readonly limits?: CsvLimits;
}

/** How far a reader has come, after the header. */
export interface ReaderProgress extends Omit<CsvSummary, 'series'> {
  /** Physical line of the next record. */
  readonly line: number;
  /** How many bytes wait for the rest of their row. */
  readonly waitingBytes: number;
}

/** How much of the rows that the header was told from is read at once. */
const PIECE_BYTES = 16_384;

/** A reader that can also read parts of a file, each of which begins and ends at a line. */
export class FileReader implements CsvReader {
  readonly #file: string;
  readonly #options: CsvReaderOptions;
  readonly #onFault: ReaderPlace['onFault'];
  readonly #settings: Omit<RowsSettings, 'header'>;
  readonly #limits: CsvLimits;
  #pending = new Pending();
  readonly #record = createRecord();
  #utf16: Utf16 | undefined;
  readonly #head: HeadReader;
  /** Set together with `#rows`, once the header has been read. */
  #header: Header | undefined;
  #rows: Rows | undefined;
  /** Whether annotations have followed the rows, so that a new header comes next. */
  #isBetweenTables = false;
  /** The values of the annotation `#default` for the next table. */
  #defaults: readonly string[] = [];
  /** Physical line of the next record. */
  #line = 1;
  #rowLine = 1;
  #rejected = 0;
  #blank = 0;

  constructor(given: CsvReaderOptions, onChunk: OnChunk, place: ReaderPlace = {}) {
    const options = { ...given, encoding: given.encoding && encodingOf(given.encoding) };
    const { fileName, timezone, chunkRows } = options;
    const { isAlone = false, onRows, onSeries, onFault, isPatient = false, limits = FILE_LIMITS } = place;
    if (options.encoding !== given.encoding && options.encoding === undefined) {
      throw wrongOption('encoding', encodings.join(' or '), String(given.encoding));
    }
    this.#file = fileName;
    this.#options = options;
    this.#onFault = onFault;
    const zone = findZone(timezone);
    const isSettled = zone !== undefined && onRows === undefined;
    const repeatedHours = isSettled ? new RepeatedHours(zone) : undefined;
    const { seriesMax, cellsMax } = limits;
    this.#limits = limits;
    this.#settings = { zone, chunkRows, onChunk, onRows, onSeries, isAlone, repeatedHours, seriesMax, cellsMax };
    this.#head = new HeadReader(options, limits, isPatient);
  }

  columns(): readonly string[] {
    return this.#header?.columns ?? [];
  }

  series(): readonly CsvSeriesCount[] {
    return this.#rows?.series() ?? [];
  }

  /** What the columns are for; undefined until the header was read. */
  get roles(): Roles | undefined {
    return this.#header;
  }

  /** Physical line of the row that is being read or, between rows, of the next one. */
  get line(): number {
    return this.#line;
  }

  /** Physical line on which the last row begins. */
  get rowLine(): number {
    return this.#rowLine;
  }

  /**
   * Reads the header from the start of a file. Returns it and where the rows begin; undefined if it needs more bytes.
   *
   * @param isWhole whether the bytes are the whole file.
   */
  tellHeader(bytes: Uint8Array, isWhole: boolean): { readonly header: Header; readonly headBytes: number } | undefined {
    this.#append(bytes);
    if (isWhole && bytes.at(-1) !== LINE_FEED) this.#append(lineEnd);
    if (this.#utf16 !== undefined || !finish(this.#openRows(false, isWhole))) return undefined;
    return { header: this.#header as Header, headBytes: this.#head.byteCount }; // set by #openRows
  }

  /** Prepares to read rows of a file whose header another reader has read. */
  open(header: Header): void {
    this.#line = header.firstLine;
    this.#header = header;
    this.#record.encoding = header.encoding;
    this.#rows = createRows({ ...this.#settings, header }, this.#options);
  }

  /** How far it has come. */
  progress(): ReaderProgress {
    const { layout, notes } = this.#header as Header; // callers ask only once the header has been read
    const rows = this.#rows as Rows; // set with the header
    const counts = { rows: rows.taken(), rejected: this.#rejected, missing: rows.missing() };
    const told = [...notes, ...rows.notes];
    return { layout, ...counts, notes: told, line: this.#line, waitingBytes: this.#pending.length };
  }

  push(bytes: Uint8Array): void {
    finish(this.pushInTurns(bytes));
  }

  /** `push` in slices: it yields between the steps of reading a wide header, and between pieces of its first rows. */
  *pushInTurns(bytes: Uint8Array): InTurns<void> {
    if (this.#rows === undefined) {
      this.#append(bytes);
      // Fewer may not tell UTF-16 apart.
      if (this.#utf16 === undefined && this.#pending.length < MARK_BYTES_MAX) return;
      yield* this.#readHead(false);
      if (this.#rows === undefined) this.#checkHead();
    } else if (this.#utf16 === undefined) this.#pushRows(this.#rows, bytes);
    else this.#pushRows(this.#rows, this.#utf16.decode(bytes));
  }

  // Appends bytes that come before the rows.
  #append(bytes: Uint8Array): void {
    const pending = this.#pending;
    const text = this.#utf16?.decode(bytes) ?? bytes;
    pending.append(text, 0, text.length);
    if (this.#utf16 !== undefined) return;
    this.#utf16 = Utf16.of(pending.view(), this.#options.encoding);
    if (this.#utf16 === undefined) return;
    const decoded = this.#utf16.decode(pending.view());
    pending.drop(pending.length);
    pending.append(decoded, 0, decoded.length);
  }

  #pushRows(rows: Rows, bytes: Uint8Array): void {
    const pending = this.#pending;
    let from = 0;
    if (pending.length > 0) {
      // Completes only the row that was cut; if it spans several lines, appends all bytes.
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

  // Checks the length of the last line while more rows are needed for the header.
  #checkHead(): void {
    const bytes = this.#pending.view();
    const start = bytes.lastIndexOf(LINE_FEED) + 1;
    if (bytes.length - start <= this.#limits.lineBytesMax) return;
    let line = 1;
    for (const byte of bytes.subarray(0, start)) if (byte === LINE_FEED) line++;
    this.#failTooLong(line);
  }

  // Fails before a line that is too long takes more memory.
  #checkLine(): void {
    if (this.#pending.length > this.#limits.lineBytesMax) this.#failTooLong(this.#line);
  }

  #failTooLong(line: number): never {
    const { lineBytesMax } = this.#limits;
    const place = { file: this.#file, line };
    throw new CsvError('csv.row', place, `has more than ${lineBytesMax} bytes; expected a row`);
  }

  flush(): void {
    const mayTell = this.#utf16 !== undefined || this.#pending.length >= MARK_BYTES_MAX;
    if (this.#rows === undefined && mayTell) finish(this.#readHead(false, true));
    this.#rows?.flush();
  }

  end(): CsvSummary {
    return finish(this.endInTurns());
  }

  /** `end` in slices, like `pushInTurns`. */
  *endInTurns(): InTurns<CsvSummary> {
    const last = this.#utf16?.end();
    const pending = this.#pending;
    if (last !== undefined) pending.append(last, 0, last.length);
    if (pending.length > 0 && pending.view().at(-1) !== LINE_FEED) pending.append(lineEnd, 0, 1);
    if (this.#rows === undefined) yield* this.#readHead(true);
    this.#pending.drop(this.#readRows(this.#rows as Rows, this.#pending.view(), true)); // set by #readHead
    if (isWide(this.#header as Header)) yield; // set by #readHead
    this.flush();
    const { layout, rows, rejected, missing, notes } = this.progress();
    return { layout, rows, rejected, missing, series: this.series(), notes };
  }

  *#readHead(isLast: boolean, isFlushed = isLast): InTurns<void> {
    if (!(yield* this.#openRows(isLast, isFlushed))) return;
    const rows = this.#pending.view().subarray(this.#head.byteCount);
    this.#pending = new Pending();
    for (let at = 0; at < rows.length; at += PIECE_BYTES) {
      if (at > 0) yield;
      this.#pushRows(this.#rows as Rows, rows.subarray(at, at + PIECE_BYTES)); // set by #openRows
    }
  }

  // Reads the header and prepares to read rows; false if it needs more of them.
  *#openRows(isLast: boolean, isFlushed = isLast): InTurns<boolean> {
    // What was UTF-16 is UTF-8 by now.
    const encoding = this.#utf16 === undefined ? this.#options.encoding : 'utf-8';
    const header = yield* this.#head.read(this.#pending.view(), isLast, isFlushed, encoding);
    if (header === undefined) return false;
    this.open(header);
    if (isWide(header)) yield;
    return true;
  }

  // Reads whole rows and returns the index after the last one.
  #readRows(rows: Rows, bytes: Uint8Array, isLast: boolean): number {
    const { separator, isAnnotated, dialect } = this.#header as Header; // set with the rows
    const record = this.#record;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const stop = bytes.lastIndexOf(LINE_FEED) + 1;
    let at = 0;
    let plainStop = dialect.isPointOpen ? -1 : stop;
    while (at < stop) {
      const taken = rows.taken();
      if (plainStop < at) plainStop = startOfPoint(bytes, at, stop);
      if (plainStop > at) at = rows.parse(bytes, view, at, plainStop);
      this.#line += rows.taken() - taken;
      if (rows.taken() > taken) this.#rowLine = this.#line - 1;
      if (!rows.isFull() && at < stop) {
        if (!splitRecord(record, bytes, at, separator, isLast)) return at;
        const isSkipped = isBlank(record) || (isAnnotated && this.#takeAnnotation(rows, record));
        const problem = isSkipped ? this.#skip(rows, record) : rows.take(record);
        if (problem !== undefined) this.#reject(problem);
        else if (!isSkipped) this.#rowLine = this.#line;
        this.#line += record.lineCount;
        at = record.end;
      }
      if (rows.isFull()) rows.flush();
    }
    return at;
  }

  #skip(rows: Rows, record: CsvRecord): undefined {
    if (!isBlank(record) || ++this.#blank <= BLANK_LINES_MAX + 2 * rows.taken() || this.#limits === FILE_LIMITS) return;
    const place = { file: this.#file, line: this.#line };
    throw new CsvError('csv.row', place, `${this.#blank} lines so far are blank; expected rows`);
  }

  // Annotations come before the header of each table.
  #takeAnnotation(rows: Rows, record: CsvRecord): boolean {
    if (fieldText(record, 0)?.startsWith('#')) {
      if (!this.#isBetweenTables) this.#defaults = [];
      if (fieldText(record, 0) === '#default') this.#defaults = defaultsOf(record);
      this.#isBetweenTables = true;
      return true;
    }
    if (!this.#isBetweenTables) return false;
    this.#isBetweenTables = false;
    this.#beginTable(rows, record);
    return true;
  }

  // The columns of a table may differ from those of the one before if each row names its series.
  #beginTable(rows: Rows, record: CsvRecord): void {
    const before = this.#header as Header; // set before any row is read
    const place = { file: this.#file, line: this.#line };
    const columns = columnNames(record, place.file, place.line);
    const text = recordText(record);
    const found = {
      ...before,
      columns,
      text,
      defaults: this.#defaults,
      line: place.line,
      nextLine: place.line,
      end: 0,
    };
    const isSame = JSON.stringify(columns) === JSON.stringify(before.columns);
    const header = isSame ? before : finish(tellHeader(found, new Uint8Array(0), 0, true, this.#options));
    if (header?.layout !== before.layout || !(isSame || namesSeries(before))) {
      const reason = 'begins a table with other columns than the first; expected the same, or a file of its own';
      throw new CsvError('csv.header', place, reason, { text });
    }
    rows.relay({ ...header, defaults: this.#defaults, dialect: before.dialect });
  }

  #reject(problem: RowProblem): void {
    const { onBadRow = 'fail', onReject } = this.#options;
    const place = { file: this.#file, line: this.#line };
    if (onBadRow === 'fail') {
      this.#onFault?.(place.line, problem);
      throw rowError(place.file, place.line, problem);
    }
    this.#rejected++;
    const { column, text, reason, options = [] } = problem;
    onReject?.({ ...place, ...(column && { column }), text, reason, options, row: recordText(this.#record) });
  }
}

const lineEnd = Uint8Array.of(LINE_FEED);

function findZone(name: string | undefined): Zone | undefined {
  if (name === undefined || isUtc(name)) return undefined;
  const zone = zoneOf(name);
  if (zone !== undefined) return zone;
  const near = didYouMeanZone(name);
  const mend = near === undefined ? '' : `; ${near}`;
  throw wrongOption('timezone', 'an IANA time zone like Europe/Berlin', `${JSON.stringify(name)}${mend}`);
}

/** Where the first row with a point begins, which the fast path would take for a decimal sign; `stop` without one. */
function startOfPoint(bytes: Uint8Array, from: number, stop: number): number {
  const at = bytes.indexOf(POINT, from);
  return at < 0 || at > stop ? stop : bytes.lastIndexOf(LINE_FEED, at) + 1;
}
