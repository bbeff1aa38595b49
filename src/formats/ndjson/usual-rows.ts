import { DAY_MS } from '../../core/calendar.js';
import type { Gathered, RowPlace, TableReader } from '../table/table-reader.js';

const [TAB, LINE_FEED, RETURN, SPACE] = [0x09, 0x0a, 0x0d, 0x20];
const [QUOTE, COMMA, MINUS, POINT, ZERO, COLON] = [0x22, 0x2c, 0x2d, 0x2e, 0x30, 0x3a];
const [BACKSLASH, OPENING, CLOSING, SMALL_E, CASE_BIT] = [0x5c, 0x7b, 0x7d, 0x65, 0x20];
const [LITERAL_T, LITERAL_Z, LITERAL_LENGTHS] = [0x54, 0x5a, { null: 4, true: 4, false: 5 }];
/** Integers of so many digits are exact, as are these powers of ten, so their quotient is rounded once. */
const EXACT_DIGITS = 15;
const POWERS = Array.from({ length: EXACT_DIGITS + 1 }, (_, exponent) => 10 ** exponent);

/** What a field is for. */
type Role = 'time' | 'name' | 'value' | 'other';

/**
 * Reads rows of JSON as nearly all are written, without making objects of them: flat objects of known keys, texts
 * without escapes, numbers as values. Anything else is left to JSON.parse and `TableReader.take`, which also tell all
 * faults. So nothing is taken here that these would refuse, or read differently.
 */
export class UsualRows {
  readonly #reader: TableReader;
  readonly #columnOf: ReadonlyMap<string, number>;
  /** By column: the key as it is mostly written, what the field is for, its place among those for the same. */
  readonly #keys: readonly string[];
  readonly #roles: Role[];
  readonly #places: number[];
  /** The column at each place of the row before: rows mostly have the same order. */
  readonly #order: number[] = [];
  /** The last row that had each column. */
  readonly #seen: number[];
  #row = 0;
  // The row that is read.
  readonly #values: number[];
  readonly #names: string[];
  readonly #nameColumns: readonly number[];
  #areNamesNew = true;
  #series: readonly Gathered[] | undefined;
  readonly #known = new Map<string, readonly Gathered[]>();
  // The day of the time before.
  #day = '';
  #dayMs = Number.NaN;
  /** Where the last token ended; −1 where it is not usual. */
  #end = 0;

  /**
   * Undefined where a time is in two fields.
   *
   * @param names of the fields, by column.
   */
  static of(names: readonly string[], reader: TableReader): UsualRows | undefined {
    return reader.roles.clockColumn < 0 ? new UsualRows(names, reader) : undefined;
  }

  private constructor(names: readonly string[], reader: TableReader) {
    this.#reader = reader;
    this.#columnOf = new Map(names.map((name, column) => [name, column]));
    this.#keys = names.map((name) => `${JSON.stringify(name)}:`);
    this.#roles = names.map(() => 'other');
    this.#places = names.map(() => 0);
    this.#seen = names.map(() => 0);
    const { timeColumn, values } = reader.roles;
    this.#nameColumns = reader.nameColumns();
    this.#roles[timeColumn] = 'time';
    for (const [place, { column }] of values.entries()) {
      // As in CSV, a column that nobody wants may hold anything.
      this.#roles[column] = reader.isRead(place) ? 'value' : 'other';
      this.#places[column] = place;
    }
    for (const [place, column] of this.#nameColumns.entries()) {
      this.#roles[column] = 'name';
      this.#places[column] = place;
    }
    this.#values = values.map(() => Number.NaN);
    this.#names = this.#nameColumns.map(() => '');
  }

