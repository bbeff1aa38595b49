import { type InstantReading, readInstant } from '../../../core/instant.js';
import { TIME_MS_END, TIME_MS_MIN } from '../../../core/series.js';
import type { Zone } from '../../../core/zone.js';

// The general way from text to times and numbers. time.ts and number.ts take the usual forms faster,
// and a property test holds them to these.

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const MISSING = /^(?:null|na|[+-]?nan|[+-]?inf(?:inity)?)?$/i;
const EPOCH = /^[+-]?\d+(?:\.\d+)?$/;

/** Epoch numbers below this are seconds (to the year 5138), from it on milliseconds (from March 1973). */
export const EPOCH_SECONDS_END = 1e11;

/**
 * Reads a value: a decimal of any length, correctly rounded, or NaN where the text says that it is missing
 * (empty, null, NA, NaN, inf). Undefined when it is neither, or too great for a double.
 */
export function readNumber(text: string): number | undefined {
  if (!NUMBER.test(text)) return MISSING.test(text) ? Number.NaN : undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** Why a text is no number, as the end of a sentence. */
export function numberFault(text: string): string {
  if (/^[+-]?\d+,\d+$/.test(text)) return 'has a decimal comma; write it with a decimal point';
  if (NUMBER.test(text)) return 'is beyond the range of a double; leave it empty where the value is missing';
  return 'is not a number; expected a decimal such as 20.5 or 1e-3, or nothing where the value is missing';
}

/** Reads a time: an instant of ISO 8601 (semantics.md, section 5), or epoch seconds or milliseconds as digits. */
export function readTime(text: string, zone?: Zone): InstantReading {
  if (!EPOCH.test(text)) return readInstant(text, zone);
  const number = Number(text);
  // The exponent moves the point in the text, so that one rounding is left.
  const timeMs = Math.abs(number) < EPOCH_SECONDS_END ? Number(`${text}e3`) : number;
  if (timeMs < TIME_MS_MIN || timeMs >= TIME_MS_END) return { problem: 'lies outside the years 0001 to 9999' };
  return { timeMs };
}
