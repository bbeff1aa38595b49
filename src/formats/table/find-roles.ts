import { didYouMean } from '../../core/suggest.js';
import { dayColumns } from './days.js';
import { type ColumnFacts, type ColumnKind, distinctTexts, kindOfText, wordsOf } from './facts.js';
import { findKeys } from './key.js';
import type { Fail, RoleOptions, Roles, ValueColumn } from './roles.js';
import { failAtTwoRoles } from './two-roles.js';

/** Names of the time column, in any case. If a header has several, the first in this list is the time. */
const TIME_NAMES = ['timestamp', 'time', 'datetime', 'date', 'ts', '_time', 'last_changed'];
const TIME_KINDS: ReadonlySet<ColumnKind> = new Set<ColumnKind>(['instant', 'date']);
const ID_NAMES = ['timeseriesid', 'entity_id'];
const VALUE_NAMES = ['value', 'val', 'state', '_value'];
const METRIC_NAMES = ['metric', '_field'];
/** Columns of InfluxDB's CSV that are not tags. */
const INFLUX_NAMES = ['', 'result', 'table', '_start', '_stop', '_time', '_value', '_field', '_measurement'];

/** Words of which the name of a column of times of day consists, in some languages, and zones: `Start time (CET)`. */
const CLOCK_NAME = new RegExp(
  '^(?:(?:time|clock|hours?|of|day|start|begin|from|local|utc|gmt|c?e[sd]?t|[mp][sd]t' +
    '|uhrzeit|zeit|von|heure|hora|ora|tijd|stunde|mes?z|hh|mm|\\d) )+$',
);

/** Names that say that a column holds no times, whatever its texts look like. */
const OTHER_NAMES = [...ID_NAMES, ...VALUE_NAMES, ...METRIC_NAMES];

/** Characters that nobody sees, so that a name of them alone is none. */
const UNSEEN = /^[\p{Z}\p{C}]*$/u;

/** Whether a column has no name that anybody could ask for. */
export function isUnnamed(name: string): boolean {
  return UNSEEN.test(name);
}

/** Finds what each column is for. Names must come without outer spaces. */
export function findRoles(given: readonly ColumnFacts[], options: RoleOptions, fail: Fail): Roles {
  const columns = given.map((column) => (isUnnamed(column.name) ? { ...column, name: '' } : column));
  options.onColumns?.(columns.map(({ name }) => name));
  const table = new Table(columns, options, fail);
  const [timeColumn, clockColumn] = table.times();
  const ids = table.ids(timeColumn);
  const notes = clockColumn < 0 ? [] : [`times of ${columns[timeColumn]!.name} and ${columns[clockColumn]!.name}`];
  const idColumns = ids.map(({ column }) => column);
  const metricColumn = ids.length === 0 ? -1 : table.named(METRIC_NAMES, [timeColumn, ...idColumns, ...table.asked()]);
  const used = [timeColumn, clockColumn, metricColumn, ...idColumns];
  const rest = columns.flatMap((_, column) => (used.includes(column) ? [] : [column]));
  const found = { timeColumn, clockColumn, ids, metricColumn, unusedNotes: [] };
  const check = (values: readonly ValueColumn[]) => failAtTwoRoles(columns, { ...found, values }, fail);
  const days = table.days(timeColumn, clockColumn, rest);
  if (days !== undefined) {
    check(days);
    notes.push(`a day in each row, in ${days.length} columns from ${days[0]!.name} to ${days.at(-1)!.name}`);
    if (ids.length > 0) notes.push(...table.idNotes(ids));
    else table.failAtSeveralSeries(timeColumn, clockColumn, rest, days);
    notes.push(...table.unusedNotes(rest, days));
    return { ...found, layout: 'days', values: days, notes };
  }
  if (ids.length > 0) {
    const values = table.longValues(used, rest, notes);
    check(values);
    notes.push(...table.idNotes(ids), ...table.valueNotes(values));
    return { ...found, layout: 'long', values, notes, unusedNotes: table.unusedNotes(rest, values) };
  }
  const values = table.tableValues(rest, notes);
  check(values);
  const isSingle = options.layout === 'single' || (options.value === undefined && table.isPair(rest));
  const layout = isSingle && options.layout !== 'wide' ? 'single' : 'wide';
  table.failAtSeveralSeries(timeColumn, clockColumn, rest);
  return { ...found, layout, values: layout === 'single' ? values.slice(0, 1) : values, notes };
}

