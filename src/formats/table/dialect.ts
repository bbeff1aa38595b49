import type { OptionHint } from '../../core/errors.js';
import {
  hasOpenOrder,
  isCompactDate,
  isCompactTime,
  possibleOrders,
  type TimeFormat,
  writtenDateKind,
} from './dates.js';
import { epochUnitOf } from './epoch.js';
import type { Fail } from './roles.js';

/** How a table writes its times and values. Plain data, so that it can be posted to threads. */
export interface Dialect {
  /** *auto*: ISO 8601, a date of eight digits, or an epoch number whose size tells the unit; *epoch*: only the last. */
  readonly time: TimeFormat | 'auto' | 'epoch';
  readonly decimal: 'point' | 'comma';
  /** Whether the other of comma and point may group the digits, as in `1,234.5`, and does in the first rows. */
  readonly grouping: 'none' | 'allowed' | 'seen';
  /** Whether the first rows leave open what a point in `1.234` is: then that is no value. */
  readonly isPointOpen: boolean;
  /** Texts in lower case that stand for a value; NaN for a missing one. */
  readonly states: readonly (readonly [text: string, value: number])[];
}

/** What the caller says about times and values. */
export interface DialectOptions {
  readonly timeFormat?: TimeFormat | undefined;
  readonly decimal?: 'point' | 'comma' | undefined;
  /** Texts that stand for values; null for a missing value. */
  readonly states?: Readonly<Record<string, number | null>> | undefined;
}

/** The first texts of a table. */
export interface FirstTexts {
  readonly times: readonly string[];
  readonly values: readonly string[];
  /** Whether a point in a value may group digits: where semicolons separate, as the comma is then a decimal sign. */
  readonly mayPointGroup: boolean;
  /** Whether no more rows will come, so that an open question is an error. */
  readonly isWhole: boolean;
}

/** What dates begin with, or what epoch numbers count. */
const FORMAT_WORDS: Readonly<Record<TimeFormat, string>> = {
  dmy: 'day',
  mdy: 'month',
  ymd: 'year',
  s: 'seconds',
  ms: 'milliseconds',
  us: 'microseconds',
  ns: 'nanoseconds',
};

/** Tells how a table writes its times and values; undefined if that needs more of its texts. */
export function tellDialect(texts: FirstTexts, options: DialectOptions, fail: Fail): Dialect | undefined {
  const time = options.timeFormat ?? tellTime(texts, fail);
  const numbers = tellNumbers(texts, options.decimal, fail);
  if (time === undefined) return undefined;
  const states = Object.entries(options.states ?? {});
  return {
    time,
    ...numbers,
    states: states.map(([text, value]) => [text.toLowerCase(), value ?? Number.NaN] as const),
  };
}

/**
 * What is unusual about a dialect, for the summary of a run.
 *
 * @param times the first times of the table.
 */
export function dialectNotes({ time, decimal, grouping, states }: Dialect, times: readonly string[]): string[] {
  const notes = timeNotes(time, times);
  if (decimal === 'comma') notes.push('decimal commas');
  else if (grouping === 'seen') notes.push('digits in groups');
  const missing = states.filter(([, value]) => Number.isNaN(value)).map(([text]) => text);
  if (missing.length > 0) notes.push(`${missing.join(', ')} missing`);
  for (const [text, value] of states) if (!Number.isNaN(value)) notes.push(`${text} as ${value}`);
  return notes;
}

function timeNotes(time: Dialect['time'], times: readonly string[]): string[] {
  if (time === 'ymd' && times.some((text) => /[a-z]{3}/i.test(text) && writtenDateKind(text) !== undefined)) {
    return ['dates with the name of the month'];
  }
  if (time === 'dmy' || time === 'mdy' || time === 'ymd') return [`dates with the ${FORMAT_WORDS[time]} first`];
  const units =
    time === 'auto' || time === 'epoch' ? new Set(times.flatMap((text) => epochUnitOf(text) ?? [])) : [time];
  return Array.from(units, (unit) => `times in epoch ${FORMAT_WORDS[unit]}`);
}

/** Whether the fast readers, which know only ISO 8601, epoch numbers and decimal points, can read this dialect. */
export function isUsual({ time, decimal, grouping, states }: Dialect): boolean {
  const isPlain = (time === 'auto' || time === 'epoch') && decimal === 'point' && grouping !== 'seen';
  return isPlain && states.every(([text]) => Number.isNaN(Number(text)));
}

