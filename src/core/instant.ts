import { DAY_MS, dateOfDay, dayOfDate, daysInMonth } from './calendar.js';
import { decimalOf } from './duration.js';
import { TIME_MS_END, TIME_MS_MIN } from './series.js';
import type { Zone } from './zone.js';

const INSTANT = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/;

/**
 * An ISO 8601 text, local to the run's zone if it has no offset; UTC epoch milliseconds; a Date; or anything with
 * `toMillis()`, such as luxon's DateTime.
 */
export type Instant = string | number | Date | { toMillis(): number };

/** The epoch milliseconds of an instant that is not a text, NaN if it is invalid; undefined for anything else. */
export function instantMs(instant: unknown): number | undefined {
  if (typeof instant === 'number') return instant;
  // By its method: a Date of another realm, such as a test runner's environment, is no Date here.
  const { getTime, toMillis: read = getTime } = Object(instant);
  return typeof read === 'function' ? Number(read.call(instant)) : undefined;
}

/** The instant in epoch milliseconds, or why a text is not one, as the end of a sentence. */
export type InstantReading = { readonly timeMs: number } | { readonly problem: string };

/**
 * Reads an ISO 8601 instant (semantics.md, section 5) as the nearest double of its epoch milliseconds.
 * Without an offset the text is local to `zone`; without a zone it is UTC.
 */
export function readInstant(text: string, zone?: Zone): InstantReading {
  const match = INSTANT.exec(text);
  if (match === null) return { problem: 'is not of the form 2024-01-31T12:00:00Z' };
  const numbers = match.slice(1, 7).map((digits = '0') => Number(digits));
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = numbers;
  const [, , , , , , , fraction = '', offset] = match;
  const isDayEnd = hour === 24 && minute + second + Number(fraction) === 0;
  const fault = fieldFault(year, month, day, isDayEnd ? 0 : hour, minute, second);
  if (fault !== undefined) return { problem: fault };
  const offsetMs = offset === undefined ? 0 : parseOffsetMs(offset);
  if (offsetMs === undefined) return { problem: `has the offset ${offset}, not within 23:59` };
  const localMs = dayOfDate(year, month, day) * DAY_MS + (hour * 3600 + minute * 60 + second) * 1000;
  let wholeMs = localMs - offsetMs;
  if (offset === undefined && zone !== undefined) {
    // A day ends even where no clock shows the midnight after it.
    const instant = isDayEnd ? zone.firstInstantFrom(localMs) : zone.instantsOf(localMs)[0];
    if (instant === undefined) return { problem: `does not exist in ${zone.name} (clocks go forward)` };
    wholeMs = instant;
  }
  const timeMs = fraction === '' ? wholeMs : addFraction(wholeMs, fraction);
  if (timeMs < TIME_MS_MIN || timeMs >= TIME_MS_END) return { problem: 'lies outside the years 0001 to 9999' };
  return { timeMs };
}

/** Like `readInstant`, but undefined if the text is not an instant. */
export function parseInstant(text: string, zone?: Zone): number | undefined {
  const reading = readInstant(text, zone);
  return 'timeMs' in reading ? reading.timeMs : undefined;
}

function fieldFault(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): string | undefined {
  if (month < 1 || month > 12) return `has the month ${month}`;
  if (day < 1 || day > daysInMonth(year, month)) return `has the day ${day}, which its month lacks`;
  if (hour > 23) return `has the hour ${hour}`;
  if (minute > 59) return `has the minute ${minute}`;
  if (second > 59) return `has the second ${second} (leap seconds are not taken)`;
  return undefined;
}

function parseOffsetMs(text: string): number | undefined {
  if (text === 'Z') return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = text.length > 3 ? Number(text.slice(-2)) : 0;
  if (hours > 23 || minutes > 59) return undefined;
  return (text[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

// The sum as an exact decimal, parsed once: any number of digits gives the nearest double.
function addFraction(wholeMs: number, fraction: string): number {
  const digits = fraction.padEnd(3, '0');
  const places = digits.length - 3;
  return decimalOf(BigInt(wholeMs) * 10n ** BigInt(places) + BigInt(digits), places);
}

/** An instant in UTC: `2013-07-04T00:15:00.000Z`, with more digits only if the time has them. */
export function formatInstant(timeMs: number): string {
  const wholeMs = Math.floor(timeMs);
  const finer = wholeMs === timeMs ? '' : finerDigits(timeMs);
  const dayNumber = Math.floor(wholeMs / DAY_MS);
  const { year, month, day } = dateOfDay(dayNumber);
  const msOfDay = wholeMs - dayNumber * DAY_MS;
  const hour = Math.floor(msOfDay / 3_600_000);
  const minute = Math.floor(msOfDay / 60_000) % 60;
  const second = Math.floor(msOfDay / 1000) % 60;
  const date = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
  return `${date}T${pad(hour, 2)}:${pad(minute, 2)}:${pad(second, 2)}.${pad(msOfDay % 1000, 3)}${finer}Z`;
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0');
}

// The digits after the milliseconds, from the shortest decimal of the double; before 1970 their complement,
// because the text counts up from the whole millisecond below.
function finerDigits(timeMs: number): string {
  const digits = plainFraction(Math.abs(timeMs));
  if (timeMs >= 0) return digits;
  const scale = 10n ** BigInt(digits.length);
  return String((scale - BigInt(digits)) % scale).padStart(digits.length, '0');
}

function plainFraction(value: number): string {
  const text = String(value);
  const exponent = text.indexOf('e-');
  if (exponent < 0) return text.split('.')[1] ?? '';
  const digits = text.slice(0, exponent).replace('.', '');
  return '0'.repeat(Number(text.slice(exponent + 2)) - 1) + digits;
}
