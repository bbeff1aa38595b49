import { scanArea } from './scan-area.js';
import { placeBytes, placed } from './scan-input.js';

/** The day of the previous rows: the ten bytes `YYYY-MM-DD` in little-endian words, and when it starts. */
export interface ScanDay {
  /** Undefined if times without `Z` are UTC. */
  readonly zone: object | undefined;
  readonly word0: number;
  readonly word1: number;
  readonly word2: number;
  /** When the day starts, for times with `Z` and for times without; NaN if its offset changes during the day. */
  readonly utcMs: number;
  readonly localMs: number;
}

/** The first eight bytes of a day's date. */
export function dateWord({ word0, word1 }: ScanDay): bigint {
  return BigInt.asIntN(64, (BigInt(word1 >>> 0) << 32n) | BigInt(word0 >>> 0));
}

/** Where `scanPairs` stopped: the position after the last row that it took. */
export const scanned = { end: 0 };

/** The longest row that it takes. */
const ROW_BYTES_MAX = 64;

/**
 * A buffer for a part of a file, which is then parsed in place; undefined without WebAssembly. There is only one, so
 * only one reader of a program may use it.
 */
export function scanBlock(): Uint8Array | undefined {
  return scanArea()?.block;
}

/** Columns into which rows are parsed without a copy. As with `scanBlock`, there is only one pair. */
export function scanColumns(rowCount: number): { timeMs: Float64Array; value: Float64Array } | undefined {
  const area = scanArea();
  if (area === undefined || rowCount > area.times.length) return undefined;
  return { timeMs: area.times.subarray(0, rowCount), value: area.values.subarray(0, rowCount) };
}

/** Columns for rows that other threads have parsed, where kernels can check them. There is only one pair. */
export function joinedColumns(rowCount: number): { timeMs: Float64Array; value: Float64Array } | undefined {
  const area = scanArea();
  if (area === undefined || rowCount > area.joinedTimes.length) return undefined;
  return { timeMs: area.joinedTimes.subarray(0, rowCount), value: area.joinedValues.subarray(0, rowCount) };
}

/**
 * Parses CSV rows `date[T ]HH:MM:SS[.mmm][Z],[-]digits[.digits]` of `bytes[from..stop)` in WebAssembly, into the
 * columns from `index` on. Sets `scanned.end` and returns the count of rows. It stops before the first row of any other
 * form: a fraction of another length, a number of more than sixteen bytes with its sign and line end or, if times
 * without `Z` are not UTC, another day than the one given. For such numbers, digits divided by a power of ten is the
 * correctly rounded decimal. Rows that it leaves (without WebAssembly, all) are parsed in JavaScript, to the same bits.
 */
export function scanPairs(
  bytes: Uint8Array,
  from: number,
  stop: number,
  separator: number,
  day: ScanDay,
  timeMs: Float64Array,
  value: Float64Array,
  index: number,
): number {
  const area = scanArea();
  scanned.end = from;
  if (area === undefined) return 0;
  const { kernels, times, values } = area;
  const date = dateWord(day);
  const isDirect = timeMs.buffer === times.buffer;
  let row = index;
  while (row < timeMs.length && scanned.end < stop) {
    const start = scanned.end;
    placeBytes(area, bytes, start, stop, ROW_BYTES_MAX);
    const { address, length } = placed;
    const rowMax = isDirect ? timeMs.length - row : Math.min(timeMs.length - row, times.length);
    const taken = kernels.scanPairs(
      address,
      length,
      rowMax,
      separator,
      date,
      day.word2 & 0xffff,
      day.utcMs,
      day.localMs,
      day.zone === undefined ? 1 : 0,
      isDirect ? timeMs.byteOffset + 8 * row : times.byteOffset,
      isDirect ? value.byteOffset + 8 * row : values.byteOffset,
    );
    if (!isDirect) {
      timeMs.set(times.subarray(0, taken), row);
      value.set(values.subarray(0, taken), row);
    }
    row += taken;
    scanned.end = start + kernels.pairsEnd.value;
    // The kernel stopped well before its end, so at a row that it does not take.
    if (taken === 0 || (taken < rowMax && start + length - scanned.end > ROW_BYTES_MAX)) break;
  }
  return row - index;
}
