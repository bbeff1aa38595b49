import type { Chunk } from '../core/chunk.js';
import { copyInto } from './columns.js';
import { firstAfter } from './search.js';
import { doneBy, simdFor } from './simd.js';

/**
 * Copies to `out` the samples that lie in any of the ranges (`isInside` true) or in none of them (false).
 *
 * @param ranges the columns of closed value ranges and of half-open time ranges: the lower bounds in order, and for
 * each the highest upper bound so far. So of all ranges that begin no later than a number, one holds it if that is as
 * high.
 */
export function selectRanges(ranges: readonly Float64Array[], isInside: boolean, chunk: Chunk, out: Chunk): void {
  const [lower, upper, startMs, endMs] = ranges as [Float64Array, Float64Array, Float64Array, Float64Array];
  const { timeMs, value, count } = chunk;
  if (startMs.length < 1 && lower.length < 2) {
    selectRange(lower[0]!, upper[0]!, isInside, chunk, out);
    return;
  }
  let kept = 0;
  let begun = 0;
  for (let i = 0; i < count; i++) {
    const t = timeMs[i]!;
    const x = value[i]!;
    // Beyond the last, and before the first, there is no bound.
    while (startMs[begun]! <= t) begun++;
    const isFound = endMs[begun - 1]! > t || upper[firstAfter(lower, 0, lower.length, x) - 1]! >= x;
    out.timeMs[kept] = t;
    out.value[kept] = x;
    kept += +(isFound === isInside);
  }
  out.count = kept;
}

/** Like `selectRanges`, for a single value range, which is the usual case. */
export function selectRange(lower: number, upper: number, isInside: boolean, chunk: Chunk, out: Chunk): void {
  const { timeMs, value, count } = chunk;
  const outTimeMs = out.timeMs;
  const outValue = out.value;
  const isCounting = outValue.length === 0;
  const simd = isCounting ? simdFor(value, count) : simdFor(outTimeMs, count, value, outValue);
  const from = doneBy(simd, count);
  let kept = 0;
  if (simd !== undefined && isCounting) {
    const inside = simd.countRange(value.byteOffset, count, lower, upper);
    kept = isInside ? inside : from - inside;
  } else if (simd !== undefined) {
    // The kernel needs all columns in one memory, so other times are copied first.
    const isHere = timeMs.buffer === value.buffer;
    if (!isHere) copyInto(outTimeMs, timeMs, count);
    const times = (isHere ? timeMs : outTimeMs).byteOffset;
    const { byteOffset } = outTimeMs;
    const inside = isInside ? 1 : 0;
    kept = simd.keepRange(times, value.byteOffset, count, lower, upper, inside, byteOffset, outValue.byteOffset);
  }
  for (let i = from; i < count; i++) {
    const x = value[i]!;
    outTimeMs[kept] = timeMs[i]!;
    outValue[kept] = x;
    // Arithmetic instead of a branch, which would be mispredicted: which samples stay is as good as random.
    kept += +((x >= lower && x <= upper) === isInside);
  }
  out.count = kept;
}
