// Reads numbers of JSON from bytes that are followed by bytes which no number contains.

import { productError } from './product';

/** Whole numbers of this many digits fit into 64 bits. */
const DIGITS_MAX: i32 = 19;
/** All whole numbers up to this are doubles. */
const EXACT_MAX: u64 = 9007199254740992;
const SCALE_MAX: i32 = 22;
/** A bound of a few roundings of 2^-53, with plenty to spare. */
const CORRECTION_ERROR: f64 = 1.4210854715202004e-14;

export const powers: StaticArray<f64> = [
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
  1e21, 1e22,
];

/** The number that the last call of `readNumber` read; NaN if it is left to JavaScript. */
export let number: f64 = NaN;

/** Reads the number at a place and returns the place after it; 0 if there is no number. */
export function readNumber(from: usize): usize {
  const isNegative = load<u8>(from) == 0x2d;
  const start = from + <usize>isNegative;
  let at = start;
  let digits: u64 = 0;
  for (; <u32>load<u8>(at) - 0x30 <= 9; at++) digits = 10 * digits + (<u64>load<u8>(at) - 0x30);
  let count = <i32>(at - start);
  if (count == 0 || (count > 1 && load<u8>(start) == 0x30)) return 0;
  let scale: i32 = 0;
  if (load<u8>(at) == 0x2e) {
    const point = at++;
    for (; <u32>load<u8>(at) - 0x30 <= 9; at++) digits = 10 * digits + (<u64>load<u8>(at) - 0x30);
    scale = <i32>(at - point) - 1;
    if (scale == 0) return 0;
    count += scale;
  }
  const end = isNumberEnd(load<u8>(at)) ? at : skipExponent(at);
  if (end == 0) return 0;
  const isShort = end == at && count <= DIGITS_MAX && scale <= SCALE_MAX;
  const magnitude = isShort ? quotient(digits, scale) : NaN;
  number = isNegative ? -magnitude : magnitude;
  return end;
}

// @ts-ignore: decorator
@inline
export function isNumberEnd(byte: u8): bool {
  return byte == 0x2c || byte == 0x7d || byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09;
}

// Returns the place after an exponent, which ends a number; 0 if there is no exponent.
function skipExponent(from: usize): usize {
  if ((load<u8>(from) | 0x20) != 0x65) return 0;
  let at = from + 1;
  const sign = load<u8>(at);
  if (sign == 0x2b || sign == 0x2d) at++;
  const start = at;
  while (<u32>load<u8>(at) - 0x30 <= 9) at++;
  return at > start && isNumberEnd(load<u8>(at)) ? at : 0;
}

/**
 * The double nearest to digits / 10^scale, or NaN if it lies too close to the middle of two doubles to be sure. If both
 * numbers are doubles it is their quotient (Clinger, "How to Read Floating Point Numbers Accurately", 1990), else a
 * quotient corrected by its exact remainder.
 */
export function quotient(digits: u64, scale: i32): f64 {
  const power = unchecked(powers[scale]);
  const a = <f64>digits;
  const q = a / power;
  if (digits <= EXACT_MAX) return q;
  const b = <f64>(<i64>(digits - <u64>a));
  const product = q * power;
  const correction = (a - product - productError(q, power, product) + b) / power;
  const nearest = q + correction * (1 + CORRECTION_ERROR);
  return nearest == q + correction * (1 - CORRECTION_ERROR) ? nearest : NaN;
}
