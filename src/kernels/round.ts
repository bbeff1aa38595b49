import { simdFor } from './simd.js';

/**
 * Decimal rounding of doubles, decided by the shortest decimal that reads back to the double.
 *
 * Let k = floor(|x|·10^d), and t the double nearest to the tie (k + ½)/10^d. Reading decimals is monotone, so
 * |x| < t means that the shortest decimal of |x| lies below the tie, and |x| > t that it lies above. Where the
 * tie has at most 15 digits no other decimal so short reads to the same double, so |x| = t means that the
 * shortest decimal of |x| is the tie itself. (k + ½) and 10^d are exact, so one correctly rounded division
 * gives t, and another the result: two divisions and no text. A product |x|·10^d that is rounded over a whole
 * number moves k by one, and the comparison with t brings it back.
 */

// `10 ** n` is not exact in every engine; reading the decimal is.
const powersOfTen = Float64Array.from({ length: 16 }, (_, digits) => Number(`1e${digits}`));
const powerOfTen = (digits: number): number => powersOfTen[digits]!;

/** 10^-digits in two parts for the SIMD loop: 26 bits, whose products with short multiples are exact, and the rest. */
function partsOfUnit(digits: number): readonly [head: number, rest: number] {
  // With more digits a quotient may lie too close to the middle of two doubles.
  if (digits > 7) return [0, 0];
  const power = powerOfTen(digits);
  const split = (1 / power) * (2 ** 27 + 1);
  const head = split - (split - 1 / power);
  return [head, (1 - power * head) / power];
}

/** For products below this, ties have at most 15 digits. */
const FAST_LIMIT = 1e14;

export type RoundMode = 'halfaway' | 'halfeven';

/** Rounds to `digits` (−15 to 15) after the point, ties away from zero. Results are finite. */
export function roundHalfAway(value: Float64Array, count: number, digits: number, out: Float64Array): true {
  if (digits < 0) return roundEach(value, count, digits, 'halfaway', out);
  const power = powerOfTen(digits);
  const simd = simdFor(value, count, out);
  if (simd !== undefined) {
    const [head, rest] = partsOfUnit(digits);
    // The kernel stops at four values with a product that is too large for it, and before the last ones: one is done.
    for (let i = 0; i < count; i++) {
      const from = 8 * i;
      i += simd.roundHalfAway(value.byteOffset + from, count - i, power, head, rest, out.byteOffset + from);
      if (i < count) out[i] = roundOne(value[i]!, digits, 'halfaway');
    }
    return true;
  }
  for (let i = 0; i < count; i++) {
    const x = value[i]!;
    const size = Math.abs(x);
    const product = size * power;
    if (product < FAST_LIMIT) {
      const k = Math.floor(product);
      const rounded = (size >= (k + 0.5) / power ? k + 1 : k) / power;
      out[i] = x < 0 && rounded !== 0 ? -rounded : rounded;
    } else {
      out[i] = roundDecimal(x, digits, 'halfaway');
    }
  }
  return true;
}

/** Rounds to `digits` (−15 to 15) after the point, ties to the even neighbour. Results are finite. */
export function roundHalfEven(value: Float64Array, count: number, digits: number, out: Float64Array): true {
  return roundEach(value, count, digits, 'halfeven', out);
}

function roundEach(value: Float64Array, count: number, digits: number, mode: RoundMode, out: Float64Array): true {
  for (let i = 0; i < count; i++) out[i] = roundOne(value[i]!, digits, mode);
  return true;
}

/** One value, rounded: the reference for the loops above. */
export function roundOne(x: number, digits: number, mode: RoundMode): number {
  const power = powerOfTen(Math.abs(digits));
  const size = Math.abs(x);
  const scaled = digits < 0 ? size / power : size * power;
  if (!((digits < 0 ? size : scaled) < FAST_LIMIT)) return roundDecimal(x, digits, mode);
  const k = Math.floor(scaled);
  const tie = digits < 0 ? (k + 0.5) * power : (k + 0.5) / power;
  const isUp = size > tie || (size === tie && (mode === 'halfaway' || k % 2 === 1));
  const multiple = isUp ? k + 1 : k;
  const rounded = digits < 0 ? multiple * power : multiple / power;
  return x < 0 && rounded !== 0 ? -rounded : rounded;
}

/** The same by the digits of the shortest decimal: slow, but right for any magnitude. */
export function roundDecimal(x: number, digits: number, mode: RoundMode): number {
  const [mantissa = '', exponentText = '0'] = Math.abs(x).toExponential().split('e');
  const significant = mantissa.replace('.', '');
  // |x| = significant × 10^exponent, and its last `cut` digits are dropped.
  const exponent = Number(exponentText) - (significant.length - 1);
  const cut = -digits - exponent;
  if (cut <= 0) return x === 0 ? 0 : x;
  const unit = 10n ** BigInt(cut);
  const whole = BigInt(significant);
  const k = whole / unit;
  const twiceRest = 2n * (whole % unit);
  const isUp = twiceRest > unit || (twiceRest === unit && (mode === 'halfaway' || k % 2n === 1n));
  const rounded = Number(`${isUp ? k + 1n : k}e${-digits}`);
  return x < 0 && rounded !== 0 ? -rounded : rounded;
}
