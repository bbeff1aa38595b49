import { simdFor } from './simd.js';

/**
 * Arithmetic over columns, in place: the first `count` entries of `value` (or `left`) become the results.
 * Each tells whether all of them are finite. The loops are the definition; columns in WebAssembly memory go
 * to the SIMD form of the same name, which gives the same bits. A number less itself is 0 only if it is finite.
 */

/** Overwrites the values with the results; false when a result may not be finite. */
export type ScalarKernel = (value: Float64Array, count: number, scalar: number) => boolean;
/** Overwrites `left` with the results; false when a result may not be finite. */
export type VectorKernel = (left: Float64Array, right: Float64Array, count: number) => boolean;

export function addScalar(value: Float64Array, count: number, scalar: number): boolean {
  const simd = simdFor(value, count);
  if (simd !== undefined) return simd.addScalar(value.byteOffset, count, scalar) === 1;
  let bad = 0;
  for (let i = 0; i < count; i++) {
    const x = value[i]! + scalar;
    value[i] = x;
    bad += x - x;
  }
  return bad === 0;
}

export function subScalar(value: Float64Array, count: number, scalar: number): boolean {
  const simd = simdFor(value, count);
  if (simd !== undefined) return simd.subScalar(value.byteOffset, count, scalar) === 1;
  let bad = 0;
  for (let i = 0; i < count; i++) {
    const x = value[i]! - scalar;
    value[i] = x;
    bad += x - x;
  }
  return bad === 0;
}

export function mulScalar(value: Float64Array, count: number, scalar: number): boolean {
  const simd = simdFor(value, count);
  if (simd !== undefined) return simd.mulScalar(value.byteOffset, count, scalar) === 1;
  let bad = 0;
  for (let i = 0; i < count; i++) {
    const x = value[i]! * scalar;
    value[i] = x;
    bad += x - x;
  }
  return bad === 0;
}

export function divScalar(value: Float64Array, count: number, scalar: number): boolean {
  const simd = simdFor(value, count);
  if (simd !== undefined) return simd.divScalar(value.byteOffset, count, scalar) === 1;
  let bad = 0;
  for (let i = 0; i < count; i++) {
    const x = value[i]! / scalar;
    value[i] = x;
    bad += x - x;
  }
  return bad === 0;
}

export function add(left: Float64Array, right: Float64Array, count: number): boolean {
  const simd = simdFor(left, count, right);
  if (simd !== undefined) return simd.add(left.byteOffset, right.byteOffset, count) === 1;
  let bad = 0;
  for (let i = 0; i < count; i++) {
    const x = left[i]! + right[i]!;
    left[i] = x;
    bad += x - x;
  }
  return bad === 0;
}

export function sub(left: Float64Array, right: Float64Array, count: number): boolean {
  const simd = simdFor(left, count, right);
  if (simd !== undefined) return simd.sub(left.byteOffset, right.byteOffset, count) === 1;
  let bad = 0;
  for (let i = 0; i < count; i++) {
    const x = left[i]! - right[i]!;
    left[i] = x;
    bad += x - x;
  }
  return bad === 0;
}

export function mul(left: Float64Array, right: Float64Array, count: number): boolean {
  const simd = simdFor(left, count, right);
  if (simd !== undefined) return simd.mul(left.byteOffset, right.byteOffset, count) === 1;
  let bad = 0;
  for (let i = 0; i < count; i++) {
    const x = left[i]! * right[i]!;
    left[i] = x;
    bad += x - x;
  }
  return bad === 0;
}

export function div(left: Float64Array, right: Float64Array, count: number): boolean {
  const simd = simdFor(left, count, right);
  if (simd !== undefined) return simd.div(left.byteOffset, right.byteOffset, count) === 1;
  let bad = 0;
  for (let i = 0; i < count; i++) {
    const x = left[i]! / right[i]!;
    left[i] = x;
    bad += x - x;
  }
  return bad === 0;
}

export function abs(value: Float64Array, count: number): true {
  const simd = simdFor(value, count);
  if (simd !== undefined) simd.abs(value.byteOffset, count);
  else for (let i = 0; i < count; i++) value[i] = Math.abs(value[i]!);
  return true;
}

/** Clamps every value into `[lower, upper]`. */
export function clamp(value: Float64Array, count: number, lower: number, upper: number): true {
  const simd = simdFor(value, count);
  if (simd !== undefined) {
    simd.clamp(value.byteOffset, count, lower, upper);
    return true;
  }
  for (let i = 0; i < count; i++) {
    const x = value[i]!;
    value[i] = x < lower ? lower : x > upper ? upper : x;
  }
  return true;
}
