import type { InTurns } from '../../../core/turns.js';
import { type Dialect, dialectNotes, isUsual, tellDialect } from '../../table/dialect.js';
import { factsOf } from '../../table/facts.js';
import { type Fail, isTimeName, type Roles, tellRoles } from '../../table/roles.js';
import { LINE_FEED } from '../bytes.js';
import { CsvError } from '../errors.js';
import type { CsvReaderOptions } from '../options.js';
import { createRecord, fieldText, isBlank, splitRecord } from '../read/record.js';
import { type FoundHeader, HEAD_LENGTH_MAX } from './find-header.js';

/** What is known of a file before its rows: from its header, its first rows and the options. Plain data. */
export interface Header extends Roles {
  readonly separator: number;
  /** Names as they stand in the header, without quotes and outer spaces. */
  readonly columns: readonly string[];
  readonly dialect: Dialect;
  /** Whether the fast readers can take its rows. */
  readonly isPlain: boolean;
  /** Whether lines that begin with `#` are left aside, and the columns begin anew after them. */
  readonly isAnnotated: boolean;
  /** The physical line of the first row. */
  readonly firstLine: number;
}

/** Bytes of rows that are looked at first; where they leave it open whether the day or the month comes first, more. */
export const SAMPLE_BYTES = 16_384;
export const SAMPLE_BYTES_MAX = HEAD_LENGTH_MAX;

type Options = Pick<
  CsvReaderOptions,
  | 'fileName'
  | 'time'
  | 'value'
  | 'series'
  | 'layout'
  | 'areTextsLeft'
  | 'timeFormat'
  | 'decimal'
  | 'states'
  | 'wanted'
  | 'isNamed'
>;

/** Headers of so many columns take milliseconds to look at. */
const WIDE_COLUMNS = 1000;

/** Whether others should have their turns while a header is looked at. */
export function isWide({ columns }: FoundHeader): boolean {
  return columns.length >= WIDE_COLUMNS;
}

/**
 * Tells how a file is to be read; undefined where that takes more of its rows. It stops on the way where the header is
 * wide.
 *
 * @param sample the first rows, as many as are needed to tell what their columns hold.
 * @param isWhole whether there is no more to come, so that what is open has to be asked.
 * @throws CsvError where the file does not say plainly what it holds
 */
export function* tellHeader(
  found: FoundHeader,
  sample: Uint8Array,
  isWhole: boolean,
  options: Options,
): InTurns<Header | undefined> {
  const { fileName: file, isNamed = options.wanted } = options;
  const { columns, line, text, separator, isAnnotated } = found;
  const fail: Fail = (reason, code = 'csv.header') => {
    const mend = code === 'csv.header' && reason.includes('no time column') ? laterHeader(sample, line) : '';
    throw new CsvError(code, { file, line }, `${reason}${mend}`, text);
  };
  const texts = sampleTexts(found, sample);
  const facts = columns.map((name, column) => factsOf(name, texts[column]!));
  if (isWide(found)) yield;
  const isAskedFor = (name: string): boolean => isNamed?.({ timeseriesId: name, metric: 'Raw' }) ?? false;
  const roles = tellRoles(facts, { ...options, isAskedFor }, fail);
  if (isWide(found)) yield;
  if (roles.layout !== 'days') failAtEqualNames(columns, roles, fail);
  const numbers = roles.values.filter(({ column }) => facts[column]!.kind !== 'text');
  const valueTexts = numbers.flatMap(({ column }) => texts[column]!);
  const isHomeAssistant = columns.some((name) => name.toLowerCase() === 'entity_id');
  const states = isHomeAssistant ? { unavailable: null, unknown: null, ...options.states } : options.states;
  const first = { times: texts[roles.timeColumn]!, values: valueTexts, isWhole };
  const dialect = tellDialect(first, { ...options, states }, fail);
  if (dialect === undefined) return undefined;
  const isRowASample = roles.layout !== 'days' && (roles.ids.length === 0 || roles.values.length === 1);
  return {
    ...roles,
    separator,
    columns,
    dialect,
    isPlain: isRowASample && roles.ids.length <= 1 && roles.clockColumn < 0 && isUsual(dialect) && !isAnnotated,
    isAnnotated,
    firstLine: found.nextLine,
    notes: [...roles.notes, ...dialectNotes(dialect)],
  };
}

// The texts of the first rows, by column.
function sampleTexts({ columns, separator }: FoundHeader, bytes: Uint8Array): string[][] {
  const texts = columns.map((): string[] => []);
  const record = createRecord();
  for (let at = 0; at < bytes.length; at = record.end) {
    if (bytes.indexOf(LINE_FEED, at) < 0 || !splitRecord(record, bytes, at, separator, false)) break;
    if (record.fault !== undefined || record.fieldCount !== columns.length || isBlank(record)) continue;
    for (const [column, list] of texts.entries()) list.push(fieldText(record, column)?.trim() ?? '');
  }
  return texts;
}

// Where a header comes later, behind lines about the file.
function laterHeader(bytes: Uint8Array, line: number): string {
  const lines = new TextDecoder().decode(bytes).split(/\r?\n/).slice(0, 100);
  const index = lines.findIndex((text) => {
    const names = text.split(/[,;\t|]/).map((name) => name.replace(/^[\s"]+|[\s"]+$/g, ''));
    return names.length > 1 && names.some(isTimeName);
  });
  if (index < 0) return '';
  return `; line ${line + 1 + index} looks like the header: --skip-lines ${line + index} skips what is before it`;
}

// Series of one name would be one series.
function failAtEqualNames(columns: readonly string[], roles: Roles, fail: Fail): void {
  const used = [roles.timeColumn, roles.clockColumn, roles.metricColumn].filter((column) => column >= 0);
  const named = [...used, ...roles.ids.map(({ column }) => column), ...roles.values.map(({ column }) => column)];
  const firstColumn = new Map<string, number>();
  for (const column of [...new Set(named)].sort((a, b) => a - b)) {
    const name = columns[column]!;
    const first = firstColumn.get(name);
    if (first !== undefined) {
      fail(`columns ${first + 1} (${columns[first]}) and ${column + 1} (${name}) have one meaning; rename one`);
    }
    firstColumn.set(name, column);
  }
}
