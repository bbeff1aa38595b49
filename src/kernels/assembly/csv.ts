// Rows of a time and a number as they usually stand in CSV, sixteen or so bytes at a time in 64-bit words. What it
// reads and what it leaves to JavaScript is said in ../scan-rows.ts.

const DIGIT_MARKS: i64 = 0x3030303030303030;
const DIGIT_LIMITS: i64 = 0x7676767676767676;
const TOP_BITS: i64 = <i64>0x8080808080808080;
const CLOCK_MARKS: i64 = 0x30303a30303a3030; // 00:00:00
const CLOCK_LIMITS: i64 = 0x76767f76767f7676;
const MS_MARKS: i32 = 0x3030302e; // .000
const MS_LIMITS: i32 = 0x7676767f;
const TOP_BITS_32: i32 = <i32>0x80808080;
const MANTISSA_DIGITS_MAX: i32 = 15;

const powers: StaticArray<f64> = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
const integerPowers: StaticArray<i64> = [1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000];

/** Where the last call has stopped. */
export let scanEnd: i32 = 0;

// How many of the eight bytes, from the first on, are digits.
// @ts-ignore: decorator
@inline
function digitCount(word: i64): i32 {
  const digits = word ^ DIGIT_MARKS;
  return <i32>(ctz((digits | (digits + DIGIT_LIMITS)) & TOP_BITS) >> 3);
}

// The first `count` (1 to 8) digits as a number: pairs, then fours, then all eight, by three products.
// Source: Daniel Lemire, "Quickly parsing eight digits", 2018.
// @ts-ignore: decorator
@inline
function digitsOf(word: i64, count: i32): i64 {
  let t = (word ^ DIGIT_MARKS) << (<i64>(8 - count) << 3);
  t = t * 10 + (t >>> 8);
  const low = (t & 0x000000ff000000ff) * 0x000f424000000064;
  const high = ((t >>> 16) & 0x000000ff000000ff) * 0x0000271000000001;
  return (low + high) >>> 32;
}

// The milliseconds of a `HH:MM:SS`, or −1 where it is none.
// @ts-ignore: decorator
@inline
function wholeSeconds(word: i64): i32 {
  const clock = word ^ CLOCK_MARKS;
  if (((clock | (clock + CLOCK_LIMITS)) & TOP_BITS) != 0) return -1;
  const hour = (<i32>clock & 15) * 10 + (<i32>(clock >> 8) & 15);
  const minute = (<i32>(clock >> 24) & 15) * 10 + (<i32>(clock >> 32) & 15);
  const second = (<i32>(clock >> 48) & 15) * 10 + (<i32>(clock >> 56) & 15);
  if (hour > 23 || minute > 59 || second > 59) return -1;
  return hour * 3600000 + minute * 60000 + second * 1000;
}

/**
 * Reads rows from `bytes` on, up to `length` bytes and `rowMax` rows, and gives their count. The date must be the
 * one whose ten bytes are given; `utcMs` is its start for times with Z, `localMs` for times without (NaN to stop).
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
  times: usize,
  values: usize,
): i32 {
  let row: usize = 0;
  let start = bytes;
  const stop = bytes + <usize>length;
  const rowStop = <usize>rowMax;
  while (row < rowStop && start < stop) {
    if (load<i64>(start) != date || <i32>load<u16>(start, 8) != dateEnd) break;
    const between = <i32>load<u8>(start, 10);
    if (between != 0x54 && between != 0x20) break;
    let msOfDay = wholeSeconds(load<i64>(start, 11));
    if (msOfDay < 0) break;
    let at = start + 19;
    if (load<u8>(at) == 0x2e) {
      const ms = load<i32>(at) ^ MS_MARKS;
      if (((ms | (ms + MS_LIMITS)) & TOP_BITS_32) != 0) break;
      msOfDay += ((ms >> 8) & 15) * 100 + ((ms >> 16) & 15) * 10 + (ms >> 24);
      at += 4;
    }
    const isUtc = load<u8>(at) == 0x5a;
    const timeMs = (isUtc ? utcMs : localMs) + <f64>msOfDay;
    at += <usize>isUtc;
    if (<i32>load<u8>(at) != separator || timeMs != timeMs) break;
    at++;
    const isNegative = load<u8>(at) == 0x2d;
    at += <usize>isNegative;
    const whole = load<i64>(at);
    const wholeCount = digitCount(whole);
    if (wholeCount == 0 || wholeCount == 8) break;
    let mantissa = digitsOf(whole, wholeCount);
    let scale = 0;
    at += <usize>wholeCount;
    if (load<u8>(at) == 0x2e) {
      at++;
      const part = load<i64>(at);
      scale = digitCount(part);
      if (scale > 0) mantissa = mantissa * unchecked(integerPowers[scale]) + digitsOf(part, scale);
      at += <usize>scale;
      if (scale == 8) {
        const rest = load<i64>(at);
        const restCount = digitCount(rest);
        if (wholeCount + 8 + restCount > MANTISSA_DIGITS_MAX) break;
        if (restCount > 0) mantissa = mantissa * unchecked(integerPowers[restCount]) + digitsOf(rest, restCount);
        scale += restCount;
        at += <usize>restCount;
      }
    }
    at += <usize>(load<u8>(at) == 0x0d);
    if (load<u8>(at) != 0x0a || at >= stop) break;
    const size = <f64>mantissa / unchecked(powers[scale]);
    f64.store(times + (row << 3), timeMs);
    f64.store(values + (row << 3), isNegative ? -size : size);
    row++;
    start = at + 1;
  }
  scanEnd = <i32>(start - bytes);
  return <i32>row;
}
