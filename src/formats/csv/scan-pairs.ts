import { CARRIAGE_RETURN, LINE_FEED } from './bytes.js';
import type { Clock } from './clock.js';
import { scanNumber } from './scan-number.js';
import { scanTime, TIME_REACH } from './scan-time.js';

/** Where the next row goes. */
export interface Cursor {
  row: number;
}

/**
 * Rows of a time and a number, the usual file, in a loop of their own: it is what the reading of such a file costs.
 * Gives the place of the first row that it leaves, or for which there is no room.
 */
export function scanPairs(
  bytes: Uint8Array,
  view: DataView,
  from: number,
  stop: number,
  separator: number,
  clock: Clock,
  timeMs: Float64Array,
  value: Float64Array,
  cursor: Cursor,
): number {
  const rowStop = Math.min(stop, bytes.length - TIME_REACH);
  const capacity = timeMs.length;
  let row = cursor.row;
  let rowStart = from;
  while (rowStart < rowStop && row < capacity) {
    const timeEnd = scanTime(bytes, view, rowStart, clock, timeMs, row);
    if (timeEnd < 0 || bytes[timeEnd] !== separator) break;
    let at = scanNumber(bytes, timeEnd + 1, separator, value, row);
    if (at < 0) break;
    if (bytes[at] === CARRIAGE_RETURN) at++;
    if (bytes[at] !== LINE_FEED) break;
    rowStart = at + 1;
    row++;
  }
  cursor.row = row;
  return rowStart;
}
