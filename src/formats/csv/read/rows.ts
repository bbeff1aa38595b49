import { isKnownTime, type SeriesReference } from '../../../core/series.js';
import type { Zone } from '../../../core/zone.js';
import { isAllFinite } from '../../../kernels/check.js';
import { numberFault, ofDay, timeReader, valueReader } from '../../table/read-text.js';
import type { RepeatedHours } from '../../table/repeated-hours.js';
import { withoutUnit } from '../../table/units.js';
import type { CsvColumn, RowProblem } from '../errors.js';
import type { Header } from '../head/header.js';
import type { CsvSeriesCount, OnChunk } from '../options.js';
import { type CsvRecord, fieldText, recordText } from './record.js';

/** Turns rows of one layout from bytes into series. */
export interface Rows {
  /** What was concluded about the names of series. */
  readonly notes: readonly string[];
  /** How many rows have been taken, wanted or not. */
  taken(): number;
  isFull(): boolean;
  /**
   * The fast path: takes rows of the usual form from `at` on, and returns the index of the first row that it leaves to
   * `take`. The last row must end with a line feed just before `stop`.
   */
  parse(bytes: Uint8Array, view: DataView, at: number, stop: number): number;
  /** The general path: takes any row, or returns what is wrong with it. */
  take(record: CsvRecord): RowProblem | undefined;
  /** Passes on the rows of the current chunk. */
  flush(): void;
  /** How many missing values have been passed on. */
  missing(): number;
  series(): CsvSeriesCount[];
  /** Continues with the next table of an annotated file. */
  relay(header: Header): void;
}

/** Rows in the order of the file, as views that are valid only during the call. */
export interface ColumnRows {
  readonly timeMs: Float64Array;
  /** A column for each wanted series of a table; in the long layout a single column. */
  readonly values: readonly Float64Array[];
  /** In the long layout: the series of each row, as an index into the reader's list. */
  readonly series: Int32Array | undefined;
  /** Rows whose local time lies near a clock change; a time that occurs twice was read as the first. */
  readonly nearChange: readonly number[];
}

/** What rows of every layout need. */
export interface RowsSettings {
  readonly header: Header;
  readonly zone: Zone | undefined;
  /** How many rows a chunk has, if the caller says so. */
  readonly chunkRows: number | undefined;
  readonly onChunk: OnChunk;
  /** Takes the rows of a chunk in the order of the file, instead of `onChunk`. */
  readonly onRows: ((rows: ColumnRows) => void) | undefined;
  /** Called with each new series of the long layout; may throw. */
  readonly onSeries: ((series: SeriesReference) => void) | undefined;
  /** Whether this is the only reader in the thread, so that chunks may lie in the kernels' memory. */
  readonly isAlone: boolean;
  /** Tells apart local times that occur twice; undefined if that is left to the receiver of the rows. */
  readonly repeatedHours: RepeatedHours | undefined;
  /** The most series of the long layout. */
  readonly seriesMax: number;
  /** The most values of the wide layout that are held at once. */
  readonly cellsMax: number;
}

const SLOW_ROWS_MAX = 4096;

/**
 * How many rows to read in a slower way before a faster one is tried again: more and more, as long as that takes none.
 *
 * @param before how many it was the last time.
 */
export function slowRowsAfter(isTaken: boolean, before: number, most = SLOW_ROWS_MAX): number {
  return isTaken ? 1 : Math.min(2 * before, most);
}

/** A time of a row. */
export interface RowTime {
  readonly timeMs: number;
  readonly isNearChange: boolean;
}

/** Reads the fields of records in the dialect of their file. */
export class FieldReader {
  #header: Header;
  readonly #readTime: ReturnType<typeof timeReader>;
  readonly #readValue: ReturnType<typeof valueReader>;
  readonly #isUtc: boolean;

  constructor(header: Header, zone: Zone | undefined) {
    this.#header = header;
    this.#readTime = timeReader(header.dialect.time, zone);
    this.#readValue = valueReader(header.dialect);
    this.#isUtc = zone === undefined;
  }

  relay(header: Header): void {
    this.#header = header;
  }

