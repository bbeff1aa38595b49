import type { Zone } from '../../../core/zone.js';
import { isAllFinite } from '../../../kernels/check.js';
import type { CsvColumn, RowProblem } from '../errors.js';
import type { CsvSeriesCount, OnChunk } from '../options.js';
import type { Header } from './header.js';
import { type CsvRecord, fieldText, recordText } from './record.js';
import { numberFault, readNumber, readTime } from './text.js';

/** The rows of one layout on their way from bytes to series. */
export interface Rows {
  /** Rows taken so far, wanted or not. */
  taken(): number;
  isFull(): boolean;
  /**
   * The fast path: takes rows of the usual form from `at` on, and gives the place of the first row that it leaves
   * to `take`. A line feed lies before `stop`, and at it the last row ends.
   */
  parse(bytes: Uint8Array, view: DataView, at: number, stop: number): number;
  /** The general path: takes any row, or tells what is wrong with it. */
  take(record: CsvRecord): RowProblem | undefined;
  /** Hands over what is there. */
  flush(): void;
  /** Missing values handed over so far. */
  missing(): number;
  series(): CsvSeriesCount[];
}

/** Rows in the order of the file, as views that are valid during the call alone. */
export interface ColumnRows {
  readonly timeMs: Float64Array;
  /** A column for each wanted series of a table, the one of values in the long layout. */
  readonly values: readonly Float64Array[];
  /** In the long layout the series of each row, by its place in the reader's list. */
  readonly series: Int32Array | undefined;
}

/** What rows of every layout need. */
export interface RowsSettings {
  readonly header: Header;
  readonly zone: Zone | undefined;
  readonly chunkRows: number;
  readonly onChunk: OnChunk;
  /** Takes the rows of a chunk instead, in the order of the file. */
  readonly onRows: ((rows: ColumnRows) => void) | undefined;
  /** Whether no other reader is at work in the process, so that chunks may lie in the kernels' one memory. */
  readonly isAlone: boolean;
  /** The most series of the long layout. */
  readonly seriesMax: number;
  /** The most values of the wide layout that are held at once. */
  readonly cellsMax: number;
}

/** A row that cannot be taken apart, or has not the fields of the header. */
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

/** Reads the time of a record into `out[index]`. */
export function takeTime(
  record: CsvRecord,
  header: Header,
  zone: Zone | undefined,
  out: Float64Array,
  index: number,
): RowProblem | undefined {
  const column = columnOf(header, header.timeColumn);
  const text = fieldText(record, header.timeColumn)?.trim();
  if (text === undefined) return notText(record, column);
  const reading = readTime(text, zone);
  if ('timeMs' in reading) {
    out[index] = reading.timeMs;
    return undefined;
  }
  const reason = text === '' ? 'is no time; every row needs one' : reading.problem;
  return { code: 'csv.time', column, text, reason };
}

/** Reads the value in a column of a record into `out[index]`. */
export function takeNumber(
  record: CsvRecord,
  header: Header,
  columnIndex: number,
  out: Float64Array,
  index: number,
): RowProblem | undefined {
  const text = fieldText(record, columnIndex)?.trim();
  const value = text === undefined ? undefined : readNumber(text);
  if (value !== undefined) {
    out[index] = value;
    return undefined;
  }
  const column = columnOf(header, columnIndex);
  if (text === undefined) return notText(record, column);
  return { code: 'csv.number', column, text, reason: numberFault(text) };
}

export function columnOf(header: Header, index: number): CsvColumn {
  return { name: header.columns[index] ?? '', number: index + 1 };
}

export function notText(record: CsvRecord, column: CsvColumn): RowProblem {
  return { code: 'csv.binary', column, text: recordText(record), reason: 'is not UTF-8 text; save the file as UTF-8' };
}

/** How many of `value[0..count)` are missing. */
export function countMissing(value: Float64Array, count: number): number {
  if (isAllFinite(value, 0, count)) return 0;
  let missing = 0;
  for (let i = 0; i < count; i++) if (Number.isNaN(value[i]!)) missing++;
  return missing;
}
