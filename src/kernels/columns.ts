import { firstAtOrAfter } from './search.js';

/** Copies the first `count` entries. Creating a view pays only for many. */
export function copyInto(target: Float64Array, source: Float64Array, count: number): void {
  if (count < 32) for (let i = 0; i < count; i++) target[i] = source[i]!;
  else target.set(source.length === count ? source : source.subarray(0, count));
}

/** Replaces a time of -0 by 0 among the first `count` times, which must rise. Returns whether there was one. */
export function clearZeroSign(timeMs: Float64Array, count: number): boolean {
  if (count === 0 || timeMs[0]! > 0 || timeMs[count - 1]! < 0) return false;
  const at = firstAtOrAfter(timeMs, 0, count, 0);
  if (!Object.is(timeMs[at], -0)) return false;
  timeMs[at] = 0;
  return true;
}
