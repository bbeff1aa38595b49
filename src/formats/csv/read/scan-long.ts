import { CARRIAGE_RETURN, LINE_FEED } from '../bytes.js';
import type { LongChunk, LongSeries } from './by-series.js';
import type { Clock } from './clock.js';
import type { Header } from './header.js';
import { findName, type NameBook } from './names.js';
import { findPair, type Pairs } from './pairs.js';
import { scanNumber } from './scan-number.js';
import { scanTime, TIME_REACH } from './scan-time.js';
import { skipField } from './skip-field.js';

// What a column of the long layout holds.
const UNKNOWN = 0;
const TIME = 1;
const ID = 2;
const METRIC = 3;
const VALUE = 4;

/** The rows of the long layout: what is known of the file, and the chunk at hand. */
export interface LongState {
  readonly roles: Uint8Array;
  readonly separator: number;
  readonly clock: Clock;
  readonly ids: NameBook;
  readonly metrics: NameBook;
  readonly pairs: Pairs;
  readonly series: LongSeries[];
  readonly chunk: LongChunk;
  /** Rows in the chunk. */
  count: number;
  /** Rows taken so far, wanted or not. */
  taken: number;
}

export function rolesOf({ columns, timeColumn, idColumn, metricColumn, valueColumn }: Header): Uint8Array {
  const roles = new Uint8Array(columns.length).fill(UNKNOWN);
  roles[timeColumn] = TIME;
  roles[idColumn] = ID;
  roles[valueColumn] = VALUE;
  if (metricColumn >= 0) roles[metricColumn] = METRIC;
  return roles;
}

/** The fast path of the long layout: see `Rows.scan`. */
export function scanLong(state: LongState, bytes: Uint8Array, view: DataView, from: number, stop: number): number {
  const { roles, separator, clock, ids, metrics, pairs, series } = state;
  const { timeMs, value, series: rowSeries } = state.chunk;
  const capacity = timeMs.length;
  const lastColumn = roles.length - 1;
  const timeStop = bytes.length - TIME_REACH;
  let count = state.count;
  let taken = 0;
  let rowStart = from;
  rows: while (rowStart < stop && count < capacity) {
    let at = rowStart;
    let id = 0;
    let metric = 0;
    for (let column = 0; ; column++) {
      const role = roles[column]!;
      if (role === TIME) {
        at = at > timeStop ? -1 : scanTime(bytes, view, at, clock, timeMs, count);
      } else if (role === VALUE) {
        at = scanNumber(bytes, at, separator, value, count);
      } else if (role === ID) {
        id = findName(ids, bytes, at, separator);
        at = id < 0 ? -1 : ids.end;
      } else if (role === METRIC) {
        metric = findName(metrics, bytes, at, separator);
        at = metric < 0 ? -1 : metrics.end;
      } else at = skipField(bytes, at, separator);
      if (at < 0) break rows;
      if (column === lastColumn) break;
      if (bytes[at] !== separator) break rows;
      at++;
    }
    if (bytes[at] === CARRIAGE_RETURN) at++;
    const index = bytes[at] === LINE_FEED ? findPair(pairs, id, metric) : -1;
    if (index < 0) break;
    const entry = series[index]!;
    entry.samples++;
    taken++;
    if (entry.isWanted) rowSeries[count++] = index;
    rowStart = at + 1;
  }
  state.count = count;
  state.taken += taken;
  return rowStart;
}
