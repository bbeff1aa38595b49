import type { Series } from '../../core/series.js';
import { firstNotRising } from '../../kernels/check.js';

/** A series, and what sorting or loading left out of it. */
export interface BatchInput {
  readonly series: Series;
  readonly missing: number;
  readonly outOfRun: number;
  /** The times of samples that a later one of the same time replaced. */
  readonly duplicateMs: readonly number[];
}

/**
 * The samples of `[fromMs, untilMs)` in time order, without missing ones. Of several samples of one time the last given
 * is kept. O(n log n).
 */
export function sortInput(series: Series, fromMs: number, untilMs: number): BatchInput {
  const { timeMs, value } = series;
  const order = new Uint32Array(timeMs.length);
  let missing = 0;
  let taken = 0;
  for (let i = 0; i < timeMs.length; i++) {
    if (value[i]! - value[i]! !== 0) missing++;
    else if (timeMs[i]! >= fromMs && timeMs[i]! < untilMs) order[taken++] = i;
  }
  const indices = orderByTime(timeMs, order.subarray(0, taken));
  const sortedTimes = new Float64Array(taken);
  const sortedValues = new Float64Array(taken);
  const duplicateMs: number[] = [];
  let count = 0;
  for (const at of indices) {
    const t = timeMs[at]!;
    if (count > 0 && sortedTimes[count - 1] === t) {
      duplicateMs.push(t);
      count--;
    }
    sortedTimes[count] = t;
    sortedValues[count] = value[at]!;
    count++;
  }
  const sorted = { ...series, timeMs: sortedTimes.subarray(0, count), value: sortedValues.subarray(0, count) };
  const outOfRun = timeMs.length - missing - taken;
  return { series: sorted, missing, outOfRun, duplicateMs };
}

// By time, then by index. Unsorted input is usually nearly sorted, which the sort makes use of.
function orderByTime(timeMs: Float64Array, indices: Uint32Array): Uint32Array {
  const times = Float64Array.from(indices, (i) => timeMs[i]!);
  if (firstNotRising(times, 0, times.length, Number.NEGATIVE_INFINITY) === times.length) return indices;
  return indices.sort((a, b) => timeMs[a]! - timeMs[b]! || a - b);
}
