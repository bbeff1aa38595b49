import {
  FIELD_CELLS_FROM,
  FIELD_COLUMN_BYTES,
  FIELD_COLUMNS_FROM,
  FIELD_COLUMNS_MAX,
  FIELD_ROWS_MIN,
  NAME_ENTRIES_FROM,
  NAME_ENTRY_BYTES,
  NAME_TABLE_BYTES,
  NAMES_FROM,
  NAMES_MAX,
} from './field-layout.js';
import { type ScanArea, scanArea } from './scan-area.js';
import { placeBytes, placed } from './scan-input.js';
import { dateWord, type ScanDay } from './scan-pairs.js';

/** What a column of rows holds. */
export type FieldKind = 'skipped' | 'time' | 'number' | 'id' | 'metric';

/** Names by their index: name `i` is `bytes[start[i]..start[i + 1])`. */
export interface KnownNames {
  readonly count: number;
  readonly bytes: Uint8Array;
  readonly start: Int32Array;
}

/** What the kernel calls them (see assembly/csv-fields.ts). */
const KINDS: Readonly<Record<FieldKind, number>> = { skipped: 0, time: 1, number: 2, id: 3, metric: 3 };
const ID_TABLE = NAMES_FROM;
const METRIC_TABLE = NAMES_FROM + NAME_TABLE_BYTES;
const NAME_BYTES_MAX = 47;
const CACHE_LINE_BYTES = 64;
/** So that a call's values stay in the cache until they are copied. */
const CALL_BYTES = 262_144;
/** A piece of a file that has been copied into the area is used as long as this much of it is left. */
const REACH_BYTES = 1024;

/** The scanner whose columns and names are in the area. */
let current: FieldScanner | undefined;

/**
 * Parses CSV rows of several fields in WebAssembly. A scanner can be used beside others; each takes its results before
 * the next call of any.
 */
export class FieldScanner {
  /** The values of each column that has any: epoch milliseconds, numbers, or indices of names. */
  readonly columns: readonly (Float64Array | Int32Array | undefined)[];
  /** Where each row ends, counted from the start of the call. */
  readonly ends: Int32Array;
  /** Where the last call stopped: the position after the last row that it took. */
  end = 0;
  /** How many numbers of the last call are missing. */
  missing = 0;
  readonly #area: ScanArea;
  readonly #kinds: readonly FieldKind[];
  readonly #separator: number;
  #idCount = 0;
  #metricCount = 0;

  /** Undefined without WebAssembly SIMD, or for more columns than there is room for. */
  static open(kinds: readonly FieldKind[], separator: number): FieldScanner | undefined {
    const area = kinds.length > FIELD_COLUMNS_MAX ? undefined : scanArea();
    return area && new FieldScanner(area, kinds, separator);
  }

  private constructor(area: ScanArea, kinds: readonly FieldKind[], separator: number) {
    this.#area = area;
    this.#kinds = kinds;
    this.#separator = separator;
    const columnCount = 1 + kinds.filter((kind) => kind !== 'skipped').length;
    // An odd number of cache lines, so that not all columns compete for the same places of the cache.
    const lines = Math.floor(CALL_BYTES / columnCount / CACHE_LINE_BYTES);
    const columnBytes = Math.max(8 * FIELD_ROWS_MIN, CACHE_LINE_BYTES * (lines - 1 + (lines % 2)));
    const rowMax = columnBytes / 8;
    const { buffer } = area.input;
    let from = FIELD_CELLS_FROM;
    const next = (): number => {
      from += columnBytes;
      return from - columnBytes;
    };
    this.ends = new Int32Array(buffer, next(), rowMax);
    this.columns = kinds.map((kind) => {
      if (kind === 'skipped') return undefined;
      const isName = kind === 'id' || kind === 'metric';
      return new (isName ? Int32Array : Float64Array)(buffer, next(), rowMax);
    });
  }

  /**
   * Parses rows of `bytes[from..stop)`: times `date[T ]HH:MM:SS[.mmm][Z]`, numbers `[-]digits[.digits]` of up to
   * nineteen digits, or empty (NaN), and known names and fields to skip, both without quotes.
   * Sets `end` and `missing`, and returns the count of rows. It stops before the first row of any other form and, if
   * times without `Z` are not UTC, of another day than the one given. It may stop earlier: call it again until it takes
   * none.
   */
  scan(bytes: Uint8Array, from: number, stop: number, rowMax: number, day: ScanDay): number {
    if (current !== this) this.#begin();
    const { kernels } = this.#area;
    placeBytes(this.#area, bytes, from, stop, REACH_BYTES);
    const taken = kernels.scanFields(
      placed.address,
      placed.length,
      Math.min(rowMax, this.ends.length),
      this.#separator,
      FIELD_COLUMNS_FROM,
      this.#kinds.length,
      this.ends.byteOffset,
      dateWord(day),
      day.word2 & 0xffff,
      day.utcMs,
      day.localMs,
      day.zone === undefined ? 1 : 0,
    );
    this.end = from + kernels.fieldsEnd.value;
    this.missing = kernels.missingCount.value;
    return taken;
  }

  /** Makes names known, which the kernel then tells by their index. Names of more than 47 bytes stay unknown. */
  learn(ids: KnownNames, metrics: KnownNames): void {
    if (current !== this) this.#begin();
    this.#idCount = this.#add(ID_TABLE, ids, this.#idCount);
    this.#metricCount = this.#add(METRIC_TABLE, metrics, this.#metricCount);
  }

  // Puts the columns into the area, where another scanner's may be.
  #begin(): void {
    current = this;
    const { kernels, input } = this.#area;
    const words = new Int32Array(input.buffer, FIELD_COLUMNS_FROM, (FIELD_COLUMN_BYTES / 4) * this.#kinds.length);
    words.fill(0);
    for (const [index, kind] of this.#kinds.entries()) {
      const table = kind === 'metric' ? METRIC_TABLE : ID_TABLE;
      words.set([KINDS[kind], this.columns[index]?.byteOffset ?? 0, table, 0], (FIELD_COLUMN_BYTES / 4) * index);
    }
    for (const table of [ID_TABLE, METRIC_TABLE]) kernels.clearNames(table, 2 * NAMES_MAX);
    this.#idCount = 0;
    this.#metricCount = 0;
  }

  // Adds the names that are not in the table yet, and returns how many it has then.
  #add(table: number, { count, bytes, start }: KnownNames, known: number): number {
    const { kernels, input } = this.#area;
    let index = known;
    for (; index < Math.min(count, NAMES_MAX); index++) {
      const [from, to] = [start[index]!, start[index + 1]!];
      const entry = new Uint8Array(
        input.buffer,
        table + NAME_ENTRIES_FROM + NAME_ENTRY_BYTES * index,
        NAME_ENTRY_BYTES,
      );
      entry.fill(0);
      if (to - from <= NAME_BYTES_MAX) entry.set(bytes.subarray(from, to));
      kernels.addName(table, to - from);
    }
    return index;
  }
}
