import { wrongOption } from '../../core/errors.js';
import type { SeriesReference } from '../../core/series.js';
import { encodings } from '../csv/encoding.js';
import { timeFormats } from './dates.js';
import { RAW_METRIC } from './naming.js';
import { tableLayouts } from './roles.js';

/** What people may say about the columns of a table, and how they are written: options of the command, and fields. */
export interface TableOption {
  readonly name: string;
  /** What it takes, as help shows it. */
  readonly value: string;
  readonly values?: readonly string[];
  readonly isList?: true;
  readonly summary: string;
}

export const tableOptions: readonly TableOption[] = [
  {
    name: 'time',
    value: 'COLUMN',
    isList: true,
    summary: 'the time column, or one of dates and one of times of day',
  },
  { name: 'value', value: 'COLUMN', isList: true, summary: 'the columns to read values from' },
  { name: 'series', value: 'COLUMN', isList: true, summary: 'the columns that say which series a row belongs to' },
  { name: 'as', value: 'SERIES', summary: 'a name for the only series of the input, such as office or office/Raw' },
  {
    name: 'layout',
    value: 'LAYOUT',
    values: tableLayouts,
    summary: 'long, wide, single or days, if the file does not tell',
  },
  {
    name: 'encoding',
    value: 'NAME',
    values: encodings,
    summary: 'how the text of a CSV file is encoded, if it does not tell, such as windows-1252',
  },
  { name: 'skip-lines', value: 'N', summary: 'ignore N lines before the header' },
  {
    name: 'time-format',
    value: 'FORMAT',
    values: timeFormats,
    summary: 'order of dates (dmy, mdy, ymd) or epoch unit (s, ms, us, ns)',
  },
  { name: 'decimal', value: 'SIGN', values: ['point', 'comma'], summary: 'point or comma' },
  {
    name: 'states',
    value: 'TEXT=N',
    isList: true,
    summary: 'numbers for text values, such as on=1 off=0 n/a=',
  },
];

/** What the command and the page call an option of the library: `timeFormat` is `time-format`. */
export function optionName(option: string): string {
  return option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** The series that `as` names. The last `/` separates the id from the metric, as ids may contain slashes. */
export function namedSeries(text: string): SeriesReference {
  const at = text.lastIndexOf('/');
  if (at <= 0 || at === text.length - 1) return { timeseriesId: text, metric: RAW_METRIC };
  return { timeseriesId: text.slice(0, at), metric: text.slice(at + 1) };
}

/**
 * The numbers that texts stand for, from `states`.
 *
 * @throws InputError for a word of another form, and for a text that has two numbers.
 */
export function statesOf(words: readonly string[]): Record<string, number | null> {
  const states = new Map<string, number | null>();
  for (const word of words) {
    const [, text, value = ''] = /^(.+)=(.*)$/.exec(word) ?? [];
    const isNumber = DECIMAL.test(value) && Number.isFinite(Number(value));
    if (text === undefined || !(value.trim() === '' || isNumber)) {
      throw wrongOption('states', 'TEXT=NUMBER, or TEXT= for a value that is missing', JSON.stringify(word));
    }
    const number = value.trim() === '' ? null : Number(value);
    const before = states.get(text);
    if (before !== undefined && before !== number) {
      throw wrongOption('states', 'one number for each text', `${JSON.stringify(text)} with two`);
    }
    states.set(text, number);
  }
  return Object.fromEntries(states);
}

const DECIMAL = /^\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*$/i;
