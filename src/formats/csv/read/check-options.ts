import { describeValue, type InputError, wrongOption } from '../../../core/errors.js';
import { timeFormats } from '../../table/dates.js';
import { tableLayouts } from '../../table/roles.js';
import { encodings } from '../encoding.js';
import type { CsvReaderOptions } from '../options.js';

/** What an option must be, and the test for it. */
type Expectation = readonly [text: string, isMet: (value: unknown) => boolean];

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isText = (value: unknown) => typeof value === 'string';
const isNumberOrNull = (value: unknown) => value === null || typeof value === 'number';
const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
const oneOf = (values: readonly string[]): Expectation => [
  values.map((value) => JSON.stringify(value)).join(' or '),
  (value) => values.includes(value as string),
];

const text: Expectation = ['text', isText];
const callback: Expectation = ['a function', (value) => typeof value === 'function'];
const columns: Expectation = ['an array of column names', (value) => Array.isArray(value) && value.every(isText)];

const expectations: Readonly<Record<keyof CsvReaderOptions, Expectation>> = {
  fileName: text,
  unnamed: text,
  as: [
    'an object with timeseriesId and metric',
    (value) =>
      isObject(value) &&
      'timeseriesId' in value &&
      isText(value.timeseriesId) &&
      'metric' in value &&
      isText(value.metric),
  ],
  time: columns,
  value: columns,
  series: columns,
  layout: oneOf(tableLayouts),
  timeFormat: oneOf(timeFormats),
  decimal: oneOf(['point', 'comma']),
  states: [
    'an object of numbers and null by text',
    (value) => isObject(value) && !Array.isArray(value) && Object.values(value).every(isNumberOrNull),
  ],
  areTextsLeft: ['true or false', (value) => typeof value === 'boolean'],
  // The reader checks the name, as it does for the command.
  encoding: [encodings.join(' or '), isText],
  skipLines: ['a whole number of at least 0', isCount],
  timezone: text,
  chunkRows: ['a whole number of at least 1', (value) => isCount(value) && value !== 0],
  onBadRow: oneOf(['fail', 'skip']),
  onReject: callback,
  onColumns: callback,
  wanted: callback,
  isNamed: callback,
};

/**
 * Checks the options of a caller, who may not have the types.
 *
 * @throws InputError for an option that does not exist or is of another type.
 */
export function checkReaderOptions(options: unknown): void {
  if (!isObject(options) || Array.isArray(options)) throw wrongOption('options', 'an object', describeValue(options));
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(expectations, name)) throw unknownOption(name);
    const [expected, isMet] = expectations[name as keyof CsvReaderOptions];
    if (value !== undefined && !isMet(value)) throw wrongOption(name, expected, describeValue(value));
  }
}

function unknownOption(name: string): InputError {
  const known = Object.keys(expectations);
  const likely = known.find((one) => one.toLowerCase() === name.toLowerCase());
  return wrongOption(name, likely ?? `one of the options ${known.join(', ')}`, describeValue(name));
}
