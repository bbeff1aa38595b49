import { daysInMonth } from '../../core/calendar.js';

/**
 * How a column writes times that are not ISO 8601: the order of day, month and year, or the unit of epoch numbers.
 * Dates that begin with the year or name the month can be read whatever the order.
 */
export const timeFormats = ['dmy', 'mdy', 'ymd', 's', 'ms', 'us', 'ns'] as const;
export type TimeFormat = (typeof timeFormats)[number];

const ORDERS = ['dmy', 'mdy', 'ymd'] as const;

/** A date split into its parts, and the text after it. */
interface WrittenDate {
  /** `open` if the first number may be the day, the month or a year of two digits; else `first` is the month. */
  readonly order: 'open' | 'year first' | 'named month';
  readonly year: string;
  readonly first: string;
  readonly second: string;
  /** The text after the date; may be ''. */
  readonly rest: string;
}

const YEAR_LAST = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?:[T, ] *(\S.*))?$/;
const YEAR_FIRST = /^(\d{4})([./-])(\d{1,2})\2(\d{1,2})(?:[T ] *(\S.*))?$/;
const COMPACT = /^((?:19|20)\d\d)(\d\d)(\d\d)(?:[T ](\d\d:.*)|T(\d{4}|\d{6})(Z?))?$/;
/** A date and a time of day as digits alone, as weather services write them: hours, often minutes, perhaps seconds. */
const COMPACT_TIME = /^((?:19|20)\d{6})([01]\d|2[0-4])([0-5]\d)?([0-5]\d)?$/;
const DAY_NAMED_MONTH = /^(\d{1,2})[-/. ]+([A-Za-z]{3,9})[-/. ,]+(\d{4}|\d{2})(?:[T, ] *(\S.*))?$/;
const NAMED_MONTH_DAY = /^([A-Za-z]{3,9})[. ]+(\d{1,2}),? (\d{4})(?:[T, ] *(\S.*))?$/;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const CLOCK =
  /^(\d{1,2})(?::(\d\d)(?::(\d\d)(?:[.,](\d+))?)?)?(?: ?([AP])\.?M\.?)?(?: ?(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?))?$/i;

function takeApart(text: string): WrittenDate | undefined {
  const yearLast = YEAR_LAST.exec(text);
  if (yearLast !== null) {
    const [, first = '', , second = '', year = '', rest = ''] = yearLast;
    return { order: 'open', year, first, second, rest };
  }
  const yearFirst = YEAR_FIRST.exec(text);
  if (yearFirst !== null) {
    const [, year = '', , first = '', second = '', rest = ''] = yearFirst;
    return { order: 'year first', year, first, second, rest };
  }
  const compact = COMPACT.exec(text);
  if (compact === null) return takeApartNamed(text);
  const [, year = '', first = '', second = '', clock = '', digits, zulu = ''] = compact;
  const rest = digits === undefined ? clock : digits.match(/../g)!.join(':') + zulu;
  return { order: 'year first', year, first, second, rest };
}

function takeApartNamed(text: string): WrittenDate | undefined {
  const dayFirst = DAY_NAMED_MONTH.exec(text);
  const [, day, name, year, rest = ''] = dayFirst ?? [];
  const monthFirst = dayFirst === null ? NAMED_MONTH_DAY.exec(text) : null;
  const month = MONTHS.indexOf((name ?? monthFirst?.[1] ?? '').slice(0, 3).toLowerCase()) + 1;
  if (month === 0) return undefined;
  const found = { order: 'named month', first: String(month) } as const;
  if (monthFirst !== null) return { ...found, year: monthFirst[3]!, second: monthFirst[2]!, rest: monthFirst[4] ?? '' };
  return { ...found, year: year ?? '', second: day ?? '', rest };
}

/** Whether a text is a date alone or with a time of day, in a form other than ISO 8601; undefined if it is neither. */
export function writtenDateKind(text: string): 'date' | 'instant' | undefined {
  const date = takeApart(text);
  if (date === undefined || ORDERS.every((order) => isoDate(date, order) === undefined)) return undefined;
  if (date.rest === '') return 'date';
  return CLOCK.test(date.rest) ? 'instant' : undefined;
}

