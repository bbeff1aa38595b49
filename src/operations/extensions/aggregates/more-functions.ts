import type { DoubleList } from '../../../core/list.js';
import { slopeOf, sumOf, sumOfLength, weightedMeanOf } from '../../../kernels/exact/results.js';
import { addSquares } from '../../../kernels/exact/squares.js';
import { addAll, addProduct, addTo, lossOf, SUM_SLOTS, tidySum } from '../../../kernels/exact/sums.js';
import { type Accumulator, type Functions, ofValues } from '../../aggregate/functions.js';
import type { HeldFunction } from '../../aggregate/held-values.js';
import { durationMsIn, numberOr, type Parameters } from '../../parameters.js';

/** The aggregate functions that extend the interface; see docs/semantics.md. */

/** Their names, with those of `heldFunctions`, in the order in which docs list them. */
export const moreFunctionNames = [
  'Mode',
  'DistinctCount',
  'Increase',
  'Rate',
  'Slope',
  'TimeOfMin',
  'TimeOfMax',
  'Integral',
  'Coverage',
  'TimeInState',
  'Transitions',
] as const;

function unitMsIn(parameters: Parameters): number {
  return durationMsIn(parameters, 'unit') ?? 3_600_000;
}

/** Whether a value is in the state from `lower` to `upper`, both included. */
function stateIn(parameters: Parameters): (value: number) => boolean {
  const lower = numberOr(parameters, 'lower', Number.NEGATIVE_INFINITY);
  const upper = numberOr(parameters, 'upper', Number.POSITIVE_INFINITY);
  return (value) => value >= lower && value <= upper;
}

// Slots kept from window to window: the last sample, and the last one before the open window.
const HAS_LAST = 0;
const LAST_VALUE = 1;
const LAST_MS = 2;
const HAS_BEFORE = 3;
const BEFORE_VALUE = 4;
const KEPT = 5;
// Then: the time from which the increase counts, and its exact sum.
const SINCE_MS = KEPT;
const INCREASE = KEPT + 1;

/**
 * How much a counter has risen since the last sample before the window or, as a rate, that divided by the time it took.
 * A counter that falls has restarted at 0, after reaching `max` if that is given.
 */
function increase(isRate: boolean, parameters: Parameters): Accumulator {
  const max = numberOr(parameters, 'max', undefined);
  const unitMs = unitMsIn(parameters);
  return {
    slotCount: INCREASE + SUM_SLOTS,
    listCount: 1,
    keptSlotCount: KEPT,
    sampleCountMin: 1,
    add: ({ slots, lists }, at, { timeMs, value }, from, to, countBefore) => {
      if (countBefore === 0) {
        slots[at + SINCE_MS] = slots[at + HAS_LAST] === 1 ? slots[at + LAST_MS]! : timeMs[from]!;
        slots[at + HAS_BEFORE] = slots[at + HAS_LAST]!;
        slots[at + BEFORE_VALUE] = slots[at + LAST_VALUE]!;
      }
      // Steps without a fall add up to the last value minus the first.
      let last = slots[at + HAS_LAST] === 1 ? slots[at + LAST_VALUE]! : value[from]!;
      const wide = lists[0]!;
      addTo(slots, at + INCREASE, wide, -last);
      for (let i = from; i < to; i++) {
        const x = value[i]!;
        if (x < last) addTo(slots, at + INCREASE, wide, max ?? last);
        last = x;
      }
      addTo(slots, at + INCREASE, wide, last);
      slots[at + HAS_LAST] = 1;
      slots[at + LAST_VALUE] = last;
      slots[at + LAST_MS] = timeMs[to - 1]!;
    },
    remove: ({ slots, lists }, at, { times, values }) => {
      const x = values.at(0);
      if (slots[at + HAS_BEFORE] === 1) {
        const before = slots[at + BEFORE_VALUE]!;
        addTo(slots, at + INCREASE, lists[0]!, before);
        if (x < before) addTo(slots, at + INCREASE, lists[0]!, -(max ?? before));
        addTo(slots, at + INCREASE, lists[0]!, -x);
      }
      slots[at + HAS_BEFORE] = 1;
      slots[at + BEFORE_VALUE] = x;
      slots[at + SINCE_MS] = times.at(0);
      tidySum(slots, at + INCREASE, lists[0]!);
    },
    result: ({ slots, lists }, at) => {
      if (!isRate) return sumOf(slots, at + INCREASE, lists[0]!);
      if (slots[at + LAST_MS] === slots[at + SINCE_MS]) return undefined;
      const span = sumOfLength(slots[at + SINCE_MS]!, slots[at + LAST_MS]!);
      return weightedMeanOf([slots, at + INCREASE, lists[0]!], span, unitMs);
    },
  };
}

/** How often the value has entered or left a range, since the last sample before the window. */
function transitions(parameters: Parameters): Accumulator {
  const isInState = stateIn(parameters);
  const stateOf = (x: number): number => (isInState(x) ? IN : OUT);
  return {
    slotCount: 3,
    listCount: 0,
    keptSlotCount: 2,
    sampleCountMin: 1,
    // Slots: the last state, the last one before the window, and the number of changes.
    add: ({ slots }, at, { value }, from, to, countBefore) => {
      if (countBefore === 0) slots[at + 1] = slots[at]!;
      for (let i = from; i < to; i++) {
        const state = stateOf(value[i]!);
        if (slots[at] !== UNKNOWN && slots[at] !== state) slots[at + 2]!++;
        slots[at] = state;
      }
    },
    remove: ({ slots }, at, { values }) => {
      const state = stateOf(values.at(0));
      if (slots[at + 1] !== UNKNOWN && slots[at + 1] !== state) slots[at + 2]!--;
      slots[at + 1] = state;
    },
    result: ({ slots }, at) => slots[at + 2]!,
  };
}

