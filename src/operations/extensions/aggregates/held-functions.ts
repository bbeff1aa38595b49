import { type ExactSum, sumOf, sumOfLength } from '../../../kernels/exact/results.js';
import { SUM_SLOTS, tidySum } from '../../../kernels/exact/sums.js';
import type { Accumulator, Held } from '../../aggregate-functions.js';
import { addHeld, type HeldFunction } from '../../time-weighted-average.js';
import type { MovingFunction } from './moving-functions.js';

/** The functions of how long values were held, over windows that are none of an interval. */

// Slots: the last sample, which stays from window to window.
const HAS_LAST = 0;
const LAST_MS = 1;
const LAST_VALUE = 2;
const KEPT = 3;

const START_MS = 3; // of the window
const SUMS = 4; // Σ(value·length), and Σ(length)

function isKnown(lengths: ExactSum): boolean {
  return sumOf(...lengths) > 0;
}

/** Over the time from the start of a window to its last sample. */
export function heldSoFar({ words, weigh, result }: HeldFunction, maxHoldMs: number): Accumulator {
  return {
    slotCount: SUMS + 2 * SUM_SLOTS,
    keptSlotCount: KEPT,
    listCount: 2,
    sampleCountMin: 1,
    words,
    open: ({ slots }, at, startMs) => {
      slots[at + START_MS] = startMs;
    },
    add: ({ slots, lists }, at, { timeMs, value }, from, to) => {
      for (let i = from; i < to; i++) {
        const t = timeMs[i]!;
        if (slots[at + HAS_LAST] === 1) {
          const lastMs = slots[at + LAST_MS]!;
          const fromMs = Math.max(lastMs, slots[at + START_MS]!);
          const untilMs = Math.min(t, lastMs + maxHoldMs);
          addHeld(slots, at + SUMS, lists[0]!, lists[1]!, slots[at + LAST_VALUE]!, fromMs, untilMs, 1);
        }
        slots[at + HAS_LAST] = 1;
        slots[at + LAST_MS] = t;
        slots[at + LAST_VALUE] = weigh === undefined ? value[i]! : weigh(value[i]!);
      }
    },
    result: ({ slots, lists }, at) => {
      const lengths: ExactSum = [slots, at + SUMS + SUM_SLOTS, lists[1]!];
      if (!isKnown(lengths)) return undefined;
      const window = sumOfLength(slots[at + START_MS]!, slots[at + LAST_MS]!);
      return result([slots, at + SUMS, lists[0]!], lengths, window);
    },
  };
}

// Slots of a window that moves on: the last sample before it, the last sample, and the sums over the time between the
// samples in it. What lies before its first sample and after its last is added for a result alone.
const HAS_BEFORE = 0;
const BEFORE_MS = 1;
const BEFORE_VALUE = 2;
const NEWEST_MS = 3;
const NEWEST_VALUE = 4;
const MOVING_SUMS = 5;

/** Over windows that move on. */
export function heldMoving({ words, weigh, result }: HeldFunction, maxHoldMs: number): MovingFunction {
  const held = (x: number): number => (weigh === undefined ? x : weigh(x));

  function addPart(
    state: Held,
    at: number,
    sampleMs: number,
    x: number,
    fromMs: number,
    untilMs: number,
    sign: 1 | -1,
  ) {
    const endMs = Math.min(untilMs, sampleMs + maxHoldMs);
    const { slots, lists } = state;
    addHeld(slots, at + MOVING_SUMS, lists[0]!, lists[1]!, x, Math.max(sampleMs, fromMs), endMs, sign);
  }

  // The parts of a window outside of its samples.
  function addEnds(state: Held, at: number, firstMs: number, startMs: number, endMs: number, sign: 1 | -1): void {
    const { slots } = state;
    const beforeMs = slots[at + BEFORE_MS]!;
    if (slots[at + HAS_BEFORE] === 1) addPart(state, at, beforeMs, slots[at + BEFORE_VALUE]!, startMs, firstMs, sign);
    if (firstMs === endMs) return;
    addPart(state, at, slots[at + NEWEST_MS]!, slots[at + NEWEST_VALUE]!, startMs, endMs, sign);
  }

  return {
    slotCount: MOVING_SUMS + 2 * SUM_SLOTS,
    keptSlotCount: MOVING_SUMS,
    listCount: 2,
    sampleCountMin: 0,
    words,
    add: (state, at, { timeMs, value }, from, to, countBefore) => {
      const { slots } = state;
      for (let i = from; i < to; i++) {
        const newestMs = slots[at + NEWEST_MS]!;
        if (countBefore > 0 || i > from) {
          addPart(state, at, newestMs, slots[at + NEWEST_VALUE]!, newestMs, timeMs[i]!, 1);
        }
        slots[at + NEWEST_MS] = timeMs[i]!;
        slots[at + NEWEST_VALUE] = held(value[i]!);
      }
    },
    remove: (state, at, { times, values }) => {
      const { slots } = state;
      const x = held(values.at(0));
      slots[at + HAS_BEFORE] = 1;
      slots[at + BEFORE_MS] = times.at(0);
      slots[at + BEFORE_VALUE] = x;
      if (times.length === 1) return;
      addPart(state, at, times.at(0), x, times.at(0), times.at(1), -1);
      for (const sum of sumsOf(state, at)) tidySum(...sum);
    },
    result: (state, at, count, { times }, startMs, endMs) => {
      const [sum, known] = sumsOf(state, at);
      const firstMs = count === 0 ? endMs : times.at(0);
      addEnds(state, at, firstMs, startMs, endMs, 1);
      const value = isKnown(known) ? result(sum, known, sumOfLength(startMs, endMs)) : undefined;
      addEnds(state, at, firstMs, startMs, endMs, -1);
      tidySum(...sum);
      tidySum(...known);
      return value;
    },
    heldUntilMs: ({ slots }, at) => slots[at + BEFORE_MS]! + maxHoldMs,
  };
}

function sumsOf({ slots, lists }: Held, at: number): readonly [products: ExactSum, lengths: ExactSum] {
  return [
    [slots, at + MOVING_SUMS, lists[0]!],
    [slots, at + MOVING_SUMS + SUM_SLOTS, lists[1]!],
  ];
}
