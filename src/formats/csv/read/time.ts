import { DAY_MS, dayOfDate, daysInMonth } from '../../../core/calendar.js';
import { TIME_MS_END } from '../../../core/series.js';
import type { Zone } from '../../../core/zone.js';
import { EPOCH_SECONDS_END } from '../../table/epoch.js';
import { isNearChange } from '../../table/read-text.js';
import { DIGIT_0, POINT, SPACE, UPPER_T, UPPER_Z } from '../bytes.js';

/** How many bytes must be readable from the start of a time on. */
export const TIME_REACH = 24;

// `HH:M`, `M:SS` and `.fff` are read as words of four bytes. XOR with the zeros below leaves the values of the digits,
// and 0 for the marks; then adding the limits sets no top bit.
const HOUR_ZEROS = 0x30_3a_30_30; // '00:0', little-endian
const SECOND_ZEROS = 0x30_30_3a_30; // '0:00'
const HOUR_LIMITS = 0x76_7f_76_76;
const SECOND_LIMITS = 0x76_76_7f_76;
const MS_ZEROS = 0x30_30_30_2e; // '.000'
const MS_LIMITS = 0x76_76_76_7f;
const TOP_BITS = 0x80_80_80_80 | 0;

const EPOCH_DIGITS_MAX = 14;
const DATE_DIGITS = 8;
const FRACTION_DIGITS_MAX = 9;
const MARGIN_MS = 2 ** -41;
const FRACTION_SCALES = Float64Array.from({ length: 10 }, (_, digits) => Number(`1e${Math.max(0, digits - 3)}`));
const MS_OF_FRACTION = Float64Array.of(0, 100, 10, 1);

/**
 * The fast form of `readTime`: reads `YYYY-MM-DD[T ]HH:MM:SS[.digits][Z]`, or digits alone as an epoch number, into
 * `out[index]`. Returns the index after it, or −1 for any other form. `TIME_REACH` bytes must be readable.
 */
export function parseTime(
  bytes: Uint8Array,
  view: DataView,
  from: number,
  clock: Clock,
  out: Float64Array,
  index: number,
): number {
  if (
    view.getInt32(from, true) !== clock.word0 ||
    view.getInt32(from + 4, true) !== clock.word1 ||
    view.getInt16(from + 8, true) !== clock.word2
  ) {
    if (bytes[from + 4] !== 0x2d) return parseEpoch(bytes, from, out, index);
    if (!openDay(clock, view, from)) return -1;
  }
  const between = bytes[from + 10];
  if (between !== UPPER_T && between !== SPACE) return -1;
  const hours = view.getInt32(from + 11, true) ^ HOUR_ZEROS;
  const seconds = view.getInt32(from + 15, true) ^ SECOND_ZEROS;
  if (((hours | (hours + HOUR_LIMITS) | seconds | (seconds + SECOND_LIMITS)) & TOP_BITS) !== 0) return -1;
  const hour = (hours & 15) * 10 + ((hours >> 8) & 15);
  const minute = (hours >> 24) * 10 + (seconds & 15);
  const second = ((seconds >> 16) & 15) * 10 + (seconds >> 24);
  if (hour > 23 || minute > 59 || second > 59) return -1;
  let msOfDay = hour * 3_600_000 + minute * 60_000 + second * 1000;
  let at = from + 19;
  let finer = 0;
  let digitCount = 0;
  const ms = view.getInt32(at, true) ^ MS_ZEROS;
  if (((ms | (ms + MS_LIMITS)) & TOP_BITS) === 0 && (bytes[at + 4]! - DIGIT_0) >>> 0 > 9) {
    msOfDay += ((ms >> 8) & 15) * 100 + ((ms >> 16) & 15) * 10 + (ms >> 24);
    at += 4;
  } else if (bytes[at] === POINT) {
    let fraction = 0;
    let digit = bytes[++at]! - DIGIT_0;
    const start = at;
    while (digit >>> 0 <= 9) {
      fraction = (fraction * 10 + digit) | 0;
      digit = bytes[++at]! - DIGIT_0;
    }
    digitCount = at - start;
    if (digitCount <= 3) msOfDay += fraction * MS_OF_FRACTION[digitCount]!;
    else finer = fraction;
    if (digitCount === 0 || digitCount > FRACTION_DIGITS_MAX) return -1;
  }
  const dayMs = bytes[at] === UPPER_Z ? clock.utcMs : clock.localMs;
  if (bytes[at] === UPPER_Z) at++;
  const timeMs = dayMs + msOfDay;
  const result = finer === 0 ? timeMs : addFraction(timeMs, finer, digitCount);
  if (Number.isNaN(result)) return -1; // see Clock, and addFraction
  out[index] = result;
  return at;
}

