import { TIME_MS_END } from '../../core/series.js';
import { CARRIAGE_RETURN, COMMA, DIGIT_0, hasBytes, POINT, QUOTE, SPACE } from '../csv/bytes.js';
import { createNameTable, findName, learnName } from '../csv/read/names.js';
import { parseNumber } from '../csv/read/number.js';
import type { FormatOptions } from '../format.js';
import type { LineRange } from '../lines.js';
import type { Gathered, TableReader } from '../table/table-reader.js';
import { seriesOf } from './point.js';

const [HASH, EQUALS, BACKSLASH, NOT_ASCII] = [0x23, 0x3d, 0x5c, 0x80];
/** What ends an integer, and one without a sign. */
const [LOWER_I, LOWER_U] = [0x69, 0x75];

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();
const BOOLEANS = ['t', 'T', 'f', 'F', 'true', 'True', 'TRUE', 'false', 'False', 'FALSE'].map((text) => ({
  bytes: encoder.encode(text),
  isTrue: text.toLowerCase().startsWith('t'),
}));

/** How many digits of a time stand below the millisecond. */
const DIGITS_BELOW: Readonly<Record<string, number>> = { s: -3, ms: 0, us: 3, ns: 6 };
/** Without a unit that is said, shorter times are doubtful: see `unitFault`. */
const NS_DIGITS_MIN = 17;
const MS_DIGITS_MAX = 15;
/** See `#readTime`. */
const ROUNDED_ONCE_FROM_MS = 2 ** 14;

/** A measurement with its tags. */
interface Key {
  readonly series: string;
  readonly fields: Map<string, Field>;
  /** The fields in the order of the line before, which is mostly that of the next. */
  readonly order: Field[];
}

interface Field {
  readonly name: string;
  /** The name as it is written, and the equals sign after it. */
  readonly bytes: Uint8Array;
  /** The last line that had it. */
  line: number;
  /** What follows its numbers: mostly the same in each line. */
  separator: number;
  series: readonly Gathered[] | undefined;
}

/**
 * Reads lines as nearly all are written, from bytes and without texts of them: names without escapes, one space between
 * the parts, numbers without an exponent. Anything else is left to `parsePoint`, which also tells all faults. So
 * nothing is taken here that it would refuse, or read differently.
 */
export class UsualLines {
  readonly #reader: TableReader;
  readonly #digitsBelow: number;
  readonly #digitsMin: number;
  readonly #hasStates: boolean;
  readonly #texts: Set<string>;
  readonly #names = createNameTable();
  /** By their index in `#names`. */
  readonly #keys: Key[] = [];
  // The line that is read.
  #bytes: Uint8Array = new Uint8Array();
  #line = 0;
  #timeMs = 0;
  /** Its numbers and booleans, and the fields with texts, which are left out. */
  readonly #fields: Field[] = [];
  readonly #values: number[] = [];
  readonly #textFields: Field[] = [];
  readonly #out = new Float64Array(1);
  readonly #one = [0];

  /**
   * Undefined where times are not epoch numbers in a unit.
   *
   * @param texts collects the names of fields whose texts are left out.
   */
  static of(options: FormatOptions, reader: TableReader, texts: Set<string>): UsualLines | undefined {
    const digitsBelow = DIGITS_BELOW[options.timeFormat ?? 'ns'];
    return digitsBelow === undefined ? undefined : new UsualLines(options, reader, texts, digitsBelow);
  }

  private constructor(
    { timeFormat, states = {} }: FormatOptions,
    reader: TableReader,
    texts: Set<string>,
    digitsBelow: number,
  ) {
    this.#reader = reader;
    this.#digitsBelow = digitsBelow;
    this.#digitsMin = timeFormat === undefined ? NS_DIGITS_MIN : 1;
    this.#hasStates = Object.keys(states).length > 0;
    this.#texts = texts;
  }

