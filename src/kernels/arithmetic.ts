import { isAllFinite } from './check.js';
import { simdFor } from './simd.js';

/**
 * Arithmetic over the first `count` entries of `value` (or `left` and `right`). The results go to `out`, which may be
 * the column of `value` or `left`; each function returns whether all of them are finite. The loops are the definition.
 * Columns in WebAssembly memory go to the SIMD kernel of the same name, which gives the same bits.
 */

/** Writes the results to `out`; false when a result may not be finite. */
export type ScalarKernel = (value: Float64Array, count: number, scalar: number, out: Float64Array) => boolean;
/** Writes the results to `out`; false when a result may not be finite. */
export type VectorKernel = (left: Float64Array, right: Float64Array, count: number, out: Float64Array) => boolean;

export function addScalar(value: Float64Array, count: number, scalar: number, out: Float64Array): boolean {
  const simd = simdFor(value, count, out);
  if (simd !== undefined) return simd.addScalar(value.byteOffset, count, scalar, out.byteOffset) === 1;
  for (let i = 0; i < count; i++) out[i] = value[i]! + scalar;
  return isAllFinite(out, 0, count);
}

export function subScalar(value: Float64Array, count: number, scalar: number, out: Float64Array): boolean {
  return addScalar(value, count, -scalar, out);
}

export function mulScalar(value: Float64Array, count: number, scalar: number, out: Float64Array): boolean {
  const simd = simdFor(value, count, out);
  if (simd !== undefined) return simd.mulScalar(value.byteOffset, count, scalar, out.byteOffset) === 1;
  for (let i = 0; i < count; i++) out[i] = value[i]! * scalar;
  return isAllFinite(out, 0, count);
}

export function divScalar(value: Float64Array, count: number, scalar: number, out: Float64Array): boolean {
  const simd = simdFor(value, count, out);
  if (simd !== undefined) return simd.divScalar(value.byteOffset, count, scalar, out.byteOffset) === 1;
  for (let i = 0; i < count; i++) out[i] = value[i]! / scalar;
  return isAllFinite(out, 0, count);
}

export function add(left: Float64Array, right: Float64Array, count: number, out: Float64Array): boolean {
  const simd = simdFor(left, count, out, right);
  if (simd !== undefined) return simd.add(left.byteOffset, right.byteOffset, count, out.byteOffset) === 1;
  for (let i = 0; i < count; i++) out[i] = left[i]! + right[i]!;
  return isAllFinite(out, 0, count);
}

export function sub(left: Float64Array, right: Float64Array, count: number, out: Float64Array): boolean {
  const simd = simdFor(left, count, out, right);
  if (simd !== undefined) return simd.sub(left.byteOffset, right.byteOffset, count, out.byteOffset) === 1;
  for (let i = 0; i < count; i++) out[i] = left[i]! - right[i]!;
  return isAllFinite(out, 0, count);
}

export function mul(left: Float64Array, right: Float64Array, count: number, out: Float64Array): boolean {
  const simd = simdFor(left, count, out, right);
  if (simd !== undefined) return simd.mul(left.byteOffset, right.byteOffset, count, out.byteOffset) === 1;
  for (let i = 0; i < count; i++) out[i] = left[i]! * right[i]!;
  return isAllFinite(out, 0, count);
}

export function div(left: Float64Array, right: Float64Array, count: number, out: Float64Array): boolean {
  const simd = simdFor(left, count, out, right);
  if (simd !== undefined) return simd.div(left.byteOffset, right.byteOffset, count, out.byteOffset) === 1;
  for (let i = 0; i < count; i++) out[i] = left[i]! / right[i]!;
  return isAllFinite(out, 0, count);
}

export function abs(value: Float64Array, count: number, out: Float64Array): true {
  const simd = simdFor(value, count, out);
  if (simd !== undefined) simd.abs(value.byteOffset, count, out.byteOffset);
  else for (let i = 0; i < count; i++) out[i] = Math.abs(value[i]!);
  return true;
}

/** Clamps every value into `[lower, upper]`. */
export function clamp(value: Float64Array, count: number, lower: number, upper: number, out: Float64Array): true {
  const simd = simdFor(value, count, out);
  if (simd !== undefined) {
    simd.clamp(value.byteOffset, count, lower, upper, out.byteOffset);
    return true;
  }
  for (let i = 0; i < count; i++) {
    const x = value[i]!;
    out[i] = x < lower ? lower : x > upper ? upper : x;
  }
  return true;
}
