import type { DoubleList } from '../core/list.js';
import { slopeOf, sumOf, weightedMeanOf } from '../kernels/exact/results.js';
import { addProduct, addTo, lossOf, SUM_SLOTS } from '../kernels/exact/sums.js';
import type { Accumulator, FunctionSettings } from './aggregate-functions.js';

/** Aggregate functions that the interface does not have; see docs/semantics.md. */

// Slots that stay from window to window: the last sample before the open one.
const HAS_LAST = 0;
const LAST_VALUE = 1;
const LAST_MS = 2;
const KEPT = 3;
// Then: from when on the increase counts, and two exact sums, of increases and of their time.
const SINCE_MS = KEPT;
const INCREASE = KEPT + 1;
const SPAN = INCREASE + SUM_SLOTS;

/** How much a counter has risen since the last sample before the window, or that by the time this took. */
function increase(isRate: boolean, { max, unitMs }: FunctionSettings): Accumulator {
  return {
    slotCount: SPAN + SUM_SLOTS,
    listCount: 2,
    keptSlotCount: KEPT,
    sampleCountMin: 1,
    words: isRate ? 'the rate of increase' : 'the increase',
    add: ({ slots, lists }, at, { timeMs, value }, from, to, countBefore) => {
      if (countBefore === 0) slots[at + SINCE_MS] = slots[at + HAS_LAST] === 1 ? slots[at + LAST_MS]! : timeMs[from]!;
      for (let i = from; i < to; i++) {
        const x = value[i]!;
        if (slots[at + HAS_LAST] === 1) {
          const last = slots[at + LAST_VALUE]!;
          // A counter that has fallen began again at 0, if it has a greatest value after reaching that.
          if (x >= last || max !== undefined) addTo(slots, at + INCREASE, lists[0]!, -last);
          if (x < last && max !== undefined) addTo(slots, at + INCREASE, lists[0]!, max);
          addTo(slots, at + INCREASE, lists[0]!, x);
        }
        slots[at + HAS_LAST] = 1;
        slots[at + LAST_VALUE] = x;
        slots[at + LAST_MS] = timeMs[i]!;
      }
    },
    result: ({ slots, lists }, at) => {
      if (!isRate) return sumOf(slots, at + INCREASE, lists[0]!);
      const spanMs = slots[at + LAST_MS]! - slots[at + SINCE_MS]!;
      if (spanMs === 0) return undefined;
      addTo(slots, at + SPAN, lists[1]!, spanMs);
      addTo(slots, at + SPAN, lists[1]!, lossOf(slots[at + LAST_MS]!, -slots[at + SINCE_MS]!, spanMs));
      return weightedMeanOf([slots, at + INCREASE, lists[0]!], [slots, at + SPAN, lists[1]!], unitMs);
    },
  };
}

/** How often the value has entered or left a range, since the last sample before the window. */
function transitions({ lower, upper }: FunctionSettings): Accumulator {
  return {
    slotCount: 3,
    listCount: 0,
    keptSlotCount: 2,
    sampleCountMin: 1,
    words: 'the number of changes of state',
    add: ({ slots }, at, { value }, from, to) => {
      for (let i = from; i < to; i++) {
        const isIn = value[i]! >= lower && value[i]! <= upper ? 1 : 0;
        if (slots[at] === 1 && slots[at + 1] !== isIn) slots[at + 2] = slots[at + 2]! + 1;
        slots[at] = 1;
        slots[at + 1] = isIn;
      }
    },
    result: ({ slots }, at) => slots[at + 2]!,
  };
}

/** The time of the first least or greatest value, in epoch milliseconds. */
function timeOf(isLeast: boolean): Accumulator {
  return {
    slotCount: 2,
    listCount: 0,
    sampleCountMin: 1,
    words: isLeast ? 'the time of the least value' : 'the time of the greatest value',
    add: ({ slots }, at, { timeMs, value }, from, to, countBefore) => {
      for (let i = from; i < to; i++) {
        const isFirst = countBefore === 0 && i === from;
        if (!isFirst && !(isLeast ? value[i]! < slots[at]! : value[i]! > slots[at]!)) continue;
        slots[at] = value[i]!;
        slots[at + 1] = timeMs[i]!;
      }
    },
    result: ({ slots }, at) => slots[at + 1]!,
  };
}

