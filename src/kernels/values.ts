import { isAllFinite } from './check.js';
import { exp as expOf, logBase as logBaseOf, log as logOf, pow as powOf } from './exact/elementary.js';

/**
 * Elementwise functions of one or two columns. The first `count` results go to `out`, which may be the column of
 * `value` or `left`; each function returns whether all of them are finite.
 */

type Column = Float64Array;

/** The smaller one; −0 is less than 0. */
export function minScalar(value: Column, count: number, scalar: number, out: Column): true {
  for (let i = 0; i < count; i++) out[i] = Math.min(value[i]!, scalar);
  return true;
}

export function maxScalar(value: Column, count: number, scalar: number, out: Column): true {
  for (let i = 0; i < count; i++) out[i] = Math.max(value[i]!, scalar);
  return true;
}

export function min(left: Column, right: Column, count: number, out: Column): true {
  for (let i = 0; i < count; i++) out[i] = Math.min(left[i]!, right[i]!);
  return true;
}

export function max(left: Column, right: Column, count: number, out: Column): true {
  for (let i = 0; i < count; i++) out[i] = Math.max(left[i]!, right[i]!);
  return true;
}

export function modScalar(value: Column, count: number, scalar: number, out: Column): boolean {
  for (let i = 0; i < count; i++) out[i] = modOf(value[i]!, scalar);
  return isAllFinite(out, 0, count);
}

export function mod(left: Column, right: Column, count: number, out: Column): boolean {
  for (let i = 0; i < count; i++) out[i] = modOf(left[i]!, right[i]!);
  return isAllFinite(out, 0, count);
}

// The remainder of a division rounded down, so it has the sign of the divisor (−1 mod 24 is 23). 0 is never −0.
function modOf(x: number, divisor: number): number {
  const rest = x % divisor;
  return rest === 0 ? 0 : rest < 0 === divisor < 0 ? rest : rest + divisor;
}

export function powScalar(value: Column, count: number, scalar: number, out: Column): boolean {
  for (let i = 0; i < count; i++) out[i] = powOf(value[i]!, scalar);
  return isAllFinite(out, 0, count);
}

export function pow(left: Column, right: Column, count: number, out: Column): boolean {
  for (let i = 0; i < count; i++) out[i] = powOf(left[i]!, right[i]!);
  return isAllFinite(out, 0, count);
}

export function sqrt(value: Column, count: number, out: Column): boolean {
  for (let i = 0; i < count; i++) out[i] = Math.sqrt(value[i]!);
  return isAllFinite(out, 0, count);
}

export function exp(value: Column, count: number, out: Column): boolean {
  for (let i = 0; i < count; i++) out[i] = expOf(value[i]!);
  return isAllFinite(out, 0, count);
}

/** The logarithm to a base; the natural one without. */
export function log(value: Column, count: number, base: number | undefined, out: Column): boolean {
  for (let i = 0; i < count; i++) out[i] = base === undefined ? logOf(value[i]!) : logBaseOf(value[i]!, base);
  return isAllFinite(out, 0, count);
}

/** −1, 0 or 1. */
export function sign(value: Column, count: number, out: Column): true {
  for (let i = 0; i < count; i++) out[i] = value[i]! > 0 ? 1 : value[i]! < 0 ? -1 : 0;
  return true;
}

/** Down to a whole number; 0 is never −0, here and in `ceil`. */
export function floor(value: Column, count: number, out: Column): true {
  for (let i = 0; i < count; i++) out[i] = Math.floor(value[i]!) + 0;
  return true;
}

export function ceil(value: Column, count: number, out: Column): true {
  for (let i = 0; i < count; i++) out[i] = Math.ceil(value[i]!) + 0;
  return true;
}

/** The mean of two values, rounded once. */
export function middleOf(a: number, b: number): number {
  return Number.isFinite(a + b) ? (a + b) / 2 : a / 2 + b / 2;
}

/**
 * The value at the fraction `f` (0 to 1) of the way from `a` to `b`. Computed from the nearer end, so that both ends
 * come out exactly and the result never lies beyond them (source: NumPy's percentile).
 */
export function lerp(a: number, b: number, f: number): number {
  const difference = b - a;
  return f < 0.5 ? a + difference * f : b - difference * (1 - f);
}

/** The value of the line through two points at each x, exact at both points. */
export function throughPoints(
  value: Column,
  count: number,
  [x0, y0, x1, y1]: readonly [number, number, number, number],
  out: Column,
): boolean {
  // Halves, where the distance of the points is larger than any double.
  const part = Number.isFinite(x1 - x0) ? 1 : 0.5;
  const from = x0 * part;
  const distance = x1 * part - from;
  for (let i = 0; i < count; i++) out[i] = lerp(y0, y1, (value[i]! * part - from) / distance);
  return isAllFinite(out, 0, count);
}
