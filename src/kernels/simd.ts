import { CHUNK_LENGTH } from '../core/chunk.js';
import {
  COLUMN_STRIDE,
  COLUMNS_FROM,
  PAGE_BYTES,
  PAGE_COUNT,
  WINDOW_BORDERS_FROM,
  WINDOW_SUMS_FROM,
} from './memory-layout.js';
import { kernelsHex } from './module.js';
import { openModule } from './open-module.js';

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
  roundHalfAway(value: number, count: number, power: number, head: number, rest: number): number;
  isRising(timeMs: number, count: number, beforeMs: number): number;
  isAllFinite(value: number, count: number): number;
  keepRange(
    timeMs: number,
    value: number,
    count: number,
    lower: number,
    upper: number,
    isInside: number,
    outTimeMs: number,
    outValue: number,
  ): number;
  stepPoints(
    timeMs: number,
    value: number,
    outTimeMs: number,
    outValue: number,
    from: number,
    count: number,
    lastValue: number,
    nextMs: number,
    stepMs: number,
    isMet: number,
    room: number,
  ): number;
  /** The first sample that the last call of `stepPoints` was not done with. */
  readonly pointsEnd: { readonly value: number };
  sumWindows(value: number, bounds: number, windowCount: number, result: number): void;
}

/** A call across the border costs as much as some ten values. */
const COUNT_MIN = 16;

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

/** The memory of the columns, or undefined where there is no WebAssembly. */
export function kernelMemory(): WebAssembly.Memory | undefined {
  memoryColumn(0);
  return memory;
}

function load(): void {
  isTried = true;
  // The interface above is the one that assembly/index.ts exports.
  kernels = memory === undefined ? undefined : (openModule(kernelsHex, memory) as SimdKernels | undefined);
}
