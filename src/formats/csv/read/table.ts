import type { Series, SeriesReference } from '../../../core/series.js';
import { FieldScanner } from '../../../kernels/scan-fields.js';
import { beginScan } from '../../../kernels/scan-input.js';
import { scanColumns } from '../../../kernels/scan-pairs.js';
import { CARRIAGE_RETURN, LINE_FEED, skipField } from '../bytes.js';
import type { RowProblem } from '../errors.js';
import { CHUNK_ROWS, rowsInChunk } from './limits.js';
import { parseNumber } from './number.js';
import type { CsvRecord } from './record.js';
import { FieldReader, type Rows, type RowsSettings, shapeProblem, slowRowsAfter } from './rows.js';
import { kindOf, type ScannedTable, scanTable, TIME, UNWANTED } from './table-scan.js';
import { createClock, parseTime, TIME_REACH } from './time.js';

/** A series of a table: one column of the file. */
export interface TableSeries extends SeriesReference {
  /** Index of the column. */
  readonly column: number;
  readonly isWanted: boolean;
}

/** Rows of the single and the wide layout: a time, and a value for each series. */
export function createTableRows(
  settings: RowsSettings,
  series: readonly TableSeries[],
  notes: readonly string[],
): Rows {
  const { header, zone, onChunk, onRows, repeatedHours, cellsMax } = settings;
  const fields = new FieldReader(header, zone);
  const kept = series.filter((entry) => entry.isWanted);
  const chunkRows = rowsInChunk(settings.chunkRows ?? CHUNK_ROWS, cellsMax, kept.length);
  const state = createState(settings, chunkRows, kept);
  const { timeMs, values } = state;
  let nearChange: number[] = [];
  let handedOver = 0;

  function take(record: CsvRecord): RowProblem | undefined {
    const row = state.count;
    const problem = shapeProblem(record, header);
    if (problem !== undefined) return problem;
    const time = fields.time(record);
    if ('code' in time) return time;
    for (let slot = 0; slot < kept.length; slot++) {
      const value = fields.value(record, kept[slot]!.column);
      if (typeof value !== 'number') return value;
      values[slot]![row] = value;
    }
    countMissing(state, row, row + 1);
    timeMs[row] = time.isNearChange ? (repeatedHours?.settle(0, time.timeMs) ?? time.timeMs) : time.timeMs;
    if (time.isNearChange) nearChange.push(row);
    state.count++;
    return undefined;
  }

  function flush(): void {
    const rowCount = state.count;
    if (rowCount === 0) return;
    handedOver += rowCount;
    state.count = 0;
    const near = nearChange;
    nearChange = [];
    if (kept.length === 0) return;
    const times = timeMs.subarray(0, rowCount);
    if (onRows !== undefined) {
      const columns = values.map((value) => value.subarray(0, rowCount));
      onRows({ timeMs: times, values: columns, series: undefined, nearChange: near });
      return;
    }
    onChunk(
      kept.map(({ timeseriesId, metric }, slot): Series => {
        return { timeseriesId, metric, timeMs: times, value: values[slot]!.subarray(0, rowCount) };
      }),
    );
  }

  const taken = (): number => handedOver + state.count;
  return {
    notes,
    taken,
    isFull: () => state.count === chunkRows,
    parse: (bytes, view, at, stop) => (header.isPlain ? parseTable(state, bytes, view, at, stop) : at),
    take,
    flush,
    missing: () => state.missing,
    series: () => series.map(({ timeseriesId, metric }) => ({ timeseriesId, metric, samples: taken() })),
    relay: (next) => fields.relay(next),
  };
}