/**
 * The orders in which all of the texts are dates. Of years of two digits, `24-01-31` or `31-01-24`, the texts decide by
 * where they lie closer together, as to take days for years puts them decades apart.
 */
export function possibleOrders(texts: readonly string[]): (typeof ORDERS)[number][] {
  const dates = texts.filter(hasOpenOrder).map((text) => takeApart(text)!);
  // How far it is from date to date; NaN if one of them is no date in this order.
  const lengthsMs = ORDERS.map((order) => {
    const timesMs = dates.map((date) => Date.parse(isoDate(date, order) ?? ''));
    return timesMs.reduce((sumMs, timeMs, i) => sumMs + Math.abs(timeMs - timesMs[Math.max(0, i - 1)]!), 0);
  });
  return ORDERS.filter((order, i) => {
    // Whether the day or the month comes first, distances do not tell.
    const rivalsMs = order === 'ymd' ? lengthsMs : lengthsMs.slice(2);
    return lengthsMs[i]! >= 0 && !rivalsMs.some((rivalMs) => lengthsMs[i]! > 10 * rivalMs);
  });
}

/** Whether a text is a date that needs an order. */
export function hasOpenOrder(text: string): boolean {
  return takeApart(text)?.order === 'open' && writtenDateKind(text) !== undefined;
}

/** A date, alone or with a time of day, in ISO 8601; undefined if the text is not a date. */
export function isoTime(text: string, order: 'dmy' | 'mdy' | 'ymd'): string | undefined {
  const [, day, hour, minute = '00', second = '00'] = (order === 'ymd' && COMPACT_TIME.exec(text)) || [];
  const written = takeApart(day === undefined ? text : `${day}T${hour}:${minute}:${second}`);
  const date = written && isoDate(written, order);
  if (written === undefined || date === undefined) return undefined;
  if (written.rest === '') return date;
  const clock = isoClock(written.rest);
  return clock === undefined ? undefined : `${date}T${clock}`;
}

function isoDate({ order, year, first, second, rest }: WrittenDate, wanted: string): string | undefined {
  if (order === 'open' && wanted === 'ymd') {
    if (first.length + year.length !== 4) return undefined;
    return isoDate({ order: 'year first', year: first, first: second, second: year, rest }, wanted);
  }
  const isMonthFirst = order !== 'open' || wanted === 'mdy';
  const month = Number(isMonthFirst ? first : second);
  const day = Number(isMonthFirst ? second : first);
  // Years of two digits as in POSIX: 69 to 99 are 1969 to 1999.
  const fullYear = year.length === 4 ? Number(year) : Number(year) + (Number(year) < 69 ? 2000 : 1900);
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(fullYear, month)) return undefined;
  return `${String(fullYear).padStart(4, '0')}-${twoDigits(month)}-${twoDigits(day)}`;
}

/** A time of day such as `11:45 PM` in ISO 8601; undefined if the text is not one. */
export function isoClock(text: string): string | undefined {
  const [match, hourText = '', minute = '00', second = '00', fraction, half, offset = ''] = CLOCK.exec(text) ?? [];
  if (match === undefined || (half === undefined && !match.includes(':'))) return undefined;
  let hour = Number(hourText);
  if (half !== undefined) {
    if (hour < 1 || hour > 12) return undefined;
    hour = (hour % 12) + (half.toUpperCase() === 'P' ? 12 : 0);
  }
  const zone = /^(?:z|utc|gmt)$/i.test(offset) ? 'Z' : offset;
  return `${twoDigits(hour)}:${minute}:${second}${fraction === undefined ? '' : `.${fraction}`}${zone}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}

/** Whether a text is a date of eight digits, such as 20240131. */
export function isCompactDate(text: string): boolean {
  return /^\d{8}$/.test(text) && writtenDateKind(text) === 'date';
}

/** Whether a text of digits may be a date and a time of day, such as 202401312345. */
export function isCompactTime(text: string): boolean {
  return COMPACT_TIME.test(text) && isoTime(text, 'ymd') !== undefined;
}
