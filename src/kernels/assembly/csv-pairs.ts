// Parses CSV rows of a time and a number, as they are usually written, whole fields at a time. ../scan-pairs.ts says
// what it takes and what it leaves to JavaScript.
//
// Most rows of a file are alike: the same day, the same number of digits. So the form of a row is worked out once, as
// vectors that test a row and turn it into two numbers without a branch, and is used until a row does not fit. The
// processor then predicts where the next row begins and need not wait for what it reads.

import {
  clockLimits,
  clockMarks,
  clockMs,
  dayTail,
  dayWord,
  findClock,
  findDay,
  fitsClock,
  fractionWeights,
  isDay,
  PLACES,
  setDay,
  startMs,
  timeLength,
} from './csv-time';
import { DAY_MS, ZERO } from './date';
import { powers } from './number';

/** Where the last call stopped. */
export let pairsEnd: i32 = 0;

// The current form of the number and its line end; its length is 0 if it is not known. Each byte minus its mark must be
// at most its limit.
let valueLength: i32 = 0;
let digitCount: i32 = 0;
let valueMarks: v128 = i64x2(0, 0);
let valueLimits: v128 = i64x2(0, 0);
let digitOrder: v128 = i64x2(0, 0);
let divisors: v128 = f64x2(1, 1);
let signs: v128 = i64x2(0, 0);

/**
 * Reads rows from `bytes` on, up to `length` bytes and `rowMax` rows, and returns their count. The day is given as in
 * `ScanDay`. With `isUtc`, times without Z are UTC too, so new days are found here.
 */
export function scanPairs(
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
  while (time < timeStop && start < stop) {
    const baseMs = startMs();
    if (valueLength > 0 && baseMs == baseMs && fitsClock(start, separator)) {
      const end = scanAlike(start, stop, time, timeStop, values - times, baseMs);
      if (end == time && isNew) break;
      start += ((end - time) >> 3) * (timeLength + <usize>valueLength);
      time = end;
      if (time >= timeStop || start >= stop) break;
    }
    if (!isDay(start) && !findDay(start, isUtc)) break;
    if (!findForm(start, separator)) break;
    const nextMs = startMs();
    if (nextMs != nextMs) break;
    isNew = true;
  }
  pairsEnd = <i32>(start - bytes);
  return <i32>((time - times) >> 3);
}

// Reads rows up to the first that is not of the current form. Returns where the next time goes.
function scanAlike(from: usize, stop: usize, times: usize, timeStop: usize, toValue: usize, baseMs: f64): usize {
  const length = timeLength + <usize>valueLength;
  const clockMarked = clockMarks;
  const clockLimit = clockLimits;
  const fractions = fractionWeights;
  const valueMarked = valueMarks;
  const valueLimit = valueLimits;
  const order = digitOrder;
  const bases = f64x2.replace_lane(f64x2.splat(0), 0, baseMs);
  const divisor = divisors;
  const sign = signs;
  const valueAt = timeLength;
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
    const ms = clockMs(clock, fractions);
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

/** Each lane's digits by their place value; the sum of two neighbouring lanes is a number of eight digits. */
// @ts-ignore: decorator
@inline
export function fourDigits(digits: v128): v128 {
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

// Works out the form of the row at a place; false if it is not one that is read here.
function findForm(start: usize, separator: i32): bool {
  // Usually it is only the number that has another length.
  if (!fitsClock(start, separator)) {
    findClock(start, separator);
    if (!fitsClock(start, separator)) return false;
  }
  valueLength = findNumber(start + timeLength);
  return valueLength > 0;
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
