import {
  type ExactSum,
  type Line,
  lineMeanOf,
  sumOf,
  sumOfLength,
  weightedMeanOf,
} from '../../../kernels/exact/results.js';
import { SUM_SLOTS, tidySum } from '../../../kernels/exact/sums.js';
import type { Accumulator, Held } from '../../aggregate-functions.js';
import { addHeld, type Holding, isBetween, type Mean } from '../../time-weighted-average.js';
import type { MovingFunction } from './moving-functions.js';

/**
 * The functions of how long values were held, over windows that are none of an interval; and over any, where only what
 * lies between two samples counts.
 *
 * Along lines sums are of twice their area and twice their length, as a line has the mean of its ends. Where a window
 * cuts one, its area there is a fraction, and is added for the result alone.
 */

/** Where sums of a state are. */
interface Sums {
  readonly products: ExactSum;
  readonly lengths: ExactSum;
}

function sumsAt({ slots, lists }: Held, at: number): Sums {
  return { products: [slots, at, lists[0]!], lengths: [slots, at + SUM_SLOTS, lists[1]!] };
}

/** How long the value of one sample counts, when the next is at `nextMs`: Infinity where that is not known. */
function endOf(holding: Holding, sampleMs: number, nextMs: number): number {
  const isUnknown = nextMs === Number.POSITIVE_INFINITY || nextMs - sampleMs > holding.maxGapMs;
  return isUnknown && isBetween(holding) ? sampleMs : Math.min(nextMs, sampleMs + holding.maxHoldMs);
}

/** Adds what lies between two samples, within bounds, or takes it away; gives the line where these cut it. */
function addBetween(
  holding: Holding,
  { products, lengths }: Sums,
  [sampleMs, x, nextMs, next]: readonly [sampleMs: number, x: number, nextMs: number, next: number],
  startMs: number,
  endMs: number,
  sign: 1 | -1,
): Line | undefined {
  const [slots, at, productList] = products;
  const [, , lengthList] = lengths;
  const fromMs = Math.max(sampleMs, startMs);
  const untilMs = Math.min(endOf(holding, sampleMs, nextMs), endMs);
  if (!(fromMs < untilMs)) return undefined;
  const isCut = holding.isLinear && (fromMs > sampleMs || untilMs < nextMs);
  addHeld(slots, at, productList, lengthList, isCut ? 0 : x, fromMs, untilMs, sign);
  if (holding.isLinear) addHeld(slots, at, productList, lengthList, isCut ? 0 : next, fromMs, untilMs, sign);
  return isCut ? { fromMs, untilMs, sampleMs, x, nextMs, next } : undefined;
}

function resultOf({ held, isLinear }: Holding, { products, lengths }: Sums, window: ExactSum, cut: readonly Line[]) {
  if (!(sumOf(...lengths) > 0)) return undefined;
  const mean: Mean = (sum, divisor) => lineMeanOf(sum, cut, divisor === lengths ? divisor : doubled(divisor));
  return held.result(products, lengths, window, isLinear ? mean : weightedMeanOf);
}

function doubled([slots, at, wide]: ExactSum): ExactSum {
  return [slots.subarray(at, at + SUM_SLOTS).map((x) => 2 * x), 0, wide];
}

// Slots: the last sample, which stays from window to window.
const HAS_LAST = 0;
const LAST_MS = 1;
const LAST_VALUE = 2;
const KEPT = 3;

const START_MS = 3; // of the window
const HAS_CUT = 4; // a line that its start cuts
const CUT = 5;
const SUMS = 9; // Σ(value·length), and Σ(length)

/** Over the time from the start of a window to its last sample. */
export function heldSoFar(holding: Holding): Accumulator {
  const { words, weigh } = holding.held;
  return {
    slotCount: SUMS + 2 * SUM_SLOTS,
    keptSlotCount: KEPT,
    listCount: 2,
    sampleCountMin: 1,
    words,
    open: ({ slots }, at, startMs) => {
      slots[at + START_MS] = startMs;
    },
    add: (state, at, { timeMs, value }, from, to) => {
      const { slots } = state;
      const sums = sumsAt(state, at + SUMS);
      for (let i = from; i < to; i++) {
        const t = timeMs[i]!;
        const x = weigh === undefined ? value[i]! : weigh(value[i]!);
        if (slots[at + HAS_LAST] === 1) {
          const pair = [slots[at + LAST_MS]!, slots[at + LAST_VALUE]!, t, x] as const;
          const cut = addBetween(holding, sums, pair, slots[at + START_MS]!, t, 1);
          if (cut !== undefined) {
            slots[at + HAS_CUT] = 1;
            slots.set(pair, at + CUT);
          }
        }
        slots[at + HAS_LAST] = 1;
        slots[at + LAST_MS] = t;
        slots[at + LAST_VALUE] = x;
      }
    },
    result: (state, at) => {
      const { slots } = state;
      const fromMs = slots[at + START_MS]!;
      const [sampleMs = 0, x = 0, nextMs = 0, next = 0] = slots.subarray(at + CUT, at + SUMS);
      const cut = slots[at + HAS_CUT] === 1 ? [{ fromMs, untilMs: nextMs, sampleMs, x, nextMs, next }] : [];
      return resultOf(holding, sumsAt(state, at + SUMS), sumOfLength(fromMs, slots[at + LAST_MS]!), cut);
    },
  };
}

