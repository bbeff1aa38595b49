import { WindrowError } from '../../core/errors.js';
import { type Encoding, encodingOf, encodings } from '../../formats/csv/encoding.js';
import type { CsvReaderOptions } from '../../formats/csv/index.js';
import type { Format } from '../../formats/format.js';
import { formatNames, formats } from '../../formats/formats.js';
import { timeFormats } from '../../formats/table/dates.js';
import { EPOCH_SECONDS_END } from '../../formats/table/epoch.js';
import { compactDate } from '../../formats/table/read-text.js';
import { tableLayouts } from '../../formats/table/roles.js';
import { namedSeries, statesOf, tableOptions } from '../../formats/table/table-options.js';
import { type CommandOption, countOf, type Given, nameOf, textOf } from '../command.js';

/** What the caller says about the files that a run reads. */
export type InputOptions = Pick<
  CsvReaderOptions,
  'time' | 'value' | 'series' | 'layout' | 'encoding' | 'skipLines' | 'timeFormat' | 'decimal' | 'states' | 'as'
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

/**
 * An instant as an option gives it. Digits alone are a date (`20240331`), or else an epoch time in seconds or
 * milliseconds, as in a file.
 */
export function instantOption(text: string): string | number {
  const date = compactDate(text);
  if (date !== undefined) return date;
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
    values: formatNames,
    summary: `the format of the input: ${formatNames.join(', ')} (default: by its name, or csv)`,
  },
  ...tableOptions.map(({ name, ...option }) => ({ flag: `--${name}`, ...option })),
];

/** The format that an option names, among those that it may. */
export function formatOption(given: Given, flag: string, named: readonly Format[] = formats): Format | undefined {
  const name = nameOf(
    given,
    flag,
    named.map((one) => one.name),
  );
  return named.find((one) => one.name === name);
}

function encodingOption(given: Given): Encoding | undefined {
  const name = textOf(given, '--encoding');
  const encoding = name === undefined ? undefined : encodingOf(name);
  if (name === undefined || encoding !== undefined) return encoding;
  const expected = `expected ${encodings.join(' or ')}, received ${JSON.stringify(name)}`;
  throw new WindrowError('arguments', `--encoding: ${expected}`);
}

export function readInputOptions(given: Given): InputOptions {
  const as = textOf(given, '--as');
  const states = given.options.get('--states');
  return {
    time: given.options.get('--time'),
    value: given.options.get('--value'),
    series: given.options.get('--series'),
    as: as === undefined ? undefined : namedSeries(as),
    layout: nameOf(given, '--layout', tableLayouts),
    encoding: encodingOption(given),
    skipLines: countOf(given, '--skip-lines', 0),
    timeFormat: nameOf(given, '--time-format', timeFormats),
    decimal: nameOf(given, '--decimal', ['point', 'comma']),
    states: states === undefined ? undefined : statesOf(states),
  };
}