/** Finds the roles of a table's columns. */
class Table {
  readonly #columns: readonly ColumnFacts[];
  readonly #names: readonly string[];
  readonly #options: RoleOptions;
  readonly #fail: Fail;
  #asked: readonly number[] | undefined;

  constructor(columns: readonly ColumnFacts[], options: RoleOptions, fail: Fail) {
    this.#columns = columns;
    this.#names = columns.map(({ name }) => name.toLowerCase());
    this.#options = options;
    this.#fail = fail;
  }

  /** The first column with one of the names, in the order of the names; −1 without one. */
  named(names: readonly string[], except: readonly number[] = []): number {
    for (const name of names) {
      const column = this.#names.findIndex((known, index) => known === name && !except.includes(index));
      if (column >= 0) return column;
    }
    return -1;
  }

  /** The columns that the option `value` names, which have no other role by their names. */
  asked(): readonly number[] {
    this.#asked ??= this.#find(this.#options.value ?? [], 'value');
    return this.#asked;
  }

  /** The column of times and, if that has only dates, the column of times of day (else −1). */
  times(): readonly [timeColumn: number, clockColumn: number] {
    const { time } = this.#options;
    if (time !== undefined) {
      const [first = -1, second = -1, ...others] = this.#find(time, 'time');
      if (others.length > 0)
        this.#fail('the option time names two columns at most (--time)', 'columns', [{ option: 'time' }]);
      if (this.#kindOf(first) !== 'clock') return [first, second];
      return second < 0 ? this.#askDate(first) : [second, first];
    }
    let found = this.named(TIME_NAMES);
    if (found < 0) found = this.#onlyTime();
    const clocks = this.#columnsOf('clock');
    if (this.#kindOf(found) === 'clock') {
      const [date, ...others] = this.#columnsOf('date');
      return date === undefined || others.length > 0 ? this.#askDate(found) : [date, found];
    }
    if (this.#kindOf(found) !== 'date' || clocks.length === 0) return [found, -1];
    const words = (column: number): string => `${wordsOf(this.#names[column]!).trim()} `;
    const starts = clocks.filter((column) => !/\b(?:end|stop|until|bis|fin)\b/.test(words(column)));
    // A column such as `runtime` may hold durations.
    if (starts.length !== 1 || !CLOCK_NAME.test(words(starts[0]!))) this.#askTimes([found, ...clocks]);
    return [found, starts[0]!];
  }

  /** Of a column of times of day, for which no column of dates is named. */
  #askDate(clock: number): never {
    const dates = this.#columnsOf('date');
    if (dates.length > 0) this.#askTimes([dates[0]!, clock, ...dates.slice(1)]);
    const name = JSON.stringify(this.#columns[clock]!.name);
    const told = `the column ${name} holds times of day, and no column holds dates`;
    const mend = 'name a column of dates, or of times with dates, with the option time (--time …)';
    return this.#fail(`${told}; ${mend}`, 'no time', [{ option: 'time' }]);
  }

  #askTimes(columns: readonly number[]): never {
    const names = columns.map((column) => JSON.stringify(this.#columns[column]!.name)).join(', ');
    const pair = columns.slice(0, 2).map((column) => this.#columns[column]!.name);
    const [date, clock] = pair.map(argumentOf);
    const mend = 'name the date, and the time of day if one holds it, with the option time';
    const such = ` (--time ${date} ${clock}, or only --time ${date})`;
    const told = `the times may be in columns of their own, among ${names}`;
    return this.#fail(`${told}; ${mend}${such}`, 'unclear', [{ option: 'time', values: pair }]);
  }

  // If no column has a known name: the only column that holds times.
  #onlyTime(): number {
    const isOther = (column: number): boolean => OTHER_NAMES.includes(this.#names[column]!);
    const times = [...this.#columnsOf('instant'), ...this.#columnsOf('date')].filter((column) => !isOther(column));
    if (times.length === 1) {
      // The first of the rows, which would be lost.
      if (TIME_KINDS.has(kindOfText(this.#columns[times[0]!]!.name))) this.#failWithoutHeader();
      return times[0]!;
    }
    if (times.length > 1) {
      const names = times.map((column) => JSON.stringify(this.#columns[column]!.name)).join(', ');
      const first = this.#columns[times[0]!]!.name;
      const mend = `name the one to use with the option time (such as --time ${argumentOf(first)})`;
      const hint = { option: 'time', values: [first] };
      return this.#fail(`the columns ${names} hold times; ${mend}`, 'unclear', [hint]);
    }
    return this.#failWithoutTime();
  }

  #failWithoutTime(): never {
    const columns = this.#columns.map(({ name }) => name);
    const kinds = columns.map(kindOfText);
    // The header of such a table begins with the name of its first column, and has no values.
    if (kinds.includes('instant') && kinds[0] === 'text' && !kinds.includes('number')) {
      this.#fail('its columns are times, with a series in each row; turn the table, so that each row is a time');
    }
    if (columns.some((name) => /^\d/.test(name))) this.#failWithoutHeader();
    const names = TIME_NAMES.slice(0, 5);
    const expected = `one column must be called ${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
    const told = `the header has no time column: it has ${this.#namesInWords()}; ${expected}`;
    const mend = `or be named by the option time (--time ${columns[0] === '' ? '1, its number' : '…'})`;
    this.#fail(`${told}, ${mend}`, 'no time', [{ option: 'time', values: columns[0] === '' ? ['1'] : [] }]);
  }

  #failWithoutHeader(): never {
    const header = this.#columns.length > 2 ? 'timestamp,timeseriesId,metric,value' : 'timestamp,value';
    const told = `expected a header, which names the columns, received ${this.#namesInWords()}`;
    this.#fail(`${told}, which looks like data: put a header such as \`${header}\` before it`, 'no time');
  }

  #namesInWords(): string {
    if (this.#columns.length === 0) return 'no columns';
    return this.#columns.map(({ name }) => name || 'a column without a name').join(', ');
  }

  ids(timeColumn: number): Roles['ids'] {
    const { series, layout } = this.#options;
    if (series !== undefined) {
      return this.#find(series, 'series').map((column, place) => ({ column, prefix: place === 0 ? '' : '/' }));
    }
    const taken = [timeColumn, ...this.asked()];
    const isInflux = this.#names[timeColumn] === '_time' && this.#names.includes('_value');
    if (isInflux) return this.#influxIds();
    if (layout !== undefined && layout !== 'long') return [];
    const id = this.named(ID_NAMES, taken);
    if (id >= 0) return [{ column: id, prefix: '' }];
    const series3 =
      this.#names.length === 3 && this.named(VALUE_NAMES) >= 0 ? this.named(['series', 'metric'], taken) : -1;
    if (series3 >= 0) return [{ column: series3, prefix: '' }];
    if (layout === 'long') {
      const mend = 'give them with the option series (--series)';
      const hint = { option: 'series' };
      this.#fail(`the long layout needs columns that name the series; ${mend}`, 'columns', [hint]);
    }
    return [];
  }

  // The key of a series as the line protocol writes it: `weather,location=office`.
  #influxIds(): Roles['ids'] {
    const measurement = this.#names.indexOf('_measurement');
    const tags = this.#columns
      .map(({ name }, column) => ({ column, prefix: `,${name}=`, name }))
      .filter(({ name }) => !INFLUX_NAMES.includes(name.toLowerCase()))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ column, prefix }) => ({ column, prefix }));
    if (measurement >= 0) return [{ column: measurement, prefix: '' }, ...tags];
    const field = this.#names.indexOf('_field');
    return tags.length === 0 && field >= 0 ? [{ column: field, prefix: '' }] : tags;
  }

  /** The value columns of the layout *days*; undefined if the table has another layout. */
  days(timeColumn: number, clockColumn: number, rest: readonly number[]): ValueColumn[] | undefined {
    const { layout, value } = this.#options;
    if ((layout !== undefined && layout !== 'days') || value !== undefined || clockColumn >= 0) return undefined;
    const isDated = layout === 'days' || this.#kindOf(timeColumn) === 'date';
    return isDated ? dayColumns(this.#columns, rest, layout === 'days', this.#fail) : undefined;
  }

  longValues(used: readonly number[], rest: readonly number[], notes: string[]): ValueColumn[] {
    const { value, series } = this.#options;
    if (value !== undefined) return this.#named(this.asked());
    const known = this.named(VALUE_NAMES, used);
    if (known >= 0) return this.#named([known]);
    const [unnamed, numbers] = this.#byName(rest.filter((column) => this.#isNumeric(column)));
    const names = this.#columns.map(({ name }) => name).join(', ');
    if (series === undefined || numbers.length === 0) {
      const id = this.#columns[this.named(ID_NAMES)]?.name ?? 'columns that name the series';
      const hints = [{ option: 'value' }];
      const mend = `it has ${names}; the option value names one (--value)`;
      if (series === undefined)
        this.#fail(`the header has ${id} but no column value or val; ${mend}`, 'columns', hints);
      const told = 'beside the columns of the option series (--series), none holds numbers';
      this.#fail(`${told}; ${mend}`, 'columns', [{ option: 'series' }, ...hints]);
    }
    notes.push(...unnamedNotes(unnamed));
    return this.#named(numbers);
  }

  tableValues(rest: readonly number[], notes: string[]): ValueColumn[] {
    const { value, areTextsLeft = false } = this.#options;
    if (value !== undefined) return this.#named(this.asked());
    const [unnamed, named] = this.#byName(rest);
    if (named.length === 0) this.#fail('the header has no column but the time; expected `timestamp,value`');
    notes.push(...unnamedNotes(unnamed));
    const texts = named.filter((column) => areTextsLeft && this.#isText(column));
    if (texts.length === 0) return this.#named(named);
    const names = texts.map((column) => this.#columns[column]!.name).join(', ');
    if (texts.length === named.length) {
      const which = texts.length === 1 ? `the column ${names} holds` : `the columns ${names} hold`;
      this.#fail(`${which} texts; expected numbers, or the option states (--states on=1 off=0)`, 'unclear', [
        { option: 'states' },
      ]);
    }
    notes.push(`texts left out: ${names}`);
    return this.#named(named.filter((column) => !texts.includes(column)));
  }

  /** Whether there is only a time and a value. */
  isPair(rest: readonly number[]): boolean {
    const [only, ...others] = rest.filter((column) => this.#names[column] !== '');
    return only !== undefined && others.length === 0 && VALUE_NAMES.includes(this.#names[only]!);
  }

  /** Rejects a table whose rows seem to belong to several series, as they would become one, unless a layout is said. */
  failAtSeveralSeries(
    timeColumn: number,
    clockColumn: number,
    rest: readonly number[],
    days: readonly ValueColumn[] = [],
  ): void {
    const { value, layout, isAskedFor = () => false } = this.#options;
    if (layout !== undefined) return;
    const values = new Set(value === undefined ? days.map(({ column }) => column) : this.asked());
    const isOpen = ({ name }: ColumnFacts): boolean => name !== '' && !isAskedFor(name);
    const open = rest.filter((column) => !values.has(column) && isOpen(this.#columns[column]!));
    const facts = (columns: readonly number[]) => columns.flatMap((column) => this.#columns[column] ?? []);
    const found = findKeys(facts([timeColumn, clockColumn]), facts(open), days.length > 0);
    // Something has to hold the values: the only column of a meter is its reading.
    const keys = values.size === 0 && found.length === open.length ? [] : found;
    const otherwise = days.length > 0 ? 'days' : 'wide';
    if (keys.length > 0) {
      const names = keys.map((key) => `${JSON.stringify(key.name)} ${examplesOf(key)}`).join(' and ');
      const subject = keys.length > 1 ? `the columns ${names} seem` : `the column ${names} seems`;
      const date = this.#columns[timeColumn]!;
      const isOfDays = date.kind === 'date' && clockColumn < 0 && days.length === 0;
      const such = [date, keys[0]!].map(({ name }) => argumentOf(name)).join(' ');
      const areHours = isOfDays && keys[0]!.texts.every(isHour);
      const hours = areHours ? ` (--time ${such} if it holds hours)` : '';
      const keyNames = keys.map(({ name }) => name);
      this.#askSeries(subject, keyNames, otherwise, hours);
    }
    // This is how pandas writes an unnamed level of an index.
    const index = rest.find((column) => {
      const { name, kind, texts } = this.#columns[column]!;
      return name === '' && kind === 'text' && distinctTexts(this.#columns[column]!).length < texts.length;
    });
    if (index === undefined) return;
    const subject = `column ${index + 1}, without a name, ${examplesOf(this.#columns[index]!)} seems`;
    this.#askSeries(subject, [String(index + 1)], otherwise);
  }

  #askSeries(subject: string, columns: readonly string[], otherwise: 'days' | 'wide', hours = ''): never {
    const told = `${subject} to say which series a row belongs to`;
    const mend = `if so, say it with the option series (--series ${columns.map(argumentOf).join(' ')})`;
    const alternative =
      otherwise === 'days'
        ? 'if all rows belong to one series, say --layout days'
        : 'if each column is a series of its own, with --layout wide';
    return this.#fail(`${told}; ${mend}; ${alternative}${hours}`, 'unclear', [
      { option: 'series', values: columns },
      { option: 'layout', values: [otherwise] },
    ]);
  }

  idNotes(ids: Roles['ids']): string[] {
    const [first] = ids;
    if (ids.length === 1 && this.#names[first!.column] === ID_NAMES[0]) return [];
    const columns = this.#named(ids.map(({ column }) => column));
    return [`series by ${columns.map(({ name }) => name).join(', ')}`];
  }

  valueNotes(values: readonly ValueColumn[]): string[] {
    if (values.length === 1 && VALUE_NAMES.slice(0, 2).includes(values[0]!.name.toLowerCase())) return [];
    return [`values of ${values.map(({ name }) => name).join(', ')}`];
  }

  /** Of the layouts *long* and *days*. Whoever names the columns of values knows of the others. */
  unusedNotes(rest: readonly number[], values: readonly ValueColumn[]): string[] {
    if (this.#options.value !== undefined) return [];
    const used = new Set(values.map(({ column }) => column));
    const unused = rest.filter((column) => !used.has(column) && !INFLUX_NAMES.includes(this.#names[column]!));
    const names = this.#named(unused).map(({ name }) => name);
    return names.length > 0 ? [`columns left out: ${names.join(', ')}`] : [];
  }

  // Whether a column holds texts, times or dates for which the caller gives no numbers.
  #isText(column: number): boolean {
    const { states = {} } = this.#options;
    const known = Object.keys(states).map((text) => text.toLowerCase());
    // What looks like a date of eight digits is a number, too.
    const isKnown = (text: string): boolean => /^\d*$/.test(text) || known.includes(text.toLowerCase());
    return !this.#isNumeric(column) && !distinctTexts(this.#columns[column]!).every(isKnown);
  }

  #isNumeric(column: number): boolean {
    return ['number', 'empty'].includes(this.#kindOf(column) ?? '');
  }

  #byName(columns: readonly number[]): readonly [unnamed: number[], named: number[]] {
    const isNamed = (column: number): boolean => this.#names[column] !== '';
    return [columns.filter((column) => !isNamed(column)), columns.filter(isNamed)];
  }

  #kindOf(column: number): ColumnFacts['kind'] | undefined {
    return this.#columns[column]?.kind;
  }

  #columnsOf(kind: ColumnFacts['kind']): number[] {
    return this.#columns.flatMap((column, index) => (column.kind === kind ? [index] : []));
  }

  #named(columns: readonly number[]): ValueColumn[] {
    return columns.map((column) => ({ column, name: this.#columns[column]!.name || `column ${column + 1}` }));
  }

  #find(wanted: readonly string[], option: string): number[] {
    return wanted.map((name) => {
      const exact = this.#columns.findIndex((column) => column.name === name);
      const column = exact >= 0 ? exact : this.#names.indexOf(name.toLowerCase());
      if (column >= 0) return column;
      if (/^\d+$/.test(name) && Number(name) >= 1 && Number(name) <= this.#columns.length) return Number(name) - 1;
      const names = this.#columns.map((one) => one.name);
      const mend = didYouMean(name, names) ?? `it has ${names.join(', ')}`;
      const told = `the header has no column ${JSON.stringify(name)} for the option ${option} (--${option})`;
      return this.#fail(`${told}; ${mend}`, 'columns', [{ option }]);
    });
  }
}

/** Whether a column of this name holds times. */
export function isTimeName(name: string): boolean {
  return TIME_NAMES.includes(name.toLowerCase());
}

// Their values would make series that nobody could name. pandas writes an index so, and a comma at the end of each line
// makes a column of nothing.
function unnamedNotes(columns: readonly number[]): string[] {
  const numbers = columns.map((column) => column + 1).join(', ');
  return columns.length > 0 ? [`column ${numbers} without a name left out`] : [];
}

function isHour(text: string): boolean {
  return /^\d\d?$/.test(text) && Number(text) <= 24;
}

/** A name as it is typed in a shell. */
function argumentOf(name: string): string {
  return /^[\w.-]+$/.test(name) ? name : `"${name}"`;
}

function examplesOf(column: ColumnFacts): string {
  return `(${distinctTexts(column).slice(0, 3).join(', ')})`;
}
