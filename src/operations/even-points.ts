import { CHUNK_LENGTH, type Chunk } from '../core/chunk.js';
import { copyInto } from '../kernels/columns.js';
import { type Points, stepPoints } from '../kernels/points.js';
import type { Output, RunContext } from './operation.js';

/** Points of an even grid as the kernel fills them, and a column for a copy of the samples' times. */
export interface EvenPoints extends Points {
  readonly sampleMs: Float64Array;
}

/** The columns that `addPoints` needs, which belong to the step. */
export function evenPoints(column: RunContext['column']): EvenPoints {
  return { timeMs: column(), value: column(), sampleMs: column(), count: 0, nextMs: 0 };
}

// The slots of a step that gives points of a grid: whether it has had a sample, the last one, and the next point.
export const HAS_LAST = 0;
export const LAST_MS = 1;
export const LAST_VALUE = 2;
export const NEXT_MS = 3;

/**
 * Adds the points of an even grid, `stepMs` apart from the next one on, that are not after the last sample of a chunk.
 * A point gets the value of the last sample at or before it.
 */
export function addPoints(slots: Float64Array, chunk: Chunk, stepMs: number, points: EvenPoints, out: Output): void {
  const { timeMs, value, count } = chunk;
  // The kernel needs times and values in one memory.
  const isHere = timeMs.buffer === value.buffer;
  const sampleMs = isHere ? timeMs : points.sampleMs;
  if (!isHere) copyInto(sampleMs, timeMs, count);
  points.nextMs = slots[NEXT_MS]!;
  for (let from = 0; from < count; ) {
    const gapMs = sampleMs[from]! - points.nextMs;
    if (gapMs > CHUNK_LENGTH * stepMs) out.expect(gapMs / stepMs);
    from = stepPoints(sampleMs, value, from, count, slots[LAST_VALUE]!, stepMs, points);
    out.addRun(points.timeMs, points.value, points.count);
  }
  slots[NEXT_MS] = points.nextMs;
  slots[LAST_VALUE] = value[count - 1]!;
  slots[LAST_MS] = timeMs[count - 1]!;
}
