import type { DoubleList } from '../../core/list.js';
import { productInteger, readDigits, roundQuotient, toInteger, writeDigits } from './integers.js';

/**
 * Exact sums. A sum is three doubles, `slots[at]` to `slots[at + 2]`, each of which takes the rounding error of the one
 * before (Knuth's TwoSum gives it exactly; the cascade is from Ogita, Rump, Oishi, "Accurate sum and dot product",
 * 2005). If three doubles cannot hold the sum, or an intermediate result overflows, it moves to the list `wide` as a
 * whole number, and the three are 0. As nothing is lost, the order of terms does not matter, and subtracting a term
 * leaves the sum as if it had never been added.
 */
export const SUM_SLOTS = 3;

/** Adds one number. */
export function addTo(slots: Float64Array, at: number, wide: DoubleList, x: number): void {
  if (wide.length > 0) {
    addWide(slots, at, wide, toInteger(x));
    return;
  }
  const a = slots[at]!;
  const b = slots[at + 1]!;
  const c = slots[at + 2]!;
  const sum = a + x;
  const lost = lossOf(a, x, sum);
  const middle = b + lost;
  const lostNext = lossOf(b, lost, middle);
  const least = c + lostNext;
  if (lossOf(c, lostNext, least) !== 0) {
    addWide(slots, at, wide, toInteger(x));
    return;
  }
  slots[at] = sum;
  slots[at + 1] = middle;
  slots[at + 2] = least;
}

/** The rounding error of `sum`, which is a + b; NaN if the sum is not finite. */
export function lossOf(a: number, b: number, sum: number): number {
  const part = sum - a;
  return a - (sum - part) + (b - part);
}

/** Adds `value[from..to)`. */
export function addAll(
  slots: Float64Array,
  at: number,
  wide: DoubleList,
  value: Float64Array,
  from: number,
  to: number,
): void {
  let sum = slots[at]!;
  let lost = slots[at + 1]!;
  let spilt = wide.length;
  for (let i = from; i < to; i++) {
    const x = value[i]!;
    const next = sum + x;
    const loss = lossOf(sum, x, next);
    sum = next;
    const lostNext = lost + loss;
    spilt += Math.abs(lossOf(lost, loss, lostNext));
    lost = lostNext;
  }
  if (spilt === 0) {
    slots[at] = sum;
    slots[at + 1] = lost;
  } else {
    for (let i = from; i < to; i++) addTo(slots, at, wide, value[i]!);
  }
}

/** Adds x·y. */
export function addProduct(slots: Float64Array, at: number, wide: DoubleList, x: number, y: number): void {
  const product = x * y;
  const size = Math.abs(product);
  if (x === 0 || y === 0) return;
  // Outside these bounds the parts of a product may not be doubles.
  if (size < 1e300 && size > 1e-280 && Math.abs(x) < 1e290 && Math.abs(y) < 1e290) {
    addTo(slots, at, wide, product);
    const error = productError(x, y, product);
    if (error !== 0) addTo(slots, at, wide, error);
  } else addWide(slots, at, wide, productInteger(x, y));
}

/** 2^27 + 1: splits a double into two halves of its digits (Dekker, 1971). */
export const SPLIT = 134_217_729;

/** The rounding error of `product`, x·y (Dekker, 1971), for factors within 1e290 and a product above 1e-280. */
export function productError(x: number, y: number, product: number): number {
  const xScaled = SPLIT * x;
  const xHigh = xScaled - (xScaled - x);
  const xLow = x - xHigh;
  const yScaled = SPLIT * y;
  const yHigh = yScaled - (yScaled - y);
  const yLow = y - yHigh;
  return xLow * yLow - (product - xHigh * yHigh - xLow * yHigh - xHigh * yLow);
}

/** Empties a sum. */
export function clearSum(slots: Float64Array, at: number, wide: DoubleList): void {
  slots.fill(0, at, at + SUM_SLOTS);
  wide.clear();
}

/**
 * Moves a sum from which terms were subtracted into as few doubles as hold it. Traces of large terms would otherwise
 * stay in the last double or in the list, where they slow down every result.
 */
export function tidySum(slots: Float64Array, at: number, wide: DoubleList): void {
  if (wide.length > 0) {
    if (wide.length <= TIDY_DIGITS_MAX) narrow(slots, at, wide);
    return;
  }
  const c = slots[at + 2]!;
  if (c === 0) return;
  const a = slots[at]!;
  const b = slots[at + 1]!;
  const lower = b + c;
  const lost = lossOf(b, c, lower);
  const upper = a + lower;
  const rest = lossOf(a, lower, upper);
  const middle = rest + lost;
  slots[at] = upper;
  slots[at + 1] = middle;
  slots[at + 2] = lossOf(rest, lost, middle);
}

// Replaces a whole number by three doubles, if they hold it.
function narrow(slots: Float64Array, at: number, wide: DoubleList): void {
  let rest = sumInteger(slots, at, wide);
  const parts = new Float64Array(SUM_SLOTS);
  for (let i = 0; i < SUM_SLOTS && rest !== 0n; i++) {
    parts[i] = roundQuotient(rest, 1n);
    if (!Number.isFinite(parts[i]!)) return;
    rest -= toInteger(parts[i]!);
  }
  if (rest !== 0n) return;
  wide.clear();
  slots.set(parts, at);
}

/** Three doubles cannot hold a list with more digits than this. */
const TIDY_DIGITS_MAX = 7;

/** The sum as a whole number of units. */
export function sumInteger(slots: Float64Array, at: number, wide: DoubleList): bigint {
  if (wide.length > 0) return readDigits(wide.view());
  return toInteger(slots[at]!) + toInteger(slots[at + 1]!) + toInteger(slots[at + 2]!);
}

function addWide(slots: Float64Array, at: number, wide: DoubleList, units: bigint): void {
  const sum = sumInteger(slots, at, wide) + units;
  clearSum(slots, at, wide);
  for (const digit of writeDigits(sum)) wide.push(digit);
}
