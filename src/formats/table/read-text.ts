import { DAY_MS, dayOfDate } from '../../core/calendar.js';
import type { OptionHint } from '../../core/errors.js';
import { type InstantReading, readInstant } from '../../core/instant.js';
import type { Zone } from '../../core/zone.js';
import { isoTime } from './dates.js';
import { DECIMAL, type Dialect, EITHER, OPEN_SIGN, POINT_GROUP } from './dialect.js';
import { epochUnitOf, readEpoch } from './epoch.js';
import { isMissing } from './facts.js';

// Reads times and values from texts of any form. The CSV reader reads the usual forms faster, and a property test
// compares the two.

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;
const COMPACT_DATE = /^(?:19|20)\d{6}$/;

/**
 * Reads a value: a decimal of any length, correctly rounded, or NaN for a missing value (`isMissing`). Undefined if it
 * is neither, or too large for a double.
 */
export function readNumber(text: string): number | undefined {
  if (!NUMBER.test(text)) return isMissing(text) ? Number.NaN : undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** A function that reads the values of a dialect, as `readNumber` reads the usual ones. */
export function valueReader({ decimal, grouping, isPointOpen, states }: Dialect): (text: string) => number | undefined {
  const byText = new Map(states);
  const group = decimal === 'comma' ? "[. \\u00a0\\u202f']" : "[, \\u00a0\\u202f']";
  const sign = decimal === 'comma' ? ',' : '\\.';
  const grouped = new RegExp(`^[+-]?[1-9]\\d{0,2}(?:${group}\\d{3})+(?:${sign}\\d*)?$`);
  const groups = new RegExp(group, 'g');
  return (text) => {
    const value = byText.size === 0 ? undefined : byText.get(text.toLowerCase());
    if (value !== undefined) return value;
    if (grouping !== 'none' && grouped.test(text)) return readNumber(text.replace(groups, '').replace(',', '.'));
    // In a file with decimal commas, a point that does not group digits is an error.
    if (decimal === 'comma' && NUMBER.test(text) && text.includes('.')) return undefined;
    if (isPointOpen && POINT_GROUP.test(text)) return undefined;
    return readNumber(decimal === 'comma' ? text.replace(',', '.') : text);
  };
}

/** What is wrong with a cell. */
export interface CellFault {
  /** As the end of a sentence that starts with its text. */
  readonly reason: string;
  /** What would let it be read. */
  readonly options?: readonly OptionHint[];
}

/** What leaves a bad row out. */
export const SKIP_ROWS: OptionHint = { option: 'onBadRow', values: ['skip'] };

/**
 * Why a text is not a number.
 *
 * @param isOneOfMany whether other columns of its table hold values, too.
 */
export function numberFault(
  text: string,
  { decimal, isPointOpen }: Pick<Dialect, 'decimal' | 'isPointOpen'>,
  isOneOfMany = false,
): CellFault {
  if (decimal === 'point' && (EITHER.test(text) || (isPointOpen && POINT_GROUP.test(text)))) {
    return { reason: `has a sign that ${OPEN_SIGN}`, options: [DECIMAL] };
  }
  if (decimal === 'comma' && /^[+-]?\d+\.\d+$/.test(text)) {
    const reason = 'has a decimal point where the file has decimal commas';
    const mend = 'the option decimal says which (--decimal point)';
    return { reason: `${reason}; ${mend}`, options: [{ option: 'decimal', values: ['point'] }] };
  }
  if (/^[+-]?\d+,\d+$/.test(text)) {
    const reason = 'has a decimal comma; say so with the option decimal (--decimal comma)';
    return { reason, options: [{ option: 'decimal', values: ['comma'] }] };
  }
  if (NUMBER.test(text)) {
    return { reason: 'is beyond the range of a double; leave it empty where the value is missing' };
  }
  if (/^[+-]?\d[\d.,]*\s?[^\d\s]+$/.test(text)) {
    return {
      reason: 'is not a number; a unit behind numbers is read where all values of the column have the same one',
    };
  }
  const reason = 'is not a number; expected a decimal such as 20.5 or 1e-3, or nothing where the value is missing';
  // What has digits behind a sign is a value, which would be lost as a state.
  const isWord = /^[^\d+"=.][^"=]{0,40}$/.test(text) && !/^\P{L}+\d/u.test(text);
  const others = 'the option value names the columns to read (--value …)';
  const ofMany = isOneOfMany ? [{ option: 'value' }] : [];
  if (!isWord) return isOneOfMany ? { reason: `${reason}; ${others}`, options: ofMany } : { reason };
  const state = stateOf(text.toLowerCase());
  const argument = /[^\w=-]/.test(state) ? `"${state}"` : state;
  const mend = `the option states says what it stands for (--states${state.startsWith('-') ? '=' : ' '}${argument})`;
  const states = { option: 'states', values: [state] };
  return { reason: `${reason}; ${mend}${isOneOfMany ? `, or ${others}` : ''}`, options: [states, ...ofMany] };
}

function stateOf(word: string): string {
  if (/^(?:on|true|yes|open|t|y)$/.test(word)) return `${word}=1`;
  return `${word}=${/^(?:off|false|no|f|n)$/.test(word) ? '0' : ''}`;
}

/** The time in epoch milliseconds, or why there is none. */
export type TimeReading =
  | {
      readonly timeMs: number;
      /** Whether it is local, and clocks change within a day of it. */
      readonly isNearChange: boolean;
    }
  | { readonly problem: string; readonly options?: readonly OptionHint[] };

/** A function that reads the times of a dialect. Those without an offset are local to the zone. */
export function timeReader(format: Dialect['time'], zone: Zone | undefined): (text: string) => TimeReading {
  return (text) => {
    if (format === 'auto' || format === 'epoch') {
      const reading = readUsualTime(text, zone, format === 'epoch');
      return 'problem' in reading && ISO_DATE.test(text)
        ? writtenTime(text, 'ymd', zone)
        : located(text, reading, zone);
    }
    if (format !== 'dmy' && format !== 'mdy' && format !== 'ymd')
      return { ...readEpoch(text, format), isNearChange: false };
    return writtenTime(text, format, zone);
  };
}

/** A time of day as it is read behind a date; a number counts hours. */
export function ofDay(clock: string): string {
  return /^\d\d?$/.test(clock) ? `${clock}:00` : clock;
}

function writtenTime(text: string, format: WrittenTime, zone: Zone | undefined): TimeReading {
  const isIso = ISO_DATE.test(text);
  const reading = isIso ? readInstant(text, zone) : undefined;
  if (reading !== undefined && 'timeMs' in reading) return located(text, reading, zone);
  const iso = isoTime(text, isIso ? 'ymd' : format);
  if (iso !== undefined) return located(iso, readInstant(iso, zone), zone);
  if (reading !== undefined) return reading;
  const problem = `is not of the form ${WRITTEN_TIMES[format].example}`;
  // `as`: its own keys.
  const other = (Object.keys(WRITTEN_TIMES) as WrittenTime[]).find((one) => isoTime(text, one) !== undefined);
  if (other === undefined) return { problem };
  const mend = `with the ${WRITTEN_TIMES[other].first} first it is a date (--time-format ${other})`;
  return { problem: `${problem}; ${mend}`, options: [{ option: 'timeFormat', values: [other] }] };
}

const ISO_DATE = /^\d{4}-\d\d-\d\d(?:$|[T ])/;
type WrittenTime = 'dmy' | 'mdy' | 'ymd';
const WRITTEN_TIMES = {
  dmy: { example: '31.12.2024 23:45', first: 'day' },
  mdy: { example: '12/31/2024 11:45 PM', first: 'month' },
  ymd: { example: '2024/12/31 23:45', first: 'year' },
};

/** Reads a time: an ISO 8601 instant, a date of eight digits, or an epoch number in seconds to nanoseconds. */
export function readTime(text: string, zone?: Zone): InstantReading {
  return readUsualTime(text, zone, false);
}

/** `20240331` as `2024-03-31`; undefined for what is no such date. */
export function compactDate(text: string): string | undefined {
  return COMPACT_DATE.test(text) ? isoTime(text, 'ymd') : undefined;
}

function readUsualTime(text: string, zone: Zone | undefined, isEpoch: boolean): InstantReading {
  const unit = epochUnitOf(text);
  if (unit !== undefined) {
    const date = isEpoch ? undefined : compactDate(text);
    return date === undefined ? readEpoch(text, unit) : readInstant(date, zone);
  }
  const reading = readInstant(text, zone);
  if ('timeMs' in reading) return reading;
  const plain = text.replace(/ ?(?:UTC|GMT)$/, 'Z').replace(/ ([+-]\d\d(?::?\d\d)?)$/, '$1');
  return plain === text ? reading : readInstant(plain, zone);
}

const LOCAL = /^(\d{4})-(\d\d)-(\d\d)(?:[T ][\d:.]*)?$/;

function located(text: string, reading: InstantReading, zone: Zone | undefined): TimeReading {
  if ('problem' in reading) return reading;
  const { timeMs } = reading;
  const [, year, month, day] = zone === undefined ? [] : (LOCAL.exec(text) ?? []);
  if (zone === undefined || year === undefined) return { timeMs, isNearChange: false };
  const dayMs = dayOfDate(Number(year), Number(month), Number(day)) * DAY_MS;
  return { timeMs, isNearChange: isNearChange(zone, dayMs) };
}

/** Whether a zone's offset changes within a day of a local day. (No zone changes it twice within three days.) */
export function isNearChange(zone: Zone, dayMs: number): boolean {
  return zone.offsetMsAt(dayMs - DAY_MS) !== zone.offsetMsAt(dayMs + 2 * DAY_MS);
}
