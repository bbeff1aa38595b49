import { WindrowError } from '../../core/errors.js';
import type { Instant } from '../../core/instant.js';
import type { SeriesReference } from '../../core/series.js';
import type { CsvReaderOptions } from '../../formats/csv/index.js';
import type { Format } from '../../formats/format.js';
import { formatNames, formats } from '../../formats/formats.js';
import { timeFormats } from '../../formats/table/dates.js';
import { RAW_METRIC } from '../../formats/table/naming.js';
import { EPOCH_SECONDS_END } from '../../formats/table/read-text.js';
import { tableLayouts } from '../../formats/table/roles.js';
import { type CommandOption, countOf, type Given, nameOf, textOf } from '../command.js';

/** What the caller says about the files that a run reads. */
export type InputOptions = Pick<
  CsvReaderOptions,
  'time' | 'value' | 'series' | 'layout' | 'skipLines' | 'timeFormat' | 'decimal' | 'states' | 'as'
>;

/** The argument of commands that take a request. */
export const requestArgument = { name: 'REQUEST.json', summary: 'the request (`-` for standard input)' };

/** The options that say which samples a run takes and which time zone it follows. */
export const spanOptions: readonly CommandOption[] = [
  { flag: '--from', value: 'TIME', summary: 'ignore samples before this time, such as 2024-01-31T12:00:00Z' },
  { flag: '--until', value: 'TIME', summary: 'ignore samples at or after this time' },
  {
    flag: '--timezone',
    value: 'ZONE',
    summary: 'time zone of local days and of times without an offset (default: UTC)',
  },
];

const ON_BAD_ROW = ['fail', 'skip'] as const;

export const badRowOption: CommandOption = {
  flag: '--on-bad-row',
  value: 'WHAT',
  values: ON_BAD_ROW,
  summary: 'what to do with a row that cannot be read: fail or skip (default: fail)',
};

export function onBadRowOf(given: Given): (typeof ON_BAD_ROW)[number] {
  return nameOf(given, badRowOption.flag, ON_BAD_ROW) ?? 'fail';
}

/** An instant as an option gives it. Digits alone are an epoch time in seconds or milliseconds, as in a file. */
export function instantOption(text: string): Instant {
  if (!/^-?\d{5,}(\.\d+)?$/.test(text)) return text;
  const number = Number(text);
  // Moving the decimal point, not multiplying, gives the same double as the time in a row of a file.
  return Math.abs(number) < EPOCH_SECONDS_END ? Number(`${text}e3`) : number;
}

/** The options that say what the columns of a file are and how they are written. */
export const inputOptions: readonly CommandOption[] = [
  {
    flag: '--format',
    value: 'FORMAT',
    summary: `the format of the input: ${formatNames.join(', ')} (default: by its name, or csv)`,
  },
  {
    flag: '--time',
    value: 'COLUMN',
    isList: true,
    summary: 'the time column, or one of dates and one of times of day',
  },
  { flag: '--value', value: 'COLUMN', isList: true, summary: 'the columns to read values from' },
  { flag: '--series', value: 'COLUMN', isList: true, summary: 'the columns that say which series a row belongs to' },
  { flag: '--as', value: 'SERIES', summary: 'a name for the only series of the input, such as office or office/Raw' },
  { flag: '--layout', value: 'LAYOUT', summary: 'long, wide, single or days, if the file does not tell' },
  { flag: '--skip-lines', value: 'N', summary: 'ignore N lines before the header' },
  { flag: '--time-format', value: 'FORMAT', summary: 'order of dates (dmy, mdy, ymd) or epoch unit (s, ms, us, ns)' },
  { flag: '--decimal', value: 'SIGN', summary: 'point or comma' },
  {
    flag: '--states',
    value: 'TEXT=N',
    isList: true,
    summary: 'values that are texts, such as on=1 off=0 unavailable=',
  },
];

/** The format that an option names. */
export function formatOption(given: Given, flag: string): Format | undefined {
  const name = textOf(given, flag);
  if (name === undefined) return undefined;
  const format = formats.find((one) => one.name === name.toLowerCase());
  if (format !== undefined) return format;
  const expected = `expected ${formatNames.join(' or ')}, received ${JSON.stringify(name)}`;
  throw new WindrowError('arguments', `${flag}: ${expected}`);
}

export function readInputOptions(given: Given): InputOptions {
  const as = textOf(given, '--as');
  return {
    time: given.options.get('--time'),
    value: given.options.get('--value'),
    series: given.options.get('--series'),
    as: as === undefined ? undefined : referenceOf(as),
    layout: nameOf(given, '--layout', tableLayouts),
    skipLines: countOf(given, '--skip-lines', 0),
    timeFormat: nameOf(given, '--time-format', timeFormats),
    decimal: nameOf(given, '--decimal', ['point', 'comma']),
    states: statesOf(given.options.get('--states')),
  };
}

// The last `/` separates the id from the metric, as ids may contain slashes.
function referenceOf(text: string): SeriesReference {
  const at = text.lastIndexOf('/');
  if (at <= 0 || at === text.length - 1) return { timeseriesId: text, metric: RAW_METRIC };
  return { timeseriesId: text.slice(0, at), metric: text.slice(at + 1) };
}

function statesOf(words: readonly string[] | undefined): Record<string, number | null> | undefined {
  if (words === undefined) return undefined;
  const states: Record<string, number | null> = {};
  for (const word of words) {
    const [, text, value = ''] = /^(.+)=(.*)$/.exec(word) ?? [];
    if (text === undefined || !Number.isFinite(Number(value))) {
      const expected = 'expected TEXT=NUMBER, or TEXT= for a value that is missing';
      throw new WindrowError('arguments', `--states: ${expected}, received ${JSON.stringify(word)}`);
    }
    states[text] = value === '' ? null : Number(value);
  }
  return states;
}
