import { CHUNK_LENGTH, type Chunk } from '../core/chunk.js';
import { copyInto } from '../kernels/columns.js';
import { type Points, stepPoints } from '../kernels/points.js';
import type { Output, RunContext } from './operation.js';

/** Points of an even grid in work, and a column for times that are not where the values are. */
export interface EvenPoints extends Points {
  readonly sampleMs: Float64Array;
}

/** A step's own columns for `addPoints`. */
export function evenPoints(column: RunContext['column']): EvenPoints {
  return { timeMs: column(), value: column(), sampleMs: column(), count: 0, nextMs: 0 };
}

/**
 * Gives the points of an even grid that a chunk decides, `stepMs` apart from `points.nextMs` on: each with the value of
 * the last sample before it (`lastValue` before the chunk) and, with `isMet`, those at a sample with that sample's.
 */
export function addPoints(
  { timeMs, value, count }: Chunk,
  lastValue: number,
  stepMs: number,
  isMet: boolean,
  points: EvenPoints,
  out: Output,
): void {
  // The kernel reads times where it reads the values.
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
