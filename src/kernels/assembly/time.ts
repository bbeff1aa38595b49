// Reads times of JSON from bytes that are followed by zeros.

import { startOf, twoDigits } from './date';
import { isNumberEnd } from './number';

/** A whole number in this range is a time in milliseconds. */
const EPOCH_MS_START: u64 = 100000000000;
const EPOCH_MS_END: u64 = 100000000000000;
/** The bytes `+00:`. */
const PLUS_ZERO: u32 = 0x3a30302b;

/** The time that the last call of `readTime` read. */
export let timeMs: f64 = NaN;

// The day of the previous time: the bytes 0 to 7 and 7 to 10 of its text, and when it starts.
let dayWord: i64 = 0;
let dayTail: i32 = 0;
let dayMs: f64 = NaN;

/**
 * Reads `"2024-01-31T12:00:00Z"`, with milliseconds or without, or a whole number of milliseconds. Returns the place
 * after it; 0 if there is no such time.
 */
export function readTime(from: usize): usize {
  if (load<u8>(from) != 0x22) return readEpoch(from);
  const at = from + 1;
  const word = load<i64>(at);
  const tail = load<i32>(at, 7);
  if ((word != dayWord || tail != dayTail) && !findDay(at)) return 0;
  const hour = twoDigits(at + 11);
  const minute = twoDigits(at + 14);
  const second = twoDigits(at + 17);
  // One bit for each byte that is not a digit.
  const clock = i8x16.sub(v128.load(at, 8), i8x16.splat(0x30));
  const others = i8x16.bitmask(i8x16.gt_u(clock, i8x16.splat(9)));
  const hasMs = load<u8>(at, 19) == 0x2e;
  const colons = <i32>load<u8>(at, 13) == 0x3a && <i32>load<u8>(at, 16) == 0x3a;
  // The bytes 8 to 23 of the time: DDTHH:MM:SS.mmmZ
  const expected = hasMs ? 0x0924 : 0x0124;
  const mask = hasMs ? 0x7fff : 0x07ff;
  if (!colons || (others & mask) != expected || hour > 23 || minute > 59 || second > 59) return 0;
  const ms = hasMs ? 100 * (<i32>load<u8>(at, 20) - 0x30) + twoDigits(at + 21) : 0;
  const end = at + (hasMs ? 23 : 19);
  timeMs = dayMs + <f64>(3600000 * hour + 60000 * minute + 1000 * second + ms);
  if (load<u16>(end) == 0x225a) return end + 2;
  const isZero = load<u32>(end) == PLUS_ZERO && load<u16>(end, 4) == 0x3030 && load<u8>(end, 6) == 0x22;
  return isZero ? end + 7 : 0;
}

function findDay(at: usize): bool {
  if (load<u8>(at, 10) != 0x54) return false;
  const startMs = startOf(at);
  if (startMs != startMs) return false;
  dayWord = load<i64>(at);
  dayTail = load<i32>(at, 7);
  dayMs = startMs;
  return true;
}

function readEpoch(from: usize): usize {
  let at = from;
  let digits: u64 = 0;
  for (; <u32>load<u8>(at) - 0x30 <= 9 && at - from < 15; at++) digits = 10 * digits + (<u64>load<u8>(at) - 0x30);
  // A fraction or an exponent follows a number that is not whole, and no number of JSON begins with 0.
  const isWhole = isNumberEnd(load<u8>(at)) && load<u8>(from) != 0x30;
  if (!isWhole || digits < EPOCH_MS_START || digits >= EPOCH_MS_END) return 0;
  timeMs = <f64>digits;
  return at;
}
