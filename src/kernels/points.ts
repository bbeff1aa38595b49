import { simdFor } from './simd.js';

/** Points of an even grid, `stepMs` apart, with the value held at each. */
export interface Points {
  timeMs: Float64Array;
  value: Float64Array;
  count: number;
  /** The next point to write. */
  nextMs: number;
}

/**
 * Writes the points that are not after the last of the samples `from..count`, each with the value of the last sample at
 * or before it (`lastValue` before the first sample of the chunk). Stops when the columns of `points` are full, and
 * returns the index of the first sample that is not used up. `stepMs` must be whole.
 */
export function stepPoints(
  timeMs: Float64Array,
  value: Float64Array,
  from: number,
  count: number,
  lastValue: number,
  stepMs: number,
  points: Points,
): number {
  const outTimeMs = points.timeMs;
  const outValue = points.value;
  const room = outTimeMs.length;
  const simd = timeMs.buffer === value.buffer ? simdFor(timeMs, count - from, outTimeMs, outValue) : undefined;
  if (simd !== undefined) {
    const columns = [timeMs.byteOffset, value.byteOffset, outTimeMs.byteOffset, outValue.byteOffset] as const;
    points.count = simd.stepPoints(...columns, from, count, lastValue, points.nextMs, stepMs, room);
    if (points.count > 0) points.nextMs = outTimeMs[points.count - 1]! + stepMs;
    return simd.pointsEnd.value;
  }
  let pointMs = points.nextMs;
  let written = 0;
  let i = from;
  fill: for (; i < count; i++) {
    const t = timeMs[i]!;
    const held = i === 0 ? lastValue : value[i - 1]!;
    for (; pointMs < t; pointMs += stepMs) {
      if (written === room) break fill;
      outTimeMs[written] = pointMs;
      outValue[written++] = held;
    }
    if (pointMs === t) {
      if (written === room) break;
      outTimeMs[written] = pointMs;
      outValue[written++] = value[i]!;
      pointMs += stepMs;
    }
  }
  points.count = written;
  points.nextMs = pointMs;
  return i;
}
