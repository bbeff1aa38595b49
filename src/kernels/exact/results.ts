import { DoubleList } from '../../core/list.js';
import { middleOf } from '../values.js';
import { roundQuotient, roundRoot, toInteger } from './integers.js';
import { lossOf, productError, sumInteger } from './sums.js';

/**
 * Correctly rounded results from exact sums. Doubles are tried first; if their last bits leave no doubt about the
 * rounding (Ziv, "Fast evaluation of elementary mathematical functions with correctly rounded last bit", 1991), that is
 * the result; else whole numbers decide. So a result depends only on the sum, not on the order of its terms.
 */

/** An exact sum (see sums.ts): its slots, from `at` on, and its list. */
export type ExactSum = readonly [slots: Float64Array, at: number, wide: DoubleList];

/** The exact length of a span of time. */
export function sumOfLength(startMs: number, endMs: number): ExactSum {
  const lengthMs = endMs - startMs;
  return [Float64Array.of(lengthMs, lossOf(endMs, -startMs, lengthMs), 0), 0, new DoubleList()];
}

/** The sum, rounded once; infinite if that overflows. */
export function sumOf(slots: Float64Array, at: number, wide: DoubleList): number {
  if (wide.length === 0 && slots[at + 2] === 0) return slots[at]! + slots[at + 1]!;
  return roundQuotient(sumInteger(slots, at, wide), 1n);
}

/** The sum divided by a whole number of 1 to 2^53. */
export function meanOf(slots: Float64Array, at: number, wide: DoubleList, count: number): number {
  if (wide.length === 0 && slots[at + 2] === 0) {
    const sum = slots[at]! + slots[at + 1]!;
    const mean = quotientOf(sum, lossOf(slots[at]!, slots[at + 1]!, sum), count);
    if (!Number.isNaN(mean)) return mean;
  }
  return roundQuotient(sumInteger(slots, at, wide), BigInt(count));
}

// Within these bounds the parts of products and quotients stay far from overflow and from the smallest double.
const SMALL = 2 ** -900;
const LARGE = 2 ** 900;

/** (high + low) ÷ divisor, rounded once; NaN if that is in doubt. `low` is at most half a last bit of `high`. */
export function quotientOf(high: number, low: number, divisor: number): number {
  const size = Math.abs(high);
  if (!(size > SMALL && size < LARGE)) return high === 0 ? 0 : Number.NaN;
  const quotient = high / divisor;
  // Dividing by a power of two rounds nothing.
  if (divisor < 2 ** 31 && (divisor & (divisor - 1)) === 0 && Number.isInteger(divisor)) return quotient;
  const product = quotient * divisor;
  // The remainder of the division is a double (Sterbenz).
  const left = high - product - productError(quotient, divisor, product);
  const rest = left + low;
  const correction = rest / divisor;
  const doubt = Math.abs(correction) * 2 ** -50;
  const result = quotient + (correction - doubt);
  if (result === quotient + (correction + doubt)) return result;
  // The result lies near the middle between two doubles. It often lies exactly there; then the correction is exact.
  const again = correction * divisor;
  const isExact = again === rest && productError(correction, divisor, again) === 0 && lossOf(left, low, rest) === 0;
  return isExact && Math.abs(again) > SMALL ? quotient + correction : Number.NaN;
}

/** Σ(x − mean)² ÷ (count − 1) from Σx and Σx², or its square root. */
export function varianceOf(values: ExactSum, squares: ExactSum, count: number, isRoot: boolean): number {
  const likely = likelyVariance(values, squares, count, isRoot);
  if (!Number.isNaN(likely)) return likely;
  const sum = sumInteger(...values);
  const spread = BigInt(count) * sumInteger(...squares) - ((sum * sum) >> 2148n);
  const divisor = BigInt(count) * BigInt(count - 1);
  return isRoot ? roundRoot(spread, divisor) : roundQuotient(spread, divisor);
}

