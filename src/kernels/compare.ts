import { lossOf } from './exact/sums.js';
import { doneBy, simdFor } from './simd.js';

/**
 * Comparisons and logic over columns. Results are 1 or 0, so always finite; they go to `out`, which may be the column
 * of `value` or `left`. Where the comparison holds the result is `yes` (1 or 0), elsewhere 1 − `yes`: as all values are
 * finite, "at most" is "not greater".
 */

/** Writes `yes` where the comparison holds, and otherwise 1 − `yes`. */
export type ScalarComparison = (value: Column, count: number, scalar: number, out: Column, yes: 0 | 1) => true;
/** Writes `yes` where the comparison holds, and otherwise 1 − `yes`. */
export type VectorComparison = (left: Column, right: Column, count: number, out: Column, yes: 0 | 1) => true;

type Column = Float64Array;

export function eqScalar(value: Column, count: number, scalar: number, out: Column, yes: 0 | 1): true {
  return nearScalar(value, count, scalar, 0, out, yes);
}

export function ltScalar(value: Column, count: number, scalar: number, out: Column, yes: 0 | 1): true {
  const simd = simdFor(value, count, out);
  simd?.ltScalar(value.byteOffset, count, scalar, out.byteOffset, yes);
  for (let i = doneBy(simd, count); i < count; i++) out[i] = value[i]! < scalar ? yes : 1 - yes;
  return true;
}

export function gtScalar(value: Column, count: number, scalar: number, out: Column, yes: 0 | 1): true {
  const simd = simdFor(value, count, out);
  simd?.gtScalar(value.byteOffset, count, scalar, out.byteOffset, yes);
  for (let i = doneBy(simd, count); i < count; i++) out[i] = value[i]! > scalar ? yes : 1 - yes;
  return true;
}

/** |value − scalar| ≤ tolerance. */
export function nearScalar(
  value: Column,
  count: number,
  scalar: number,
  tolerance: number,
  out: Column,
  yes: 0 | 1,
): true {
  const simd = simdFor(value, count, out);
  simd?.nearScalar(value.byteOffset, count, scalar, tolerance, out.byteOffset, yes);
  for (let i = doneBy(simd, count); i < count; i++) out[i] = isNear(value[i]!, scalar, tolerance) ? yes : 1 - yes;
  return true;
}

export function eq(left: Column, right: Column, count: number, out: Column, yes: 0 | 1): true {
  return near(left, right, count, 0, out, yes);
}

export function lt(left: Column, right: Column, count: number, out: Column, yes: 0 | 1): true {
  const simd = simdFor(left, count, out, right);
  simd?.lt(left.byteOffset, right.byteOffset, count, out.byteOffset, yes);
  for (let i = doneBy(simd, count); i < count; i++) out[i] = left[i]! < right[i]! ? yes : 1 - yes;
  return true;
}

export function gt(left: Column, right: Column, count: number, out: Column, yes: 0 | 1): true {
  return lt(right, left, count, out, yes);
}

/** |left − right| ≤ tolerance. */
export function near(left: Column, right: Column, count: number, tolerance: number, out: Column, yes: 0 | 1): true {
  const simd = simdFor(left, count, out, right);
  simd?.near(left.byteOffset, right.byteOffset, count, tolerance, out.byteOffset, yes);
  for (let i = doneBy(simd, count); i < count; i++) out[i] = isNear(left[i]!, right[i]!, tolerance) ? yes : 1 - yes;
  return true;
}

// Decided by the exact difference: if the rounded one equals the tolerance, the rounding error decides.
function isNear(a: number, b: number, tolerance: number): boolean {
  const difference = a - b;
  const size = Math.abs(difference);
  if (size !== tolerance) return size < tolerance;
  const cut = lossOf(a, -b, difference);
  return difference < 0 ? cut >= 0 : cut <= 0;
}

/** Zero becomes 1, anything else 0. */
export function not(value: Column, count: number, out: Column): true {
  return eqScalar(value, count, 0, out, 1);
}

export function and(left: Column, right: Column, count: number, out: Column): true {
  const simd = simdFor(left, count, out, right);
  simd?.and(left.byteOffset, right.byteOffset, count, out.byteOffset, 1);
  for (let i = doneBy(simd, count); i < count; i++) out[i] = left[i]! !== 0 && right[i]! !== 0 ? 1 : 0;
  return true;
}

export function or(left: Column, right: Column, count: number, out: Column): true {
  const simd = simdFor(left, count, out, right);
  simd?.and(left.byteOffset, right.byteOffset, count, out.byteOffset, 0);
  for (let i = doneBy(simd, count); i < count; i++) out[i] = left[i]! !== 0 || right[i]! !== 0 ? 1 : 0;
  return true;
}
