import type { Chunk } from '../core/chunk.js';
import type { DoubleList } from '../core/list.js';
import { meanOf, percentileOf, sumOf, varianceOf } from '../kernels/exact/results.js';
import { addSquares } from '../kernels/exact/squares.js';
import { addAll, addProduct, addTo, SUM_SLOTS, tidySum } from '../kernels/exact/sums.js';
import { byRank } from '../kernels/order.js';

/**
 * The aggregate functions over the samples of one window. Each keeps a few numbers in `slots`, from `at` on
 * (all 0 when the window opens), and perhaps lists (empty then), and gets the samples in time order, cut anywhere.
 */
export interface Accumulator {
  readonly slotCount: number;
  /** How many of the slots, the first ones, stay from window to window; none by default. */
  readonly keptSlotCount?: number;
  readonly listCount: number;
  /** Windows with fewer samples give nothing. */
  readonly sampleCountMin: number;
  /** Of a function of two inputs: where the second's values are, beside those of each chunk. */
  readonly second?: Float64Array;
  /** Takes the samples `from..to` of a chunk; `countBefore` is how many the window had. */
  readonly add: (state: Held, at: number, chunk: Chunk, from: number, to: number, countBefore: number) => void;
  /** Takes away the oldest sample of a window that moves on. The functions that lack it have another way to do that. */
  readonly remove?: (state: Held, at: number, samples: Samples) => void;
  /** Begins a window, where its start matters. */
  readonly open?: (state: Held, at: number, startMs: number) => void;
  /** How the result of a whole window follows from its sum, if it needs nothing else. */
  readonly ofWhole?: 'sum' | 'mean';
  /** Undefined where there are too few samples for one. */
  readonly result: (state: Held, at: number, count: number) => number | undefined;
}

/** The result of a window with so many samples; undefined where there are too few for one. */
export function resultOf(accumulator: Accumulator, state: Held, at: number, count: number): number | undefined {
  return count >= accumulator.sampleCountMin ? accumulator.result(state, at, count) : undefined;
}

/** The samples of a window, the oldest first. */
export interface Samples {
  readonly times: DoubleList;
  readonly values: DoubleList;
  /** Of functions of two inputs the values of the second, else empty. */
  readonly seconds: DoubleList;
}

/** What an accumulator keeps. */
export interface Held {
  readonly slots: Float64Array;
  readonly lists: readonly DoubleList[];
}

const simple = { listCount: 0, sampleCountMin: 1 } as const;

const sum: Accumulator = {
  slotCount: SUM_SLOTS,
  listCount: 1,
  sampleCountMin: 1,
  add: ({ slots, lists }, at, chunk, from, to) => addAll(slots, at, lists[0]!, chunk.value, from, to),
  remove: ({ slots, lists }, at, { values }) => {
    addTo(slots, at, lists[0]!, -values.at(0));
    tidySum(slots, at, lists[0]!);
  },
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
  remove: () => undefined,
  result: (_held, _at, sampleCount) => sampleCount,
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

const delta: Accumulator = {
  ...simple,
  slotCount: 2,
  add: (held, at, chunk, from, to, countBefore) => {
    first.add(held, at, chunk, from, to, countBefore);
    last.add(held, at + 1, chunk, from, to, countBefore);
  },
  result: ({ slots }, at) => slots[at + 1]! - slots[at]!,
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

const range: Accumulator = {
  ...simple,
  slotCount: 2,
  add: (held, at, chunk, from, to, countBefore) => {
    min.add(held, at, chunk, from, to, countBefore);
    max.add(held, at + 1, chunk, from, to, countBefore);
  },
  result: ({ slots }, at) => slots[at + 1]! - slots[at]!,
};

// Slots: the sum of the values, that of their squares, and what their least and greatest are, also of those that left.
const SQUARES = SUM_SLOTS;
const EXTREMES = 2 * SUM_SLOTS;

function spread(isRoot: boolean): Accumulator {
  return {
    slotCount: EXTREMES + 2,
    listCount: 2,
    sampleCountMin: 2,
    add: (held, at, chunk, from, to, countBefore) => {
      addAll(held.slots, at, held.lists[0]!, chunk.value, from, to);
      addSquares(held.slots, at + SQUARES, held.lists[1]!, chunk.value, from, to);
      range.add(held, at + EXTREMES, chunk, from, to, countBefore);
    },
    remove: ({ slots, lists }, at, { values }) => {
      const x = values.at(0);
      addTo(slots, at, lists[0]!, -x);
      addProduct(slots, at + SQUARES, lists[1]!, -x, x);
      tidySum(slots, at, lists[0]!);
      tidySum(slots, at + SQUARES, lists[1]!);
    },
    result: ({ slots, lists }, at, sampleCount) => {
      if (slots[at + EXTREMES] === slots[at + EXTREMES + 1]) return 0;
      return varianceOf([slots, at, lists[0]!], [slots, at + SQUARES, lists[1]!], sampleCount, isRoot);
    },
  };
}

const variance = spread(false);
const standardDeviation = spread(true);

function percentile(percent: number): Accumulator {
  return {
    slotCount: 0,
    listCount: 1,
    sampleCountMin: 1,
    add: ({ lists }, _at, { value }, from, to) => lists[0]!.append(value, from, to),
    result: ({ lists }, _at, count) => {
      // Moved where they are: their order says nothing.
      return percentileOf(count, percent, byRank(lists[0]!.view()));
    },
  };
}

/** The parameters of functions that have some. */
export interface FunctionSettings {
  /** 0 to 100. */
  readonly percent: number;
  /** Of a counter: the value after which it starts at 0 again. */
  readonly max: number | undefined;
  readonly unitMs: number;
  /** The bounds of a state, both included. */
  readonly lower: number;
  readonly upper: number;
}

/** The functions by name, apart from the time-weighted ones. */
export type Functions = ReadonlyMap<string, (settings: FunctionSettings) => Accumulator>;

/** Those that the interface has, and what is like them. */
export const plainFunctions: Functions = new Map<string, (settings: FunctionSettings) => Accumulator>([
  ['Average', () => average],
  ['Sum', () => sum],
  ['Count', () => count],
  ['First', () => first],
  ['Last', () => last],
  ['Min', () => min],
  ['Max', () => max],
  ['Range', () => range],
  ['Median', () => percentile(50)],
  ['Percentile', ({ percent }) => percentile(percent)],
  ['StandardDeviation', () => standardDeviation],
  ['Variance', () => variance],
  ['Delta', () => delta],
]);

/** The functions that go by how long values were held; they have a runner of their own. */
export const timeWeightedNames: readonly string[] = [
  'WeightedAverage',
  'TimeWeightedAverage',
  'Integral',
  'Coverage',
  'TimeInState',
];

/** Every aggregate function, in the interface's spelling. */
export const aggregateFunctionNames = [
  'Average',
  'WeightedAverage',
  'Sum',
  'Count',
  'First',
  'Last',
  'Min',
  'Max',
  'Range',
  'Median',
  'Percentile',
  'StandardDeviation',
  'Variance',
  'Delta',
  'TimeWeightedAverage',
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

export type AggregateFunction = (typeof aggregateFunctionNames)[number];

/** The functions of two inputs. */
export const pairFunctionNames = ['Covariance', 'Correlation'] as const;

/** Those that the interface does not have. */
export const extensionFunctionNames: readonly string[] = [
  ...aggregateFunctionNames.slice(aggregateFunctionNames.indexOf('Mode')),
  ...pairFunctionNames,
];
