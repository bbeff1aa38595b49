/** Arithmetic over columns, in place: the first `count` entries of `value` (or `left`) become the results. */

export type ScalarKernel = (value: Float64Array, count: number, scalar: number) => void;
export type VectorKernel = (left: Float64Array, right: Float64Array, count: number) => void;

export function addScalar(value: Float64Array, count: number, scalar: number): void {
  for (let i = 0; i < count; i++) value[i] = value[i]! + scalar;
}

export function subScalar(value: Float64Array, count: number, scalar: number): void {
  for (let i = 0; i < count; i++) value[i] = value[i]! - scalar;
}

export function mulScalar(value: Float64Array, count: number, scalar: number): void {
  for (let i = 0; i < count; i++) value[i] = value[i]! * scalar;
}

export function divScalar(value: Float64Array, count: number, scalar: number): void {
  for (let i = 0; i < count; i++) value[i] = value[i]! / scalar;
}

export function add(left: Float64Array, right: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) left[i] = left[i]! + right[i]!;
}

export function sub(left: Float64Array, right: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) left[i] = left[i]! - right[i]!;
}

export function mul(left: Float64Array, right: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) left[i] = left[i]! * right[i]!;
}

export function div(left: Float64Array, right: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) left[i] = left[i]! / right[i]!;
}

export function abs(value: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) value[i] = Math.abs(value[i]!);
}

/** Clamps every value into `[lower, upper]`. */
export function clamp(value: Float64Array, count: number, lower: number, upper: number): void {
  for (let i = 0; i < count; i++) {
    const x = value[i]!;
    value[i] = x < lower ? lower : x > upper ? upper : x;
  }
}
