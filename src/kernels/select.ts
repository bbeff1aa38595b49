import type { Chunk } from '../core/chunk.js';

/** Closed value ranges and half-open time ranges as columns of bounds. */
export interface Ranges {
  readonly lower: Float64Array;
  readonly upper: Float64Array;
  readonly startMs: Float64Array;
  readonly endMs: Float64Array;
}

/** Copies to `out` the samples that lie in any of the ranges (`isInside` true) or in none of them (false). */
export function selectRanges(ranges: Ranges, isInside: boolean, chunk: Chunk, out: Chunk): void {
  const { lower, upper, startMs, endMs } = ranges;
  const { timeMs, value, count } = chunk;
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const t = timeMs[i]!;
    const x = value[i]!;
    let isFound = false;
    for (let r = 0; r < lower.length && !isFound; r++) isFound = x >= lower[r]! && x <= upper[r]!;
    for (let r = 0; r < startMs.length && !isFound; r++) isFound = t >= startMs[r]! && t < endMs[r]!;
    out.timeMs[kept] = t;
    out.value[kept] = x;
    kept += isFound === isInside ? 1 : 0;
  }
  out.count = kept;
}

/** Copies to `out` the samples whose values lie outside `[lower, upper]`. */
export function selectOutside(lower: number, upper: number, chunk: Chunk, out: Chunk): void {
  const { timeMs, value, count } = chunk;
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const x = value[i]!;
    out.timeMs[kept] = timeMs[i]!;
    out.value[kept] = x;
    kept += x < lower || x > upper ? 1 : 0;
  }
  out.count = kept;
}
