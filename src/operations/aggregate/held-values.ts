import type { Chunk } from '../../core/chunk.js';
import type { DoubleList } from '../../core/list.js';
import type { ExactSum } from '../../kernels/exact/results.js';
import { addProduct, addTo, lossOf, SPLIT, SUM_SLOTS } from '../../kernels/exact/sums.js';
import type { State } from '../operation.js';

/** Functions of held values, and the sums that they are made of: Σ(value·length) and Σ(length), both exact. */

/** A function of held values, and how long values are held. */
export interface Holding {
  readonly held: HeldFunction;
  readonly maxHoldMs: number;
  /** Samples further apart than this have nothing between them; Infinity without a `maxgap`. */
  readonly maxGapMs: number;
  /** Whether the value moves along a line to the next sample instead of being held. */
  readonly isLinear: boolean;
}

/** Whether only the time between two samples counts, so that a result waits for the sample after its window. */
export function isBetween({ isLinear, maxGapMs }: Holding): boolean {
  return isLinear || maxGapMs < Number.POSITIVE_INFINITY;
}

/** A function of how long values were held within a window. */
export interface HeldFunction {
  /** What is held in place of the value. */
  readonly weigh?: (value: number) => number;
  /** The result from Σ(value·length), Σ(length) and the window's length. `mean` divides the first by another sum. */
  readonly result: (products: ExactSum, lengths: ExactSum, window: ExactSum, mean: Mean) => number;
  /** The result is Σ(value·length) divided by so many milliseconds or, if 0, by Σ(length). */
  readonly dividesBy?: number;
}

export type Mean = (products: ExactSum, divisor: ExactSum) => number;

export const heldAverage: HeldFunction = {
  result: (products, lengths, _window, mean) => mean(products, lengths),
  dividesBy: 0,
};

/** Adds (or with −1 subtracts) a value held between two instants to Σ(value·length) and to Σ(length) right after it. */
export function addHeld(
  slots: Float64Array,
  at: number,
  products: DoubleList,
  lengths: DoubleList,
  value: number,
  fromMs: number,
  untilMs: number,
  sign: 1 | -1,
): void {
  const lengthMs = untilMs - fromMs;
  if (!(lengthMs > 0)) return;
  // Times need not be whole milliseconds, so their difference may be rounded.
  const cutMs = lossOf(untilMs, -fromMs, lengthMs);
  addProduct(slots, at, products, value, sign * lengthMs);
  addTo(slots, at + SUM_SLOTS, lengths, sign * lengthMs);
  if (cutMs === 0) return;
  addProduct(slots, at, products, value, sign * cutMs);
  addTo(slots, at + SUM_SLOTS, lengths, sign * cutMs);
}

/** Half of a double's digits times a whole number below this is an exact double. */
const WHOLE_END = 2 ** 26;

/**
 * The usual case, lengths of whole milliseconds. In any other case it takes nothing and returns false. The sums of
 * lines are twice as large: each value counts with the lengths before and after it.
 *
 * @param lastAt the slot of the last sample's time, followed by its value.
 * @param at the first slot of Σ(value·length), followed by Σ(length).
 */
export function holdWhole(
  { slots, lists }: State,
  lastAt: number,
  at: number,
  { timeMs, value }: Chunk,
  from: number,
  to: number,
  { held, maxHoldMs, maxGapMs, isLinear }: Holding,
): boolean {
  if (held.weigh !== undefined || lists[0]!.length > 0 || lists[1]!.length > 0) return false;
  let knownMs = slots[at + SUM_SLOTS]!;
  let lastMs = slots[lastAt]!;
  let lastValue = slots[lastAt + 1]!;
  const hasWhole = slots[at + SUM_SLOTS + 1] === 0 && slots[at + SUM_SLOTS + 2] === 0 && Number.isInteger(knownMs);
  if (!hasWhole || !(knownMs < 2 ** 50) || !Number.isInteger(lastMs)) return false;
  if (Math.floor(maxHoldMs) !== maxHoldMs) return false;
  let sum = slots[at]!;
  let lost = slots[at + 1]!;
  let spilt = 0;
  let beforeMs = 0;
  const end = isLinear ? to + 1 : to;
  for (let i = from; i < end; i++) {
    const t = i < to ? timeMs[i]! : lastMs;
    const gapMs = t - lastMs;
    const lengthMs = gapMs > maxGapMs ? 0 : gapMs < maxHoldMs ? gapMs : maxHoldMs;
    const weightMs = beforeMs + lengthMs;
    if (!(weightMs < WHOLE_END && Math.floor(t) === t)) return false;
    const product = lastValue * weightMs;
    const scaled = SPLIT * lastValue;
    const high = scaled - (scaled - lastValue);
    const error = high * weightMs - product + (lastValue - high) * weightMs;
    const next = sum + product;
    const loss = lossOf(sum, product, next);
    sum = next;
    const lostOnce = lost + loss;
    spilt += Math.abs(lossOf(lost, loss, lostOnce));
    lost = lostOnce + error;
    spilt += Math.abs(lossOf(lostOnce, error, lost));
    knownMs += weightMs;
    if (isLinear) beforeMs = lengthMs;
    lastMs = t;
    lastValue = value[i]!;
  }
  if (spilt !== 0) return false;
  slots[lastAt] = timeMs[to - 1]!;
  slots[lastAt + 1] = value[to - 1]!;
  slots[at] = sum;
  slots[at + 1] = lost;
  slots[at + SUM_SLOTS] = knownMs;
  return true;
}
