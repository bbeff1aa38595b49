import type { DoubleList } from '../../../core/list.js';
import { percentileOf } from '../../../kernels/exact/results.js';
import { addProduct, addTo, tidySum } from '../../../kernels/exact/sums.js';
import { type Accumulator, type Samples, SQUARES } from '../../aggregate/functions.js';
import type { State } from '../../operation.js';
import { numberIn, type Parameters } from '../../parameters.js';
import {
  addValue,
  differentCount,
  mostFrequent,
  ORDERED_SLOTS,
  type Ordered,
  removeValue,
  valueAt,
} from './ordered-values.js';

/**
 * An aggregate function over a sliding window, which takes samples at its end and loses them, oldest first, at its
 * start. No sample costs more than O(log n), however long the window is.
 */
export interface MovingFunction extends Omit<Accumulator, 'result' | 'ofWhole' | 'remove'> {
  /** Removes the oldest sample. */
  readonly remove: (state: State, at: number, samples: Samples) => void;
  /** Undefined if there are too few samples. */
  readonly result: (
    state: State,
    at: number,
    count: number,
    samples: Samples,
    startMs: number,
    endMs: number,
  ) => number | undefined;
  /** For held values: the time up to which windows without samples have results too. */
  readonly heldUntilMs?: (state: State, at: number) => number;
  /** Sets the next sample after the window; a time of Infinity means that none is known. */
  readonly setNext?: (state: State, at: number, timeMs: number, value: number) => void;
  /** The time up to which a window that has ended waits for the next sample. */
  readonly openUntilMs?: (state: State, at: number) => number;
}

/** A function that finds its result among the values in rising order. */
function ofOrdered(result: (values: Ordered, count: number) => number): Accumulator {
  return {
    slotCount: ORDERED_SLOTS,
    listCount: 1,
    sampleCountMin: 1,
    add: ({ slots, lists }, at, { value }, from, to) => {
      for (let i = from; i < to; i++) addValue([slots, at, lists[0]!], value[i]!);
    },
    remove: ({ slots, lists }, at, { values }) => removeValue([slots, at, lists[0]!], values.at(0)),
    result: ({ slots, lists }, at, count) => result([slots, at, lists[0]!], count),
  };
}

function percentile(percent: number): Accumulator {
  return ofOrdered((values, count) => percentileOf(count, percent, (rank) => valueAt(values, rank)));
}

/** Functions whose usual accumulators sort all values for each result, which is too slow for many results a window. */
const ORDERED: Readonly<Record<string, (parameters: Parameters) => Accumulator>> = {
  Median: () => percentile(50),
  Percentile: (parameters) => percentile(numberIn(parameters, 'percentile')),
  Mode: () => ofOrdered(mostFrequent),
  DistinctCount: () => ofOrdered(differentCount),
};

/** The same function, fast enough to give a result after each sample. */
export function repeatedly(name: string, accumulator: Accumulator, parameters: Parameters): Accumulator {
  return ORDERED[name]?.(parameters) ?? accumulator;
}

/** The same function over a sliding window. */
export function moving(name: string, accumulator: Accumulator, parameters: Parameters): MovingFunction {
  const other = OF_SAMPLES[name] ?? repeatedly(name, accumulator, parameters);
  const remove = other.remove ?? REMOVE[name];
  if (remove === undefined) throw new Error(`assertion failed: ${name} cannot remove samples`);
  return { ...other, remove };
}

/** How functions of the interface lose a sample. What is subtracted exactly leaves no trace. */
const REMOVE: Readonly<Record<string, MovingFunction['remove']>> = {
  Average: removeFromSum,
  Sum: removeFromSum,
  Count: () => undefined,
  StandardDeviation: removeFromSquares,
  Variance: removeFromSquares,
};

function removeFromSum({ slots, lists }: State, at: number, { values }: Samples): void {
  addTo(slots, at, lists[0]!, -values.at(0));
  tidySum(slots, at, lists[0]!);
}

function removeFromSquares(state: State, at: number, samples: Samples): void {
  removeFromSum(state, at, samples);
  const x = samples.values.at(0);
  addProduct(state.slots, at + SQUARES, state.lists[1]!, -x, x);
  tidySum(state.slots, at + SQUARES, state.lists[1]!);
}

const nothing = {
  slotCount: 0,
  listCount: 0,
  sampleCountMin: 1,
  add: () => undefined,
  remove: () => undefined,
} as const;

const LEAST = 1;
const GREATEST = -1;

/** Functions that read the samples of the window itself. */
const OF_SAMPLES: Readonly<Record<string, MovingFunction>> = {
  First: { ...nothing, result: (_state, _at, _count, { values }) => values.at(0) },
  Last: { ...nothing, result: (_state, _at, count, { values }) => values.at(count - 1) },
  Delta: { ...nothing, result: (_state, _at, count, { values }) => values.at(count - 1) - values.at(0) },
  Min: ofExtremes([LEAST], ([least]) => extremeOf(least)),
  Max: ofExtremes([GREATEST], ([greatest]) => extremeOf(greatest)),
  Range: ofExtremes([GREATEST, LEAST], ([greatest, least]) => extremeOf(greatest) - extremeOf(least)),
  TimeOfMin: ofExtremes([LEAST], ([least]) => timeOf(least)),
  TimeOfMax: ofExtremes([GREATEST], ([greatest]) => timeOf(greatest)),
};

/** The samples that can still become the window's least (or greatest): their values rise (or fall) with time. */
type Candidates = readonly [times: DoubleList, values: DoubleList] | undefined;

function timeOf(candidates: Candidates): number {
  return candidates?.[0].at(0) ?? Number.NaN;
}

function extremeOf(candidates: Candidates): number {
  return candidates?.[1].at(0) ?? Number.NaN;
}

// A monotonic queue of candidates: each sample enters and leaves it once.
function ofExtremes(
  signs: readonly (typeof LEAST | typeof GREATEST)[],
  result: (of: readonly Candidates[]) => number,
): MovingFunction {
  const candidatesOf = ({ lists }: State): [DoubleList, DoubleList][] =>
    signs.map((_, index) => [lists[2 * index]!, lists[2 * index + 1]!]);
  return {
    slotCount: 0,
    listCount: 2 * signs.length,
    sampleCountMin: 1,
    add: ({ lists }, _at, { timeMs, value }, from, to) => {
      for (const [index, sign] of signs.entries()) {
        const times = lists[2 * index]!;
        const values = lists[2 * index + 1]!;
        for (let i = from; i < to; i++) {
          const x = value[i]!;
          while (values.length > 0 && sign * values.at(values.length - 1) > sign * x) {
            times.pop();
            values.pop();
          }
          times.push(timeMs[i]!);
          values.push(x);
        }
      }
    },
    remove: (state, _at, samples) => {
      for (const [times, values] of candidatesOf(state)) {
        if (times.at(0) !== samples.times.at(0)) continue;
        times.shift(1);
        values.shift(1);
      }
    },
    result: (state) => result(candidatesOf(state)),
  };
}
