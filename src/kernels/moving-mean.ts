import type { DoubleList } from '../core/list.js';
import { productLoss, sumLoss } from './error-free.js';
import { inLeastUnits, nearestDouble } from './nearest-double.js';

/**
 * The mean of values that come at one end and go at the other, rounded once. The values are in two parts: of each value
 * of the older part the sum from it to the end of the part is known, of the newer part the sum of all. When the older
 * part is used up, the newer one takes its place: so nothing is ever subtracted, and a large value that has gone
 * leaves no trace. Sums are two doubles each, with a bound of what they have lost; where rounding is not certain with
 * that, the mean is computed in whole numbers.
 */
export interface MovingValues {
  /** The sum of the newer part from `at` on: two doubles, and how far they may be off. */
  readonly slots: Float64Array;
  readonly at: number;
  readonly values: DoubleList;
  /** Of each value of the older part, the sum from it on: two doubles, and how far they may be off. */
  readonly high: DoubleList;
  readonly low: DoubleList;
  readonly error: DoubleList;
}

/** The sum that was computed last: two doubles, and how far they may be off. */
const sum = new Float64Array(3);

export function addValue({ slots, at, values }: MovingValues, x: number): void {
  values.push(x);
  setSum(slots[at]!, slots[at + 1]!, slots[at + 2]!, x, 0, 0);
  slots.set(sum, at);
}

/** Drops the oldest value. */
export function dropValue(moving: MovingValues): void {
  const { values, high, low, error } = moving;
  if (high.length === 0) turnOver(moving);
  for (const list of [values, high, low, error]) list.shift(1);
}

function turnOver({ slots, at, values, high, low, error }: MovingValues): void {
  const count = values.length;
  for (const list of [high, low, error]) for (let i = 0; i < count; i++) list.push(0);
  sum.fill(0);
  for (let i = count - 1; i >= 0; i--) {
    setSum(sum[0]!, sum[1]!, sum[2]!, values.at(i), 0, 0);
    high.set(i, sum[0]!);
    low.set(i, sum[1]!);
    error.set(i, sum[2]!);
  }
  slots.fill(0, at, at + 3);
}

/** The double nearest to the exact mean. */
export function movingMean({ slots, at, values, high, low, error }: MovingValues): number {
  const isOld = high.length > 0;
  const older = isOld ? high.at(0) : 0;
  setSum(older, isOld ? low.at(0) : 0, isOld ? error.at(0) : 0, slots[at]!, slots[at + 1]!, slots[at + 2]!);
  const count = values.length;
  const total = sum[0]!;
  const mean = total / count;
  const back = mean * count;
  const rest = (total - back - productLoss(mean, count, back) + sum[1]!) / count;
  const slack = Math.abs(rest) * 2 ** -50 + (sum[2]! * 2) / count;
  const result = mean + (rest + slack);
  const isPlain = Math.abs(mean) > 2 ** -900 || (total === 0 && slack === 0);
  if (isPlain && result === mean + (rest - slack) && result - result === 0) return result + 0;
  return exactMean(values);
}

function exactMean(values: DoubleList): number {
  let units = 0n;
  for (let i = 0; i < values.length; i++) units += inLeastUnits(values.at(i));
  return nearestDouble(units, BigInt(values.length) << 1074n);
}

function setSum(a: number, aLow: number, aError: number, b: number, bLow: number, bError: number): void {
  const high = a + b;
  const lows = aLow + bLow;
  const loss = sumLoss(a, b, high);
  const low = loss + lows;
  const total = high + low;
  sum[0] = total;
  sum[1] = sumLoss(high, low, total);
  sum[2] = aError + bError + Math.abs(sumLoss(aLow, bLow, lows)) + Math.abs(sumLoss(loss, lows, low));
}
