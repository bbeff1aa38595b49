import { firstAtOrAfterGuess } from './search.js';
import { simdFor } from './simd.js';
import { sumInto } from './sum.js';

/**
 * Windows of one length that begin and end within a chunk. Window w holds the samples `borders[w]..borders[w + 1]`, so
 * `borders[0]` is where the first one begins; `borders` is the arena's own (`Arena.borders`).
 */

/**
 * Adds the windows that follow each other from the sample `borders[windowCount]` on, the first of which begins at
 * `startMs`: until one reaches the end of the chunk, or the next sample lies beyond the next window. Their starts go to
 * `startsMs`.
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

/** Writes the compensated sums of the windows' values, as `sumInto` computes them, to `sums`. */
export function sumWindows(value: Float64Array, borders: Uint32Array, windowCount: number, sums: Float64Array): void {
  const simd = simdFor(value, borders[windowCount]! - borders[0]!, sums);
  simd?.sumWindows(value.byteOffset, borders.byteOffset, windowCount, sums.byteOffset);
  const slots = new Float64Array(2);
  for (let w = 0; w < windowCount; w++) {
    // Near the largest double the kernel can overflow on the way even if the sum does not.
    if (simd !== undefined && Number.isFinite(sums[w]!)) continue;
    slots.fill(0);
    sumInto(slots, 0, value, borders[w]!, borders[w + 1]!);
    sums[w] = slots[0]! + slots[1]!;
  }
}

/** Divides the sum of each window by how many samples it has. */
export function sumsToMeans(sums: Float64Array, borders: Uint32Array, windowCount: number): void {
  const simd = simdFor(sums, windowCount);
  if (simd !== undefined) simd.sumsToMeans(sums.byteOffset, borders.byteOffset, windowCount);
  else for (let w = 0; w < windowCount; w++) sums[w] = sums[w]! / (borders[w + 1]! - borders[w]!);
}
