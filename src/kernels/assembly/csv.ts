// Parses CSV rows of a time and a number, as they are usually written, whole fields at a time. ../scan-rows.ts says
// what it takes and what it leaves to JavaScript.
//
// Most rows of a file are alike: the same day, the same number of digits. So the form of a row is worked out once, as
// vectors that test a row and turn it into two numbers without a branch, and is used until a row does not fit. The
// processor then predicts where the next row begins and need not wait for what it reads.

import { DAY_MS, startOf, ZERO } from './date';
import { powers } from './number';

const PLACES = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

/** Where the last call stopped. */
export let scanEnd: i32 = 0;

// The current day: its date as the bytes 0 to 7 and 7 to 10 of a row (the last is the T or space before the clock), and
// when it starts for times with Z and without (NaN if not known).
let dayWord: i64 = 0;
let dayTail: i32 = 0;
let dayUtcMs: f64 = NaN;
let dayLocalMs: f64 = NaN;

// The current form. Each byte minus its mark must be at most its limit.
let formSeparator: i32 = -1;
let formLength: usize = 0;
let hasUtcMark: bool = false;
let valueFrom: usize = 0;
let digitCount: i32 = 0;
let clockMarks: v128 = i64x2(0, 0);
let clockLimits: v128 = i64x2(0, 0);
let fractionWeights: v128 = i64x2(0, 0);
let valueMarks: v128 = i64x2(0, 0);
let valueLimits: v128 = i64x2(0, 0);
let digitOrder: v128 = i64x2(0, 0);
let divisors: v128 = f64x2(1, 1);
let signs: v128 = i64x2(0, 0);

/**
 * Reads rows from `bytes` on, up to `length` bytes and `rowMax` rows, and returns their count. The day is given as in
 * `ScanDay`. With `isUtc`, times without Z are UTC too, so new days are found here.
 */
export function scanRows(
  bytes: usize,
  length: i32,
  rowMax: i32,
  separator: i32,
  date: i64,
  dateEnd: i32,
  utcMs: f64,
  localMs: f64,
  isUtc: i32,
  times: usize,
  values: usize,
): i32 {
  const stop = bytes + <usize>length;
  const timeStop = times + (<usize>rowMax << 3);
  let start = bytes;
  let time = times;
  setDay(date, dateEnd, utcMs, localMs);
  let isNew = false;
  if (formSeparator != separator) formLength = 0;
  while (time < timeStop && start < stop) {
    const baseMs = hasUtcMark ? dayUtcMs : dayLocalMs;
    if (formLength > 0 && baseMs == baseMs) {
      const end = scanAlike(start, stop, time, timeStop, values - times, baseMs);
      if (end == time && isNew) break;
      start += ((end - time) >> 3) * formLength;
      time = end;
      if (time >= timeStop || start >= stop) break;
    }
    if (!isDay(start) && !findDay(start, isUtc)) break;
    if (!findForm(start, separator)) break;
    const nextMs = hasUtcMark ? dayUtcMs : dayLocalMs;
    if (nextMs != nextMs) break;
    isNew = true;
  }
  scanEnd = <i32>(start - bytes);
  return <i32>((time - times) >> 3);
}