  /** Takes a line; where it is not usual, returns false and has taken nothing. */
  take(bytes: Uint8Array, { from, until, line }: LineRange): boolean {
    // A line feed ends what is read; the last line of a file may have none.
    if (until >= bytes.length) return false;
    this.#bytes = bytes;
    this.#line = line;
    const key = this.#keyAt(from, until);
    if (key === undefined) return false;
    this.#fields.length = this.#values.length = this.#textFields.length = 0;
    const timeFrom = this.#readFields(key, this.#names.end + 1);
    if (timeFrom < 0 || !this.#readTime(timeFrom, until)) return false;
    for (const field of this.#fields) field.series ??= this.#seriesOf(key, field);
    for (const { name } of this.#textFields) this.#texts.add(name);
    for (let i = 0; i < this.#fields.length; i++) {
      this.#one[0] = this.#values[i]!;
      this.#reader.takeRead(this.#timeMs, this.#fields[i]!.series!, this.#one);
    }
    return true;
  }

  #seriesOf(key: Key, { name }: Field): readonly Gathered[] {
    const [idColumn, metricColumn] = this.#reader.nameColumns();
    const series = this.#reader.seriesOf(
      new Map([
        [idColumn!, key.series],
        [metricColumn!, name],
      ]),
    );
    if (series === undefined) throw new Error('assertion failed: a measurement names no series');
    return series;
  }

  /** The key that begins a line, after which `#names.end` then is. */
  #keyAt(from: number, until: number): Key | undefined {
    const known = findName(this.#names, this.#bytes, from, SPACE);
    if (known >= 0) return this.#bytes[this.#names.end] === SPACE ? this.#keys[known] : undefined;
    const to = from + this.#bytes.subarray(from, until).indexOf(SPACE);
    const text = to <= from || this.#bytes[from] === HASH ? undefined : this.#plainText(from, to);
    if (text === undefined || text !== text.trim()) return undefined;
    const series = seriesOf(text);
    if (typeof series !== 'string') return undefined;
    const key: Key = { series, fields: new Map(), order: [] };
    this.#keys[learnName(this.#names, this.#bytes, from, to)] = key;
    this.#names.end = to;
    return key;
  }

  /** Reads the fields, and returns where the time begins; −1 where one of them is not usual. */
  #readFields(key: Key, from: number): number {
    let at = from;
    for (let place = 0; ; place++) {
      const likely = key.order[place];
      const isLikely = likely !== undefined && hasBytes(this.#bytes, at, likely.bytes);
      const field = isLikely ? likely : this.#fieldAt(key, place, at);
      if (field === undefined || field.line === this.#line) return -1;
      field.line = this.#line;
      at = this.#readValue(field, at + field.bytes.length);
      if (at < 0) return -1;
      const byte = this.#bytes[at++];
      if (byte === SPACE) return at;
      if (byte !== COMMA) return -1;
    }
  }

  /** The field whose name begins at a place; undefined where it is not usual. */
  #fieldAt(key: Key, place: number, from: number): Field | undefined {
    const bytes = this.#bytes;
    let to = from;
    for (let byte = bytes[to]!; byte !== EQUALS; byte = bytes[++to]!) {
      if (byte === COMMA || byte <= SPACE) return undefined;
    }
    const name = to === from ? undefined : this.#plainText(from, to);
    if (name === undefined) return undefined;
    let field = key.fields.get(name);
    if (field === undefined) {
      field = { name, bytes: bytes.slice(from, to + 1), line: 0, separator: COMMA, series: undefined };
      key.fields.set(name, field);
    }
    key.order[place] = field;
    return field;
  }

  /** Reads a value, and returns where it ends; −1 where it is not usual. */
  #readValue(field: Field, from: number): number {
    const bytes = this.#bytes;
    const byte = bytes[from]!;
    if (byte === QUOTE) return this.#hasStates ? -1 : this.#skipText(field, from + 1);
    if (byte > DIGIT_0 + 9) return this.#readBoolean(field, from);
    let end = parseNumber(bytes, from, field.separator, this.#out, 0);
    for (const separator of [COMMA, SPACE, LOWER_I, LOWER_U]) {
      if (end >= 0) break;
      end = parseNumber(bytes, from, separator, this.#out, 0);
      if (end >= 0) field.separator = separator;
    }
    // No digits are a missing value in CSV.
    if (end <= from) return -1;
    this.#fields.push(field);
    this.#values.push(this.#reader.valueOfNumber(this.#out[0]!));
    if (bytes[end] !== LOWER_I && bytes[end] !== LOWER_U) return end;
    for (let at = from; at < end; at++) if (bytes[at] === POINT) return -1;
    return end + 1;
  }

  #readBoolean(field: Field, from: number): number {
    for (const { bytes, isTrue } of BOOLEANS) {
      const end = from + bytes.length;
      if (!hasBytes(this.#bytes, from, bytes) || (this.#bytes[end] !== COMMA && this.#bytes[end] !== SPACE)) continue;
      this.#fields.push(field);
      this.#values.push(this.#reader.valueOfBoolean(isTrue));
      return end;
    }
    return -1;
  }

  /** Passes over a text, which ends with a quote. */
  #skipText(field: Field, from: number): number {
    let at = from;
    for (let byte = this.#bytes[at]!; byte !== QUOTE; byte = this.#bytes[++at]!) {
      if (byte < SPACE || byte === BACKSLASH || byte >= NOT_ASCII) return -1;
    }
    this.#textFields.push(field);
    return at + 1;
  }

  /**
   * Reads the time, which ends the line, into `#timeMs`. Returns whether it is usual.
   *
   * Whole milliseconds are exact. With a part below them, `ms + part / 10^6` is rounded twice, but as if it were once:
   * from 2^14 ms on, what lies in the middle of two doubles is a multiple of 2^-39. A number of millionths that is not
   * itself one differs from each of these by 2^-39 / 5^6 or more, and the quotient is off by 2^-54 at most, which is
   * less. One that is itself a multiple is divided exactly.
   */
  #readTime(from: number, until: number): boolean {
    const end = this.#bytes[until - 1] === CARRIAGE_RETURN ? until - 1 : until;
    const below = Math.max(0, this.#digitsBelow);
    const pointAt = end - below;
    if (this.#bytes[from] === DIGIT_0 || end - from < this.#digitsMin) return false;
    if (pointAt <= from || pointAt - from > MS_DIGITS_MAX) return false;
    const whole = this.#digits(from, pointAt);
    const part = this.#digits(pointAt, end);
    const ms = this.#digitsBelow < 0 ? whole * 1000 : whole;
    this.#timeMs = part === 0 ? ms : ms + part / 10 ** below;
    return this.#timeMs < TIME_MS_END && (part === 0 || ms >= ROUNDED_ONCE_FROM_MS);
  }

  /** A number of at most 15 digits; NaN if there is something else. */
  #digits(from: number, until: number): number {
    let number = 0;
    for (let at = from; at < until; at++) {
      const digit = this.#bytes[at]! - DIGIT_0;
      if (digit >>> 0 > 9) return Number.NaN;
      number = number * 10 + digit;
    }
    return number;
  }

  /** The text of a name; undefined if it has escapes or quotes, or is not UTF-8. */
  #plainText(from: number, to: number): string | undefined {
    const bytes = this.#bytes.subarray(from, to);
    if (bytes.includes(BACKSLASH) || bytes.includes(QUOTE)) return undefined;
    try {
      return decoder.decode(bytes);
    } catch {
      return undefined;
    }
  }
}
