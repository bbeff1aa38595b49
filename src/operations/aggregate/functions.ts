import type { Chunk } from '../../core/chunk.js';
import type { DoubleList } from '../../core/list.js';
import type { OtherNames } from '../../core/suggest.js';
import { meanOf, percentileOf, sumOf, varianceOf } from '../../kernels/exact/results.js';
import { addSquares } from '../../kernels/exact/squares.js';
import { addAll, SUM_SLOTS } from '../../kernels/exact/sums.js';
import { byRank } from '../../kernels/order.js';
import type { Output, State } from '../operation.js';
import { numberIn, type Parameters } from '../parameters.js';

/**
 * An aggregate function over the samples of one window. It keeps a few numbers in the step's `slots`, from `at` on, and
 * perhaps lists. When a window opens the slots are 0 and the lists empty. Samples come in time order, cut anywhere.
 */
export interface Accumulator {
  readonly slotCount: number;
  /** How many of the first slots keep their values from window to window; 0 by default. */
  readonly keptSlotCount?: number;
  readonly listCount: number;
  /** Windows with fewer samples give nothing. */
  readonly sampleCountMin: number;
  /** For a function of two inputs: the second input's values, parallel to those of each chunk. */
  readonly second?: Float64Array;
  /** Takes the samples `from..to` of a chunk; `countBefore` is how many the window had. */
  readonly add: (state: State, at: number, chunk: Chunk, from: number, to: number, countBefore: number) => void;
  /** Removes the oldest sample of a sliding window. For functions without it, `moving-functions.ts` says how. */
  readonly remove?: (state: State, at: number, samples: Samples) => void;
  /** Called when a window opens, for functions that depend on its start. */
  readonly open?: (state: State, at: number, startMs: number) => void;
  /** What the result is, for functions that need only the sum of a window. */
  readonly ofWhole?: 'sum' | 'mean';
  /** Undefined if there are too few samples. */
  readonly result: (state: State, at: number, count: number) => number | undefined;
}

/** Emits a result, or counts it as dropped if there were too few samples for one. */
export function emit(result: number | undefined, timeMs: number, out: Output): void {
  if (result === undefined) out.drop('insufficient', 1);
  else out.add(timeMs, result);
}

/** Emits the result of a window with `count` samples. */
export function emitResult(
  accumulator: Accumulator,
  state: State,
  at: number,
  count: number,
  timeMs: number,
  out: Output,
): number | undefined {
  const result = count >= accumulator.sampleCountMin ? accumulator.result(state, at, count) : undefined;
  emit(result, timeMs, out);
  return result;
}

/** The samples of a window, the oldest first. */
export interface Samples {
  readonly times: DoubleList;
  readonly values: DoubleList;
  /** For functions of two inputs: the values of the second; else empty. */
  readonly seconds: DoubleList;
}

const simple = { listCount: 0, sampleCountMin: 1 } as const;

const sum: Accumulator = {
  slotCount: SUM_SLOTS,
  listCount: 1,
  sampleCountMin: 1,
  add: ({ slots, lists }, at, chunk, from, to) => addAll(slots, at, lists[0]!, chunk.value, from, to),
  ofWhole: 'sum',
  result: ({ slots, lists }, at) => sumOf(slots, at, lists[0]!),
};

const average: Accumulator = {
  ...sum,
  ofWhole: 'mean',
  result: ({ slots, lists }, at, count) => meanOf(slots, at, lists[0]!, count),
};

const count: Accumulator = {
  ...simple,
  slotCount: 0,
  add: () => undefined,
  result: (_state, _at, sampleCount) => sampleCount,
};

const first: Accumulator = {
  ...simple,
  slotCount: 1,
  add: ({ slots }, at, chunk, from, _to, countBefore) => {
    if (countBefore === 0) slots[at] = chunk.value[from]!;
  },
  result: ({ slots }, at) => slots[at]!,
};

const last: Accumulator = {
  ...simple,
  slotCount: 1,
  add: ({ slots }, at, chunk, _from, to) => {
    slots[at] = chunk.value[to - 1]!;
  },
  result: ({ slots }, at) => slots[at]!,
};