// Reads rows up to the first that is not of the current form. Returns where the next time goes.
function scanAlike(from: usize, stop: usize, times: usize, timeStop: usize, toValue: usize, baseMs: f64): usize {
  const length = formLength;
  const clockMarked = clockMarks;
  const clockLimit = clockLimits;
  const fractions = fractionWeights;
  const valueMarked = valueMarks;
  const valueLimit = valueLimits;
  const order = digitOrder;
  const bases = f64x2.replace_lane(f64x2.splat(0), 0, baseMs);
  const divisor = divisors;
  const sign = signs;
  const valueAt = valueFrom;
  const isLong = digitCount > 8;
  const word = dayWord;
  const tail = dayTail;
  let time = times;
  let start = from;
  for (; time < timeStop && start + length <= stop; start += length) {
    if (load<i64>(start) != word || load<i32>(start, 7) != tail) break;
    const clock = i8x16.sub(v128.load(start, 11), clockMarked);
    const value = i8x16.sub(v128.load(start + valueAt), valueMarked);
    if (v128.any_true(v128.or(i8x16.gt_u(clock, clockLimit), i8x16.gt_u(value, valueLimit)))) break;
    // HH, :M, M:, SS as minutes and seconds, then as milliseconds.
    const wholes = i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_u(clock), i16x8(600, 60, 0, 10, 1, 0, 10, 1));
    const ms = i32x4.add(
      i32x4.mul(wholes, i32x4(60000, 60000, 60000, 1000)),
      i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_u(clock), fractions),
    );
    const digits = i8x16.swizzle(value, order);
    const units = fourDigits(i16x8.extend_high_i8x16_u(digits));
    // Both are summed over their four lanes at once.
    const half = i32x4.add(v128.shuffle<i32>(ms, units, 0, 4, 1, 5), v128.shuffle<i32>(ms, units, 2, 6, 3, 7));
    const sums = i32x4.add(half, v128.shuffle<i32>(half, half, 2, 3, 0, 1));
    if (i32x4.extract_lane(sums, 0) >= <i32>DAY_MS) break; // hours from 24 on
    let numbers = f64x2.convert_low_i32x4_s(sums);
    if (isLong) numbers = f64x2.add(numbers, upperDigits(digits));
    numbers = v128.xor(f64x2.div(f64x2.add(numbers, bases), divisor), sign);
    v128.store_lane<f64>(time, numbers, 0);
    v128.store_lane<f64>(time + toValue, numbers, 1);
    time += 8;
  }
  return time;
}

// Each lane's digits by their place value; the sum of two neighbouring lanes is a number of eight digits.
// @ts-ignore: decorator
@inline
function fourDigits(digits: v128): v128 {
  const fours = i32x4.dot_i16x8_s(digits, i16x8(1000, 100, 10, 1, 1000, 100, 10, 1));
  return i32x4.mul(fours, i32x4(10000, 10000, 1, 1));
}

// The value of the upper eight of sixteen digits, in the second lane. All are exact: whole numbers below 2^53.
function upperDigits(digits: v128): v128 {
  const pairs = fourDigits(i16x8.extend_low_i8x16_u(digits));
  const half = i32x4.add(pairs, v128.shuffle<i32>(pairs, pairs, 2, 3, 0, 1));
  const sum = i32x4.extract_lane(half, 0) + i32x4.extract_lane(half, 1);
  return f64x2.replace_lane(f64x2.splat(0), 1, <f64>sum * 1e8);
}

// Works out the form of the row at a position; false if it is not one that is read here.
function findForm(start: usize, separator: i32): bool {
  // Usually it is only the number that has another length.
  if (formLength == 0 || !fitsClock(start)) findClock(start, separator);
  const valueLength = findNumber(start + valueFrom);
  formLength = valueLength == 0 ? 0 : valueFrom + <usize>valueLength;
  return valueLength > 0;
}

function fitsClock(start: usize): bool {
  return !v128.any_true(i8x16.gt_u(i8x16.sub(v128.load(start, 11), clockMarks), clockLimits));
}

function findClock(start: usize, separator: i32): void {
  formSeparator = separator;
  const hasFraction = load<u8>(start, 19) == 0x2e;
  let at = start + (hasFraction ? 23 : 19);
  hasUtcMark = load<u8>(at) == 0x5a;
  if (hasUtcMark) at++;
  const clockLength = <i32>(at - start) - 11;
  clockMarks = v128.and(
    v128.bitselect(
      i8x16(0x30, 0x30, 0x3a, 0x30, 0x30, 0x3a, 0x30, 0x30, 0x2e, 0x30, 0x30, 0x30, 0x5a, 0, 0, 0),
      i8x16(0x30, 0x30, 0x3a, 0x30, 0x30, 0x3a, 0x30, 0x30, 0x5a, 0, 0, 0, 0, 0, 0, 0),
      i8x16.splat(hasFraction ? -1 : 0),
    ),
    i8x16.lt_s(PLACES, i8x16.splat(<i8>clockLength)),
  );
  clockMarks = v128.bitselect(
    i8x16.splat(<i8>separator),
    clockMarks,
    i8x16.eq(PLACES, i8x16.splat(<i8>clockLength)),
  );
  const limits = v128.bitselect(
    i8x16(2, 9, 0, 5, 9, 0, 5, 9, 0, 9, 9, 9, 0, 0, 0, 0),
    i8x16(2, 9, 0, 5, 9, 0, 5, 9, 0, 0, 0, 0, 0, 0, 0, 0),
    i8x16.splat(hasFraction ? -1 : 0),
  );
  clockLimits = v128.or(limits, i8x16.gt_s(PLACES, i8x16.splat(<i8>clockLength)));
  fractionWeights = hasFraction ? i16x8(0, 100, 10, 1, 0, 0, 0, 0) : i16x8(0, 0, 0, 0, 0, 0, 0, 0);
  valueFrom = at + 1 - start;
}

