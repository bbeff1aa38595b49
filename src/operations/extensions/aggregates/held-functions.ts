import { DoubleList } from '../../../core/list.js';
import {
  type ExactSum,
  type Line,
  lineMeanOf,
  sumOf,
  sumOfLength,
  weightedMeanOf,
} from '../../../kernels/exact/results.js';
import { SUM_SLOTS, tidySum } from '../../../kernels/exact/sums.js';
import type { Accumulator } from '../../aggregate/functions.js';
import { addHeld, type Holding, holdWhole, isBetween, type Mean } from '../../aggregate/held-values.js';
import type { State } from '../../operation.js';
import type { MovingFunction } from './moving-functions.js';

/**
 * The time-weighted functions over windows other than those of an interval, and over any windows if only the time
 * between two samples counts (`isBetween`).
 *
 * With lines, the sums hold twice the area and twice the length, as the mean of a line is half the sum of its ends. If
 * a window cuts a line, the area of the part is a fraction, which is added only while the result is computed.
 */

/** The sums of a state. */
interface Sums {
  readonly products: ExactSum;
  readonly lengths: ExactSum;
}

function sumsAt({ slots, lists }: State, at: number): Sums {
  return { products: [slots, at, lists[0]!], lengths: [slots, at + SUM_SLOTS, lists[1]!] };
}

/** Until when the value of a sample counts, if the next sample is at `nextMs` (Infinity if that is not known). */
function endOf(holding: Holding, sampleMs: number, nextMs: number): number {
  const isUnknown = nextMs === Number.POSITIVE_INFINITY || nextMs - sampleMs > holding.maxGapMs;
  return isUnknown && isBetween(holding) ? sampleMs : Math.min(nextMs, sampleMs + holding.maxHoldMs);
}

/** Adds (or with −1 subtracts) what lies between two samples, within bounds. Returns the line if the bounds cut it. */
function addBetween(
  holding: Holding,
  { products, lengths }: Sums,
  sampleMs: number,
  x: number,
  nextMs: number,
  next: number,
  sign: 1 | -1,
  startMs = Number.NEGATIVE_INFINITY,
  endMs = Number.POSITIVE_INFINITY,
): [Line] | undefined {
  const [slots, at, productList] = products;
  const [, , lengthList] = lengths;
  const { isLinear } = holding;
  const fromMs = Math.max(sampleMs, startMs);
  const untilMs = Math.min(endOf(holding, sampleMs, nextMs), endMs);
  if (!(fromMs < untilMs)) return undefined;
  const isCut = isLinear && (fromMs > sampleMs || untilMs < nextMs);
  addHeld(slots, at, productList, lengthList, isCut ? 0 : x, fromMs, untilMs, sign);
  if (isLinear) addHeld(slots, at, productList, lengthList, isCut ? 0 : next, fromMs, untilMs, sign);
  return isCut ? [[fromMs, untilMs, sampleMs, nextMs, x, next]] : undefined;
}

function tidy({ products, lengths }: Sums): void {
  tidySum(...products);
  tidySum(...lengths);
}

function resultOf({ held, isLinear }: Holding, { products, lengths }: Sums, window: ExactSum, cut: readonly Line[]) {
  if (!(sumOf(...lengths) > 0)) return undefined;
  const mean: Mean = (sum, divisor) => lineMeanOf(sum, cut, divisor, divisor === lengths ? 1 : 0.5);
  return held.result(products, lengths, window, isLinear ? mean : weightedMeanOf);
}

// Slots: the last sample before the window, the newest in it, the next after it (Infinity if that is not known), the
// first in it, its start, and the sums over the time between the samples in it. What lies before its first sample and
// after its newest is added only while a result is computed.
const BEFORE = 0; // whether there is such a sample, its time and its value
const NEWEST = 3;
const NEXT_MS = 6;
const NEXT_VALUE = 7;
const KEPT = 8;
const FIRST_MS = 8;
const FIRST_VALUE = 9;
const START_MS = 10;
const SUMS = 11;