// The double nearest to `wholeMs` plus a fraction of milliseconds, or NaN if the rounding of `ms` could matter. `ms`,
// below 1024, is off by at most 2^-44, so the exact number lies within the margin around it.
function addFraction(wholeMs: number, fraction: number, digitCount: number): number {
  const ms = fraction / FRACTION_SCALES[digitCount]!;
  const timeMs = wholeMs + (ms - MARGIN_MS);
  return timeMs === wholeMs + (ms + MARGIN_MS) ? timeMs : Number.NaN;
}

function parseEpoch(bytes: Uint8Array, from: number, out: Float64Array, index: number): number {
  let at = from;
  let number = 0;
  let digit = bytes[at]! - DIGIT_0;
  while (digit >>> 0 <= 9) {
    number = number * 10 + digit;
    digit = bytes[++at]! - DIGIT_0;
  }
  // Eight digits may be a date, and longer numbers have another unit; both are left to the general path.
  const digitCount = at - from;
  if (digitCount === 0 || digitCount === DATE_DIGITS || digitCount > EPOCH_DIGITS_MAX) return -1;
  const timeMs = number < EPOCH_SECONDS_END ? number * 1000 : number;
  if (timeMs >= TIME_MS_END) return -1;
  out[index] = timeMs;
  return at;
}

/**
 * The day of the row before, so that only the time of day of most rows is read. The ten bytes of the date are in three
 * little-endian words.
 */
export interface Clock {
  readonly zone: Zone | undefined;
  word0: number;
  word1: number;
  word2: number;
  /** Start of the day in UTC (for times with `Z`) and in the zone (for others; NaN if its offset changes near it). */
  utcMs: number;
  localMs: number;
}

export function createClock(zone: Zone | undefined): Clock {
  return { zone, word0: 0, word1: 0, word2: 0, utcMs: Number.NaN, localMs: Number.NaN };
}

/** Makes the day written `YYYY-MM-DD` at an index current; false if that is not a date. */
function openDay(clock: Clock, view: DataView, at: number): boolean {
  const year = digitsAt(view, at, 4);
  const month = digitsAt(view, at + 5, 2);
  const day = digitsAt(view, at + 8, 2);
  const isDate = view.getUint8(at + 4) === 0x2d && view.getUint8(at + 7) === 0x2d;
  // The first and the last year are left to the general path, as an offset may lead out of them.
  if (!isDate || !(year > 1 && year < 9999 && month >= 1 && month <= 12 && day >= 1)) return false;
  if (day > daysInMonth(year, month)) return false;
  clock.word0 = view.getInt32(at, true);
  clock.word1 = view.getInt32(at + 4, true);
  clock.word2 = view.getInt16(at + 8, true);
  clock.utcMs = dayOfDate(year, month, day) * DAY_MS;
  clock.localMs = clock.zone === undefined ? clock.utcMs : localStartMs(clock.zone, clock.utcMs);
  return true;
}

// NaN unless the offset is the same all day.
function localStartMs(zone: Zone, dayMs: number): number {
  return isNearChange(zone, dayMs) ? Number.NaN : dayMs - zone.offsetMsAt(dayMs - DAY_MS);
}

function digitsAt(view: DataView, at: number, count: number): number {
  let number = 0;
  for (let i = 0; i < count; i++) {
    const digit = view.getUint8(at + i) - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
}
