import { productError } from '../../../kernels/exact/sums.js';
import { CARRIAGE_RETURN, DIGIT_0, LINE_FEED, MINUS, POINT } from '../bytes.js';

// From this many digits on, an int32 no longer holds them.
const INT_DIGITS_MAX = 9;
// Up to this many, a double holds any integer exactly; up to the next, two doubles do.
const DOUBLE_DIGITS_MAX = 15;
const PAIR_DIGITS_MAX = 19;
// A bound of a few roundings of 2^-53, with plenty to spare.
const CORRECTION_ERROR = 2 ** -46;
const POWERS_OF_TEN = Float64Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

/**
 * The fast form of `readNumber`: reads `-?digits[.digits]`, or nothing as NaN, into `out[index]`. Returns the index of
 * the separator or line end after it, or −1 for any other form. A line feed must follow somewhere.
 *
 * Up to 15 digits are an integer and their scale a power of ten that are both exact in a double, so their quotient is
 * the correctly rounded decimal (Clinger, "How to Read Floating Point Numbers Accurately", 1990).
 */
export function parseNumber(
  bytes: Uint8Array,
  from: number,
  separator: number,
  out: Float64Array,
  index: number,
): number {
  let at = from;
  let byte = bytes[at]!;
  const isNegative = byte === MINUS;
  if (isNegative) byte = bytes[++at]!;
  const start = at;
  let digits = 0;
  let digit = byte - DIGIT_0;
  while (digit >>> 0 <= 9) {
    digits = (digits * 10 + digit) | 0;
    digit = bytes[++at]! - DIGIT_0;
  }
  let count = at - start;
  let scale = 0;
  if (digit === POINT - DIGIT_0 && count > 0) {
    const point = at;
    digit = bytes[++at]! - DIGIT_0;
    while (digit >>> 0 <= 9) {
      digits = (digits * 10 + digit) | 0;
      digit = bytes[++at]! - DIGIT_0;
    }
    scale = at - point - 1;
    count += scale;
  }
  const end = digit + DIGIT_0;
  if (end !== separator && end !== LINE_FEED && end !== CARRIAGE_RETURN) return -1;
  if (count === 0) {
    if (isNegative) return -1;
    out[index] = Number.NaN;
    return at;
  }
  let magnitude = digits;
  if (count > INT_DIGITS_MAX) magnitude = longDecimal(bytes, start, at, count, scale);
  else if (scale > 0) magnitude /= POWERS_OF_TEN[scale]!;
  if (Number.isNaN(magnitude)) return -1;
  out[index] = isNegative ? -magnitude : magnitude;
  return at;
}

// A decimal of more than nine digits, or NaN if only the general path can round it.
function longDecimal(bytes: Uint8Array, start: number, end: number, count: number, scale: number): number {
  if (count > PAIR_DIGITS_MAX) return Number.NaN;
  const highCount = count - INT_DIGITS_MAX;
  let high = 0;
  let low = 0;
  let seen = 0;
  for (let at = start; at < end; at++) {
    const digit = bytes[at]! - DIGIT_0;
    if (digit < 0) continue; // the point lies below the digits
    if (seen++ < highCount) high = high * 10 + digit;
    else low = (low * 10 + digit) | 0;
  }
  if (count <= DOUBLE_DIGITS_MAX) return (high * 1e9 + low) / POWERS_OF_TEN[scale]!;
  return pairQuotient(high, low, POWERS_OF_TEN[scale]!);
}

/**
 * (high · 10^9 + low) / power, correctly rounded, or NaN if it lies too close to the middle of two doubles to be sure.
 * `high` is below 10^10, `low` below 10^9. The quotient `q` of doubles is corrected by its exact remainder.
 */
function pairQuotient(high: number, low: number, power: number): number {
  // 10^9 has 21 significant bits, so both products are exact, and so is a + b.
  const lowBits = high % 1024;
  const x = (high - lowBits) * 1e9;
  const y = lowBits * 1e9 + low;
  const a = x + y;
  const b = y - (a - x);
  const q = a / power;
  const product = q * power;
  const correction = (a - product - productError(q, power, product) + b) / power;
  const value = q + correction * (1 + CORRECTION_ERROR);
  return value === q + correction * (1 - CORRECTION_ERROR) ? value : Number.NaN;
}
