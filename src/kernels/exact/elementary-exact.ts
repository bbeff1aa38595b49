import { bitLength, roundQuotient, toInteger } from './integers.js';

/**
 * Exponentials and logarithms to some 250 binary digits, as whole multiples of 2⁻³²⁰. Slow: for the few arguments whose
 * result lies so close to the middle of two doubles that `elementary.ts` cannot tell which one is nearer.
 */

const DIGITS = 320n;
const ONE = 1n << DIGITS;
const LEAST = 1074n;

/** A finite double as a whole multiple of 2⁻¹⁰⁷⁴, the smallest double. */
function inLeastUnits(x: number): bigint {
  return toInteger(x) >> LEAST;
}

function nearestDouble(numerator: bigint, denominator: bigint): number {
  return roundQuotient(numerator * toInteger(1), denominator);
}

/** Rounding to this many digits first recovers results that are exact, or exactly in the middle of two doubles. */
const SURE_DIGITS = 200;

export function exactExp(x: number): number {
  return toDouble(expOf(fixed(x)));
}

export function exactLog(x: number): number {
  return nearestDouble(logOf(x), ONE);
}

export function exactLogBase(x: number, base: number): number {
  const denominator = logOf(base);
  return denominator < 0n ? nearestDouble(-logOf(x), -denominator) : nearestDouble(logOf(x), denominator);
}

/** For x over 0. */
export function exactPow(x: number, y: number): number {
  return toDouble(expOf((logOf(x) * inLeastUnits(y)) >> LEAST));
}

/** 2^(0/count), 2^(1/count), … below 2, each as two doubles. */
export function powersOfTwo(count: number): Float64Array {
  const [root] = expOf(twiceAtanh(ONE / 3n) / BigInt(count));
  const out = new Float64Array(2 * count);
  for (let j = 0, power = ONE; j < count; j++, power = (power * root) >> DIGITS) setParts(out, 2 * j, power);
  return out;
}

/** Mantissas from here on are halved, so that numbers near 1 have mantissas near 1. */
export const HALVED_FROM = 1 + 53 / 128;

/**
 * For each of `count` equal parts of the mantissas from 1 to 2: a double c of few digits, near 1 ÷ the mantissa (from
 * HALVED_FROM on, near 1 ÷ half of it), and −log c as two doubles. Near 1, c is 1.
 */
export function logsOfSteps(count: number): Float64Array {
  const out = new Float64Array(3 * count);
  for (let i = 0; i < count; i++) {
    const middle = (1 + (i + 0.5) / count) * (1 + i / count >= HALVED_FROM ? 0.5 : 1);
    const isByOne = i === 0 || i === count - 1;
    const c = isByOne ? 1 : Math.round((2 * count) / middle) / (2 * count);
    out[3 * i] = c;
    if (!isByOne) setParts(out, 3 * i + 1, -logOf(c));
  }
  return out;
}

function setParts(out: Float64Array, at: number, value: bigint): void {
  const high = nearestDouble(value, ONE);
  out[at] = high;
  out[at + 1] = nearestDouble(value - fixed(high), ONE);
}

function fixed(x: number): bigint {
  return inLeastUnits(x) >> (LEAST - DIGITS);
}

// The exponential of a fixed-point number, as a fixed-point mantissa and a power of two.
function expOf(x: bigint): readonly [mantissa: bigint, exponent: number] {
  const ln2 = twiceAtanh(ONE / 3n);
  const exponent = Number(x / ln2);
  // Divided by 2¹⁶, so that few terms are needed; the squarings that undo this cost sixteen digits.
  const part = (x - BigInt(exponent) * ln2) >> 16n;
  let sum = ONE;
  let term = ONE;
  for (let n = 1n; term !== 0n && term !== -1n; n++) {
    term = ((term * part) >> DIGITS) / n;
    sum += term;
  }
  for (let squaring = 0; squaring < 16; squaring++) sum = (sum * sum) >> DIGITS;
  return [sum, exponent];
}

function logOf(x: number): bigint {
  const units = inLeastUnits(x);
  // x = mantissa × 2 ** exponent, with a mantissa of 0.5 to 1.
  const length = bitLength(units);
  const mantissa = length > Number(DIGITS) ? units >> BigInt(length - 320) : units << BigInt(320 - length);
  const exponent = BigInt(length) - LEAST;
  const logOfMantissa = twiceAtanh(((mantissa - ONE) << DIGITS) / (mantissa + ONE));
  return logOfMantissa + exponent * twiceAtanh(ONE / 3n);
}

// 2 × (s + s³/3 + s⁵/5 + …), which is log((1 + s) ÷ (1 − s)).
function twiceAtanh(s: bigint): bigint {
  const square = (s * s) >> DIGITS;
  let sum = 0n;
  let power = s;
  for (let n = 1n; power !== 0n && power !== -1n; n += 2n) {
    sum += power / n;
    power = (power * square) >> DIGITS;
  }
  return 2n * sum;
}

function toDouble([mantissa, exponent]: readonly [bigint, number]): number {
  const spare = BigInt(Math.max(0, bitLength(mantissa) - SURE_DIGITS));
  const sure = ((mantissa >> (spare - 1n)) + 1n) >> 1n;
  const shift = BigInt(exponent) + spare - DIGITS;
  return shift < 0n ? nearestDouble(sure, 1n << -shift) : nearestDouble(sure << shift, 1n);
}
