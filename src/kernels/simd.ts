import { CHUNK_LENGTH } from '../core/chunk.js';
import { kernelsBase64 } from './module.js';

/**
 * The WebAssembly side of the kernels: one memory of fixed size that holds the scratch columns, and the compiled
 * kernels that work on them. Where there is no WebAssembly SIMD, columns are ordinary arrays and the JavaScript
 * loops do the work, with the same bits.
 */

type Scalar = (value: number, count: number, scalar: number) => number;
type Vector = (left: number, right: number, count: number) => number;

/** The exports of `assembly/`; columns are given by their byte offsets. */
export interface SimdKernels
  extends Record<'addScalar' | 'subScalar' | 'mulScalar' | 'divScalar', Scalar>,
    Record<'eqScalar' | 'neScalar' | 'lteScalar' | 'ltScalar' | 'gtScalar' | 'gteScalar', Scalar>,
    Record<'add' | 'sub' | 'mul' | 'div' | 'eq' | 'ne' | 'lte' | 'lt' | 'gt' | 'gte' | 'and' | 'or', Vector> {
  nearScalar(value: number, count: number, scalar: number, tolerance: number): number;
  near(left: number, right: number, count: number, tolerance: number): number;
  abs(value: number, count: number): void;
  clamp(value: number, count: number, lower: number, upper: number): void;
  roundHalfAway(value: number, count: number, power: number): number;
  isRising(timeMs: number, count: number, beforeMs: number): number;
  isAllFinite(value: number, count: number): number;
  scanRows(
    bytes: number,
    length: number,
    rowMax: number,
    separator: number,
    date: bigint,
    dateEnd: number,
    utcMs: number,
    localMs: number,
    times: number,
    values: number,
  ): number;
  readonly scanEnd: { readonly value: number };
  sumWindows(value: number, bounds: number, windowCount: number, result: number): void;
}

const PAGE_BYTES = 65_536;
/** 8 MiB. Plans with more columns than fit take ordinary arrays for the rest. */
const PAGE_COUNT = 128;
/** Columns lie a little more than their length apart: at a multiple of 4096 bytes, loads would wait for stores. */
const COLUMN_STRIDE = 8 * CHUNK_LENGTH + 832;
/** A call across the border costs as much as some ten values. */
const COUNT_MIN = 16;

/** The compiler keeps its own constants below; then come the borders and sums of a chunk's windows. */
const WINDOW_BORDERS_FROM = 16_384;
const WINDOW_SUMS_FROM = WINDOW_BORDERS_FROM + 4 * (CHUNK_LENGTH + 16);
/** Then a piece of a CSV file, with room to read past its end, and the columns that its rows are read into. */
const SCAN_INPUT_FROM = WINDOW_SUMS_FROM + 8 * (CHUNK_LENGTH + 16);
const SCAN_INPUT_BYTES = 65_536;
const SCAN_ROWS_MAX = 4096;
const SCAN_TIMES_FROM = SCAN_INPUT_FROM + SCAN_INPUT_BYTES + 256;
const SCAN_VALUES_FROM = SCAN_TIMES_FROM + 8 * SCAN_ROWS_MAX + 832;
const COLUMNS_FROM = SCAN_VALUES_FROM + 8 * SCAN_ROWS_MAX + 832;

let memory: WebAssembly.Memory | undefined;
let memoryBuffer: ArrayBufferLike | undefined;
let kernels: SimdKernels | undefined;
let isTried = false;

/** The kernels when they can work on these columns and it pays, else undefined. */
export function simdFor(column: Float64Array, count: number, other: Float64Array = column): SimdKernels | undefined {
  if (count < COUNT_MIN || column.buffer !== memoryBuffer || other.buffer !== memoryBuffer) return undefined;
  if (!isTried) load();
  return kernels;
}

/** A column of one chunk in the kernels' memory, or undefined when it is full or there is none. */
export function memoryColumn(index: number): Float64Array | undefined {
  if (memory === undefined) {
    if (typeof WebAssembly === 'undefined') return undefined;
    memory = new WebAssembly.Memory({ initial: PAGE_COUNT, maximum: PAGE_COUNT });
    memoryBuffer = memory.buffer;
  }
  const offset = COLUMNS_FROM + index * COLUMN_STRIDE;
  if (offset + COLUMN_STRIDE > PAGE_COUNT * PAGE_BYTES) return undefined;
  return new Float64Array(memory.buffer, offset, CHUNK_LENGTH);
}

/** Borders (indices of samples) and sums of the windows in a chunk, where the kernels can reach them. */
export interface WindowColumns {
  readonly borders: Uint32Array;
  readonly sums: Float64Array;
}

let windowColumns: WindowColumns | undefined;

/** Shared by all plans, as the scratch columns are. */
export function windowColumnsOf(): WindowColumns {
  if (windowColumns === undefined) {
    memoryColumn(0);
    const length = CHUNK_LENGTH + 1;
    windowColumns =
      memory === undefined
        ? { borders: new Uint32Array(length), sums: new Float64Array(length) }
        : {
            borders: new Uint32Array(memory.buffer, WINDOW_BORDERS_FROM, length),
            sums: new Float64Array(memory.buffer, WINDOW_SUMS_FROM, length),
          };
  }
  return windowColumns;
}

/** Where bytes of a CSV file are scanned, and what scans them. */
export interface ScanArea {
  readonly kernels: SimdKernels;
  readonly input: Uint8Array;
  readonly times: Float64Array;
  readonly values: Float64Array;
}

let area: ScanArea | undefined;

/** The area for scanning, or undefined where there is no WebAssembly SIMD. Shared by all readers. */
export function scanArea(): ScanArea | undefined {
  if (area === undefined) {
    memoryColumn(0);
    if (!isTried) load();
    if (memory === undefined || kernels === undefined) return undefined;
    const { buffer } = memory;
    area = {
      kernels,
      input: new Uint8Array(buffer, SCAN_INPUT_FROM, SCAN_INPUT_BYTES),
      times: new Float64Array(buffer, SCAN_TIMES_FROM, SCAN_ROWS_MAX),
      values: new Float64Array(buffer, SCAN_VALUES_FROM, SCAN_ROWS_MAX),
    };
  }
  return area;
}

function load(): void {
  isTried = true;
  const bytes = Uint8Array.from(atob(kernelsBase64), (character) => character.charCodeAt(0));
  // An engine without SIMD says so here; the JavaScript loops are then the whole truth.
  if (memory === undefined || !WebAssembly.validate(bytes)) return;
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), { env: { memory } });
  // The interface above is the one that assembly/ exports.
  kernels = instance.exports as unknown as SimdKernels;
}
