import { CHUNK_LENGTH, type Chunk } from '../core/chunk.js';
import { type Points, stepPoints } from '../kernels/points.js';
import type { Output } from './operation.js';

/**
 * Gives the points of an even grid that a chunk decides, `stepMs` apart from `points.nextMs` on: each with the value of
 * the last sample before it (`lastValue` before the chunk) and, with `isMet`, those at a sample with that sample's.
 */
export function addPoints(
  { timeMs, value, count }: Chunk,
  lastValue: number,
  stepMs: number,
  isMet: boolean,
  points: Points,
  out: Output,
): void {
  for (let from = 0; from < count; ) {
    const gapMs = timeMs[from]! - points.nextMs;
    if (gapMs > CHUNK_LENGTH * stepMs) out.expect(gapMs / stepMs);
    from = stepPoints(timeMs, value, from, count, lastValue, stepMs, isMet, points);
    out.addRun(points.timeMs, points.value, points.count);
  }
}
