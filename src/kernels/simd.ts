import { currentArena } from './arena.js';
import type { SimdKernels } from './simd-kernels.js';

/** A call into WebAssembly costs as much as some ten values. */
const COUNT_MIN = 16;

/** The kernels for each value or sample by itself take them in groups of this many. */
const GROUP = 32;

/** The kernels if they can work on these columns and it pays; otherwise undefined, and the JavaScript loops run. */
export function simdFor(
  column: Float64Array,
  count: number,
  second: Float64Array = column,
  third: Float64Array = column,
): SimdKernels | undefined {
  if (count < COUNT_MIN) return undefined;
  const arena = currentArena();
  const { buffer } = arena;
  if (column.buffer !== buffer || second.buffer !== buffer || third.buffer !== buffer) return undefined;
  return arena.kernels;
}

/** How many of `count` values such a kernel has done, if there was one. The JavaScript loop does the rest. */
export function doneBy(simd: SimdKernels | undefined, count: number): number {
  return simd === undefined ? 0 : count - (count % GROUP);
}