// Works out the form of the number at a place and of its line end. Returns the length of both, 0 for an unknown form.
function findNumber(start: usize): i32 {
  const isNegative = load<u8>(start) == 0x2d;
  const from: i32 = isNegative ? 1 : 0;
  const bytes = v128.load(start);
  // One bit for each byte that is not a digit.
  let others = i8x16.bitmask(i8x16.gt_u(i8x16.sub(bytes, i8x16.splat(<i8>ZERO)), i8x16.splat(9))) & ~from;
  const wholeEnd = ctz(others);
  if (wholeEnd == from || wholeEnd > 15) return 0;
  let end = wholeEnd;
  const hasPoint = load<u8>(start + <usize>wholeEnd) == 0x2e;
  if (hasPoint) {
    others &= others - 1;
    end = ctz(others);
    if (end == wholeEnd + 1 || end > 15) return 0;
  }
  const isReturn = load<u8>(start + <usize>end) == 0x0d;
  const lineEnd = isReturn ? end + 1 : end;
  if (lineEnd > 15 || load<u8>(start + <usize>lineEnd) != 0x0a) return 0;
  const scale = hasPoint ? end - wholeEnd - 1 : 0;
  digitCount = wholeEnd - from + scale;
  const isDigit = v128.andnot(
    v128.and(i8x16.ge_s(PLACES, i8x16.splat(<i8>from)), i8x16.lt_s(PLACES, i8x16.splat(<i8>end))),
    hasPoint ? i8x16.eq(PLACES, i8x16.splat(<i8>wholeEnd)) : i64x2(0, 0),
  );
  const isOther = i8x16.gt_s(PLACES, i8x16.splat(<i8>lineEnd));
  valueMarks = v128.andnot(v128.bitselect(i8x16.splat(<i8>ZERO), bytes, isDigit), isOther);
  valueLimits = v128.or(v128.and(isDigit, i8x16.splat(9)), isOther);
  // The k-th digit from the end goes to byte 15 - k. Bytes before the first digit get an index above 15, which gives 0.
  const places = i8x16.sub(PLACES, i8x16.splat(<i8>(16 - digitCount)));
  const isAfterPoint = hasPoint ? i8x16.ge_s(places, i8x16.splat(<i8>(wholeEnd - from))) : i64x2(0, 0);
  const shifted = i8x16.sub(i8x16.add(places, i8x16.splat(<i8>from)), isAfterPoint);
  digitOrder = v128.or(shifted, i8x16.lt_s(places, i8x16.splat(0)));
  divisors = f64x2.replace_lane(f64x2.splat(1), 1, unchecked(powers[scale]));
  signs = isNegative ? i64x2(0, 0x8000000000000000) : i64x2(0, 0);
  return lineEnd + 1;
}

function setDay(date: i64, dateEnd: i32, utcMs: f64, localMs: f64): void {
  dayWord = date;
  // Between date and clock is a T or a space, as in the row before.
  const between = dayTail >>> 24 == 0x20 ? 0x20 : 0x54;
  dayTail = <i32>(date >>> 56) | (dateEnd << 8) | (between << 24);
  dayUtcMs = utcMs;
  dayLocalMs = localMs;
}

function isDay(start: usize): bool {
  return load<i64>(start) == dayWord && load<i32>(start, 7) == dayTail;
}

// Makes the day at a position current; false if there is no date, or one that only JavaScript can read.
function findDay(start: usize, isUtc: i32): bool {
  const tail = load<i32>(start, 7);
  const between = tail >>> 24;
  if (between != 0x54 && between != 0x20) return false;
  const word = load<i64>(start);
  const isSameDate = word == dayWord && (tail & 0xffffff) == (dayTail & 0xffffff);
  if (!isSameDate) {
    const utcMs = startOf(start);
    if (utcMs != utcMs) return false;
    dayUtcMs = utcMs;
    dayLocalMs = isUtc != 0 ? utcMs : NaN;
  }
  dayWord = word;
  dayTail = tail;
  return true;
}
