import { CHUNK_LENGTH } from '../core/chunk.js';
import { memoryColumn } from './simd.js';

/**
 * Scratch columns for chunks on their way through the steps. A call into the engine runs to its end before
 * another begins, so every plan may use the same ones: what has the number k in any plan writes to column k.
 */
const scratch: Float64Array[] = [];

/** The scratch column of a number from 0, one chunk long. Its contents last until the call ends. */
export function scratchColumn(index: number): Float64Array {
  while (scratch.length <= index) scratch.push(memoryColumn(scratch.length) ?? new Float64Array(CHUNK_LENGTH));
  return scratch[index] as Float64Array; // made just above
}

/** Copies the first `count` entries; a view is worth its making only for many. */
export function copyInto(target: Float64Array, source: Float64Array, count: number): void {
  if (count < 32) for (let i = 0; i < count; i++) target[i] = source[i]!;
  else target.set(source.length === count ? source : source.subarray(0, count));
}
