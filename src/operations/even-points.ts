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

/**
 * Adds the points of an even grid, `stepMs` apart from `points.nextMs` on, whose values a chunk decides. A point gets
 * the value of the last sample before it (`lastValue` before the chunk) or, with `isMet`, of a sample at its very time.
 */
export function addPoints(
  { timeMs, value, count }: Chunk,
  lastValue: number,
  stepMs: number,
  isMet: boolean,
  points: EvenPoints,
  out: Output,
): void {
  // The kernel needs times and values in one memory.
  const isHere = timeMs.buffer === value.buffer;
  const sampleMs = isHere ? timeMs : points.sampleMs;
  if (!isHere) copyInto(sampleMs, timeMs, count);
  for (let from = 0; from < count; ) {
    const gapMs = sampleMs[from]! - points.nextMs;
    if (gapMs > CHUNK_LENGTH * stepMs) out.expect(gapMs / stepMs);
    from = stepPoints(sampleMs, value, from, count, lastValue, stepMs, isMet, points);
    out.addRun(points.timeMs, points.value, points.count);
  }
}
