import { isKnownTime } from '../core/series.js';
import { simdFor } from './simd.js';

/** The checks that the engine makes on every chunk before it trusts it. */

/** The first index in `from..to` whose time does not rise above the one before (`beforeMs` at first), else `to`. */
export function firstNotRising(timeMs: Float64Array, from: number, to: number, beforeMs: number): number {
  let before = beforeMs;
  for (let i = from; i < to; i++) {
    const t = timeMs[i]!;
    if (!(t > before)) return i;
    before = t;
  }
  return to;
}

/** Whether the times `from..to` rise, starting above `beforeMs`. */
export function isRising(timeMs: Float64Array, from: number, to: number, beforeMs: number): boolean {
  const simd = simdFor(timeMs, to - from);
  if (simd !== undefined) return simd.isRising(timeMs.byteOffset + 8 * from, to - from, beforeMs) === 1;
  return firstNotRising(timeMs, from, to, beforeMs) === to;
}

/** Whether all of `value[from..to)` are finite, that is, whether x · 0 is 0 for each. */
export function isAllFinite(value: Float64Array, from: number, to: number): boolean {
  const simd = simdFor(value, to - from);
  if (simd !== undefined) return simd.isAllFinite(value.byteOffset + 8 * from, to - from) === 1;
  let bad = 0;
  for (let i = from; i < to; i++) bad += value[i]! * 0;
  return bad === 0;
}

/** Copies the samples with finite values to the out columns; returns their count. */
export function copyFinite(
  timeMs: Float64Array,
  value: Float64Array,
  count: number,
  outTimeMs: Float64Array,
  outValue: Float64Array,
): number {
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const x = value[i]!;
    outTimeMs[kept] = timeMs[i]!;
    outValue[kept] = x;
    kept += x - x === 0 ? 1 : 0;
  }
  return kept;
}

/** Whether the first `count` times of two columns are the same. */
export function isSameTimes(a: Float64Array, b: Float64Array, count: number): boolean {
  for (let i = 0; i < count; i++) {
    if (a[i] !== b[i]) return false;
  }
  return true;
}

/** Whether times rise from after an instant on. They lie within the known years if the first and the last do. */
export function areValidTimes(timeMs: Float64Array, count: number, afterMs: number): boolean {
  return isKnownTime(timeMs[0]!) && isKnownTime(timeMs[count - 1]!) && isRising(timeMs, 0, count, afterMs);
}