function likelyVariance(values: ExactSum, squares: ExactSum, count: number, isRoot: boolean): number {
  const [slots, at, wide] = values;
  const [squareSlots, squareAt, squareWide] = squares;
  if (wide.length > 0 || squareWide.length > 0 || slots[at + 2] !== 0) return Number.NaN;
  const sum = slots[at]! + slots[at + 1]!;
  const sumLow = lossOf(slots[at]!, slots[at + 1]!, sum);
  const total = squareSlots[squareAt]! + squareSlots[squareAt + 1]!;
  const totalLow = lossOf(squareSlots[squareAt]!, squareSlots[squareAt + 1]!, total) + squareSlots[squareAt + 2]!;
  if (!(total > 2 ** -400 && total < 2 ** 400)) return total === 0 ? 0 : Number.NaN;
  // count·Σx² − (Σx)² in twice the digits of a double.
  const scaled = total * count;
  const squared = sum * sum;
  const high = scaled - squared;
  const low =
    lossOf(scaled, -squared, high) +
    (productError(total, count, scaled) - productError(sum, sum, squared) + (totalLow * count - 2 * sum * sumLow));
  const spread = high + low;
  const spreadLow = lossOf(high, low, spread);
  // Each of the few roundings above is below 2^-104 of the larger terms.
  const doubt = scaled * 2 ** -100;
  if (!(spread > doubt * 2 ** 30)) return Number.NaN;
  return likelyQuotient(spread, spreadLow, doubt, count * (count - 1), isRoot);
}

function likelyQuotient(high: number, low: number, doubt: number, divisor: number, isRoot: boolean): number {
  const quotient = high / divisor;
  const product = quotient * divisor;
  const quotientLow = (high - product - productError(quotient, divisor, product) + low) / divisor;
  if (!isRoot) return agreed(quotient, quotientLow, doubt / divisor + Math.abs(quotientLow) * 2 ** -48);
  const root = Math.sqrt(quotient);
  const squared = root * root;
  const correction = (quotient - squared - productError(root, root, squared) + quotientLow) / (2 * root);
  // The next term of the series is correction² ÷ root.
  return agreed(root, correction, doubt / divisor / root + Math.abs(correction) * 2 ** -46);
}

function agreed(first: number, correction: number, doubt: number): number {
  const result = first + (correction - doubt);
  return result === first + (correction + doubt) ? result : Number.NaN;
}

/** The first sum times `times` (a half or a whole number), divided by the second sum, which is above 0. */
export function weightedMeanOf(products: ExactSum, lengths: ExactSum, times = 1): number {
  const [slots, at, wide] = products;
  const [lengthSlots, lengthAt, lengthWide] = lengths;
  const isPlain = (times === 1 || times === 0.5) && wide.length === 0 && lengthWide.length === 0 && slots[at + 2] === 0;
  // Halving the sum is the same as doubling the length.
  const length = lengthSlots[lengthAt]! / times;
  if (isPlain && lengthSlots[lengthAt + 1] === 0 && lengthSlots[lengthAt + 2] === 0 && length < 2 ** 53) {
    const sum = slots[at]! + slots[at + 1]!;
    const mean = quotientOf(sum, lossOf(slots[at]!, slots[at + 1]!, sum), length);
    if (!Number.isNaN(mean)) return mean;
  }
  return ratioOf(sumInteger(...products), sumInteger(...lengths), times);
}

/** The least-squares slope per `unit` of time, from Σt, Σx, Σt², Σtx of `count` samples at different times. */
export function slopeOf(
  times: ExactSum,
  values: ExactSum,
  squares: ExactSum,
  products: ExactSum,
  count: number,
  unit: number,
): number {
  const n = BigInt(count);
  const sum = sumInteger(...times);
  const rise = n * sumInteger(...products) - ((sum * sumInteger(...values)) >> 2148n);
  const run = n * sumInteger(...squares) - ((sum * sum) >> 2148n);
  return ratioOf(rise, run, unit);
}

/** The part `from` to `until` of a line from one sample (`start`, `x`) to the next one (`end`, `next`). */
export type Line = readonly [from: number, until: number, start: number, end: number, x: number, next: number];

/** The first sum plus twice the areas under some lines, times `times`, divided by the second sum. */
export function lineMeanOf(sum: ExactSum, lines: readonly Line[], divisor: ExactSum, times: number): number {
  if (lines.length === 0) return weightedMeanOf(sum, divisor, times);
  const likely = likelyLineMean(sum, lines, divisor, times);
  if (!Number.isNaN(likely)) return likely;
  let area = sumInteger(...sum);
  let parts = 1n;
  for (const line of lines) {
    const [from = 0n, until = 0n, start = 0n, end = 0n, x = 0n, next = 0n] = line.map(toInteger);
    // The sum of the values at both ends of the part times the length of the whole line, in units of time and value.
    const heights = x * (2n * end - from - until) + next * (from + until - 2n * start);
    const length = end - start;
    area = area * length + ((heights * (until - from) * parts) >> 2148n);
    parts *= length;
  }
  return ratioOf(area, sumInteger(...divisor) * parts, times);
}

