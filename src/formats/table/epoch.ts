import { WindrowError } from '../../core/errors.js';
import { formatInstant, type InstantReading } from '../../core/instant.js';
import { TIME_MS_END, TIME_MS_MIN } from '../../core/series.js';
import type { TimeFormat } from './dates.js';

// Times as numbers since 1970-01-01 in UTC.

const EPOCH = /^[+-]?\d+(?:\.\d+)?$/;

/**
 * Epoch numbers below these are seconds (to the year 5138), milliseconds (from March 1973) and microseconds; greater
 * ones are nanoseconds.
 */
export const EPOCH_SECONDS_END = 1e11;
const EPOCH_MS_END = 1e14;
const EPOCH_US_END = 1e17;

/** The unit of an epoch number, told from its size; undefined if a text is not one. */
export function epochUnitOf(text: string): TimeFormat | undefined {
  if (!EPOCH.test(text)) return undefined;
  const size = Math.abs(Number(text));
  if (size < EPOCH_MS_END) return size < EPOCH_SECONDS_END ? 's' : 'ms';
  return size < EPOCH_US_END ? 'us' : 'ns';
}

const EXPONENTS: Readonly<Record<string, string>> = { s: 'e3', ms: '', us: 'e-3', ns: 'e-6' };

/** Reads an epoch number in a unit. */
export function readEpoch(text: string, unit: TimeFormat): InstantReading {
  if (!EPOCH.test(text)) return { problem: 'is not an epoch number, digits alone' };
  // The exponent scales the decimal in the text, so there is only one rounding.
  const timeMs = Number(`${text}${EXPONENTS[unit]}`);
  if (timeMs < TIME_MS_MIN || timeMs >= TIME_MS_END) return { problem: 'lies outside the years 0001 to 9999' };
  return { timeMs };
}

/** A time in microseconds. @throws WindrowError if it is finer, as it would not read back as the same time. */
export function microsOf(timeMs: number): bigint {
  // Towards zero: just before 1970, what lies above the whole millisecond below is rounded.
  const wholeMs = Math.trunc(timeMs);
  const micros = Math.round((timeMs - wholeMs) * 1000);
  if (wholeMs + micros / 1000 === timeMs) return BigInt(wholeMs) * 1000n + BigInt(micros);
  const problem = `${formatInstant(timeMs)} is finer than a microsecond, which timestamps of this format do not hold`;
  throw new WindrowError('file.format', `${problem}; write CSV`);
}