/** A function of the values in rising order; 0 and −0 are one value. */
function ofSorted(words: string, result: (sorted: Float64Array) => number): Accumulator {
  return {
    slotCount: 0,
    listCount: 1,
    sampleCountMin: 1,
    words,
    keeps: 'every value of the open window',
    add: ({ lists }, _at, { value }, from, to) => lists[0]!.append(value, from, to),
    result: ({ lists }) => result(sortedOf(lists[0]!)),
  };
}

function sortedOf(list: DoubleList): Float64Array {
  return list.view().slice().sort();
}

function distinctCountOf(sorted: Float64Array): number {
  let count = 0;
  for (let i = 0; i < sorted.length; i++) if (i === 0 || sorted[i] !== sorted[i - 1]) count++;
  return count;
}

// Of values that are equally frequent, the least.
function modeOf(sorted: Float64Array): number {
  let mode = sorted[0]!;
  let most = 0;
  for (let from = 0, i = 1; i <= sorted.length; i++) {
    if (i < sorted.length && sorted[i] === sorted[from]) continue;
    if (i - from > most) {
      most = i - from;
      mode = sorted[from]!;
    }
    from = i;
  }
  return mode;
}

// Sums over times t since the first sample of the window and values x: t, x, t·t, t·x.
const TIMES = 1;
const VALUES = TIMES + SUM_SLOTS;
const SQUARES = VALUES + SUM_SLOTS;
const PRODUCTS = SQUARES + SUM_SLOTS;

/** The slope of the line with the least squares. */
function slope({ unitMs }: FunctionSettings): Accumulator {
  return {
    slotCount: PRODUCTS + SUM_SLOTS,
    listCount: 4,
    sampleCountMin: 2,
    words: 'the slope',
    add: ({ slots, lists }, at, { timeMs, value }, from, to, countBefore) => {
      const [times, values, squares, products] = lists as readonly [DoubleList, DoubleList, DoubleList, DoubleList];
      if (countBefore === 0) slots[at] = timeMs[from]!;
      const originMs = slots[at]!;
      for (let i = from; i < to; i++) {
        const t = timeMs[i]! - originMs;
        const x = value[i]!;
        addTo(slots, at + VALUES, values, x);
        // Times need not be whole milliseconds, so their difference may be rounded.
        const cut = lossOf(timeMs[i]!, -originMs, t);
        for (const part of cut === 0 ? [t] : [t, cut]) {
          addTo(slots, at + TIMES, times, part);
          addProduct(slots, at + PRODUCTS, products, part, x);
          addProduct(slots, at + SQUARES, squares, part, t);
          addProduct(slots, at + SQUARES, squares, part, cut);
        }
      }
    },
    result: ({ slots, lists }, at, count) =>
      slopeOf(
        [slots, at + TIMES, lists[0]!],
        [slots, at + VALUES, lists[1]!],
        [slots, at + SQUARES, lists[2]!],
        [slots, at + PRODUCTS, lists[3]!],
        count,
        unitMs,
      ),
  };
}

export const moreFunctions: readonly (readonly [string, (settings: FunctionSettings) => Accumulator])[] = [
  ['Mode', () => ofSorted('the most frequent value', modeOf)],
  ['DistinctCount', () => ofSorted('the number of different values', distinctCountOf)],
  ['Increase', (settings) => increase(false, settings)],
  ['Rate', (settings) => increase(true, settings)],
  ['Slope', slope],
  ['TimeOfMin', () => timeOf(true)],
  ['TimeOfMax', () => timeOf(false)],
  ['Transitions', transitions],
];
