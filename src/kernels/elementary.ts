import { exactExp, exactLog, exactLogBase, exactPow } from './elementary-exact.js';
import { lossOf, productError } from './exact/sums.js';

/**
 * Exp, log and pow, correctly rounded: each result is the double nearest to the exact one. What engines offer as
 * `Math.exp` and so on differs in the last bit from one to another, so results would not be the same everywhere.
 *
 * A result is computed as the sum of two doubles with some 68 digits (Dekker, "A floating-point technique for extending
 * the available precision", 1971). If adding and taking away what it may be off makes no difference to the nearest
 * double, that one is certain (Ziv's test); otherwise, about once in ten thousand times, it is computed exactly.
 */

/** log 2 in two parts; multiples of the first by whole numbers up to 2²¹ are exact. */
const LN2_HIGH = 0.6931471803691238;
const LN2_LOW = 1.9082149292705877e-10;

// By how much, relative to the result (of exp: absolutely), the sum of two doubles may be off; measured by the tests.
const EXP_ERROR = 2 ** -66;
const LOG_ERROR = 2 ** -66;

const double = new Float64Array(1);
const words = new Uint32Array(double.buffer);
const HIGH_WORD = new Uint8Array(new Float64Array([1]).buffer)[7] === 0x3f ? 1 : 0;

/** The two parts of what was computed last. */
const parts = new Float64Array(2);

/** Leaves constant + x × (what the parts are) in the parts; the constant and x are two doubles each. */
function multiplyAdd(x: number, xLow: number, constant: number, constantLow: number): void {
  const y = parts[0]!;
  const product = x * y;
  const low = productError(x, y, product) + x * parts[1]! + xLow * y;
  const sum = constant + product;
  parts[0] = sum;
  parts[1] = constant - sum + product + constantLow + low;
}

/** Leaves log x, for x over 0, in the parts. */
function logInParts(x: number): void {
  const isSubnormal = x < 2 ** -1022;
  double[0] = isSubnormal ? x * 2 ** 54 : x;
  let k = (words[HIGH_WORD]! >>> 20) - 1023 - (isSubnormal ? 54 : 0);
  words[HIGH_WORD] = (words[HIGH_WORD]! & 0xf_ffff) | 0x3ff0_0000;
  let m = double[0]!;
  if (m > Math.SQRT2) {
    m *= 0.5;
    k++;
  }
  // log m = 2 × (s + s³/3 + s⁵/5 + …) with s = (m − 1) ÷ (m + 1).
  const f = m - 1;
  const d = m + 1;
  const s = f / d;
  const sd = s * d;
  const sLow = (f - sd - productError(s, d, sd) - s * lossOf(m, 1, d)) / d;
  const z = s * s;
  const zLow = productError(s, s, z) + 2 * s * sLow;
  let t = 1 / 29;
  for (let n = 27; n >= 7; n -= 2) t = 1 / n + z * t;
  const tail = z * t;
  parts[0] = 0.2 + tail;
  parts[1] = 0.2 - parts[0] + tail - 1.1102230246251566e-17;
  multiplyAdd(z, zLow, 1 / 3, 1.850371707708594e-17);
  multiplyAdd(z, zLow, 1, 0);
  multiplyAdd(2 * s, 2 * sLow, k * LN2_HIGH, k * LN2_LOW);
  normalize();
}

function normalize(): void {
  const sum = parts[0]! + parts[1]!;
  parts[1] = parts[0]! - sum + parts[1]!;
  parts[0] = sum;
}

/** The exponential of two doubles, or NaN where it is not certain: `error` is how far they may be off. */
function expOf(x: number, xLow: number, error: number): number {
  const k = Math.round(x * Math.LOG2E);
  const multiple = k * LN2_HIGH;
  const difference = x - multiple;
  const smaller = k * LN2_LOW;
  const r = difference - smaller;
  const rLow = lossOf(difference, -smaller, r) + lossOf(x, -multiple, difference) + xLow;
  // 1 + r + r²/2! + …: the terms from r⁶ on need only one double.
  let p = 1 / 355_687_428_096_000;
  for (let n = 16; n >= 6; n--) p = INVERSE_FACTORIALS[n]! + r * p;
  const tail = r * p;
  const fifth = INVERSE_FACTORIALS[5]!;
  parts[0] = fifth + tail;
  parts[1] = fifth - parts[0] + tail + 1.1564823173178714e-19;
  multiplyAdd(r, rLow, INVERSE_FACTORIALS[4]!, 2.3129646346357427e-18);
  multiplyAdd(r, rLow, INVERSE_FACTORIALS[3]!, 9.25185853854297e-18);
  multiplyAdd(r, rLow, 0.5, 0);
  multiplyAdd(r, rLow, 1, 0);
  multiplyAdd(r, rLow, 1, 0);
  normalize();
  const y = parts[0]!;
  const low = parts[1]!;
  const slack = error + EXP_ERROR;
  // A result below 2⁻¹⁰²² would be rounded twice.
  if (y + (low - slack) !== y + (low + slack) || k < -1021) return Number.NaN;
  return k > 1023 ? y * 2 ** 1023 * 2 ** (k - 1023) : y * 2 ** k;
}

const INVERSE_FACTORIALS = /* @__PURE__ */ inverseFactorials();

function inverseFactorials(): Float64Array {
  let factorial = 1;
  return Float64Array.from({ length: 17 }, (_, n) => {
    factorial *= Math.max(1, n);
    return 1 / factorial;
  });
}

export function exp(x: number): number {
  if (x > 710) return Number.POSITIVE_INFINITY;
  if (x < -746) return 0;
  const y = expOf(x, 0, 0);
  return Number.isNaN(y) ? exactExp(x) : y;
}

/** NaN below 0, −Infinity at 0. */
export function log(x: number): number {
  if (!(x > 0)) return x === 0 ? Number.NEGATIVE_INFINITY : Number.NaN;
  logInParts(x);
  const y = parts[0]!;
  const low = parts[1]!;
  const slack = Math.abs(y) * LOG_ERROR;
  return y + (low - slack) === y + (low + slack) ? y : exactLog(x);
}

/** The logarithm to a base over 0 other than 1. */
export function logBase(x: number, base: number): number {
  if (!(x > 0)) return x === 0 ? Number.NEGATIVE_INFINITY : Number.NaN;
  if (x === 1) return 0;
  logInParts(base);
  const b = parts[0]!;
  const bLow = parts[1]!;
  logInParts(x);
  const a = parts[0]!;
  const q = a / b;
  const qb = q * b;
  const low = (a - qb - productError(q, b, qb) + parts[1]! - q * bLow) / b;
  const slack = Math.abs(q) * 2 * LOG_ERROR;
  return q + (low - slack) === q + (low + slack) ? q + low : exactLogBase(x, base);
}

/** x to the power y as IEEE 754 has it; NaN for a negative x and a y that is not whole. */
export function pow(x: number, y: number): number {
  // JavaScript leaves only the last bit of other powers open.
  if (x === 0 || y === 0 || x === 1) return x ** y;
  if (x < 0) return Number.isInteger(y) ? (y % 2 === 0 ? pow(-x, y) : -pow(-x, y)) : Number.NaN;
  if (y === 2) return x * x;
  logInParts(x);
  const logarithm = parts[0]!;
  const h = y * logarithm;
  if (h > 710) return Number.POSITIVE_INFINITY;
  if (h < -746) return 0;
  const low = productError(y, logarithm, h) + y * parts[1]!;
  const result = expOf(h, low, Math.abs(h) * LOG_ERROR);
  return Number.isNaN(result) ? exactPow(x, y) : result;
}
