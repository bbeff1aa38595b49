import { type ScanArea, scanArea } from './scan-area.js';

/** The day of the rows before, as the ten bytes `YYYY-MM-DD` in little-endian words, and where it starts. */
export interface ScanDay {
  readonly word0: number;
  readonly word1: number;
  readonly word2: number;
  /** Start of the day for times with `Z`, and for times without; NaN where that is not one offset. */
  readonly utcMs: number;
  readonly localMs: number;
}

/** Where `scanRows` has come to: the place after the last row that it took. */
export const scanned = { end: 0 };

/** What of some bytes lies in the area: `bytes[from..to)`. */
const copied = { bytes: undefined as Uint8Array | undefined, from: 0, to: 0 };

/** No row that it takes is longer. */
const ROW_BYTES_MAX = 64;

/**
 * Room for a piece of a file, which is then scanned where it lies; undefined where there is no WebAssembly. There is
 * one: it is for a program that has one reader at work.
 */
export function scanBlock(): Uint8Array | undefined {
  return scanArea()?.block;
}

/** Columns that rows are scanned to and checked in without a copy. As with `scanBlock`, there is one pair. */
export function scanColumns(rowCount: number): { timeMs: Float64Array; value: Float64Array } | undefined {
  const area = scanArea();
  if (area === undefined || rowCount > area.times.length) return undefined;
  return { timeMs: area.times.subarray(0, rowCount), value: area.values.subarray(0, rowCount) };
}

/** Columns for rows that were scanned in other threads, where they are checked as fast. There is one pair. */
export function joinedColumns(rowCount: number): { timeMs: Float64Array; value: Float64Array } | undefined {
  const area = scanArea();
  if (area === undefined || rowCount > area.joinedTimes.length) return undefined;
  return { timeMs: area.joinedTimes.subarray(0, rowCount), value: area.joinedValues.subarray(0, rowCount) };
}

/** To be called before bytes are scanned that may have changed since: nothing that was copied is trusted any more. */
export function beginScan(): void {
  copied.bytes = undefined;
}

/**
 * Reads CSV rows `date[T ]HH:MM:SS[.mmm][Z],[-]digits[.digits]` from `bytes[from..stop)` into the columns from
 * `index` on, in WebAssembly; sets `scanned.end` and gives their count. It stops before the first row of any other
 * form: another length of a fraction, a number that takes more than sixteen bytes with its sign and line end, and,
 * where times without `Z` are not UTC, another day than the one given. The quotient of such a number's digits and a
 * power of ten is the correctly rounded decimal. Where there is no WebAssembly it takes nothing; what it leaves is
 * read in JavaScript, with the same bits.
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
    // Stopped before the end of what it was given, so at a row that is not for it.
    if (taken === 0 || (taken < rowMax && start + length - scanned.end > ROW_BYTES_MAX)) break;
  }
  return row - index;
}

// Brings the bytes at a place into the area, unless enough of them lie there.
function copyIn({ input }: ScanArea, bytes: Uint8Array, start: number, stop: number): void {
  const isThere = copied.bytes === bytes && start >= copied.from && start < copied.to;
  if (isThere && (copied.to === stop || copied.to - start > ROW_BYTES_MAX)) return;
  copied.bytes = bytes;
  copied.from = start;
  copied.to = Math.min(stop, start + input.length);
  input.set(bytes.subarray(start, copied.to));
}