  /** Takes a row; where it is not usual, returns false and has taken nothing. */
  take(text: string, place: RowPlace): boolean {
    const at = skipSpace(text, 0);
    if (text.charCodeAt(at) !== OPENING) return false;
    this.#row++;
    this.#values.fill(Number.NaN);
    const timeMs = this.#readFields(text, skipSpace(text, at + 1));
    if (timeMs === undefined || skipSpace(text, this.#end) !== text.length) return false;
    const series = this.#seriesOfRow();
    if (series === undefined) return false;
    this.#reader.takeRead(timeMs, series, this.#values, place);
    return true;
  }

  /** Reads fields up to the closing brace, and returns the time; undefined where one is not usual. */
  #readFields(text: string, from: number): number | undefined {
    let at = from;
    let timeMs: number | undefined;
    for (let position = 0; ; position++) {
      const column = this.#columnAt(text, at, position);
      if (column < 0 || this.#seen[column] === this.#row) return undefined;
      this.#seen[column] = this.#row;
      const start = skipSpace(text, this.#end);
      if (this.#roles[column] === 'time') timeMs = this.#readTime(text, start);
      else if (!this.#readField(text, start, column)) return undefined;
      if (this.#end < 0) return undefined;
      at = skipSpace(text, this.#end);
      const code = text.charCodeAt(at);
      this.#end = at + 1;
      if (code === CLOSING) return timeMs;
      if (code !== COMMA) return undefined;
      at = skipSpace(text, at + 1);
    }
  }

  /** The column of the key at a place, after which `#end` then is. */
  #columnAt(text: string, at: number, position: number): number {
    const likely = this.#order[position];
    if (likely !== undefined && text.startsWith(this.#keys[likely]!, at)) {
      this.#end = at + this.#keys[likely]!.length;
      return likely;
    }
    const end = endOfText(text, at);
    const colon = skipSpace(text, end);
    if (end < 0 || text.charCodeAt(colon) !== COLON) return -1;
    const column = this.#columnOf.get(text.slice(at + 1, end - 1)) ?? -1;
    if (column >= 0) this.#order[position] = column;
    this.#end = colon + 1;
    return column;
  }

  /** Reads a field other than the time up to `#end`. Returns whether it is usual. */
  #readField(text: string, at: number, column: number): boolean {
    const role = this.#roles[column];
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      if (role === 'name') return this.#readName(text, at, column);
      this.#end = endOfText(text, at);
      return role !== 'value' && this.#end > 0;
    }
    if (code === MINUS || isDigit(code)) {
      const number = this.#readNumber(text, at);
      if (role === 'value') this.#values[this.#places[column]!] = number;
      // The text of its double, not that of the file: 1.50 is 1.5.
      return role !== 'name' && this.#end > 0;
    }
    const isNull = text.startsWith('null', at);
    const length = isNull ? LITERAL_LENGTHS.null : literalLength(text, at);
    this.#end = at + length;
    return length > 0 && (role === 'other' || (role === 'value' && isNull));
  }

  #readName(text: string, at: number, column: number): boolean {
    const place = this.#places[column]!;
    const last = this.#names[place]!;
    // Mostly that of the row before.
    const likelyEnd = at + last.length + 1;
    if (last !== '' && text.charCodeAt(likelyEnd) === QUOTE && text.startsWith(last, at + 1)) {
      this.#end = likelyEnd + 1;
      return true;
    }
    this.#end = endOfText(text, at);
    if (this.#end < 0) return false;
    this.#names[place] = text.slice(at + 1, this.#end - 1);
    this.#areNamesNew = true;
    return true;
  }

  #seriesOfRow(): readonly Gathered[] | undefined {
    for (let place = 0; place < this.#nameColumns.length; place++) {
      if (this.#seen[this.#nameColumns[place]!] === this.#row || this.#names[place] === '') continue;
      this.#names[place] = '';
      this.#areNamesNew = true;
    }
    if (!this.#areNamesNew) return this.#series;
    // No control character is within a name.
    const key = this.#names.join('\n');
    let series = this.#known.get(key);
    if (series === undefined) {
      series = this.#reader.seriesOf(new Map(this.#nameColumns.map((column, place) => [column, this.#names[place]!])));
      if (series !== undefined) this.#known.set(key, series);
    }
    this.#series = series;
    this.#areNamesNew = series === undefined;
    return series;
  }

  /** Reads a time up to `#end`, which is −1 where it is not usual. */
  #readTime(text: string, at: number): number {
    if (text.charCodeAt(at) !== QUOTE) {
      const number = this.#readNumber(text, at);
      return this.#end < 0 ? number : this.#timeOf(String(number));
    }
    const length = text.charCodeAt(at + 25) === QUOTE ? 24 : 20;
    this.#end = at + length + 2;
    const usual = this.#reader.areTimesTexts ? this.#isoTime(text, at + 1, length) : Number.NaN;
    if (!Number.isNaN(usual) && text.charCodeAt(this.#end - 1) === QUOTE) return usual;
    this.#end = endOfText(text, at);
    return this.#end < 0 ? Number.NaN : this.#timeOf(text.slice(at + 1, this.#end - 1));
  }

  #timeOf(text: string): number {
    const timeMs = this.#reader.timeOf(text);
    if (timeMs === undefined) this.#end = -1;
    return timeMs ?? Number.NaN;
  }

  /** The time of `2024-01-31T12:00:00Z` or `2024-01-31T12:00:00.000Z`; NaN for any other text of the length. */
  #isoTime(text: string, from: number, length: 20 | 24): number {
    const hasFraction = length === 24;
    const isOfForm =
      text.charCodeAt(from + 10) === LITERAL_T &&
      text.charCodeAt(from + 13) === COLON &&
      text.charCodeAt(from + 16) === COLON &&
      text.charCodeAt(from + length - 1) === LITERAL_Z &&
      (!hasFraction || text.charCodeAt(from + 19) === POINT);
    const hour = twoDigits(text, from + 11);
    const minute = twoDigits(text, from + 14);
    const second = twoDigits(text, from + 17);
    const hundredths = hasFraction ? twoDigits(text, from + 20) : 0;
    const lastDigit = hasFraction ? text.charCodeAt(from + 22) : ZERO;
    if (!isOfForm || !(hour < 24 && minute < 60 && second < 60) || !isDigit(lastDigit)) return Number.NaN;
    if (this.#day === '' || !text.startsWith(this.#day, from)) {
      this.#day = text.slice(from, from + 10);
      this.#dayMs = this.#reader.timeOf(`${this.#day}T00:00:00Z`) ?? Number.NaN;
      if (this.#dayMs % DAY_MS !== 0) this.#day = '';
    }
    return this.#dayMs + ((hour * 60 + minute) * 60 + second) * 1000 + hundredths * 10 + lastDigit - ZERO;
  }

  /** Reads a number up to `#end`, which is −1 where it is none, or too large for a double. */
  #readNumber(text: string, from: number): number {
    const isNegative = text.charCodeAt(from) === MINUS;
    let at = isNegative ? from + 1 : from;
    const digitsFrom = at;
    let mantissa = 0;
    let code = text.charCodeAt(at);
    for (; isDigit(code); code = text.charCodeAt(++at)) mantissa = mantissa * 10 + code - ZERO;
    let digitCount = at - digitsFrom;
    let isNumber = digitCount > 0 && (digitCount === 1 || text.charCodeAt(digitsFrom) !== ZERO);
    let decimals = 0;
    if (code === POINT) {
      const pointAt = at;
      code = text.charCodeAt(++at);
      for (; isDigit(code); code = text.charCodeAt(++at)) mantissa = mantissa * 10 + code - ZERO;
      decimals = at - pointAt - 1;
      digitCount += decimals;
      isNumber &&= decimals > 0;
    }
    const hasExponent = (code | CASE_BIT) === SMALL_E;
    this.#end = isNumber && !hasExponent ? at : -1;
    if (digitCount > EXACT_DIGITS) {
      const number = Number(text.slice(from, at));
      if (!Number.isFinite(number)) this.#end = -1;
      return number;
    }
    const number = mantissa / POWERS[decimals]!;
    return isNegative ? -number : number;
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== SPACE && code !== TAB && code !== LINE_FEED && code !== RETURN) return at;
    at++;
  }
}

/** The place after the quote that ends a text; −1 if none starts here, or if it has escapes or control characters. */
function endOfText(text: string, from: number): number {
  if (text.charCodeAt(from) !== QUOTE) return -1;
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code < SPACE || code === BACKSLASH) return -1;
  }
  return -1;
}

function literalLength(text: string, at: number): number {
  if (text.startsWith('true', at)) return LITERAL_LENGTHS.true;
  return text.startsWith('false', at) ? LITERAL_LENGTHS.false : 0;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= ZERO + 9;
}

/** NaN if they are none. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at);
  const ones = text.charCodeAt(at + 1);
  return isDigit(tens) && isDigit(ones) ? (tens - ZERO) * 10 + ones - ZERO : Number.NaN;
}
