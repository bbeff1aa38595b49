import type { DoubleList } from '../../core/list.js';
import { addProduct, lossOf, SPLIT } from './sums.js';

/** Adds the squares of `value[from..to)` to a sum. */
export function addSquares(
  slots: Float64Array,
  at: number,
  wide: DoubleList,
  value: Float64Array,
  from: number,
  to: number,
): void {
  let sum = slots[at]!;
  let lost = slots[at + 1]!;
  let least = slots[at + 2]!;
  let spilt = wide.length;
  for (let i = from; i < to; i++) {
    const x = value[i]!;
    const square = x * x;
    // Outside these bounds a part of the square may not be a double.
    if (!(square < 1e300 && square > 1e-280) && x !== 0) spilt = 1;
    const scaled = SPLIT * x;
    const high = scaled - (scaled - x);
    const low = x - high;
    const error = low * low - (square - high * high - 2 * high * low);
    // The square is added to the first slot, its error to the second.
    const next = sum + square;
    const loss = lossOf(sum, square, next);
    sum = next;
    const lostOnce = lost + loss;
    const leastOnce = lossOf(lost, loss, lostOnce);
    lost = lostOnce + error;
    const leastTwice = lossOf(lostOnce, error, lost);
    const both = leastOnce + leastTwice;
    spilt += Math.abs(lossOf(leastOnce, leastTwice, both));
    const all = least + both;
    spilt += Math.abs(lossOf(least, both, all));
    least = all;
  }
  if (spilt === 0) {
    slots[at] = sum;
    slots[at + 1] = lost;
    slots[at + 2] = least;
  } else {
    for (let i = from; i < to; i++) addProduct(slots, at, wide, value[i]!, value[i]!);
  }
}