function createState(
  { header, zone, isAlone }: RowsSettings,
  chunkRows: number,
  kept: readonly TableSeries[],
): TableState {
  const slots = new Int32Array(header.columns.length).fill(UNWANTED);
  slots[header.timeColumn] = TIME;
  kept.forEach(({ column }, slot) => {
    slots[column] = slot;
  });
  const columns = isAlone && kept.length === 1 ? scanColumns(chunkRows) : undefined;
  // One array for all columns: thousands of arrays would take ten times as long to create.
  const room = new Float64Array(columns === undefined ? chunkRows * kept.length : 0);
  const columnOf = (slot: number): Float64Array => room.subarray(slot * chunkRows, (slot + 1) * chunkRows);
  const isPairs = slots.length === 2 && slots[0] === TIME && slots[1] === 0;
  return {
    slots,
    isPairs,
    separator: header.separator,
    clock: createClock(zone),
    timeMs: columns?.timeMs ?? new Float64Array(chunkRows),
    values: columns === undefined ? kept.map((_, slot) => columnOf(slot)) : [columns.value],
    count: 0,
    missing: 0,
    slowRows: 1,
    pairsSlowRows: 1,
    fieldRows: 0,
    scanner: FieldScanner.open([...slots].map(kindOf), header.separator),
  };
}

/** What is known of a file in the single or the wide layout, and the current chunk. */
interface TableState extends ScannedTable {
  /** How many rows to read one by one before trying many at once again. */
  slowRows: number;
}

/** The fast path of the single and the wide layout: see `Rows.parse`. */
function parseTable(state: TableState, bytes: Uint8Array, view: DataView, from: number, stop: number): number {
  const { isPairs, values, timeMs } = state;
  let rowStart = from;
  beginScan();
  // Many rows at once are parsed in WebAssembly; those that it leaves (a fraction of a millisecond, say) one by one. As
  // long as it takes none, ever more are read one by one before it tries again.
  while (rowStart < stop && state.count < timeMs.length) {
    const scanFrom = rowStart;
    rowStart = scanTable(state, bytes, rowStart, stop);
    state.slowRows = slowRowsAfter(rowStart > scanFrom, state.slowRows);
    const before = state.count;
    const rowLimit = Math.min(before + state.slowRows, timeMs.length);
    rowStart = isPairs
      ? parseEachPair(state, values[0]!, bytes, view, rowStart, stop, rowLimit)
      : parseEach(state, bytes, view, rowStart, stop, rowLimit);
    countMissing(state, before, state.count);
    if (state.count < rowLimit) break;
  }
  return rowStart;
}

function countMissing(state: TableState, from: number, to: number): void {
  for (const value of state.values) {
    for (let row = from; row < to; row++) if (Number.isNaN(value[row]!)) state.missing++;
  }
}

function parseEach(
  state: TableState,
  bytes: Uint8Array,
  view: DataView,
  from: number,
  stop: number,
  rowLimit: number,
): number {
  const { slots, separator, clock, timeMs, values } = state;
  const lastColumn = slots.length - 1;
  const timeStop = bytes.length - TIME_REACH;
  let row = state.count;
  let rowStart = from;
  rows: while (rowStart < stop && row < rowLimit) {
    let at = rowStart;
    for (let column = 0; ; column++) {
      const slot = slots[column]!;
      if (slot >= 0) at = parseNumber(bytes, at, separator, values[slot]!, row);
      else if (slot === UNWANTED) at = skipField(bytes, at, separator);
      else at = at > timeStop ? -1 : parseTime(bytes, view, at, clock, timeMs, row);
      if (at < 0) break rows;
      if (column === lastColumn) break;
      if (bytes[at] !== separator) break rows;
      at++;
    }
    if (bytes[at] === CARRIAGE_RETURN) at++;
    if (bytes[at] !== LINE_FEED) break;
    rowStart = at + 1;
    row++;
  }
  state.count = row;
  return rowStart;
}

function parseEachPair(
  state: TableState,
  value: Float64Array,
  bytes: Uint8Array,
  view: DataView,
  from: number,
  stop: number,
  rowLimit: number,
): number {
  const { separator, clock, timeMs } = state;
  const rowStop = Math.min(stop, bytes.length - TIME_REACH);
  let row = state.count;
  let rowStart = from;
  while (rowStart < rowStop && row < rowLimit) {
    const timeEnd = parseTime(bytes, view, rowStart, clock, timeMs, row);
    if (timeEnd < 0 || bytes[timeEnd] !== separator) break;
    let at = parseNumber(bytes, timeEnd + 1, separator, value, row);
    if (at < 0) break;
    if (bytes[at] === CARRIAGE_RETURN) at++;
    if (bytes[at] !== LINE_FEED) break;
    rowStart = at + 1;
    row++;
  }
  state.count = row;
  return rowStart;
}
