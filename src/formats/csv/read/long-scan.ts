import type { FieldKind, FieldScanner } from '../../../kernels/scan-fields.js';
import type { LongChunk } from './by-series.js';
import { findPair, type NameTable, type Pairs } from './names.js';
import type { Clock } from './time.js';

/** What is known of a file in the long layout as far as parsing many rows at once needs it, and the current chunk. */
export interface ScannedLong {
  /** What each column holds. */
  readonly kinds: readonly FieldKind[];
  /** Undefined without WebAssembly and for too many columns. */
  readonly scanner: FieldScanner | undefined;
  readonly clock: Clock;
  readonly ids: NameTable;
  readonly metrics: NameTable;
  readonly pairs: Pairs;
  /** Rows of each series so far, and whether it is wanted (1) or not (0). */
  samples: Float64Array;
  isWanted: Uint8Array;
  readonly chunk: LongChunk;
  /** Rows in the chunk. */
  count: number;
  /** Rows taken so far, wanted or not. */
  taken: number;
}

/** Parses rows in WebAssembly until the chunk is full, and returns the place of the first row that it leaves. */
export function scanLong(state: ScannedLong, capacity: number, bytes: Uint8Array, from: number, stop: number): number {
  const { scanner, ids, metrics, clock } = state;
  if (scanner === undefined) return from;
  scanner.learn(ids, metrics);
  let at = from;
  while (at < stop && state.count < capacity) {
    const scanned = scanner.scan(bytes, at, stop, capacity - state.count, clock);
    const taken = keep(state, scanner, scanned);
    if (taken > 0) at = taken === scanned ? scanner.end : at + scanner.ends[taken - 1]!;
    if (taken === 0 || taken < scanned) break;
  }
  return at;
}

// Adds rows to the chunk, up to the first whose id and metric have not been seen together. Returns their count.
function keep(state: ScannedLong, { columns }: FieldScanner, rowCount: number): number {
  const { kinds, pairs, samples, isWanted, chunk, count } = state;
  const rowSeries = chunk.series;
  const ids = columns[kinds.indexOf('id')]!;
  const metrics = columns[kinds.indexOf('metric')];
  let row = 0;
  let wantedCount = 0;
  for (; row < rowCount; row++) {
    const index = findPair(pairs, ids[row]!, metrics === undefined ? 0 : metrics[row]!);
    if (index < 0) break;
    samples[index]!++;
    wantedCount += isWanted[index]!;
    rowSeries[count + row] = index;
  }
  chunk.timeMs.set(columns[kinds.indexOf('time')]!.subarray(0, row), count);
  chunk.value.set(columns[kinds.indexOf('number')]!.subarray(0, row), count);
  if (wantedCount < row) dropUnwanted(state, row);
  state.count += wantedCount;
  state.taken += row;
  return row;
}

// Moves the wanted ones of the rows behind the chunk's together.
function dropUnwanted({ chunk, isWanted, count }: ScannedLong, rowCount: number): void {
  const { timeMs, value, series } = chunk;
  let to = count;
  for (let row = count; row < count + rowCount; row++) {
    timeMs[to] = timeMs[row]!;
    value[to] = value[row]!;
    series[to] = series[row]!;
    to += isWanted[series[row]!]!;
  }
}
