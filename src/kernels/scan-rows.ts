import { type ScanArea, scanArea } from './scan-area.js';

/** The day of the previous rows: the ten bytes `YYYY-MM-DD` in little-endian words, and when it starts. */
export interface ScanDay {
  readonly word0: number;
  readonly word1: number;
  readonly word2: number;
  /** When the day starts, for times with `Z` and for times without; NaN if its offset changes during the day. */
  readonly utcMs: number;
  readonly localMs: number;
}

/** How far `scanRows` has come: the position after the last row that it took. */
export const scanned = { end: 0 };

/** Which bytes are in the area: `bytes[from..to)`. */
const copied = { bytes: undefined as Uint8Array | undefined, from: 0, to: 0 };

/** The longest row that it takes. */
const ROW_BYTES_MAX = 64;

/**
 * Room for a piece of a file, which is then parsed in place; undefined without WebAssembly. There is only one, for a
 * program that has one reader at work.
 */
export function scanBlock(): Uint8Array | undefined {
  return scanArea()?.block;
}

/** Columns in which rows are parsed and checked without a copy. As with `scanBlock`, there is one pair. */
export function scanColumns(rowCount: number): { timeMs: Float64Array; value: Float64Array } | undefined {
  const area = scanArea();
  if (area === undefined || rowCount > area.times.length) return undefined;
  return { timeMs: area.times.subarray(0, rowCount), value: area.values.subarray(0, rowCount) };
}

/** Columns for rows that other threads have parsed, where they are checked just as fast. There is one pair. */
export function joinedColumns(rowCount: number): { timeMs: Float64Array; value: Float64Array } | undefined {
  const area = scanArea();
  if (area === undefined || rowCount > area.joinedTimes.length) return undefined;
  return { timeMs: area.joinedTimes.subarray(0, rowCount), value: area.joinedValues.subarray(0, rowCount) };
}

/** Forgets what was copied. Call it before parsing bytes that may have changed since. */
export function beginScan(): void {
  copied.bytes = undefined;
}

/**
 * Parses CSV rows `date[T ]HH:MM:SS[.mmm][Z],[-]digits[.digits]` of `bytes[from..stop)` into the columns from
 * `index` on, in WebAssembly; sets `scanned.end` and returns their count. It stops before the first row of any other
 * form: another length of a fraction, a number that takes more than sixteen bytes with its sign and line end, and,
 * where times without `Z` are not UTC, another day than the one given. The quotient of such a number's digits and a
 * power of ten is the correctly rounded decimal. Without WebAssembly it takes nothing; what it leaves is
 * parsed in JavaScript, with the same bits.
 *
 * @param isUtc whether times without `Z` are UTC.
 */
export function scanRows(
  bytes: Uint8Array,
  from: number,
  stop: number,
  separator: number,
  day: ScanDay,
  isUtc: boolean,
  timeMs: Float64Array,
  value: Float64Array,
  index: number,
): number {
  const area = scanArea();
  scanned.end = from;
  if (area === undefined) return 0;
  const { kernels, input, times, values } = area;
  const date = BigInt.asIntN(64, (BigInt(day.word1 >>> 0) << 32n) | BigInt(day.word0 >>> 0));
  const isInPlace = bytes.buffer === input.buffer;
  const isDirect = timeMs.buffer === times.buffer;
  let row = index;
  while (row < timeMs.length && scanned.end < stop) {
    const start = scanned.end;
    if (!isInPlace) copyIn(area, bytes, start, stop);
    const length = isInPlace ? stop - start : copied.to - start;
    const rowMax = isDirect ? timeMs.length - row : Math.min(timeMs.length - row, times.length);
    const taken = kernels.scanRows(
      isInPlace ? bytes.byteOffset + start : input.byteOffset + start - copied.from,
      length,
      rowMax,
      separator,
      date,
      day.word2 & 0xffff,
      day.utcMs,
      day.localMs,
      isUtc ? 1 : 0,
      isDirect ? timeMs.byteOffset + 8 * row : times.byteOffset,
      isDirect ? value.byteOffset + 8 * row : values.byteOffset,
    );
    if (!isDirect) {
      timeMs.set(times.subarray(0, taken), row);
      value.set(values.subarray(0, taken), row);
    }
    row += taken;
    scanned.end = start + kernels.scanEnd.value;
    // It stopped before the end of what it was given, so at a row that it does not take.
    if (taken === 0 || (taken < rowMax && start + length - scanned.end > ROW_BYTES_MAX)) break;
  }
  return row - index;
}

// Copies the bytes at a position into the area, unless enough of them are there.
function copyIn({ input }: ScanArea, bytes: Uint8Array, start: number, stop: number): void {
  const isThere = copied.bytes === bytes && start >= copied.from && start < copied.to;
  if (isThere && (copied.to === stop || copied.to - start > ROW_BYTES_MAX)) return;
  copied.bytes = bytes;
  copied.from = start;
  copied.to = Math.min(stop, start + input.length);
  input.set(bytes.subarray(start, copied.to));
}
