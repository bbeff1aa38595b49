import { scanArea } from './simd.js';

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

/**
 * Reads CSV rows `date[T ]HH:MM:SS[.mmm][Z],[-]digits[.digits]` of one day from `bytes[from..stop)` into the columns
 * from `index` on, in WebAssembly; sets `scanned.end` and gives their count. It stops before the first row of any
 * other form: another day, another length of a fraction, more than seven digits before the point or fifteen in all.
 * Up to fifteen digits the quotient of mantissa and power of ten is the correctly rounded decimal. Where there is no
 * WebAssembly it takes nothing; what it leaves is read in JavaScript, with the same bits.
 */
export function scanRows(
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
  const { kernels, input, times, values } = area;
  const date = (BigInt(day.word1 >>> 0) << 32n) | BigInt(day.word0 >>> 0);
  let row = index;
  while (row < timeMs.length && scanned.end < stop) {
    const start = scanned.end;
    const length = Math.min(stop - start, input.length);
    input.set(bytes.subarray(start, start + length));
    const rowMax = Math.min(timeMs.length - row, times.length);
    const { byteOffset: at } = input;
    const { utcMs, localMs } = day;
    const dateEnd = day.word2 & 0xffff;
    const taken = kernels.scanRows(
      at,
      length,
      rowMax,
      separator,
      BigInt.asIntN(64, date),
      dateEnd,
      utcMs,
      localMs,
      times.byteOffset,
      values.byteOffset,
    );
    timeMs.set(times.subarray(0, taken), row);
    value.set(values.subarray(0, taken), row);
    row += taken;
    scanned.end = start + kernels.scanEnd.value;
    // Stopped before the end of what it was given, so at a row that is not for it.
    if (taken === 0 || (taken < rowMax && length - (scanned.end - start) > ROW_BYTES_MAX)) break;
  }
  return row - index;
}

/** No row that it takes is longer. */
const ROW_BYTES_MAX = 64;
