// Parses CSV rows of several fields: times, numbers, names of series, and fields that nobody reads, in any order.
// ../scan-fields.ts says what it takes and what it leaves to JavaScript.

import { fourDigits } from './csv-pairs';
import { findName, nameEnd } from './csv-names';
import { findTimeForm, PLACES, readTime, setDay, timeMs } from './csv-time';
import { powers, quotient } from './number';

// What a column holds, as in ../scan-fields.ts.
const TIME: i32 = 1;
const NUMBER: i32 = 2;
const NAME: i32 = 3;

// A column: what it holds, where its values go, for names their table and the last one found, and for numbers the form
// of the last one.
const COLUMN_BYTES: usize = 48;

/** Where the last call stopped. */
export let fieldsEnd: i32 = 0;
/** How many numbers of the last call's rows are missing. */
export let missingCount: i32 = 0;

/**
 * Reads rows from `bytes` on, up to `length` bytes and `rowMax` rows, into the columns described from `columns` on, and
 * returns their count. Where each row ends goes to `ends`, counted from `bytes`. Days are as in `scanPairs`.
 */
export function scanFields(
  bytes: usize,
  length: i32,
  rowMax: i32,
  separator: i32,
  columns: usize,
  columnCount: i32,
  ends: usize,
  date: i64,
  dateEnd: i32,
  utcMs: f64,
  localMs: f64,
  isUtc: i32,
): i32 {
  const stop = bytes + <usize>length;
  const lastColumn = columns + <usize>(columnCount - 1) * COLUMN_BYTES;
  setDay(date, dateEnd, utcMs, localMs);
  missingCount = 0;
  let start = bytes;
  let row = 0;
  while (row < rowMax && start < stop) {
    isOther = false;
    missing = 0;
    let at = start;
    for (let column = columns; ; column += COLUMN_BYTES, at++) {
      at = readField(at, stop, separator, column, column == lastColumn ? 0x0a : separator, row, isUtc);
      if (isOther || column == lastColumn) break;
      if (<i32>load<u8>(at) != separator) {
        isOther = true;
        break;
      }
    }
    if (load<u8>(at) != 0x0a) {
      if (load<u16>(at) != 0x0a0d) isOther = true;
      at++;
    }
    // A row that reaches beyond the end was completed by other bytes.
    if (isOther || at >= stop) break;
    start = at + 1;
    missingCount += missing;
    store<i32>(ends + (row << 2), <i32>(start - bytes));
    row++;
  }
  fieldsEnd = <i32>(start - bytes);
  return row;
}

// Whether the current row has another form than those read here. Readers of fields set it and return a place all the
// same, because a result that is a place or 0 compiles to a conditional move: the next field would have to wait for it.
let isOther: bool = false;
// How many numbers of the current row are missing.
let missing: i32 = 0;

// Reads a field and returns the place after it, where `after` follows.
// @ts-ignore: decorator
@inline
function readField(
  from: usize,
  stop: usize,
  separator: i32,
  column: usize,
  after: i32,
  row: i32,
  isUtc: i32,
): usize {
  const kind = load<i32>(column);
  const values = load<u32>(column, 4);
  let end = from;
  if (kind == NUMBER) {
    end = readNumber(from, column);
    store<f64>(values + (row << 3), number);
  } else if (kind == TIME) {
    if (!findTimeForm(from, after, isUtc)) isOther = true;
    else end = readTime(from);
    store<f64>(values + (row << 3), timeMs);
    if (timeMs != timeMs) isOther = true;
  } else if (kind == NAME) {
    const name = findName(load<u32>(column, 8), from, load<i32>(column, 12), separator);
    if (name < 0) isOther = true;
    else {
      end = nameEnd;
      store<i32>(column, name, 12);
      store<i32>(values + (row << 2), name);
    }
  } else end = skipField(from, stop, separator);
  return end;
}

// The number that the last call of `readNumber` read; NaN if the field is empty.
let number: f64 = NaN;

// Reads `[-]digits[.digits]`, or nothing. Returns the place after it, where the field must end. Up to fifteen digits
// divided by a power of ten are the correctly rounded decimal.
//
// Numbers of a column are usually as long as the last one. If so, its length is taken from memory: the processor then
// need not wait for these bytes to know where the next field begins.
// @ts-ignore: decorator
@inline
function readNumber(from: usize, column: usize): usize {
  const bytes = i8x16.sub(v128.load(from), i8x16.splat(0x30));
  // All bits in the lanes that are not digits.
  const others = i8x16.gt_u(bytes, i8x16.splat(9));
  const isNegative = i32(load<u8>(from) == 0x2d);
  const form = i8x16.bitmask(others) | (isNegative << 16);
  let wholeEnd = load<i32>(column, 16);
  const isAlike =
    (form & load<i32>(column, 24)) == load<i32>(column, 28) &&
    <i32>load<u8>(from + <usize>wholeEnd) == load<i32>(column, 32);
  if (!isAlike) {
    if (!findForm(from, form, isNegative, column)) return readLong(from, isNegative);
    wholeEnd = load<i32>(column, 16);
  }
  const end = load<i32>(column, 20);
  if (end == isNegative) {
    if (isNegative != 0) isOther = true;
    number = NaN;
    missing++;
    return from;
  }
  const wholeCount = wholeEnd - isNegative;
  const scale = end == wholeEnd ? 0 : end - wholeEnd - 1;
  const digitCount = wholeCount + scale;
  // The k-th digit from the end goes to byte 15 - k. Bytes before the first digit get an index above 15, which gives 0,
  // or that of the sign, which is 0 here.
  const places = i8x16.add(PLACES, i8x16.splat(<i8>(digitCount - 16)));
  const afterPoint = i8x16.ge_s(places, i8x16.splat(<i8>wholeCount));
  const order = i8x16.sub(i8x16.add(places, i8x16.splat(<i8>isNegative)), afterPoint);
  const digits = i8x16.swizzle(v128.andnot(bytes, others), order);
  let magnitude = <f64>sumOf(fourDigits(i16x8.extend_high_i8x16_u(digits)));
  if (digitCount > 8) magnitude += <f64>sumOf(fourDigits(i16x8.extend_low_i8x16_u(digits))) * 1e8;
  magnitude /= unchecked(powers[scale]);
  number = isNegative != 0 ? -magnitude : magnitude;
  return from + <usize>end;
}

