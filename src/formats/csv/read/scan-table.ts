import { beginScan, scanned, scanRows } from '../../../kernels/scan-rows.js';
import { CARRIAGE_RETURN, LINE_FEED } from '../bytes.js';
import type { Clock } from './clock.js';
import { scanNumber } from './scan-number.js';
import { scanTime, TIME_REACH } from './scan-time.js';
import { skipField } from './skip-field.js';

// What a column holds, where it is not the number of a series.
export const TIME = -1;
export const UNWANTED = -2;

/** The rows of the single and the wide layout: what is known of the file, and the chunk at hand. */
export interface TableState {
  /** For each column the index of its value column, or TIME, or UNWANTED. */
  readonly slots: Int32Array;
  readonly separator: number;
  readonly clock: Clock;
  readonly timeMs: Float64Array;
  readonly values: readonly Float64Array[];
  /** Rows in the chunk. */
  count: number;
  /** How many rows to read one by one before many are tried at once. */
  patience: number;
}

export const PATIENCE_MIN = 1;
const PATIENCE_MAX = 4096;

/** The fast path of the single and the wide layout: see `Rows.scan`. */
export function scanTable(state: TableState, bytes: Uint8Array, view: DataView, from: number, stop: number): number {
  const { slots, values } = state;
  if (slots.length === 2 && slots[0] === TIME && slots[1] === 0) {
    return scanPairs(state, values[0]!, bytes, view, from, stop);
  }
  const { separator, clock, timeMs } = state;
  const lastColumn = slots.length - 1;
  const timeStop = bytes.length - TIME_REACH;
  let row = state.count;
  let rowStart = from;
  rows: while (rowStart < stop && row < timeMs.length) {
    let at = rowStart;
    for (let column = 0; ; column++) {
      const slot = slots[column]!;
      if (slot >= 0) at = scanNumber(bytes, at, separator, values[slot]!, row);
      else if (slot === UNWANTED) at = skipField(bytes, at, separator);
      else at = at > timeStop ? -1 : scanTime(bytes, view, at, clock, timeMs, row);
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

// A time and a number, the usual file: many rows at once in WebAssembly, and those that it leaves (a longer decimal, a
// missing value) one by one. Where it takes none, ever more are read one by one before it is asked again.
function scanPairs(
  state: TableState,
  value: Float64Array,
  bytes: Uint8Array,
  view: DataView,
  from: number,
  stop: number,
): number {
  const { separator, clock, timeMs } = state;
  const rowStop = Math.min(stop, bytes.length - TIME_REACH);
  const isUtc = clock.zone === undefined;
  let rowStart = from;
  beginScan();
  while (rowStart < stop && state.count < timeMs.length) {
    const taken = scanRows(bytes, rowStart, stop, separator, clock, isUtc, timeMs, value, state.count);
    state.count += taken;
    rowStart = scanned.end;
    state.patience = taken > 0 ? PATIENCE_MIN : Math.min(2 * state.patience, PATIENCE_MAX);
    const before = state.count;
    const rowLimit = Math.min(before + state.patience, timeMs.length);
    rowStart = scanEachPair(state, value, bytes, view, rowStart, rowStop, rowLimit);
    if (state.count < rowLimit) break;
  }
  return rowStart;
}

function scanEachPair(
  state: TableState,
  value: Float64Array,
  bytes: Uint8Array,
  view: DataView,
  from: number,
  rowStop: number,
  rowLimit: number,
): number {
  const { separator, clock, timeMs } = state;
  let row = state.count;
  let rowStart = from;
  while (rowStart < rowStop && row < rowLimit) {
    const timeEnd = scanTime(bytes, view, rowStart, clock, timeMs, row);
    if (timeEnd < 0 || bytes[timeEnd] !== separator) break;
    let at = scanNumber(bytes, timeEnd + 1, separator, value, row);
    if (at < 0) break;
    if (bytes[at] === CARRIAGE_RETURN) at++;
    if (bytes[at] !== LINE_FEED) break;
    rowStart = at + 1;
    row++;
  }
  state.count = row;
  return rowStart;
}
