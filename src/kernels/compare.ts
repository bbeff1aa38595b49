import { simdFor } from './simd.js';

/** Comparisons and logic over columns, in place: results are 1 (true) or 0 (false), so always finite. */

export function eqScalar(value: Float64Array, count: number, scalar: number): true {
  const simd = simdFor(value, count);
  if (simd !== undefined) simd.eqScalar(value.byteOffset, count, scalar);
  else for (let i = 0; i < count; i++) value[i] = value[i]! === scalar ? 1 : 0;
  return true;
}

export function neScalar(value: Float64Array, count: number, scalar: number): true {
  const simd = simdFor(value, count);
  if (simd !== undefined) simd.neScalar(value.byteOffset, count, scalar);
  else for (let i = 0; i < count; i++) value[i] = value[i]! !== scalar ? 1 : 0;
  return true;
}

export function lteScalar(value: Float64Array, count: number, scalar: number): true {
  const simd = simdFor(value, count);
  if (simd !== undefined) simd.lteScalar(value.byteOffset, count, scalar);
  else for (let i = 0; i < count; i++) value[i] = value[i]! <= scalar ? 1 : 0;
  return true;
}

export function ltScalar(value: Float64Array, count: number, scalar: number): true {
  const simd = simdFor(value, count);
  if (simd !== undefined) simd.ltScalar(value.byteOffset, count, scalar);
  else for (let i = 0; i < count; i++) value[i] = value[i]! < scalar ? 1 : 0;
  return true;
}

export function gtScalar(value: Float64Array, count: number, scalar: number): true {
  const simd = simdFor(value, count);
  if (simd !== undefined) simd.gtScalar(value.byteOffset, count, scalar);
  else for (let i = 0; i < count; i++) value[i] = value[i]! > scalar ? 1 : 0;
  return true;
}

export function gteScalar(value: Float64Array, count: number, scalar: number): true {
  const simd = simdFor(value, count);
  if (simd !== undefined) simd.gteScalar(value.byteOffset, count, scalar);
  else for (let i = 0; i < count; i++) value[i] = value[i]! >= scalar ? 1 : 0;
  return true;
}

/** |value − scalar| ≤ tolerance. */
export function nearScalar(value: Float64Array, count: number, scalar: number, tolerance: number): true {
  const simd = simdFor(value, count);
  if (simd !== undefined) simd.nearScalar(value.byteOffset, count, scalar, tolerance);
  else for (let i = 0; i < count; i++) value[i] = Math.abs(value[i]! - scalar) <= tolerance ? 1 : 0;
  return true;
}

export function eq(left: Float64Array, right: Float64Array, count: number): true {
  const simd = simdFor(left, count, right);
  if (simd !== undefined) simd.eq(left.byteOffset, right.byteOffset, count);
  else for (let i = 0; i < count; i++) left[i] = left[i]! === right[i]! ? 1 : 0;
  return true;
}

export function ne(left: Float64Array, right: Float64Array, count: number): true {
  const simd = simdFor(left, count, right);
  if (simd !== undefined) simd.ne(left.byteOffset, right.byteOffset, count);
  else for (let i = 0; i < count; i++) left[i] = left[i]! !== right[i]! ? 1 : 0;
  return true;
}

export function lte(left: Float64Array, right: Float64Array, count: number): true {
  const simd = simdFor(left, count, right);
  if (simd !== undefined) simd.lte(left.byteOffset, right.byteOffset, count);
  else for (let i = 0; i < count; i++) left[i] = left[i]! <= right[i]! ? 1 : 0;
  return true;
}

export function lt(left: Float64Array, right: Float64Array, count: number): true {
  const simd = simdFor(left, count, right);
  if (simd !== undefined) simd.lt(left.byteOffset, right.byteOffset, count);
  else for (let i = 0; i < count; i++) left[i] = left[i]! < right[i]! ? 1 : 0;
  return true;
}

export function gt(left: Float64Array, right: Float64Array, count: number): true {
  const simd = simdFor(left, count, right);
  if (simd !== undefined) simd.gt(left.byteOffset, right.byteOffset, count);
  else for (let i = 0; i < count; i++) left[i] = left[i]! > right[i]! ? 1 : 0;
  return true;
}

export function gte(left: Float64Array, right: Float64Array, count: number): true {
  const simd = simdFor(left, count, right);
  if (simd !== undefined) simd.gte(left.byteOffset, right.byteOffset, count);
  else for (let i = 0; i < count; i++) left[i] = left[i]! >= right[i]! ? 1 : 0;
  return true;
}

/** |left − right| ≤ tolerance. */
export function near(left: Float64Array, right: Float64Array, count: number, tolerance: number): true {
  const simd = simdFor(left, count, right);
  if (simd !== undefined) simd.near(left.byteOffset, right.byteOffset, count, tolerance);
  else for (let i = 0; i < count; i++) left[i] = Math.abs(left[i]! - right[i]!) <= tolerance ? 1 : 0;
  return true;
}

/** Zero becomes 1, anything else 0. */
export function not(value: Float64Array, count: number): true {
  return eqScalar(value, count, 0);
}

export function and(left: Float64Array, right: Float64Array, count: number): true {
  const simd = simdFor(left, count, right);
  if (simd !== undefined) simd.and(left.byteOffset, right.byteOffset, count);
  else for (let i = 0; i < count; i++) left[i] = left[i]! !== 0 && right[i]! !== 0 ? 1 : 0;
  return true;
}

export function or(left: Float64Array, right: Float64Array, count: number): true {
  const simd = simdFor(left, count, right);
  if (simd !== undefined) simd.or(left.byteOffset, right.byteOffset, count);
  else for (let i = 0; i < count; i++) left[i] = left[i]! !== 0 || right[i]! !== 0 ? 1 : 0;
  return true;
}