/** The function over sliding windows. */
export function heldMoving(holding: Holding): MovingFunction {
  const { weigh } = holding.held;
  const held = (x: number): number => (weigh === undefined ? x : weigh(x));
  return {
    slotCount: SUMS + 2 * SUM_SLOTS,
    keptSlotCount: KEPT,
    listCount: 2,
    sampleCountMin: 0,
    add: (state, at, chunk, from, to, countBefore) => {
      const { slots } = state;
      const { timeMs, value } = chunk;
      let i = from;
      slots[at + NEWEST] = 1;
      if (countBefore === 0) {
        slots[at + FIRST_MS] = slots[at + NEWEST + 1] = timeMs[i]!;
        slots[at + FIRST_VALUE] = slots[at + NEWEST + 2] = held(value[i]!);
        i++;
      }
      if (holdWhole(state, at + NEWEST + 1, at + SUMS, chunk, i, to, holding)) return;
      const sums = sumsAt(state, at + SUMS);
      for (; i < to; i++) {
        const t = timeMs[i]!;
        const x = held(value[i]!);
        addBetween(holding, sums, slots[at + NEWEST + 1]!, slots[at + NEWEST + 2]!, t, x, 1);
        slots[at + NEWEST + 1] = t;
        slots[at + NEWEST + 2] = x;
      }
    },
    remove: (state, at, { times, values }) => {
      const { slots } = state;
      slots.set([1, times.at(0), held(values.at(0))], at + BEFORE);
      if (times.length === 1) return;
      const t = times.at(1);
      const x = held(values.at(1));
      slots[at + FIRST_MS] = t;
      slots[at + FIRST_VALUE] = x;
      const sums = sumsAt(state, at + SUMS);
      addBetween(holding, sums, times.at(0), held(values.at(0)), t, x, -1);
      tidy(sums);
    },
    result: (state, at, count, _samples, startMs, endMs) => {
      const { slots } = state;
      const sums = sumsAt(state, at + SUMS);
      // From the last sample before the window to the first in it (or, without one, to the next after it), and from the
      // newest in it to the next after it.
      const addEnd = (from: number, to: number, sign: 1 | -1): Line[] => {
        if (slots[at + from] === 0) return [];
        const [sampleMs, x] = [slots[at + from + 1]!, slots[at + from + 2]!];
        const [nextMs, next] = [slots[at + to]!, slots[at + to + 1]!];
        return addBetween(holding, sums, sampleMs, x, nextMs, next, sign, startMs, endMs) ?? [];
      };
      const addEnds = (sign: 1 | -1): Line[] => [
        ...addEnd(BEFORE, count === 0 ? NEXT_MS : FIRST_MS, sign),
        ...(count === 0 ? [] : addEnd(NEWEST, NEXT_MS, sign)),
      ];
      const result = resultOf(holding, sums, sumOfLength(startMs, endMs), addEnds(1));
      addEnds(-1);
      tidy(sums);
      return result;
    },
    setNext: ({ slots }, at, timeMs, value) => {
      slots[at + NEXT_MS] = timeMs;
      slots[at + NEXT_VALUE] = held(value);
    },
    heldUntilMs: ({ slots }, at) => endOf(holding, slots[at + BEFORE + 1]!, slots[at + NEXT_MS]!),
    openUntilMs: ({ slots }, at) =>
      isBetween(holding) ? slots[at + NEWEST + 1]! + holding.maxGapMs : Number.NEGATIVE_INFINITY,
  };
}

/** The function over the time from the start of a window to its last sample. */
export function heldSoFar(holding: Holding): Accumulator {
  const moving = heldMoving(holding);
  return {
    ...moving,
    open: ({ slots }, at, startMs) => {
      slots.copyWithin(at + BEFORE, at + NEWEST, at + NEWEST + 3);
      slots[at + START_MS] = startMs;
    },
    result: (state, at, count) => {
      const { slots } = state;
      return moving.result(state, at, count, NO_SAMPLES, slots[at + START_MS]!, slots[at + NEWEST + 1]!);
    },
  };
}

const NO_SAMPLES = { times: new DoubleList(), values: new DoubleList(), seconds: new DoubleList() };