// Works out the form of a number: where its digits before the point end, where it ends, and the bits and the byte by
// which another one is alike. False if it has more than fifteen bytes, or is no such number.
function findForm(from: usize, form: i32, isNegative: i32, column: usize): bool {
  let others = form & 0xffff & ~isNegative;
  const wholeEnd = ctz(others);
  let end = wholeEnd;
  const byte = <i32>load<u8>(from + <usize>wholeEnd);
  if (byte == 0x2e) {
    others &= others - 1;
    end = ctz(others);
    if (wholeEnd == isNegative || end == wholeEnd + 1) return false;
  }
  if (end > 15) return false;
  const mask = 0x10000 | ((2 << end) - 1);
  store<i32>(column, wholeEnd, 16);
  store<i32>(column, end, 20);
  store<i32>(column, mask, 24);
  store<i32>(column, form & mask, 28);
  store<i32>(column, byte, 32);
  return true;
}

const POWERS: StaticArray<u64> = [
  1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000,
  10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
  10000000000000000000,
];

// Reads a number of any length whose digits fit into 64 bits: nineteen, and zeros before them.
function readLong(from: usize, isNegative: i32): usize {
  const start = from + <usize>isNegative;
  let at = start;
  let digits: u64 = 0;
  for (; <u32>load<u8>(at) - 0x30 <= 9; at++) digits = 10 * digits + (<u64>load<u8>(at) - 0x30);
  const wholeCount = <i32>(at - start);
  let scale = 0;
  if (load<u8>(at) == 0x2e) {
    at++;
    const bytes = i8x16.sub(v128.load(at), i8x16.splat(0x30));
    scale = ctz(i8x16.bitmask(i8x16.gt_u(bytes, i8x16.splat(9))) | 0x10000);
    const first = i8x16.swizzle(bytes, i8x16.add(PLACES, i8x16.splat(<i8>(scale - 16))));
    const upper = <u64>sumOf(fourDigits(i16x8.extend_low_i8x16_u(first)));
    let fraction = 100000000 * upper + <u64>sumOf(fourDigits(i16x8.extend_high_i8x16_u(first)));
    at += scale;
    if (scale == 0) isOther = true;
    for (; scale >= 16 && <u32>load<u8>(at) - 0x30 <= 9; at++, scale++) {
      fraction = 10 * fraction + (<u64>load<u8>(at) - 0x30);
    }
    const isTooLong = scale > 19 || (digits != 0 && wholeCount + scale > 19);
    if (isTooLong) isOther = true;
    else digits = digits * unchecked(POWERS[scale]) + fraction;
  }
  if (wholeCount == 0 || wholeCount > 19) isOther = true;
  const magnitude = isOther ? NaN : quotient(digits, scale);
  // It lies too close to the middle of two doubles to be sure.
  if (magnitude != magnitude) isOther = true;
  number = isNegative != 0 ? -magnitude : magnitude;
  return at;
}

// @ts-ignore: decorator
@inline
function sumOf(lanes: v128): i32 {
  const half = i32x4.add(lanes, v128.shuffle<i32>(lanes, lanes, 2, 3, 0, 1));
  return i32x4.extract_lane(half, 0) + i32x4.extract_lane(half, 1);
}

// Returns the place of the separator or line end after a field that nobody reads, or of its first quote, where no field
// ends.
function skipField(from: usize, stop: usize, separator: i32): usize {
  for (let at = from; at < stop; at += 16) {
    const bytes = v128.load(at);
    const quotes = i8x16.eq(bytes, i8x16.splat(0x22));
    const lineEnds = v128.or(i8x16.eq(bytes, i8x16.splat(0x0a)), i8x16.eq(bytes, i8x16.splat(0x0d)));
    const ends = v128.or(i8x16.eq(bytes, i8x16.splat(<i8>separator)), v128.or(lineEnds, quotes));
    const bits = i8x16.bitmask(ends);
    if (bits == 0) continue;
    return at + <usize>ctz(bits);
  }
  isOther = true;
  return from;
}