const min: Accumulator = {
  ...simple,
  slotCount: 1,
  add: ({ slots }, at, { value }, from, to, countBefore) => {
    let least = countBefore === 0 ? value[from]! : slots[at]!;
    for (let i = from; i < to; i++) if (value[i]! < least) least = value[i]!;
    slots[at] = least;
  },
  result: ({ slots }, at) => slots[at]!,
};

const max: Accumulator = {
  ...simple,
  slotCount: 1,
  add: ({ slots }, at, { value }, from, to, countBefore) => {
    let greatest = countBefore === 0 ? value[from]! : slots[at]!;
    for (let i = from; i < to; i++) if (value[i]! > greatest) greatest = value[i]!;
    slots[at] = greatest;
  },
  result: ({ slots }, at) => slots[at]!,
};

/** The result of `to` minus that of `from`, each with one slot. */
function difference(from: Accumulator, to: Accumulator): Accumulator {
  return {
    ...simple,
    slotCount: 2,
    add: (state, at, chunk, start, end, countBefore) => {
      from.add(state, at, chunk, start, end, countBefore);
      to.add(state, at + 1, chunk, start, end, countBefore);
    },
    result: ({ slots }, at) => slots[at + 1]! - slots[at]!,
  };
}

const delta = difference(first, last);
const range = difference(min, max);

// Slots: the sum of the values, the sum of their squares, and the least and greatest of all values added (in a sliding
// window also of those that have left it since).
export const SQUARES = SUM_SLOTS;
const EXTREMES = 2 * SUM_SLOTS;

function spread(isRoot: boolean): Accumulator {
  return {
    slotCount: EXTREMES + 2,
    listCount: 2,
    sampleCountMin: 2,
    add: (state, at, chunk, from, to, countBefore) => {
      const { slots, lists } = state;
      addAll(slots, at, lists[0]!, chunk.value, from, to);
      addSquares(slots, at + SQUARES, lists[1]!, chunk.value, from, to);
      range.add(state, at + EXTREMES, chunk, from, to, countBefore);
    },
    result: ({ slots, lists }, at, sampleCount) => {
      if (slots[at + EXTREMES] === slots[at + EXTREMES + 1]) return 0;
      return varianceOf([slots, at, lists[0]!], [slots, at + SQUARES, lists[1]!], sampleCount, isRoot);
    },
  };
}

const variance = spread(false);
const standardDeviation = spread(true);

/** A function of all values, which it may reorder, as nothing depends on their order. */
export function ofValues(result: (values: Float64Array) => number): Accumulator {
  return {
    slotCount: 0,
    listCount: 1,
    sampleCountMin: 1,
    add: ({ lists }, _at, { value }, from, to) => lists[0]!.append(value, from, to),
    result: ({ lists }) => result(lists[0]!.view()),
  };
}

function percentile(percent: number): Accumulator {
  return ofValues((values) => percentileOf(values.length, percent, byRank(values)));
}

/** Accumulators by the names of their functions. The time-weighted functions have a runner of their own instead. */
export type Functions = ReadonlyMap<string, (parameters: Parameters) => Accumulator>;

/** The functions that the interface has. */
export const plainFunctions: Functions = new Map<string, (parameters: Parameters) => Accumulator>([
  ['Average', () => average],
  ['Sum', () => sum],
  ['Count', () => count],
  ['First', () => first],
  ['Last', () => last],
  ['Min', () => min],
  ['Max', () => max],
  ['Range', () => range],
  ['Median', () => percentile(50)],
  ['Percentile', (parameters) => percentile(numberIn(parameters, 'percentile'))],
  ['StandardDeviation', () => standardDeviation],
  ['Variance', () => variance],
  ['Delta', () => delta],
]);

/** What pandas, Polars, SQL and Flux call some functions. */
export const otherFunctionNames: OtherNames = {
  avg: 'Average',
  integrate: 'Integral',
  maximum: 'Max',
  mean: 'Average',
  minimum: 'Min',
  quantile: 'Percentile',
  size: 'Count',
  spread: 'Range',
  std: 'StandardDeviation',
  stddev: 'StandardDeviation',
  stdev: 'StandardDeviation',
  total: 'Sum',
  twa: 'TimeWeightedAverage',
  var: 'Variance',
};