// Slots of a window that moves on: the last sample before it, its newest, the one that comes next (Infinity where that
// is not known), and the sums over the time between the samples in it. What lies before its first sample and after its
// newest is added for a result alone.
const HAS_BEFORE = 0;
const BEFORE_MS = 1;
const BEFORE_VALUE = 2;
const NEWEST_MS = 3;
const NEWEST_VALUE = 4;
const NEXT_MS = 5;
const NEXT_VALUE = 6;
const MOVING_SUMS = 7;

/** Over windows that move on. */
export function heldMoving(holding: Holding): MovingFunction {
  const { words, weigh } = holding.held;
  const held = (x: number): number => (weigh === undefined ? x : weigh(x));
  const everMs = Number.POSITIVE_INFINITY;
  return {
    slotCount: MOVING_SUMS + 2 * SUM_SLOTS,
    keptSlotCount: MOVING_SUMS,
    listCount: 2,
    sampleCountMin: 0,
    words,
    add: (state, at, { timeMs, value }, from, to, countBefore) => {
      const { slots } = state;
      const sums = sumsAt(state, at + MOVING_SUMS);
      for (let i = from; i < to; i++) {
        const pair = [slots[at + NEWEST_MS]!, slots[at + NEWEST_VALUE]!, timeMs[i]!, held(value[i]!)] as const;
        if (countBefore > 0 || i > from) addBetween(holding, sums, pair, -everMs, everMs, 1);
        slots[at + NEWEST_MS] = pair[2];
        slots[at + NEWEST_VALUE] = pair[3];
      }
    },
    remove: (state, at, { times, values }) => {
      const { slots } = state;
      const x = held(values.at(0));
      slots[at + HAS_BEFORE] = 1;
      slots[at + BEFORE_MS] = times.at(0);
      slots[at + BEFORE_VALUE] = x;
      if (times.length === 1) return;
      const sums = sumsAt(state, at + MOVING_SUMS);
      addBetween(holding, sums, [times.at(0), x, times.at(1), held(values.at(1))], -everMs, everMs, -1);
      tidySum(...sums.products);
      tidySum(...sums.lengths);
    },
    result: (state, at, count, { times, values }, startMs, endMs) => {
      const { slots } = state;
      const sums = sumsAt(state, at + MOVING_SUMS);
      const coming = [slots[at + NEXT_MS]!, slots[at + NEXT_VALUE]!] as const;
      const before = [slots[at + BEFORE_MS]!, slots[at + BEFORE_VALUE]!] as const;
      const newest = [slots[at + NEWEST_MS]!, slots[at + NEWEST_VALUE]!] as const;
      const first = count === 0 ? coming : ([times.at(0), held(values.at(0))] as const);
      const ends = [
        ...(slots[at + HAS_BEFORE] === 1 ? [[...before, ...first] as const] : []),
        ...(count === 0 ? [] : [[...newest, ...coming] as const]),
      ];
      const cut = ends.flatMap((pair) => addBetween(holding, sums, pair, startMs, endMs, 1) ?? []);
      const result = resultOf(holding, sums, sumOfLength(startMs, endMs), cut);
      for (const pair of ends) addBetween(holding, sums, pair, startMs, endMs, -1);
      tidySum(...sums.products);
      tidySum(...sums.lengths);
      return result;
    },
    coming: ({ slots }, at, timeMs, value) => {
      slots[at + NEXT_MS] = timeMs;
      slots[at + NEXT_VALUE] = held(value);
    },
    heldUntilMs: ({ slots }, at) => endOf(holding, slots[at + BEFORE_MS]!, slots[at + NEXT_MS]!),
    openUntilMs: ({ slots }, at) => (isBetween(holding) ? slots[at + NEWEST_MS]! + holding.maxGapMs : -everMs),
  };
}
