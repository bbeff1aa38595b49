import type { Columns } from '../../core/series.js';
import { type ExactSum, meanOf, quotientOf, sumOf } from './results.js';
import { addTo, lossOf, tidySum } from './sums.js';

/**
 * Writes, for each of the samples `from..to`, the sum (with `isMean`, the mean) of the samples up to it that are less
 * than `windowMs` older, rounded once. The result of `from` goes to the start of `results`. As long as two doubles hold
 * the sum, no sample costs a call.
 *
 * @returns the first sample that is still in the window.
 */
export function runningSums(
  [slots, at, wide]: ExactSum,
  { timeMs, value }: Columns,
  from: number,
  to: number,
  windowMs: number,
  isMean: boolean,
  results: Float64Array,
): number {
  let sum = slots[at]!;
  let lost = slots[at + 1]!;
  let isNarrow = false; // whether two doubles hold the sum, known after the first term
  let first = 0;
  for (let end = from; end < to; end++) {
    const t = timeMs[end]!;
    for (let isOut = true; isOut; ) {
      isOut = first < end && !(t - timeMs[first]! < windowMs);
      const x = isOut ? -value[first++]! : value[end]!;
      const next = sum + x;
      const loss = lossOf(sum, x, next);
      const lostNext = lost + loss;
      if (isNarrow && lossOf(lost, loss, lostNext) === 0) {
        sum = next;
        lost = lostNext;
        continue;
      }
      slots[at] = sum;
      slots[at + 1] = lost;
      addTo(slots, at, wide, x);
      tidySum(slots, at, wide);
      sum = slots[at]!;
      lost = slots[at + 1]!;
      isNarrow = wide.length === 0 && slots[at + 2] === 0;
    }
    const count = end + 1 - first;
    let result = sum + lost;
    if (isMean) result = quotientOf(result, lossOf(sum, lost, result), count);
    slots[at] = sum;
    slots[at + 1] = lost;
    if (!isNarrow || Number.isNaN(result)) {
      result = isMean ? meanOf(slots, at, wide, count) : sumOf(slots, at, wide);
    }
    results[end - from] = result;
  }
  return first;
}
