import { CARRIAGE_RETURN, DIGIT_0, LINE_FEED, MINUS, POINT } from './bytes.js';

// From this many digits on, an int32 no longer holds them.
const INT_DIGITS_MAX = 9;
// Up to this many digits a double holds the integer exactly, if it is below 2^53.
const DOUBLE_DIGITS_MAX = 17;
const EXACT_END = 2 ** 53;
const POWERS_OF_TEN = Float64Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`));

/**
 * The fast form of `readNumber`: reads `-?digits[.digits]`, or nothing as NaN, into `out[index]`. Gives the place of
 * the separator or line end behind it, or −1 for any other form. A line feed must follow somewhere.
 *
 * The digits are an integer below 2^53 and their scale a power of ten up to 10^22, both exact in a double, so their
 * quotient is the correctly rounded decimal (Clinger, "How to Read Floating Point Numbers Accurately", 1990).
 */
export function scanNumber(
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
  let integer = digits;
  if (count > INT_DIGITS_MAX) {
    if (count > DOUBLE_DIGITS_MAX) return -1;
    integer = longInteger(bytes, start, at);
    if (integer >= EXACT_END) return -1;
  }
  const magnitude = scale === 0 ? integer : integer / POWERS_OF_TEN[scale]!;
  out[index] = isNegative ? -magnitude : magnitude;
  return at;
}

function longInteger(bytes: Uint8Array, start: number, end: number): number {
  let integer = 0;
  for (let at = start; at < end; at++) {
    const digit = bytes[at]! - DIGIT_0;
    if (digit >= 0) integer = integer * 10 + digit; // the point lies below the digits
  }
  return integer;
}
