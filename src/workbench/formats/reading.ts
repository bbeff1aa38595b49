import type { CsvSummary } from '../../formats/csv/index.js';
import type { FormatOptions } from '../../formats/format.js';
import type { TimeFormat } from '../../formats/table/dates.js';
import type { TableLayout } from '../../formats/table/roles.js';
import { namedSeries, optionName, statesOf, tableOptions } from '../../formats/table/table-options.js';
import { type Series, WindrowError } from '../../index.js';
import type { JsonSchema } from '../../inspect/index.js';
import { messageOf, type Reading, type Unreadable } from '../engine/protocol.js';

/** A file that was read. */
export interface ReadSet {
  readonly series: readonly Series[];
  readonly rows: number;
  readonly missing: number;
  readonly notes: readonly string[];
  readonly columns: readonly string[];
}

/** Why a file cannot be read. */
export function unreadable(error: unknown, columns: readonly string[]): Unreadable {
  const options = error instanceof WindrowError ? error.options.map(({ option }) => optionName(option)) : [];
  const message = messageOf(error);
  // What Chromium says of a file that was moved or changed.
  const problem = message === 'network error' ? 'the file has moved or changed: open it again' : message;
  return { problem, columns, options };
}

const CHUNK_ROWS = 65_536;
export const CANCELLED = 'was not read to its end';

/** The options of the command that the page has fields for. */
const options = [
  ...tableOptions,
  { name: 'on-bad-row', values: ['fail', 'skip'], summary: 'what to do with a row that cannot be read', isList: false },
];

function isOfColumns(option: object): boolean {
  return 'value' in option && option.value === 'COLUMN';
}

/** The fields about a file with these columns. */
export function readingSchema(columns: readonly string[]): JsonSchema {
  const choices = columns.map((name, index) =>
    columns.indexOf(name) === index && name !== '' ? name : `${index + 1}`,
  );
  const shown = options.filter((option) => columns.length > 0 || !isOfColumns(option));
  const fields = shown.map(({ name, summary: description, isList, values, ...option }) => {
    const type = name === 'skip-lines' ? 'integer' : 'string';
    const one = isOfColumns(option) ? { enum: choices } : values === undefined ? { type } : { enum: values };
    return [name, isList ? { type: 'array', items: one, description } : { ...one, description }];
  });
  return { properties: Object.fromEntries(fields) };
}

/** What was said, without fields that were left empty, in one order. */
export function saidOf(reading: Reading): Reading {
  const said = Object.entries(reading).map(([name, value]): [string, unknown] => {
    return [name, Array.isArray(value) ? value.filter((one) => one !== '') : value];
  });
  return Object.fromEntries(said.filter(([, value]) => value !== undefined && String(value) !== '').sort());
}

/** The words of the command that say the same. */
export function wordsOf(reading: Reading): string[] {
  return Object.entries(reading).flatMap(([name, value]) => [value].flat().flatMap((one) => [`--${name}`, `${one}`]));
}

/** The options of a reader that say the same. */
export function readerOptions(fileName: string, timezone: string, reading: Reading) {
  const list = (name: string) => reading[name] as readonly string[] | undefined; // as the schema says
  const { as, 'skip-lines': skipLines = 0 } = reading;
  const states = list('states');
  if (!Number.isInteger(skipLines) || Number(skipLines) < 0) {
    throw new Error(`skip-lines: expected a whole number of at least 0, received ${skipLines}`);
  }
  return {
    fileName,
    timezone,
    chunkRows: CHUNK_ROWS,
    areTextsLeft: true,
    time: list('time'),
    value: list('value'),
    series: list('series'),
    as: as === undefined ? undefined : namedSeries(String(as)),
    skipLines: Number(skipLines),
    states: states === undefined ? undefined : statesOf(states),
    // Choices of the schema.
    layout: reading.layout as TableLayout | undefined,
    encoding: reading.encoding as FormatOptions['encoding'],
    timeFormat: reading['time-format'] as TimeFormat | undefined,
    decimal: reading.decimal as FormatOptions['decimal'],
    onBadRow: (reading['on-bad-row'] ?? 'fail') as 'fail' | 'skip',
  };
}

/** What a summary says of a file, as the page shows it. */
export function countsOf({ rows, missing, notes, rejected }: CsvSummary) {
  return { rows, missing, notes: rejected === 0 ? notes : [...notes, `rows left out: ${rejected}`] };
}
