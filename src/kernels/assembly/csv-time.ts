// Times of CSV rows, `YYYY-MM-DD[T ]HH:MM:SS[.mmm][Z]`. Most rows of a file are alike, so the form of a clock is worked
// out once, as vectors that test a clock and turn it into a number, and used until a row does not fit.

import { DAY_MS, startOf } from './date';

export const PLACES = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);

// The current day: its date as the bytes 0 to 7 and 7 to 10 of a row (the last is the T or space before the clock), and
// when it starts for times with Z and without (NaN if not known).
export let dayWord: i64 = 0;
export let dayTail: i32 = 0;
let dayUtcMs: f64 = NaN;
let dayLocalMs: f64 = NaN;

// The form of the clock, which is the bytes from 11 on with the one after the time. Each byte minus its mark must be at
// most its limit.
let byteAfter: i32 = -1;
export let clockMarks: v128 = i64x2(0, 0);
export let clockLimits: v128 = i64x2(0, 0);
export let fractionWeights: v128 = i64x2(0, 0);
let hasUtcMark: bool = false;
/** How many bytes the time has with the one after it. */
export let timeLength: usize = 0;

/** The time that the last call of `readTime` read; NaN if only JavaScript can read it. */
export let timeMs: f64 = NaN;

/** Makes day and form current that the time at a place has; false if it has no such form with `after` behind it. */
// @ts-ignore: decorator
@inline
export function findTimeForm(from: usize, after: i32, isUtc: i32): bool {
  if (!isDay(from) && !findDay(from, isUtc)) return false;
  if (fitsClock(from, after)) return true;
  findClock(from, after);
  return fitsClock(from, after);
}

/** Reads a time of the current day and form, and returns the place after it. */
// @ts-ignore: decorator
@inline
export function readTime(from: usize): usize {
  const ms = clockMs(i8x16.sub(v128.load(from, 11), clockMarks), fractionWeights);
  const half = i32x4.add(ms, v128.shuffle<i32>(ms, ms, 2, 3, 0, 1));
  const msOfDay = i32x4.extract_lane(half, 0) + i32x4.extract_lane(half, 1);
  timeMs = msOfDay < <i32>DAY_MS ? startMs() + <f64>msOfDay : NaN;
  return from + timeLength - 1;
}

/** Milliseconds in four lanes, whose sum is the time of day. Hours may be too many. */
// @ts-ignore: decorator
@inline
export function clockMs(clock: v128, fractions: v128): v128 {
  // HH, :M, M:, SS as minutes and seconds, then as milliseconds.
  const wholes = i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_u(clock), i16x8(600, 60, 0, 10, 1, 0, 10, 1));
  return i32x4.add(
    i32x4.mul(wholes, i32x4(60000, 60000, 60000, 1000)),
    i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_u(clock), fractions),
  );
}

/** When the current day starts for times of the current form; NaN if that is not known. */
// @ts-ignore: decorator
@inline
export function startMs(): f64 {
  return hasUtcMark ? dayUtcMs : dayLocalMs;
}

/** Whether the row at a place has a clock of the current form. */
// @ts-ignore: decorator
@inline
export function fitsClock(start: usize, after: i32): bool {
  return after == byteAfter && !v128.any_true(i8x16.gt_u(i8x16.sub(v128.load(start, 11), clockMarks), clockLimits));
}

/** Works out the form of the clock of the row at a place. */
export function findClock(start: usize, after: i32): void {
  byteAfter = after;
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
    i8x16.splat(<i8>after),
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
  timeLength = at + 1 - start;
}

/** Makes a day current that the caller knows. */
export function setDay(date: i64, dateEnd: i32, utcMs: f64, localMs: f64): void {
  dayWord = date;
  // Between date and clock is a T or a space, as in the row before.
  const between = dayTail >>> 24 == 0x20 ? 0x20 : 0x54;
  dayTail = <i32>(date >>> 56) | (dateEnd << 8) | (between << 24);
  dayUtcMs = utcMs;
  dayLocalMs = localMs;
}

/** Whether the row at a place has the current day. */
// @ts-ignore: decorator
@inline
export function isDay(start: usize): bool {
  return load<i64>(start) == dayWord && load<i32>(start, 7) == dayTail;
}

/** Makes the day at a place current; false if there is no date, or one that only JavaScript can read. */
export function findDay(start: usize, isUtc: i32): bool {
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
