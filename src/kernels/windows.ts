import { DoubleList } from '../core/list.js';
import type { Columns } from '../core/series.js';
import { meanOf, sumOf } from './exact/results.js';
import { addAll, clearSum, SUM_SLOTS } from './exact/sums.js';
import { firstAtOrAfterGuess } from './search.js';
import { simdFor } from './simd.js';

/**
 * Windows of one length that begin and end within a chunk. Window w holds the samples `borders[w]` to `borders[w + 1]`
 * (exclusive), so `borders[0]` is where the first one begins. `borders` is that of the arena (`Arena.borders`).
 */

/**
 * Adds consecutive windows from the sample `borders[windowCount]` on, the first of which begins at `startMs`, until one
 * reaches the end of the chunk or the next sample lies beyond the next window. Their starts go to `startsMs`.
 *
 * @returns how many windows there are now.
 */
export function findWindows(
  timeMs: Float64Array,
  count: number,
  startMs: number,
  lengthMs: number,
  borders: Uint32Array,
  windowCount: number,
  startsMs: Float64Array,
): number {
  const simd = simdFor(timeMs, count, startsMs);
  if (simd !== undefined) {
    const { byteOffset } = startsMs;
    return simd.findWindows(timeMs.byteOffset, count, startMs, lengthMs, borders.byteOffset, windowCount, byteOffset);
  }
  let from = borders[windowCount]!;
  let start = startMs;
  let found = windowCount;
  let length = 0;
  for (;;) {
    const to = firstAtOrAfterGuess(timeMs, from, count, start + lengthMs, length);
    if (to === count) return found;
    startsMs[found] = start;
    borders[++found] = to;
    length = to - from;
    from = to;
    start += lengthMs;
    if (!(timeMs[to]! < start + lengthMs)) return found;
  }
}

/** Writes the exact sum of each window's values or, with `isMean`, their mean, rounded once, to `results`. */
export function sumWindows(
  value: Float64Array,
  borders: Uint32Array,
  windowCount: number,
  isMean: boolean,
  results: Float64Array,
): void {
  const simd = simdFor(value, borders[windowCount]! - borders[0]!, results);
  simd?.sumWindows(value.byteOffset, borders.byteOffset, windowCount, isMean ? 1 : 0, results.byteOffset);
  const slots = new Float64Array(SUM_SLOTS);
  const wide = new DoubleList();
  for (let w = 0; w < windowCount; w++) {
    // The kernel leaves NaN if two doubles do not hold the sum, or do not decide how to round.
    if (simd !== undefined && Number.isFinite(results[w]!)) continue;
    const from = borders[w]!;
    const to = borders[w + 1]!;
    clearSum(slots, 0, wide);
    addAll(slots, 0, wide, value, from, to);
    results[w] = isMean ? meanOf(slots, 0, wide, to - from) : sumOf(slots, 0, wide);
  }
}

/** Windows that `findWindows` has found. */
export interface FoundWindows {
  readonly borders: Uint32Array;
  readonly windowCount: number;
  readonly startsMs: Float64Array;
  readonly lengthMs: number;
}

/**
 * Writes Σ(value·length) of each window (shorter than 2^31 ms), divided by `divisorMs` (below 2^31) or, if that is
 * 0, by Σ(length), and rounded once. A value is held to the next sample, to the end of its window, or for `maxHoldMs`
 * (a whole number or infinite). A sample must come before the first window. The result is NaN where the caller has to
 * find it: if nothing is known in the window, a length is 2^26 or more, a time is not whole milliseconds, two doubles
 * do not hold the sum or decide how to round, or there is no WebAssembly SIMD.
 */
export function holdWindows(
  { timeMs, value }: Columns,
  { borders, windowCount, startsMs, lengthMs }: FoundWindows,
  maxHoldMs: number,
  divisorMs: number,
  results: Float64Array,
): void {
  const simd = timeMs.buffer === value.buffer ? simdFor(value, borders[windowCount]!, startsMs, results) : undefined;
  if (simd === undefined) results.fill(Number.NaN, 0, windowCount);
  simd?.holdWindows(
    timeMs.byteOffset,
    value.byteOffset,
    borders.byteOffset,
    windowCount,
    startsMs.byteOffset,
    lengthMs,
    maxHoldMs,
    divisorMs,
    results.byteOffset,
  );
}