const UNKNOWN = 0;
const IN = 1;
const OUT = 2;

/** The time of the first least or greatest value, in epoch milliseconds. */
function timeOf(isLeast: boolean): Accumulator {
  return {
    slotCount: 2,
    listCount: 0,
    sampleCountMin: 1,
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
function ofSorted(result: (sorted: Float64Array) => number): Accumulator {
  return ofValues((values) => result(values.sort()));
}

function distinctCountOf(sorted: Float64Array): number {
  let count = 0;
  for (let i = 0; i < sorted.length; i++) if (i === 0 || sorted[i] !== sorted[i - 1]) count++;
  return count;
}

// Among equally frequent values, the least.
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

// Sums of t, x, t·t and t·x, for times t since the first sample of the window and values x.
const TIMES = 1;
const VALUES = TIMES + SUM_SLOTS;
const SQUARES = VALUES + SUM_SLOTS;
const PRODUCTS = SQUARES + SUM_SLOTS;

/** The slope of the least-squares line. */
function slope(parameters: Parameters): Accumulator {
  const unitMs = unitMsIn(parameters);
  return {
    slotCount: PRODUCTS + SUM_SLOTS,
    listCount: 4,
    sampleCountMin: 2,
    add: ({ slots, lists }, at, { timeMs, value }, from, to, countBefore) => {
      if (countBefore === 0) slots[at] = timeMs[from]!;
      const since = new Float64Array(to - from);
      let cut = 0;
      for (let i = from; i < to; i++) {
        since[i - from] = timeMs[i]! - slots[at]!;
        cut += Math.abs(lossOf(timeMs[i]!, -slots[at]!, since[i - from]!));
      }
      if (cut !== 0) for (let i = from; i < to; i++) addPoint(slots, at, lists, timeMs[i]!, value[i]!, 1);
      else {
        addAll(slots, at + VALUES, lists[1]!, value, from, to);
        addAll(slots, at + TIMES, lists[0]!, since, 0, to - from);
        addSquares(slots, at + SQUARES, lists[2]!, since, 0, to - from);
        for (let i = from; i < to; i++) addProduct(slots, at + PRODUCTS, lists[3]!, since[i - from]!, value[i]!);
      }
    },
    remove: ({ slots, lists }, at, { times, values }) => {
      addPoint(slots, at, lists, times.at(0), values.at(0), -1);
      for (const [index, list] of lists.slice(0, 4).entries()) tidySum(slots, at + TIMES + index * SUM_SLOTS, list);
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

// Adds a point to the four sums, or with −1 subtracts it.
function addPoint(
  slots: Float64Array,
  at: number,
  lists: readonly DoubleList[],
  timeMs: number,
  x: number,
  sign: 1 | -1,
): void {
  const t = timeMs - slots[at]!;
  addTo(slots, at + VALUES, lists[1]!, sign * x);
  // Times need not be whole milliseconds, so their difference may be rounded.
  const cut = lossOf(timeMs, -slots[at]!, t);
  for (const part of cut === 0 ? [t] : [t, cut]) {
    addTo(slots, at + TIMES, lists[0]!, sign * part);
    addProduct(slots, at + PRODUCTS, lists[3]!, sign * part, x);
    addProduct(slots, at + SQUARES, lists[2]!, sign * part, t);
    addProduct(slots, at + SQUARES, lists[2]!, sign * part, cut);
  }
}

export const moreFunctions: Functions = new Map<string, (parameters: Parameters) => Accumulator>([
  ['Mode', () => ofSorted(modeOf)],
  ['DistinctCount', () => ofSorted(distinctCountOf)],
  ['Increase', (parameters) => increase(false, parameters)],
  ['Rate', (parameters) => increase(true, parameters)],
  ['Slope', slope],
  ['TimeOfMin', () => timeOf(true)],
  ['TimeOfMax', () => timeOf(false)],
  ['Transitions', transitions],
]);

/** The functions of held values that extend the interface. */
export const heldFunctions: ReadonlyMap<string, (parameters: Parameters) => HeldFunction> = new Map([
  ['Integral', integral],
  ['Coverage', () => ({ result: (_products, lengths, window) => weightedMeanOf(lengths, window) })],
  ['TimeInState', timeInState],
]);

function integral(parameters: Parameters): HeldFunction {
  const unitMs = unitMsIn(parameters);
  const unit = sumOfLength(0, unitMs);
  return { result: (products, _lengths, _window, mean) => mean(products, unit), dividesBy: unitMs };
}

function timeInState(parameters: Parameters): HeldFunction {
  const unit = sumOfLength(0, unitMsIn(parameters));
  const isInState = stateIn(parameters);
  return {
    weigh: (value) => (isInState(value) ? 1 : 0),
    result: (products) => weightedMeanOf(products, unit),
  };
}
