/** Comparisons and logic over columns, in place: results are 1 (true) or 0 (false). */

export function eqScalar(value: Float64Array, count: number, scalar: number): void {
  for (let i = 0; i < count; i++) value[i] = value[i]! === scalar ? 1 : 0;
}

export function neScalar(value: Float64Array, count: number, scalar: number): void {
  for (let i = 0; i < count; i++) value[i] = value[i]! !== scalar ? 1 : 0;
}

export function lteScalar(value: Float64Array, count: number, scalar: number): void {
  for (let i = 0; i < count; i++) value[i] = value[i]! <= scalar ? 1 : 0;
}

export function ltScalar(value: Float64Array, count: number, scalar: number): void {
  for (let i = 0; i < count; i++) value[i] = value[i]! < scalar ? 1 : 0;
}

export function gtScalar(value: Float64Array, count: number, scalar: number): void {
  for (let i = 0; i < count; i++) value[i] = value[i]! > scalar ? 1 : 0;
}

export function gteScalar(value: Float64Array, count: number, scalar: number): void {
  for (let i = 0; i < count; i++) value[i] = value[i]! >= scalar ? 1 : 0;
}

/** |value − scalar| ≤ tolerance. */
export function nearScalar(value: Float64Array, count: number, scalar: number, tolerance: number): void {
  for (let i = 0; i < count; i++) value[i] = Math.abs(value[i]! - scalar) <= tolerance ? 1 : 0;
}

export function eq(left: Float64Array, right: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) left[i] = left[i]! === right[i]! ? 1 : 0;
}

export function ne(left: Float64Array, right: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) left[i] = left[i]! !== right[i]! ? 1 : 0;
}

export function lte(left: Float64Array, right: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) left[i] = left[i]! <= right[i]! ? 1 : 0;
}

export function lt(left: Float64Array, right: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) left[i] = left[i]! < right[i]! ? 1 : 0;
}

export function gt(left: Float64Array, right: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) left[i] = left[i]! > right[i]! ? 1 : 0;
}

export function gte(left: Float64Array, right: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) left[i] = left[i]! >= right[i]! ? 1 : 0;
}

/** |left − right| ≤ tolerance. */
export function near(left: Float64Array, right: Float64Array, count: number, tolerance: number): void {
  for (let i = 0; i < count; i++) left[i] = Math.abs(left[i]! - right[i]!) <= tolerance ? 1 : 0;
}

/** Zero becomes 1, anything else 0. */
export function not(value: Float64Array, count: number): void {
  eqScalar(value, count, 0);
}

export function and(left: Float64Array, right: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) left[i] = left[i]! !== 0 && right[i]! !== 0 ? 1 : 0;
}

export function or(left: Float64Array, right: Float64Array, count: number): void {
  for (let i = 0; i < count; i++) left[i] = left[i]! !== 0 || right[i]! !== 0 ? 1 : 0;
}
