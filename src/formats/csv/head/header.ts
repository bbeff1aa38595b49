import type { InTurns } from '../../../core/turns.js';
import { type Dialect, dialectNotes, isUsual, tellDialect } from '../../table/dialect.js';
import { failAtEqualNames } from '../../table/equal-names.js';
import { type ColumnFacts, factsOf, kindOfText } from '../../table/facts.js';
import { findRoles, isTimeName } from '../../table/find-roles.js';
import type { Fail, Roles } from '../../table/roles.js';
import { unitOf, withoutUnit } from '../../table/units.js';
import { LINE_FEED, SEMICOLON } from '../bytes.js';
import { type Encoding, tellEncoding } from '../encoding.js';
import { CsvError } from '../errors.js';
import type { CsvReaderOptions } from '../options.js';
import { createRecord, fieldText, isBlank, splitRecord } from '../read/record.js';
import { type FoundHeader, HEAD_LENGTH_MAX } from './find-header.js';

/** What the header, the first rows and the options tell about a file. Plain data. */
export interface Header extends Roles {
  readonly separator: number;
  /** Names as written in the header, without quotes and outer spaces. */
  readonly columns: readonly string[];
  readonly dialect: Dialect;
  /** Whether the fast readers can take its rows. */
  readonly isPlain: boolean;
  /** Whether the first row alone tells all this, as nothing is out of the ordinary. */
  readonly isUsual: boolean;
  /** Whether lines that begin with `#` are annotations, after which a new header follows. */
  readonly isAnnotated: boolean;
  /** The values for empty fields, by column; most files have none. */
  readonly defaults: readonly string[];
  /** The units after the numbers of a column, such as °C, by column. */
  readonly units: Readonly<Record<number, string>>;
  readonly encoding: Encoding;
  /** The physical line of the first row. */
  readonly firstLine: number;
}

/** How many bytes of rows are examined first, and at most if these do not tell, say, days from months. */
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
  | 'onColumns'
  | 'timeFormat'
  | 'decimal'
  | 'states'
  | 'wanted'
  | 'isNamed'
>;

/** Headers with at least this many columns take milliseconds to examine. */
const WIDE_COLUMNS = 1000;

/** Whether a header is so wide that reading it should yield to other work. */
export function isWide({ columns }: Pick<FoundHeader, 'columns'>): boolean {
  return columns.length >= WIDE_COLUMNS;
}

/** Whether each row names its series, or is a day of one series. */
export function namesSeries({ layout }: Header): boolean {
  return layout === 'long' || layout === 'days';
}

/**
 * Tells how to read a file; undefined if that needs more of its rows. Yields between the steps if the header is wide.
 *
 * @param sample the first rows.
 * @param rowsMin how many of them it takes.
 * @param isWhole whether no more rows will come, so that an open question is an error.
 * @throws CsvError if the file does not tell clearly what it holds.
 */
