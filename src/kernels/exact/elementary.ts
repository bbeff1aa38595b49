import {
  exactExp,
  exactLog,
  exactLogBase,
  exactPow,
  HALVED_FROM,
  logsOfSteps,
  powersOfTwo,
} from './elementary-exact.js';
import { lossOf, productError } from './sums.js';

/**
 * Exp, log and pow, correctly rounded: each result is the double nearest to the exact one. `Math.exp` and so on differ
 * in the last bit from one JavaScript engine to another, so results would not be the same everywhere.
 *
 * A result is computed as the sum of two doubles (Dekker, "A floating-point technique for extending the available
 * precision", 1971), from a table and a short series for what the table leaves (Tang, "Table-driven implementation of
 * the exponential function", 1989, and "of the logarithm function", 1990). If adding and subtracting the greatest
 * possible error gives the same double, that one is certain (Ziv's test). Otherwise, about once in thirty thousand
 * times, the result is computed exactly.
 */

/** log 2 in two parts; multiples of the first by whole numbers up to 2²¹ are exact. */
const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;

/** How many steps the tables have, a power of two. */
const STEPS = 128;

let powers: Float64Array | undefined;
let logs: Float64Array | undefined;
/** 2^-1023, 2^-1022, … up to 2^1023: a table, as `2 ** k` would call the JavaScript engine's pow. */
let twos: Float64Array | undefined;

function wholePowersOfTwo(): Float64Array {
  return Float64Array.from({ length: 2047 }, (_, i) => 2 ** (i - 1023));
}

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);
const HIGH_WORD = new Uint8Array(new Float64Array([1]).buffer)[7] === 0x3f ? 1 : 0;

/** The two parts of the last logarithm, and a bound of their error. */
const parts = new Float64Array(3);

/** Computes log x for x > 0 into `parts`. */
function logInParts(x: number): void {
  logs ??= logsOfSteps(STEPS);
  twos ??= wholePowersOfTwo();
  const isSubnormal = x < 2 ** -1022;
  double[0] = isSubnormal ? x * 2 ** 54 : x;
  const word = words[HIGH_WORD]!;
  let k = (word >>> 20) - 1023;
  let m = double[0]! * twos[1023 - k]!;
  if (isSubnormal) k -= 54;
  if (m >= HALVED_FROM) {
    m *= 0.5;
    k++;
  }
  // m·c is near 1, and c has nine digits, so r = m·c − 1 fits into two doubles exactly.
  const at = 3 * ((word & 0xf_ffff) >>> 13);
  const c = logs[at]!;
  const product = m * c;
  const f = product - 1;
  const e = productError(m, c, product);
  const r = f + e;
  const rLow = f - r + e;
  const square = r * r;
  const series =
    1 / 3 -
    r * (1 / 4 - r * (1 / 5 - r * (1 / 6 - r * (1 / 7 - r * (1 / 8 - r * (1 / 9 - r * (1 / 10 - r * (1 / 11))))))));
  const tail = r * square * series;
  // log x = k·log 2 − log c + r − r²/2 + r³·(1/3 − …)
  const whole = k * LN2_HIGH;
  const first = whole + logs[at + 1]!;
  const second = first + r;
  const third = second - 0.5 * square;
  const wholeLow = k * LN2_LOW + logs[at + 2]!;
  const low =
    lossOf(whole, logs[at + 1]!, first) +
    lossOf(first, r, second) +
    lossOf(second, -0.5 * square, third) +
    (tail + (rLow * (1 - r) - 0.5 * productError(r, r, square)) + wholeLow);
  const sum = third + low;
  parts[0] = sum;
  parts[1] = third - sum + low;
  // The error: a few roundings of the terms that are not held in two doubles.
  parts[2] = (Math.abs(tail) + Math.abs(wholeLow) + Math.abs(sum) * 2 ** -24) * 2 ** -50;
}

/** The exponential of a number in two doubles with a given error; NaN if its last bit is not certain. */
function expOf(x: number, xLow: number, error: number): number {
  powers ??= powersOfTwo(STEPS);
  twos ??= wholePowersOfTwo();
  const k = Math.round(x * (STEPS * Math.LOG2E));
  const difference = x - k * (LN2_HIGH / STEPS);
  const smaller = k * (LN2_LOW / STEPS);
  const r = difference - smaller;
  const rLow = lossOf(difference, -smaller, r) + xLow;
  const j = k & (STEPS - 1);
  const power = powers[2 * j]!;
  const product = power * r;
  const series = r * r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * (1 / 5040))))));
  // e^(r + rLow) is e^r·(1 + rLow), and e^r is 1 + r + series.
  const sum = power + product;
  const rest =
    productError(power, r, product) +
    power * (series + rLow * (1 + r + series)) +
    powers[2 * j + 1]! * (1 + r) +
    (power - sum + product);
  const y = sum + rest;
  const low = sum - y + rest;
  const slack = 2 * error + EXP_ERROR;
  const exponent = (k - j) / STEPS;
  // A result below 2⁻¹⁰²² would be rounded twice.
  if (y + (low - slack) !== y + (low + slack) || exponent < -1021) return Number.NaN;
  return exponent > 1023 ? y * 2 ** 1023 * 2 : y * twos[exponent + 1023]!;
}

/** A bound of the roundings for a result of 1 to 2: there are a few, in a series that is below 2⁻¹⁷. */
const EXP_ERROR = 2 ** -67;

export function exp(x: number): number {
  if (x > 710) return Number.POSITIVE_INFINITY;
  if (x < -746) return 0;
  return expOf(x, 0, 0) || exactExp(x);
}

/** NaN below 0, −Infinity at 0. */
export function log(x: number): number {
  if (!(x > 0)) return x === 0 ? Number.NEGATIVE_INFINITY : Number.NaN;
  logInParts(x);
  const y = parts[0]!;
  const low = parts[1]!;
  const slack = parts[2]!;
  return y + (low - slack) === y + (low + slack) ? y : exactLog(x);
}

/** The logarithm to a base that is above 0 and not 1; NaN below 0, −Infinity at 0. */
export function logBase(x: number, base: number): number {
  if (!(x > 0)) return x === 0 ? Number.NEGATIVE_INFINITY : Number.NaN;
  if (x === 1) return 0;
  logInParts(base);
  const b = parts[0]!;
  const bLow = parts[1]!;
  const bSlack = parts[2]!;
  logInParts(x);
  const a = parts[0]!;
  const q = a / b;
  const qb = q * b;
  const low = (a - qb - productError(q, b, qb) + parts[1]! - q * bLow) / b;
  const slack = (parts[2]! + Math.abs(q) * bSlack) / Math.abs(b) + Math.abs(q) * 2 ** -98;
  return q + (low - slack) === q + (low + slack) ? q + low : exactLogBase(x, base);
}

/** x to the power y as IEEE 754 has it; NaN for a negative x and a y that is not whole. */
export function pow(x: number, y: number): number {
  // JavaScript defines these powers exactly; it leaves open only the last bits of others.
  if (x === 0 || y === 0 || x === 1) return x ** y;
  if (x < 0) return Number.isInteger(y) ? (y % 2 === 0 ? pow(-x, y) : -pow(-x, y)) : Number.NaN;
  if (y === 2) return x * x;
  logInParts(x);
  const logarithm = parts[0]!;
  const h = y * logarithm;
  if (h > 710) return Number.POSITIVE_INFINITY;
  if (h < -746) return 0;
  const low = productError(y, logarithm, h) + y * parts[1]!;
  return expOf(h, low, Math.abs(y) * parts[2]! + Math.abs(h) * 2 ** -98) || exactPow(x, y);
}
