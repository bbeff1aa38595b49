import { DAY_MS } from '../../../core/calendar.js';
import { formatInstant } from '../../../core/instant.js';
import { TIME_MS_END, TIME_MS_MIN } from '../../../core/series.js';
import { DIGIT_0, MINUS, POINT } from '../bytes.js';

// Writes the usual times and numbers as digits straight into bytes. The caller writes others from their text.

/** `2024-01-31T` in bytes, kept while the times stay in that day. */
export interface DayPrefix {
  startMs: number;
  readonly bytes: Uint8Array;
}

const DAY_PREFIX_LENGTH = 11;

/** The most bytes that `putTime` writes, and `putNumber`. */
export const TIME_LENGTH_MAX = 24;
export const NUMBER_LENGTH_MAX = 32;

export function createDayPrefix(): DayPrefix {
  return { startMs: Number.NaN, bytes: new Uint8Array(DAY_PREFIX_LENGTH) };
}

/** Writes a time of whole milliseconds as `formatInstant` does. Returns the index after it, or −1 for other times. */
export function putTime(bytes: Uint8Array, at: number, timeMs: number, day: DayPrefix): number {
  let msOfDay = timeMs - day.startMs;
  if (!(msOfDay >= 0 && msOfDay < DAY_MS)) {
    if (!(timeMs >= TIME_MS_MIN && timeMs < TIME_MS_END)) return -1;
    openDay(day, Math.floor(timeMs / DAY_MS) * DAY_MS);
    msOfDay = timeMs - day.startMs;
  }
  // Tests the time itself, as the difference would round up just before the end of a day.
  if (Math.floor(timeMs) !== timeMs) return -1;
  const whole = msOfDay | 0;
  const prefix = day.bytes;
  for (let i = 0; i < DAY_PREFIX_LENGTH; i++) bytes[at + i] = prefix[i]!;
  const minutes = (whole / 60_000) | 0;
  const msOfMinute = whole - minutes * 60_000;
  const hour = (minutes / 60) | 0;
  const second = (msOfMinute / 1000) | 0;
  const ms = msOfMinute - second * 1000;
  putTwo(bytes, at + 11, hour);
  bytes[at + 13] = 0x3a;
  putTwo(bytes, at + 14, minutes - hour * 60);
  bytes[at + 16] = 0x3a;
  putTwo(bytes, at + 17, second);
  bytes[at + 19] = POINT;
  const hundreds = (ms / 100) | 0;
  bytes[at + 20] = DIGIT_0 + hundreds;
  putTwo(bytes, at + 21, ms - hundreds * 100);
  bytes[at + 23] = 0x5a;
  return at + TIME_LENGTH_MAX;
}

function openDay(day: DayPrefix, startMs: number): void {
  day.startMs = startMs;
  const text = formatInstant(startMs);
  for (let i = 0; i < DAY_PREFIX_LENGTH; i++) day.bytes[i] = text.charCodeAt(i);
}

function putTwo(bytes: Uint8Array, at: number, number: number): void {
  const tens = (number / 10) | 0;
  bytes[at] = DIGIT_0 + tens;
  bytes[at + 1] = DIGIT_0 + number - tens * 10;
}

/** Writes the shortest decimal that reads back to the same double, also −0. Returns the index after it. */
export function putNumber(bytes: Uint8Array, at: number, value: number): number {
  const magnitude = Math.abs(value);
  if (magnitude < 1e9) {
    // Two decimals of at most 15 digits are never the same double (DBL_DIG). So if this one reads back, it is the
    // shortest, without its trailing zeros.
    const millionths = Math.round(magnitude * 1e6);
    if (millionths / 1e6 === magnitude) {
      const isNegative = value < 0 || Object.is(value, -0);
      const start = isNegative ? at + 1 : at;
      if (isNegative) bytes[at] = MINUS;
      const whole = Math.floor(magnitude) | 0;
      return putFraction(bytes, putWhole(bytes, start, whole), (millionths - whole * 1e6) | 0);
    }
  }
  return putText(bytes, at, String(value));
}

/** Writes ASCII text. Returns the index after it. */
export function putText(bytes: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i);
  return at + text.length;
}

function putWhole(bytes: Uint8Array, at: number, whole: number): number {
  let length = 1;
  for (let limit = 10; whole >= limit; limit *= 10) length++;
  let rest = whole;
  for (let to = at + length - 1; to >= at; to--) {
    const next = (rest / 10) | 0;
    bytes[to] = DIGIT_0 + rest - next * 10;
    rest = next;
  }
  return at + length;
}

function putFraction(bytes: Uint8Array, at: number, millionths: number): number {
  if (millionths === 0) return at;
  bytes[at] = POINT;
  let digits = 6;
  let rest = millionths;
  while (rest % 10 === 0) {
    rest = (rest / 10) | 0;
    digits--;
  }
  for (let to = at + digits; to > at; to--) {
    const next = (rest / 10) | 0;
    bytes[to] = DIGIT_0 + rest - next * 10;
    rest = next;
  }
  return at + digits + 1;
}
