import { COMMA, DIGIT_0, hasBytes, MINUS, POINT, QUOTE } from '../csv/bytes.js';
import { parseNumber } from '../csv/read/number.js';
import { type Clock, createClock, parseTime, TIME_REACH } from '../csv/read/time.js';
import type { Gathered, TableReader } from '../table/table-reader.js';
import { FALSE, isDigit, isNested, NULL, skipSpace, skipText, skipValue, TRUE } from './skip-value.js';

const [COLON, OPENING, CLOSING] = [0x3a, 0x7b, 0x7d];

/** What a field is for. */
type Role = 'time' | 'name' | 'value' | 'other';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads rows of JSON as nearly all are written, from bytes and without making objects of them: known keys, texts
 * without escapes, numbers as values, and objects and arrays only in fields that nobody reads. Anything else is left to
 * JSON.parse and `TableReader.take`, which also tell all faults. So nothing is taken here that these would refuse, or
 * read differently.
 */
export class UsualRows {
  readonly #reader: TableReader;
  readonly #columnOf: ReadonlyMap<string, number>;
  /** By column: the key as it is mostly written, what the field is for, its place among those for the same. */
  readonly #keys: readonly Uint8Array[];
  readonly #roles: Role[];
  readonly #places: number[];
  /** The column at each place of the row before: rows mostly have the same order. */
  readonly #order: number[] = [];
  /** The last row that had each column. */
  readonly #seen: number[];
  #row = 0;
  // The row that is read.
  #bytes: Uint8Array = new Uint8Array();
  readonly #values: number[];
  readonly #nameColumns: readonly number[];
  readonly #names: string[];
  readonly #nameBytes: Uint8Array[];
  #areNamesNew = true;
  #series: readonly Gathered[] | undefined;
  readonly #known = new Map<string, readonly Gathered[]>();
  readonly #clock: Clock;
  #view: DataView = new DataView(new ArrayBuffer(0));
  /** By column, what follows its numbers: mostly the same in each row. */
  readonly #separators: number[];
  readonly #out = new Float64Array(1);
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
    this.#keys = names.map((name) => encoder.encode(`${JSON.stringify(name)}:`));
    this.#roles = names.map(() => 'other');
    this.#places = names.map(() => 0);
    this.#seen = names.map(() => 0);
    this.#separators = names.map(() => COMMA);
    this.#clock = createClock(reader.zone);
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
    this.#nameBytes = this.#nameColumns.map(() => new Uint8Array());
  }

  /** Takes a row, with any white space around it; where it is not usual, returns false and has taken nothing. */
  take(bytes: Uint8Array, from: number, until: number): boolean {
    // What follows the row ends its last number.
    if (until >= bytes.length) return false;
    if (this.#bytes !== bytes) this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#bytes = bytes;
    const at = skipSpace(bytes, from);
    if (bytes[at] !== OPENING) return false;
    this.#row++;
    this.#values.fill(Number.NaN);
    const timeMs = this.#readFields(skipSpace(bytes, at + 1), until);
    // The bytes go on with other rows.
    if (timeMs === undefined || this.#end > until || skipSpace(bytes, this.#end) < until) return false;
    const series = this.#seriesOfRow();
    if (series === undefined) return false;
    this.#reader.takeRead(timeMs, series, this.#values);
    return true;
  }

  /** Reads fields up to the closing brace, and returns the time; undefined where one is not usual. */
  #readFields(from: number, until: number): number | undefined {
    const bytes = this.#bytes;
    let at = from;
    let timeMs: number | undefined;
    for (let position = 0; ; position++) {
      const column = this.#columnAt(at, position);
      if (column < 0 || this.#seen[column] === this.#row) return undefined;
      this.#seen[column] = this.#row;
      const start = skipSpace(bytes, this.#end);
      // A number that begins behind the row may have no end.
      if (start >= until) return undefined;
      if (this.#roles[column] === 'time') timeMs = this.#readTime(start, column);
      else if (!this.#readField(start, column)) return undefined;
      if (this.#end < 0) return undefined;
      at = skipSpace(bytes, this.#end);
      const byte = bytes[at];
      this.#end = at + 1;
      if (byte === CLOSING) return timeMs;
      if (byte !== COMMA) return undefined;
      at = skipSpace(bytes, at + 1);
    }
  }

  /** The column of the key at a place, after which `#end` then is. */
  #columnAt(at: number, position: number): number {
    const bytes = this.#bytes;
    const likely = this.#order[position];
    if (likely !== undefined && hasBytes(bytes, at, this.#keys[likely]!)) {
      this.#end = at + this.#keys[likely]!.length;
      return likely;
    }
    const text = this.#readText(at);
    const colon = skipSpace(bytes, this.#end);
    if (text === undefined || bytes[colon] !== COLON) return -1;
    const column = this.#columnOf.get(text) ?? -1;
    if (column >= 0) this.#order[position] = column;
    this.#end = colon + 1;
    return column;
  }

  /** Reads a field other than the time up to `#end`. Returns whether it is usual. */
  #readField(at: number, column: number): boolean {
    const bytes = this.#bytes;
    const role = this.#roles[column];
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      if (role === 'name') return this.#readName(at, column);
      return role !== 'value' && this.#skipText(at);
    }
    if (byte === MINUS || isDigit(byte)) {
      const number = this.#readNumber(at, column);
      if (role === 'value') this.#values[this.#places[column]!] = this.#reader.valueOfNumber(number);
      return role !== 'name' && this.#end > 0;
    }
    if (isNested(byte)) {
      this.#end = role === 'other' ? skipValue(bytes, at) : -1;
      return this.#end > 0;
    }
    const literal = [NULL, TRUE, FALSE].find((one) => hasBytes(bytes, at, one));
    this.#end = at + (literal?.length ?? 0);
    return literal !== undefined && (role === 'other' || (role === 'value' && literal === NULL));
  }

  #readName(at: number, column: number): boolean {
    const place = this.#places[column]!;
    const last = this.#nameBytes[place]!;
    // Mostly that of the row before.
    const likelyEnd = at + last.length + 1;
    if (this.#names[place] !== '' && this.#bytes[likelyEnd] === QUOTE && hasBytes(this.#bytes, at + 1, last)) {
      this.#end = likelyEnd + 1;
      return true;
    }
    const text = this.#readText(at);
    if (text === undefined) return false;
    this.#names[place] = text;
    this.#nameBytes[place] = this.#bytes.slice(at + 1, this.#end - 1);
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
  #readTime(at: number, column: number): number {
    if (this.#bytes[at] !== QUOTE) {
      const number = this.#readNumber(at, column);
      return this.#end < 0 ? number : this.#timeOf(String(number));
    }
    const isNear = at + 1 + TIME_REACH > this.#bytes.length;
    if (this.#reader.areTimesUsual && !isNear) {
      const end = parseTime(this.#bytes, this.#view, at + 1, this.#clock, this.#out, 0);
      this.#end = end + 1;
      if (end > 0 && this.#bytes[end] === QUOTE) return this.#out[0]!;
    }
    const text = this.#readText(at);
    return text === undefined ? Number.NaN : this.#timeOf(text);
  }

  #timeOf(text: string): number {
    const timeMs = this.#reader.timeOf(text);
    if (timeMs === undefined) this.#end = -1;
    return timeMs ?? Number.NaN;
  }

  /** Reads a number up to `#end`, which is −1 where it is not usual, or not of JSON. */
  #readNumber(from: number, column: number): number {
    const bytes = this.#bytes;
    const digitsFrom = bytes[from] === MINUS ? from + 1 : from;
    this.#end = -1;
    if (!isDigit(bytes[digitsFrom]!) || (bytes[digitsFrom] === DIGIT_0 && isDigit(bytes[digitsFrom + 1]!))) {
      return Number.NaN;
    }
    let end = parseNumber(bytes, from, this.#separators[column]!, this.#out, 0);
    if (end < 0) {
      this.#separators[column] = this.#separators[column] === COMMA ? CLOSING : COMMA;
      end = parseNumber(bytes, from, this.#separators[column]!, this.#out, 0);
    }
    this.#end = bytes[end - 1] === POINT ? -1 : end;
    return this.#out[0]!;
  }

  /** Reads a text up to `#end`; undefined where one is not usual. */
  #readText(from: number): string | undefined {
    if (!this.#skipText(from)) return undefined;
    return decoder.decode(this.#bytes.subarray(from + 1, this.#end - 1));
  }

  /** Moves `#end` after a text. Returns false if there is none that is usual. */
  #skipText(from: number): boolean {
    this.#end = skipText(this.#bytes, from);
    return this.#end > 0;
  }
}