export function* tellHeader(
  found: FoundHeader,
  sample: Uint8Array,
  rowsMin: number,
  isWhole: boolean,
  options: Options,
): InTurns<Header | undefined> {
  const { fileName: file, isNamed = options.wanted } = options;
  const { columns, line, text, separator, isAnnotated, defaults } = found;
  const fail: Fail = (reason, fault = 'columns', hints = []) => {
    const code = fault === 'unclear' ? 'csv.unclear' : 'csv.header';
    const skipped = fault === 'no time' ? linesBeforeHeader(sample, line) : undefined;
    const details = { text, options: hints };
    if (skipped === undefined) throw new CsvError(code, { file, line }, reason, details);
    const later = `line ${skipped + 1} looks like the header: --skip-lines ${skipped} skips what is before it`;
    const skip = { option: 'skipLines', values: [String(skipped)] };
    throw new CsvError(code, { file, line }, `${reason}; ${later}`, { text, options: [skip, ...hints] });
  };
  const encoding = found.encoding ?? tellEncoding(sample) ?? 'utf-8';
  const texts = yield* sampleTexts(found, sample, encoding);
  if (!isWhole && texts[0]!.length < rowsMin) return undefined;
  if (isWide(found)) yield;
  const units = unitsOf(texts);
  const numbers = texts.map((list, column) => withoutUnits(list, units[column]));
  const facts = yield* factsOfColumns(columns, numbers);
  const isAskedFor = (name: string): boolean => isNamed?.({ timeseriesId: name, metric: 'Raw' }) ?? false;
  const roles = findRoles(facts, { ...options, isAskedFor }, fail);
  if (isWide(found)) yield;
  if (roles.layout !== 'days') failAtEqualNames(facts, roles, fail, mendOfNames);
  const values = roles.values.filter(({ column }) => facts[column]!.kind !== 'text');
  const valueTexts = values.flatMap(({ column }) => numbers[column]!);
  const isHomeAssistant = columns.some((name) => name.toLowerCase() === 'entity_id');
  const states = isHomeAssistant ? { unavailable: null, unknown: null, ...options.states } : options.states;
  const first = {
    times: texts[roles.timeColumn]!,
    values: valueTexts,
    mayPointGroup: separator === SEMICOLON,
    isWhole,
  };
  const dialect = tellDialect(first, { ...options, states }, fail);
  if (dialect === undefined) return undefined;
  const inUnits = roles.values.filter(({ column }) => units[column] !== undefined);
  const unitNotes = inUnits.map(({ column, name }) => `values of ${name} in ${units[column]}`);
  const encodingNotes = encoding === 'utf-8' ? [] : [`text in ${encoding}`];
  const isBare = !isAnnotated && unitNotes.length === 0;
  const isRowASample = roles.layout !== 'days' && (roles.ids.length === 0 || roles.values.length === 1);
  const isPlain = isRowASample && roles.ids.length <= 1 && roles.clockColumn < 0 && isUsual(dialect) && isBare;
  return {
    ...roles,
    separator,
    columns,
    dialect,
    isPlain,
    isUsual: isPlain && encoding === 'utf-8' && roles.notes.length === 0 && dialect.states.length === 0,
    isAnnotated,
    defaults,
    units,
    encoding,
    firstLine: found.nextLine,
    notes: [
      ...encodingNotes,
      ...roles.notes,
      ...roles.unusedNotes,
      ...dialectNotes(dialect, first.times),
      ...unitNotes,
    ],
  };
}

function* factsOfColumns(
  columns: readonly string[],
  texts: readonly (readonly string[])[],
): InTurns<readonly ColumnFacts[]> {
  const facts: ColumnFacts[] = [];
  for (const [column, name] of columns.entries()) {
    if (column % WIDE_COLUMNS === WIDE_COLUMNS - 1) yield;
    facts.push(factsOf(name, texts[column]!));
  }
  return facts;
}

function unitsOf(texts: readonly (readonly string[])[]): Record<number, string> {
  const units: Record<number, string> = {};
  for (const [column, list] of texts.entries()) {
    const unit = unitOf(list);
    if (unit !== undefined) units[column] = unit;
  }
  return units;
}

function withoutUnits(texts: readonly string[], unit: string | undefined): readonly string[] {
  return unit === undefined ? texts : texts.map((text) => withoutUnit(text, unit));
}

// The texts of the first rows, by column.
function* sampleTexts(found: FoundHeader, bytes: Uint8Array, encoding: Encoding): InTurns<string[][]> {
  const { columns, separator, defaults } = found;
  const texts = columns.map((): string[] => []);
  const record = createRecord(encoding);
  for (let at = 0; at < bytes.length; at = record.end) {
    if (at > 0 && isWide(found)) yield;
    if (bytes.indexOf(LINE_FEED, at) < 0 || !splitRecord(record, bytes, at, separator, false)) break;
    if (record.fault !== undefined || record.fieldCount !== columns.length || isBlank(record)) continue;
    for (const [column, list] of texts.entries()) {
      list.push(fieldText(record, column)?.trim() || (defaults[column] ?? ''));
    }
  }
  return texts;
}

// How many lines there are before a later one that looks like the header, as after lines about the file.
function linesBeforeHeader(bytes: Uint8Array, line: number): number | undefined {
  const lines = new TextDecoder().decode(bytes).split(/\r?\n/).slice(0, 100);
  const rows = lines.map((text) => text.split(/[,;\t|]/).map((field) => field.replace(/^[\s"]+|[\s"]+$/g, '')));
  const hasTime = (fields: readonly string[] = []): boolean =>
    fields.some((field) => ['instant', 'date'].includes(kindOfText(field)));
  const index = rows.findIndex((names, at) => {
    return names.length > 1 && (names.some(isTimeName) || (hasTime(rows[at + 1]) && !hasTime(names)));
  });
  return index < 0 ? undefined : line + index;
}

// Below a header of several lines, as pandas writes it, the first row holds names too.
function mendOfNames({ texts }: ColumnFacts): string | undefined {
  if (kindOfText(texts[0] ?? '') !== 'text') return undefined;
  return 'a header must be one line; join its lines (pandas: df.columns = df.columns.map("_".join))';
}
