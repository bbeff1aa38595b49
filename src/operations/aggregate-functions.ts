import type { Chunk } from '../core/chunk.js';
import type { DoubleList } from '../core/list.js';
import { lerp } from '../kernels/interpolate.js';
import { sumDeviationsInto, sumInto } from '../kernels/sum.js';

/**
 * The aggregate functions over the samples of one window. Each keeps a few numbers in `slots`, from `at` on
 * (all 0 when the window opens), and gets the samples in time order, cut anywhere.
 */
export interface Accumulator {
  readonly slotCount: number;
  /** Keeps every value of the window in a list. */
  readonly isListKept: boolean;
  /** Windows with fewer samples give nothing. */
  readonly sampleCountMin: number;
  readonly words: string;
  /** Takes the samples `from..to` of a chunk; `countBefore` is how many the window had. */
  readonly add: (slots: Float64Array, at: number, chunk: Chunk, from: number, to: number, countBefore: number) => void;
  /** How the result of a whole window follows from its sum, if it needs nothing else. */
  readonly ofWhole?: 'sum' | 'mean';
  readonly result: (slots: Float64Array, at: number, count: number, values: DoubleList | undefined) => number;
}

const simple = { isListKept: false, sampleCountMin: 1 } as const;

const sum: Accumulator = {
  ...simple,
  slotCount: 2,
  words: 'the sum',
  add: (slots, at, chunk, from, to) => sumInto(slots, at, chunk.value, from, to),
  ofWhole: 'sum',
  result: (slots, at) => slots[at]! + slots[at + 1]!,
};

const average: Accumulator = {
  ...sum,
  words: 'the average',
  ofWhole: 'mean',
  result: (slots, at, count) => (slots[at]! + slots[at + 1]!) / count,
};

const count: Accumulator = {
  ...simple,
  slotCount: 0,
  words: 'the count',
  add: () => undefined,
  result: (_slots, _at, sampleCount) => sampleCount,
};

const first: Accumulator = {
  ...simple,
  slotCount: 1,
  words: 'the first sample',
  add: (slots, at, chunk, from, _to, countBefore) => {
    if (countBefore === 0) slots[at] = chunk.value[from]!;
  },
  result: (slots, at) => slots[at]!,
};

const last: Accumulator = {
  ...simple,
  slotCount: 1,
  words: 'the last sample',
  add: (slots, at, chunk, _from, to) => {
    slots[at] = chunk.value[to - 1]!;
  },
  result: (slots, at) => slots[at]!,
};

const delta: Accumulator = {
  ...simple,
  slotCount: 2,
  words: 'the last sample less the first',
  add: (slots, at, chunk, from, to, countBefore) => {
    first.add(slots, at, chunk, from, to, countBefore);
    last.add(slots, at + 1, chunk, from, to, countBefore);
  },
  result: (slots, at) => slots[at + 1]! - slots[at]!,
};

const min: Accumulator = {
  ...simple,
  slotCount: 1,
  words: 'the least value',
  add: (slots, at, { value }, from, to, countBefore) => {
    let least = countBefore === 0 ? value[from]! : slots[at]!;
    for (let i = from; i < to; i++) if (value[i]! < least) least = value[i]!;
    slots[at] = least;
  },
  result: (slots, at) => slots[at]!,
};

const max: Accumulator = {
  ...simple,
  slotCount: 1,
  words: 'the greatest value',
  add: (slots, at, { value }, from, to, countBefore) => {
    let greatest = countBefore === 0 ? value[from]! : slots[at]!;
    for (let i = from; i < to; i++) if (value[i]! > greatest) greatest = value[i]!;
    slots[at] = greatest;
  },
  result: (slots, at) => slots[at]!,
};

const range: Accumulator = {
  ...simple,
  slotCount: 2,
  words: 'the greatest value less the least',
  add: (slots, at, chunk, from, to, countBefore) => {
    min.add(slots, at, chunk, from, to, countBefore);
    max.add(slots, at + 1, chunk, from, to, countBefore);
  },
  result: (slots, at) => slots[at + 1]! - slots[at]!,
};

// Deviations from the window's first value: equal values give exactly 0, and no digits are lost if the mean is
// large compared with the spread (the shifted form; Chan, Golub, LeVeque, "Algorithms for computing the sample
// variance", 1983), with both sums compensated. Slots: first value, two sums of two numbers each.
const variance: Accumulator = {
  slotCount: 5,
  isListKept: false,
  sampleCountMin: 2,
  words: 'the variance (n − 1)',
  add: (slots, at, { value }, from, to, countBefore) => {
    if (countBefore === 0) slots[at] = value[from]!;
    sumDeviationsInto(slots, at + 1, slots[at]!, value, from, to);
  },
  result: (slots, at, sampleCount) => {
    const deviations = slots[at + 1]! + slots[at + 2]!;
    const squares = slots[at + 3]! + slots[at + 4]!;
    const squareOfSum = deviations * deviations;
    const spread = (squares - squareOfSum / sampleCount) / (sampleCount - 1);
    // Rounding may leave a little less than 0, but an overflow is not 0.
    return Number.isFinite(squareOfSum) ? Math.max(0, spread) : Number.NaN;
  },
};

const standardDeviation: Accumulator = {
  ...variance,
  words: 'the standard deviation (n − 1)',
  result: (...window) => Math.sqrt(variance.result(...window)),
};

function percentile(percent: number): Accumulator {
  return {
    slotCount: 0,
    isListKept: true,
    sampleCountMin: 1,
    words: percent === 50 ? 'the median' : `the percentile ${percent}`,
    add: () => undefined,
    result: (_slots, _at, _count, values) => {
      const sorted = values?.view().slice().sort() ?? new Float64Array(0);
      const rank = (percent / 100) * (sorted.length - 1);
      const below = Math.floor(rank);
      const fraction = rank - below;
      return fraction === 0 ? sorted[below]! : lerp(sorted[below]!, sorted[below + 1]!, fraction);
    },
  };
}

const byName: ReadonlyMap<string, (percent: number) => Accumulator> = new Map([
  ['Average', () => average],
  ['Sum', () => sum],
  ['Count', () => count],
  ['First', () => first],
  ['Last', () => last],
  ['Min', () => min],
  ['Max', () => max],
  ['Range', () => range],
  ['Median', () => percentile(50)],
  ['Percentile', percentile],
  ['StandardDeviation', () => standardDeviation],
  ['Variance', () => variance],
  ['Delta', () => delta],
]);

/** The functions that weight each value by how long it was held; they have a runner of their own. */
export const timeWeightedNames: readonly string[] = ['WeightedAverage', 'TimeWeightedAverage'];

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
] as const;

export type AggregateFunction = (typeof aggregateFunctionNames)[number];

/** The accumulator of a function that is not time-weighted; `percent` (0 to 100) is only for Percentile. */
export function accumulatorOf(name: string, percent: number): Accumulator {
  const create = byName.get(name);
  if (create === undefined) throw new Error(`assertion failed: no accumulator ${name}`);
  return create(percent);
}
