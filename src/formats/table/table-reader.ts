import { describeValue, WindrowError } from '../../core/errors.js';
import { type Series, type SeriesReference, seriesKey } from '../../core/series.js';
import { isUtc, type Zone, zoneOf } from '../../core/zone.js';
import { encodingOf } from '../csv/encoding.js';
import type { CsvReaderOptions, CsvSeriesCount, CsvSummary, RejectedRow } from '../csv/options.js';
import { CHUNK_ROWS } from '../csv/read/limits.js';
import type { FormatListener } from '../format.js';
import { type Cells, type CellTime, dayOfCell, faultOf, textOf, timeOfCell, wholeMsOf } from './cells.js';
import { type Dialect, dialectNotes, tellDialect } from './dialect.js';
import { failAtEqualNames } from './equal-names.js';
import { type ColumnFacts, kindOfText } from './facts.js';
import { findRoles, isUnnamed } from './find-roles.js';
import { fileSeriesName, RAW_METRIC, SeriesNaming } from './naming.js';
import { type CellFault, ofDay, SKIP_ROWS, timeReader, valueReader } from './read-text.js';
import { RepeatedHours } from './repeated-hours.js';
import type { Fail, Roles } from './roles.js';

/** Chunks of wide tables have so many rows: to hand a series over costs as much as a hundred samples. */
const SERIES_ROWS_MIN = 512;
/** 64 MB. */
const CHUNK_SAMPLES_MAX = 4_000_000;

/** What is wrong with a row: with one of its cells. */
interface RowFault extends CellFault, Pick<RejectedRow, 'column'> {
  readonly cell: unknown;
}

const NAMES_ROUNDED = 'may name several series, as numbers beyond 2^53 are rounded; write it as a text';
const NAMES_NO_SERIES = 'names no series';

/** A series, and its samples since the last chunk. */
export interface Gathered extends CsvSeriesCount {
  samples: number;
  readonly index: number;
  readonly isWanted: boolean;
  timeMs: number[];
  value: number[];
}

/** The names of a row, and the series that they name. */
interface Named {
  readonly roles: Roles;
  readonly columns: readonly number[];
  readonly named: readonly unknown[];
  readonly series: Gathered[];
}

type TableOptions = CsvReaderOptions & {
  readonly chunkRows?: number | undefined;
  /** Whether the columns of times have a type of time, so that no option or guess decides their format. */
  readonly areTimesTyped?: boolean;
  /** Whether a row begins on a line of a text, by which messages tell it. */
  readonly areLines?: boolean;
};

/**
 * Reads tables whose cells have types: rows of JSON, Parquet, Arrow. It finds out what the columns are for as with CSV.
 */
export class TableReader {
  #roles: Roles;
  readonly #options: TableOptions;
  readonly #dialect: Dialect;
  readonly #naming: SeriesNaming;
  readonly #dialectNotes: readonly string[];
  readonly #readTime: ReturnType<typeof timeReader>;
  readonly #readValue: ReturnType<typeof valueReader>;
  readonly #states: ReadonlyMap<string, number>;
  readonly #repeatedHours: RepeatedHours | undefined;
  readonly #byKey = new Map<string, Gathered>();
  /** Where no column has ids: the series of each value column that had a row. */
  readonly #ofColumn: Gathered[] = [];
  readonly #lateFields: string[] = [];
  #lastNamed: Named | undefined;
  readonly #areTimesMs: boolean;
  /** Samples that were taken since the last chunk. */
  #held = 0;
  #rows = 0;
  #rejected = 0;
  #missing = 0;

