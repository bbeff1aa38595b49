import { isAllFinite } from './check.js';
import { doneBy, simdFor } from './simd.js';

/**
 * Arithmetic over the first `count` entries of `value` (or `left` and `right`). The results go to `out`, which may be
 * the column of `value` or `left`; each function returns whether all of them are finite. The loops are the definition.
 * In WebAssembly memory the SIMD kernel of the same name, which gives the same bits, leaves them only the last values.
 */

/** Writes the results to `out`; false when a result may not be finite. */
export type ScalarKernel = (value: Float64Array, count: number, scalar: number, out: Float64Array) => boolean;
/** Writes the results to `out`; false when a result may not be finite. */
export type VectorKernel = (left: Float64Array, right: Float64Array, count: number, out: Float64Array) => boolean;

export function addScalar(value: Float64Array, count: number, scalar: number, out: Float64Array): boolean {
  const simd = simdFor(value, count, out);
  const isSound = simd?.addScalar(value.byteOffset, count, scalar, out.byteOffset) !== 0;
  const from = doneBy(simd, count);
  for (let i = from; i < count; i++) out[i] = value[i]! + scalar;
  return isSound && isAllFinite(out, from, count);
}

export function subScalar(value: Float64Array, count: number, scalar: number, out: Float64Array): boolean {
  return addScalar(value, count, -scalar, out);
}

export function mulScalar(value: Float64Array, count: number, scalar: number, out: Float64Array): boolean {
  const simd = simdFor(value, count, out);
  const isSound = simd?.mulScalar(value.byteOffset, count, scalar, out.byteOffset) !== 0;
  const from = doneBy(simd, count);
  for (let i = from; i < count; i++) out[i] = value[i]! * scalar;
  return isSound && isAllFinite(out, from, count);
}

export function divScalar(value: Float64Array, count: number, scalar: number, out: Float64Array): boolean {
  const simd = simdFor(value, count, out);
  const isSound = simd?.divScalar(value.byteOffset, count, scalar, out.byteOffset) !== 0;
  const from = doneBy(simd, count);
  for (let i = from; i < count; i++) out[i] = value[i]! / scalar;
  return isSound && isAllFinite(out, from, count);
}

export function add(left: Float64Array, right: Float64Array, count: number, out: Float64Array): boolean {
  const simd = simdFor(left, count, out, right);
  const isSound = simd?.add(left.byteOffset, right.byteOffset, count, out.byteOffset) !== 0;
  const from = doneBy(simd, count);
  for (let i = from; i < count; i++) out[i] = left[i]! + right[i]!;
  return isSound && isAllFinite(out, from, count);
}

export function sub(left: Float64Array, right: Float64Array, count: number, out: Float64Array): boolean {
  const simd = simdFor(left, count, out, right);
  const isSound = simd?.sub(left.byteOffset, right.byteOffset, count, out.byteOffset) !== 0;
  const from = doneBy(simd, count);
  for (let i = from; i < count; i++) out[i] = left[i]! - right[i]!;
  return isSound && isAllFinite(out, from, count);
}

export function mul(left: Float64Array, right: Float64Array, count: number, out: Float64Array): boolean {
  const simd = simdFor(left, count, out, right);
  const isSound = simd?.mul(left.byteOffset, right.byteOffset, count, out.byteOffset) !== 0;
  const from = doneBy(simd, count);
  for (let i = from; i < count; i++) out[i] = left[i]! * right[i]!;
  return isSound && isAllFinite(out, from, count);
}

export function div(left: Float64Array, right: Float64Array, count: number, out: Float64Array): boolean {
  const simd = simdFor(left, count, out, right);
  const isSound = simd?.div(left.byteOffset, right.byteOffset, count, out.byteOffset) !== 0;
  const from = doneBy(simd, count);
  for (let i = from; i < count; i++) out[i] = left[i]! / right[i]!;
  return isSound && isAllFinite(out, from, count);
}

export function abs(value: Float64Array, count: number, out: Float64Array): true {
  const simd = simdFor(value, count, out);
  simd?.abs(value.byteOffset, count, out.byteOffset);
  for (let i = doneBy(simd, count); i < count; i++) out[i] = Math.abs(value[i]!);
  return true;
}

/** Clamps every value into `[lower, upper]`. */
export function clamp(value: Float64Array, count: number, lower: number, upper: number, out: Float64Array): true {
  const simd = simdFor(value, count, out);
  simd?.clamp(value.byteOffset, count, lower, upper, out.byteOffset);
  for (let i = doneBy(simd, count); i < count; i++) {
    const x = value[i]!;
    out[i] = x < lower ? lower : x > upper ? upper : x;
  }
  return true;
}
