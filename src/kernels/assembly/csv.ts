// Parses rows of a time and a number as they usually look in CSV, whole fields at a time. ../scan-rows.ts says what it
// takes and what it leaves to JavaScript.
//
// Rows of a file are mostly alike: the same day, as many digits. So the form of a row is worked out once, as vectors
// that test a row and turn it into two numbers without a branch, and serves until a row does not fit. The
// processor then predicts that the next row begins where the form says, and need not wait for what it reads.

import { DAY_MS, startOf, ZERO } from './date';
import { powers } from './number';

const PLACES = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

/** Where the last call stopped. */
export let scanEnd: i32 = 0;

// The day at hand: its date as the bytes 0 to 7 and 7 to 10 of a row, so with what stands before the clock, and its
// start for times with Z and without (NaN where there is none).
let dayWord: i64 = 0;
let dayTail: i32 = 0;
let dayUtcMs: f64 = NaN;
let dayLocalMs: f64 = NaN;

// The form of the rows at hand. A byte less its mark may be as large as its limit; marks are 0 where any byte may be.
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
 * Reads rows from `bytes` on, up to `length` bytes and `rowMax` rows, and gives their count. The day is given as for
 * `ScanDay`; with `isUtc`, days are found here, and times without Z are UTC too.
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

// Rows of the form at hand, to the first that is not; gives where the next time goes.
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

// Eight digits as pairs of sums, which add up to a number.
// @ts-ignore: decorator
@inline
function fourDigits(digits: v128): v128 {
  const fours = i32x4.dot_i16x8_s(digits, i16x8(1000, 100, 10, 1, 1000, 100, 10, 1));
  return i32x4.mul(fours, i32x4(10000, 10000, 1, 1));
}

// What the upper eight of sixteen digits stand for, in the second lane: whole numbers, all exact below 2^53.
function upperDigits(digits: v128): v128 {
  const pairs = fourDigits(i16x8.extend_low_i8x16_u(digits));
  const half = i32x4.add(pairs, v128.shuffle<i32>(pairs, pairs, 2, 3, 0, 1));
  const sum = i32x4.extract_lane(half, 0) + i32x4.extract_lane(half, 1);
  return f64x2.replace_lane(f64x2.splat(0), 1, <f64>sum * 1e8);
}

// The form of the row at a position; false if it is not a known one.
function findForm(start: usize, separator: i32): bool {
  // Mostly it is the number whose length differs.
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

// The form of the number at a place, with its line end; gives the length of both, 0 where it is none that is known.
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
  // Digit k from the end goes to byte 15 - k; those before the first take an index beyond 15, which gives 0.
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
  // What stands between date and clock is the T or the space of the row before.
  const between = dayTail >>> 24 == 0x20 ? 0x20 : 0x54;
  dayTail = <i32>(date >>> 56) | (dateEnd << 8) | (between << 24);
  dayUtcMs = utcMs;
  dayLocalMs = localMs;
}

function isDay(start: usize): bool {
  return load<i64>(start) == dayWord && load<i32>(start, 7) == dayTail;
}

// Opens the day at a position; false if there is none, or one that only JavaScript knows.
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