  /** @param isWhole whether no more rows will come than the facts have texts of. */
  constructor(columns: readonly ColumnFacts[], options: TableOptions, isWhole: boolean) {
    const { fileName: file, timezone, encoding, isNamed = options.wanted } = options;
    const fail: Fail = (reason, fault, hints = []) => {
      throw new WindrowError(fault === 'unclear' ? 'csv.unclear' : 'file.format', `${file}: ${reason}`, {
        options: hints,
      });
    };
    if (encoding !== undefined && encodingOf(encoding) !== 'utf-8') {
      const mend = 'the text of all other formats is UTF-8; leave it out';
      fail(`the option encoding (${encoding}) is for CSV; ${mend}`, 'unclear', [
        { option: 'encoding', values: ['utf-8'] },
      ]);
    }
    const isAskedFor = (name: string): boolean => isNamed?.({ timeseriesId: name, metric: RAW_METRIC }) ?? false;
    this.#roles = findRoles(columns, { ...options, isAskedFor }, fail);
    if (this.roles.layout === 'days') fail('each row holds a day, a layout that is read only from CSV');
    failAtEqualNames(columns, this.roles, fail);
    const times = columns[this.roles.timeColumn]?.texts ?? [];
    const values = this.roles.values.flatMap(({ column }) => columns[column]?.texts ?? []);
    const dialect = tellDialect({ times, values, mayPointGroup: false, isWhole }, options, fail);
    if (dialect === undefined) throw new Error('assertion failed: a dialect was left open');
    this.zone = timezone === undefined || isUtc(timezone) ? undefined : zoneOf(timezone);
    this.#options = options;
    this.#dialect = dialect;
    this.#dialectNotes = options.areTimesTyped
      ? dialectNotes({ ...dialect, time: 'auto' }, [])
      : dialectNotes(dialect, times);
    this.#naming = new SeriesNaming(options, (reason, hints) => fail(reason, 'unclear', hints));
    this.#areTimesMs = dialect.time === 'ms' && this.roles.clockColumn < 0;
    this.#readTime = timeReader(dialect.time, this.zone);
    this.#readValue = valueReader(dialect);
    this.#states = new Map(dialect.states);
    this.#repeatedHours = this.zone && new RepeatedHours(this.zone);
  }

  get roles(): Roles {
    return this.#roles;
  }

  /**
   * Takes up a field that no row had when the roles were found, and returns whether it is read: where each field is a
   * series of its own. Elsewhere it is left out, and the notes say so.
   *
   * @param column its index from now on, if it is read.
   * @param cell the first that came of it.
   */
  takeUp(name: string, column: number, cell: unknown): boolean {
    const { value, areTextsLeft = false } = this.#options;
    const isText = areTextsLeft && kindOfText(textOf(cell)) === 'text';
    const isSeries = this.roles.layout === 'wide' && value === undefined && !isUnnamed(name) && !isText;
    if (isSeries) this.#roles = { ...this.roles, values: [...this.roles.values, { column, name }] };
    else this.#lateFields.push(name);
    return isSeries;
  }

  /** The columns that are read. */
  usedColumns(): number[] {
    const { timeColumn, clockColumn, values } = this.roles;
    const used = [timeColumn, clockColumn, ...this.nameColumns(), ...values.map(({ column }) => column)];
    return used.filter((column) => column >= 0);
  }

  /** Those of them that name the series of a row. */
  nameColumns(): number[] {
    const { ids, metricColumn } = this.roles;
    return [...ids.map(({ column }) => column), metricColumn].filter((column) => column >= 0);
  }

  /**
   * Takes rows in their order, and hands chunks over; `flush` does the last one.
   *
   * @param placeOf returns the line and the text of a row, for messages.
   */
  take(
    cells: readonly Cells[],
    count: number,
    placeOf: (row: number) => { readonly line: number; readonly text: string },
    onChunk: FormatListener['onChunk'],
  ): void {
    for (let row = 0; row < count; row++) {
      const problem = this.#takeRow(cells, row);
      if (problem === undefined) this.#rows++;
      else this.#reject(problem, placeOf(row));
      this.#held += this.roles.values.length;
      if (this.isFull) this.flush((chunk) => onChunk(chunk, placeOf(row).line));
    }
  }

  /** Takes a row whose cells its caller has read: its time, its series, and a value for each. */
  takeRead(timeMs: number, series: readonly Gathered[], values: readonly number[]): void {
    for (let i = 0; i < series.length; i++) this.#keep(series[i]!, { timeMs, isNearChange: false }, values[i]!);
    this.#rows++;
    this.#held += series.length;
  }

  /** Whether a chunk was taken. */
  get isFull(): boolean {
    return this.#held >= this.#chunkSamples;
  }