function likelyLineMean(sum: ExactSum, lines: readonly Line[], divisor: ExactSum, times: number): number {
  const [slots, at, wide] = sum;
  const [lengthSlots, lengthAt, lengthWide] = divisor;
  if (wide.length > 0 || lengthWide.length > 0 || slots[at + 2] !== 0) return Number.NaN;
  if (lengthSlots[lengthAt + 1] !== 0 || lengthSlots[lengthAt + 2] !== 0) return Number.NaN;
  let high = slots[at]!;
  let low = slots[at + 1]!;
  let size = Math.abs(high);
  for (const [from, until, start, end, x, next] of lines) {
    // Whole milliseconds have exact differences.
    if (![from, until, start, end].every(Number.isInteger)) return Number.NaN;
    const before = end - from + (end - until);
    const after = from - start + (until - start);
    const left = x * before;
    const right = next * after;
    if (!isMultiplied(x, left) || !isMultiplied(next, right)) return Number.NaN;
    const heights = left + right;
    const errors = productError(x, before, left) + productError(next, after, right);
    const area = heights * (until - from);
    const heightsLow = lossOf(left, right, heights) + errors;
    const areaLow = productError(heights, until - from, area) + heightsLow * (until - from);
    if (area !== 0 && !(Math.abs(area) > SMALL)) return Number.NaN;
    const length = end - start;
    const part = area / length;
    const product = part * length;
    const partLow = (area - product - productError(part, length, product) + areaLow) / length;
    const total = high + part;
    low += lossOf(high, part, total) + partLow;
    high = total;
    size += ((Math.abs(left) + Math.abs(right)) * (until - from)) / length;
  }
  const whole = high + low;
  if (!(Math.abs(whole) > SMALL && size < LARGE)) return Number.NaN;
  // Each rounding above is below 2^-104 of the largest terms, or 2^-53 of the low part.
  const doubt = size * 2 ** -96 + Math.abs(low) * 2 ** -48;
  return likelyQuotient(whole, lossOf(high, low, whole), doubt, lengthSlots[lengthAt]! / times, false);
}

// Both are in the same units; `times` need not be whole.
function ratioOf(dividend: bigint, divisor: bigint, times: number): number {
  return roundQuotient(dividend * toInteger(times), divisor);
}

/** The percentile of `count` values, interpolated between ranks. `valueAt` gives the value of a rank, from 0. */
export function percentileOf(count: number, percent: number, valueAt: (rank: number) => number): number {
  const last = count - 1;
  const product = percent * last;
  const error = product < 1e-280 ? 0 : productError(percent, last, product);
  let below = Math.floor(product / 100);
  // The quotient may have been rounded up to a whole number, or down from one.
  if (product - 100 * below + error < 0) below--;
  const upper = product - 100 * below + error; // hundredths of the way
  const a = valueAt(below);
  if (upper === 0) return a;
  const b = valueAt(below + 1);
  if (a === b) return a;
  if (upper === 50) return middleOf(a, b);
  const likely = product < 1e-280 ? Number.NaN : likelyBetween(a, b, product - 100 * below, error);
  if (!Number.isNaN(likely)) return likely;
  const units = toInteger(percent) * BigInt(last) - toInteger(100 * below);
  const hundred = toInteger(100);
  return roundQuotient(toInteger(a) * (hundred - units) + toInteger(b) * units, hundred);
}

// (a·(100 − upper) + b·upper) ÷ 100, for `upper` in hundredths.
function likelyBetween(a: number, b: number, upper: number, upperLow: number): number {
  const lower = 100 - upper;
  const lowerLow = lossOf(100, -upper, lower) - upperLow;
  const first = a * lower;
  const second = b * upper;
  if (!isMultiplied(a, first) || !isMultiplied(b, second)) return Number.NaN;
  const sum = first + second;
  const low =
    lossOf(first, second, sum) +
    (productError(a, lower, first) + productError(b, upper, second) + (a * lowerLow + b * upperLow));
  const high = sum + low;
  const rest = lossOf(sum, low, high);
  const quotient = high / 100;
  const product = quotient * 100;
  const correction = (high - product - productError(quotient, 100, product) + rest) / 100;
  // If the rank is close to a whole number, the low part of the distance to it is not small beside the distance.
  const lowDoubt = (Math.abs(a * lowerLow) + Math.abs(b * upperLow)) * 2 ** -51;
  const doubt = (Math.abs(first) + Math.abs(second)) * 2 ** -100 + lowDoubt + Math.abs(correction) * 2 ** -48;
  return Math.abs(quotient) > SMALL ? agreed(quotient, correction, doubt) : Number.NaN;
}

// Whether the product stays clear of the smallest and the largest double.
function isMultiplied(factor: number, product: number): boolean {
  return factor === 0 || (Math.abs(factor) < LARGE && Math.abs(product) > SMALL);
}