function tellTime({ times, isWhole }: FirstTexts, fail: Fail): Dialect['time'] | undefined {
  const isMost = (list: readonly string[]): boolean => 2 * list.length > times.filter((text) => text !== '').length;
  if (isMost(times.filter(hasOpenOrder))) {
    const orders = possibleOrders(times);
    const [order, ...others] = orders;
    if (order !== undefined && others.length === 0) return order;
    const example = times.find(hasOpenOrder);
    if (order === undefined) {
      return fail(`its dates, such as ${example}, are neither all day first nor all month first`, 'unclear');
    }
    if (!isWhole) return undefined;
    const parts = orders.map((name) => FORMAT_WORDS[name]).join(' or with the ');
    return failAtFormats(`dates, such as ${example}, may begin with the ${parts}`, orders, fail);
  }
  const serials = times.filter((text) => /^[2-7]\d{4}(?:[.,]\d+)?$/.test(text));
  if (isMost(serials)) {
    const days = 'days as a spreadsheet counts them (export them as dates)';
    const example = serials.find((text) => /[.,]/.test(text)) ?? serials[0];
    return failAtFormats(`times, such as ${example}, may be ${days} or epoch seconds`, ['s'], fail);
  }
  const years = times.filter((text) => /^(?:1[89]|20)\d\d$/.test(text));
  if (isMost(years)) {
    const mend = `write ${years[0]}-01-01`;
    return failAtFormats(`times, such as ${years[0]}, may be years (${mend}) or epoch seconds`, ['s'], fail);
  }
  const digits = times.filter((text) => /^\d+$/.test(text));
  if (isMost(digits)) return tellDigits(digits, fail);
  const isOther = (text: string): boolean => !/^\d{4}-\d\d-\d\d/.test(text) && writtenDateKind(text) !== undefined;
  return isMost(times.filter(isOther)) ? 'ymd' : 'auto';
}

function tellDigits(digits: readonly string[], fail: Fail): Dialect['time'] {
  const dates = digits.filter(isCompactDate);
  if (dates.length === digits.length) return 'ymd';
  const isAllEight = digits.every((text) => text.length === 8);
  const [inDoubt] = isAllEight ? dates : digits.every(isCompactTime) ? digits : [];
  if (inDoubt === undefined) return 'epoch';
  // All are digits.
  return failAtFormats(
    `times, such as ${inDoubt}, may be dates or epoch numbers`,
    ['ymd', epochUnitOf(inDoubt)!],
    fail,
  );
}

function failAtFormats(told: string, values: readonly TimeFormat[], fail: Fail): never {
  const mend = `say which with the option timeFormat (--time-format ${values.join(', or ')})`;
  return fail(`its ${told}; ${mend}`, 'unclear', [{ option: 'timeFormat', values }]);
}

const POINT = /^[+-]?\d*\.\d+(?:e[+-]?\d+)?$/i;
/** `1.234`: a group of thousands or three decimals. */
export const POINT_GROUP = /^[+-]?[1-9]\d{0,2}\.\d{3}$/;
const COMMA = /^[+-]?(?:\d+|\d{1,3}(?:[. \u00a0\u202f']\d{3})+),\d+(?:e[+-]?\d+)?$/i;
/** `1,234`: a group of thousands or three decimals. */
export const EITHER = /^[+-]?[1-9]\d{0,2},\d{3}$/;
/** `1'234.5` and `1 234.5`: no decimal sign is in doubt. */
const SPACED = /^[+-]?[1-9]\d{0,2}(?:[ \u00a0\u202f']\d{3})+(?:\.\d+)?$/;
const GROUPED = /^[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+|,\d{3})$/;

function tellNumbers(
  { values, mayPointGroup }: FirstTexts,
  said: DialectOptions['decimal'],
  fail: Fail,
): Pick<Dialect, 'decimal' | 'grouping' | 'isPointOpen'> {
  if (said !== undefined) return numbers(said, said === 'comma' ? 'seen' : 'allowed');
  const withComma = values.filter((text) => text.includes(',') && /\d/.test(text));
  if (withComma.length === 0) {
    const withPoint = mayPointGroup ? values.filter((text) => POINT.test(text)) : [];
    const isInDoubt = withPoint.length > 0 && withPoint.every((text) => POINT_GROUP.test(text));
    if (isInDoubt) return fail(eitherSign('point', withPoint[0]!), 'unclear', [DECIMAL]);
    const isSpaced = values.some((text) => SPACED.test(text));
    return numbers('point', isSpaced ? 'seen' : 'none', mayPointGroup && withPoint.length === 0);
  }
  const isGrouped = withComma.some((text) => GROUPED.test(text));
  const isPoint = values.some((text) => POINT.test(text) && !POINT_GROUP.test(text));
  // If there are decimal points, a value with a decimal comma is an error.
  if (isPoint || isGrouped) return numbers('point', isGrouped ? 'seen' : 'none');
  if (withComma.some((text) => COMMA.test(text) && !EITHER.test(text))) return numbers('comma', 'seen');
  const either = withComma.find((text) => EITHER.test(text));
  return either === undefined ? numbers('point', 'none') : fail(eitherSign('comma', either), 'unclear', [DECIMAL]);
}

function numbers(decimal: Dialect['decimal'], grouping: Dialect['grouping'], isPointOpen = false) {
  return { decimal, grouping, isPointOpen };
}

export const OPEN_SIGN =
  'may be the decimal sign or group thousands; ' +
  'say what the decimal sign is with the option decimal (--decimal comma, or point)';
export const DECIMAL: OptionHint = { option: 'decimal', values: ['comma', 'point'] };

function eitherSign(sign: 'comma' | 'point', example: string): string {
  return `the ${sign} in values such as ${example} ${OPEN_SIGN}`;
}