  /** The text of a field, or the file's default if it is empty; undefined if it is not text in the file's encoding. */
  text(record: CsvRecord, column: number): string | undefined {
    const text = fieldText(record, column);
    return text === '' ? (this.#header.defaults[column] ?? '') : text;
  }

  /**
   * The time of a record or, in a row that holds a day, of one of its values.
   *
   * @param midnightMs when that day begins in UTC.
   */
  time(record: CsvRecord, clockMs?: number, midnightMs = Number.NaN): RowTime | RowProblem {
    const { timeColumn, clockColumn } = this.#header;
    const column = columnOf(this.#header, timeColumn);
    const date = this.text(record, timeColumn)?.trim();
    const clock = clockColumn < 0 ? '' : this.text(record, clockColumn)?.trim();
    if (date === undefined || clock === undefined) return notText(record, column);
    // Where no clock changes, the time of a value needs no text: a day has many.
    const timeMs = midnightMs + (clockMs ?? 0);
    if (this.#isUtc && isKnownTime(timeMs) && ISO_DATE.test(date)) return { timeMs, isNearChange: false };
    const isWhole = date !== '' && (clockColumn < 0 || clock !== '');
    const text =
      clockMs === undefined ? (clockColumn < 0 ? date : `${date} ${ofDay(clock)}`) : withClock(date, clockMs);
    const reading = isWhole ? this.#readTime(text) : { problem: 'is no time; every row needs one' };
    if ('timeMs' in reading) return reading;
    const { problem: reason, ...options } = reading;
    return { code: 'csv.time', column, text, reason, ...options };
  }

  /** The value in a column of a record; NaN if it is missing. */
  value(record: CsvRecord, columnIndex: number): number | RowProblem {
    const text = this.text(record, columnIndex)?.trim();
    const unit = this.#header.units[columnIndex];
    const number = text === undefined ? undefined : withoutUnit(text, unit);
    const value = number === undefined ? undefined : this.#readValue(number);
    const isOfUnit = unit === undefined || number !== text || Number.isNaN(value);
    if (value !== undefined && isOfUnit) return value;
    const column = columnOf(this.#header, columnIndex);
    if (text === undefined) return notText(record, column);
    if (unit !== undefined) {
      const reason = `is not a number with the unit ${unit}, which the first rows have; expected one unit in a column`;
      return { code: 'csv.number', column, text, reason };
    }
    const { dialect, values, layout } = this.#header;
    return { code: 'csv.number', column, text, ...numberFault(text, dialect, layout === 'wide' && values.length > 1) };
  }
}

const ISO_DATE = /^\d{4}-\d\d-\d\d$/;
const MINUTE_MS = 60_000;

// A day as written in the file, with a time of that day.
function withClock(date: string, clockMs: number): string {
  const minutes = Math.floor(clockMs / MINUTE_MS);
  const pair = (number: number): string => String(number).padStart(2, '0');
  return `${date} ${pair(Math.floor(minutes / 60))}:${pair(minutes % 60)}:${pair((clockMs / 1000) % 60)}`;
}

/** The problem of a row that cannot be split, or has another number of fields than the header. */
export function shapeProblem(record: CsvRecord, header: Header): RowProblem | undefined {
  if (record.fault !== undefined) return { code: 'csv.row', text: recordText(record), reason: record.fault };
  const expected = header.columns.length;
  if (record.fieldCount === expected) return undefined;
  const count = record.fieldCount === 1 ? 'one field' : `${record.fieldCount} fields`;
  const isComma = record.fieldCount > expected && String.fromCharCode(header.separator) === ',';
  const mend = isComma ? ' (a decimal comma, or a name with a comma that needs quotes?)' : '';
  const reason = `has ${count} where the header has ${expected}${mend}`;
  return { code: 'csv.row', text: recordText(record), reason };
}

export function columnOf(header: Header, index: number): CsvColumn {
  return { name: header.columns[index] ?? '', number: index + 1 };
}

export function notText(record: CsvRecord, column: CsvColumn): RowProblem {
  const { encoding } = record;
  const problem = { code: 'csv.binary', column, text: recordText(record) } as const;
  if (encoding !== 'utf-8') return { ...problem, reason: `is not text in ${encoding}` };
  const mend = 'say how the file is encoded with the option encoding (such as --encoding windows-1252)';
  const hint = { option: 'encoding', values: ['windows-1252'] };
  return { ...problem, reason: `is not UTF-8 text; ${mend}`, options: [hint] };
}

/** How many of `value[0..count)` are missing. */
export function countMissing(value: Float64Array, count: number): number {
  if (isAllFinite(value, 0, count)) return 0;
  let missing = 0;
  for (let i = 0; i < count; i++) if (Number.isNaN(value[i]!)) missing++;
  return missing;
}