  /** How many samples make a chunk. */
  get #chunkSamples(): number {
    const { chunkRows } = this.#options;
    if (chunkRows !== undefined) return chunkRows;
    return Math.min(CHUNK_SAMPLES_MAX, Math.max(CHUNK_ROWS, SERIES_ROWS_MIN * this.roles.values.length));
  }

  /** Of local times; undefined for UTC. */
  readonly zone: Zone | undefined;

  /** Whether times are read as CSV's usual ones are: not where their form, or the unit of numbers, was said. */
  get areTimesUsual(): boolean {
    return this.#dialect.time === 'auto' || this.#dialect.time === 'epoch';
  }

  /** A time that does not depend on those before it; undefined if it does, or is none. */
  timeOf(text: string): number | undefined {
    const time = this.#readTime(text.trim());
    return 'problem' in time || time.isNearChange ? undefined : time.timeMs;
  }

  /** Whether the cells of a value column are read. */
  isRead(place: number): boolean {
    return this.roles.ids.length > 0 || this.#seriesOfColumn(place).isWanted;
  }

  /**
   * The series of a row, one for each value column; undefined if it names none.
   *
   * @param names the texts of `nameColumns`.
   */
  seriesOf(names: ReadonlyMap<number, string>): readonly Gathered[] | undefined {
    const { ids, values } = this.roles;
    if (ids.length === 0) return values.map((_, place) => this.#seriesOfColumn(place));
    const cells: Cells[] = [];
    for (const [column, text] of names) cells[column] = [text];
    const series = this.#seriesOfRow(cells, 0);
    return Array.isArray(series) ? series : undefined;
  }

  /** Passes over rows, of which only the columns of names are read: their series are there all the same. */
  pass(cells: readonly Cells[], count: number): void {
    if (this.roles.ids.length === 0) for (const place of this.roles.values.keys()) this.#seriesOfColumn(place);
    else for (let row = 0; row < count; row++) this.#seriesOfRow(cells, row);
  }

  summary(): CsvSummary {
    const series = [...this.#byKey.values()].map(({ timeseriesId, metric, samples }) => {
      return { timeseriesId, metric, samples };
    });
    const notes = [
      ...this.roles.notes,
      ...this.roles.unusedNotes,
      ...this.#dialectNotes,
      ...this.#naming.notes,
      ...this.#lateNotes(),
    ];
    const counts = { rows: this.#rows, rejected: this.#rejected, missing: this.#missing };
    return { layout: this.roles.layout, ...counts, series, notes };
  }

  // Takes a row, or returns what is wrong with it.
  #takeRow(cells: readonly Cells[], row: number): RowFault | undefined {
    const { timeColumn, clockColumn, ids, values } = this.roles;
    const { areTimesTyped = false } = this.#options;
    const given = cells[timeColumn]?.[row];
    const date = clockColumn >= 0 && areTimesTyped ? dayOfCell(given) : given;
    const clock = clockColumn < 0 ? '' : ` ${ofDay(String(cells[clockColumn]?.[row]))}`;
    const time = (this.#areTimesMs ? wholeMsOf(given) : undefined) ?? timeOfCell(date, clock, this.#readTime);
    if ('problem' in time) {
      const { problem: reason, ...options } = time;
      return { cell: date, reason, ...options };
    }
    const numbers: number[] = [];
    for (let place = 0; place < values.length; place++) {
      const { column, name } = values[place]!;
      const cell = cells[column]?.[row];
      // As in CSV, a column that nobody wants may hold anything.
      const isRead = ids.length > 0 || this.#seriesOfColumn(place).isWanted;
      const value = isRead ? this.#valueOf(cell) : Number.NaN;
      if (value !== undefined) numbers.push(value);
      else return { ...faultOf(cell, this.#dialect), cell, column: { number: column + 1, name } };
    }
    if (ids.length === 0) {
      for (let place = 0; place < numbers.length; place++) {
        this.#keep(this.#seriesOfColumn(place), time, numbers[place]!);
      }
      return undefined;
    }
    const series = this.#seriesOfRow(cells, row);
    if (!Array.isArray(series)) return series;
    for (let place = 0; place < series.length; place++) this.#keep(series[place]!, time, numbers[place]!);
    return undefined;
  }

  /** The series that a row names, one for each value column; or what is wrong with the names. */
  #seriesOfRow(cells: readonly Cells[], row: number): Gathered[] | RowFault {
    const last = this.#lastNamed;
    // Mostly those of the row before.
    if (last?.roles === this.#roles && hasNames(last, cells, row)) return last.series;
    const columns = [...this.#roles.ids.map(({ column }) => column), this.#roles.metricColumn];
    const named = columns.map((column) => cells[column]?.[row]);
    const series = this.#seriesNamed(named);
    if (Array.isArray(series)) this.#lastNamed = { roles: this.#roles, columns, named, series };
    return series;
  }

  #seriesNamed(named: readonly unknown[]): Gathered[] | RowFault {
    const { ids, metricColumn, values } = this.roles;
    const nested = named.find((cell) => typeof cell === 'object' && cell !== null);
    if (nested !== undefined) return { cell: nested, reason: NAMES_NO_SERIES };
    const rounded = named.find((cell) => typeof cell === 'number' && Math.abs(cell) > Number.MAX_SAFE_INTEGER);
    if (rounded !== undefined) return { cell: rounded, reason: NAMES_ROUNDED };
    const texts = ids.map(({ prefix }, i) => ({ prefix, text: textOf(named[i]) }));
    const id = texts.filter(({ text }) => text !== '').map(({ prefix, text }, i) => (i === 0 ? text : prefix + text));
    if (id.length === 0) return { cell: null, reason: NAMES_NO_SERIES };
    const metric = textOf(named.at(-1));
    return values.map(({ name }) => {
      const ownMetric = values.length > 1 && metricColumn < 0 ? name : metric || RAW_METRIC;
      return this.#seriesOf({ timeseriesId: id.join(''), metric: ownMetric });
    });
  }

  /** The series of a value column, where no column has ids. */
  #seriesOfColumn(place: number): Gathered {
    const known = this.#ofColumn[place];
    if (known !== undefined) return known;
    const { unnamed, fileName } = this.#options;
    const { layout, values } = this.roles;
    const timeseriesId = layout === 'wide' ? values[place]!.name : (unnamed ?? fileSeriesName(fileName));
    const series = this.#seriesOf({ timeseriesId, metric: RAW_METRIC });
    this.#ofColumn[place] = series;
    return series;
  }

  #lateNotes(): string[] {
    const [first, ...others] = this.#lateFields;
    if (first === undefined) return [];
    const more = others.length > 0 ? ` and ${others.length} more` : '';
    return [`left out: the field ${JSON.stringify(first)}${more}, as the first rows do not have it`];
  }

  #keep(series: Gathered, { timeMs, isNearChange }: CellTime, value: number): void {
    series.samples++;
    if (!series.isWanted) return;
    if (Number.isNaN(value)) this.#missing++;
    series.timeMs.push(isNearChange ? (this.#repeatedHours?.settle(series.index, timeMs) ?? timeMs) : timeMs);
    series.value.push(value);
  }

  #seriesOf(reference: SeriesReference): Gathered {
    const key = seriesKey(reference);
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const isColumn = this.roles.layout === 'wide';
    const named = isColumn ? this.#naming.nameColumn(reference) : this.#naming.name(reference);
    const { timeseriesId, metric } = named.reference;
    const { isWanted } = named;
    const series = { timeseriesId, metric, index: this.#byKey.size, isWanted, samples: 0, timeMs: [], value: [] };
    this.#byKey.set(key, series);
    return series;
  }

  /** Hands over what was taken since the last chunk. */
  flush(onChunk: (series: readonly Series[]) => void): void {
    this.#held = 0;
    const chunk: Series[] = [];
    for (const series of this.#byKey.values()) {
      if (series.timeMs.length === 0) continue;
      const { timeseriesId, metric, timeMs, value } = series;
      chunk.push({ timeseriesId, metric, timeMs: Float64Array.from(timeMs), value: Float64Array.from(value) });
      series.timeMs = [];
      series.value = [];
    }
    if (chunk.length > 0) onChunk(chunk);
  }

  /** The value of a number: itself, unless the states say what it stands for. */
  valueOfNumber(number: number): number {
    return this.#stateOf(number) ?? number;
  }

  /** The value of a boolean: 1 or 0, unless the states say what it stands for. */
  valueOfBoolean(isTrue: boolean): number {
    return this.#stateOf(isTrue) ?? (isTrue ? 1 : 0);
  }

  #stateOf(cell: number | bigint | boolean): number | undefined {
    return this.#states.size === 0 ? undefined : this.#states.get(String(cell));
  }

  #valueOf(cell: unknown): number | undefined {
    if (typeof cell === 'number') return Number.isFinite(cell) ? this.valueOfNumber(cell) : Number.NaN;
    if (cell === null || cell === undefined) return Number.NaN;
    if (typeof cell === 'bigint') return this.#stateOf(cell) ?? Number(cell);
    if (typeof cell === 'boolean') return this.valueOfBoolean(cell);
    return typeof cell === 'string' ? this.#readValue(cell.trim()) : undefined;
  }

  #reject(
    { cell, column, reason, options = [] }: RowFault,
    { line, text }: { readonly line: number; readonly text: string },
  ): void {
    const { fileName: file, areLines = false, onBadRow = 'fail', onReject } = this.#options;
    if (onBadRow === 'fail') {
      const place = `${file}, ${areLines ? 'line' : 'row'} ${line}${column === undefined ? '' : `: ${column.name}`}`;
      const hints = { options: [...options, SKIP_ROWS] };
      throw new WindrowError('file.format', `${place}: ${describeValue(cell)} ${reason}`, hints);
    }
    this.#rejected++;
    const given = typeof cell === 'object' && cell !== null ? describeValue(cell) : textOf(cell);
    onReject?.({ file, line, ...(column && { column }), text: given, reason, options, row: text });
  }
}

function hasNames({ columns, named }: Named, cells: readonly Cells[], row: number): boolean {
  for (let i = 0; i < columns.length; i++) if (cells[columns[i]!]?.[row] !== named[i]) return false;
  return true;
}
