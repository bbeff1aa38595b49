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

/** Whether the times `from..to` of any column rise, starting above `beforeMs`; they are read in place. */
export function isRisingIn(timeMs: Float64Array, from: number, to: number, beforeMs: number): boolean {
  const simd = simdFor(timeMs, to - from);
  if (simd !== undefined) return simd.isRising(timeMs.byteOffset + 8 * from, to - from, beforeMs) === 1;
  let before = beforeMs;
  let i = from;
  for (; i + 3 < to; i += 4) {
    const t = timeMs[i]!;
    const u = timeMs[i + 1]!;
    const v = timeMs[i + 2]!;
    const w = timeMs[i + 3]!;
    if (!(t > before && u > t && v > u && w > v)) return false;
    before = w;
  }
  for (; i < to; i++) {
    const t = timeMs[i]!;
    if (!(t > before)) return false;
    before = t;
  }
  return true;
}

/** Whether the first `count` times rise, starting above `beforeMs`. */
export function isRising(timeMs: Float64Array, count: number, beforeMs: number): boolean {
  return isRisingIn(timeMs, 0, count, beforeMs);
}

/** Whether all of `value[from..to)` are finite: only then all times zero add up to 0. Four sums keep the adder busy. */
export function isAllFinite(value: Float64Array, from: number, to: number): boolean {
  const simd = simdFor(value, to - from);
  if (simd !== undefined) return simd.isAllFinite(value.byteOffset + 8 * from, to - from) === 1;
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let i = from;
  for (; i + 3 < to; i += 4) {
    a += value[i]! * 0;
    b += value[i + 1]! * 0;
    c += value[i + 2]! * 0;
    d += value[i + 3]! * 0;
  }
  for (; i < to; i++) a += value[i]! * 0;
  return a + b + c + d === 0;
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
