import type { DoubleList } from '../../../core/list.js';
import { percentileOf } from '../../../kernels/exact/results.js';
import type { Accumulator, FunctionSettings, Held, Samples } from '../../aggregate-functions.js';
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
 * Aggregate functions over a window that moves on: it takes samples at one end and loses them, the oldest first, at the
 * other. No sample costs more than O(log n), however long the window is.
 */
export interface MovingFunction extends Omit<Accumulator, 'result' | 'ofWhole' | 'remove'> {
  /** Takes away the oldest sample. */
  readonly remove: (state: Held, at: number, samples: Samples) => void;
  /** Undefined where there are too few samples for one. */
  readonly result: (
    state: Held,
    at: number,
    count: number,
    samples: Samples,
    startMs: number,
    endMs: number,
  ) => number | undefined;
  /** Of values that are held: windows without samples have results too, until the last value is too old. */
  readonly heldUntilMs?: (state: Held, at: number) => number;
  /** Is told of the sample after the window, where one has come: the time Infinity takes that back. */
  readonly coming?: (state: Held, at: number, timeMs: number, value: number) => void;
  /** The time up to which a sample may still come that a window which has ended waits for. */
  readonly openUntilMs?: (state: Held, at: number) => number;
}

/** A function that finds its result among values in order. */
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

/** Functions whose results are wanted more than once a window, of which others would sort all values each time. */
const ORDERED: Readonly<Record<string, (settings: FunctionSettings) => Accumulator>> = {
  Median: () => percentile(50),
  Percentile: ({ percent }) => percentile(percent),
  Mode: () => ofOrdered(mostFrequent),
  DistinctCount: () => ofOrdered(differentCount),
};

/** The same function, ready to give a result after each sample. */
export function repeatedly(name: string, accumulator: Accumulator, settings: FunctionSettings): Accumulator {
  return ORDERED[name]?.(settings) ?? accumulator;
}

/** The same function over a window that moves on. */
export function moving(name: string, accumulator: Accumulator, settings: FunctionSettings): MovingFunction {
  const other = OF_SAMPLES[name] ?? repeatedly(name, accumulator, settings);
  const { remove } = other;
  if (remove === undefined) throw new Error(`assertion failed: ${name} can not lose samples`);
  return { ...other, remove };
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

/** Functions that look at the samples of the window. */
const OF_SAMPLES: Readonly<Record<string, MovingFunction>> = {
  First: { ...nothing, result: (_held, _at, _count, { values }) => values.at(0) },
  Last: { ...nothing, result: (_held, _at, count, { values }) => values.at(count - 1) },
  Delta: { ...nothing, result: (_held, _at, count, { values }) => values.at(count - 1) - values.at(0) },
  Min: ofExtremes([LEAST], ([least]) => extremeOf(least)),
  Max: ofExtremes([GREATEST], ([greatest]) => extremeOf(greatest)),
  Range: ofExtremes([GREATEST, LEAST], ([greatest, least]) => extremeOf(greatest) - extremeOf(least)),
  TimeOfMin: ofExtremes([LEAST], ([least]) => timeOf(least)),
  TimeOfMax: ofExtremes([GREATEST], ([greatest]) => timeOf(greatest)),
};

/** Samples that may yet be the first extreme one of the window: each is followed by lesser, or greater, ones alone. */
type Candidates = readonly [times: DoubleList, values: DoubleList] | undefined;

function timeOf(candidates: Candidates): number {
  return candidates?.[0].at(0) ?? Number.NaN;
}

function extremeOf(candidates: Candidates): number {
  return candidates?.[1].at(0) ?? Number.NaN;
}

// The ascending minima of Tarjan's queue: each sample comes and goes once.
function ofExtremes(
  signs: readonly (typeof LEAST | typeof GREATEST)[],
  result: (of: readonly Candidates[]) => number,
): MovingFunction {
  const candidatesOf = ({ lists }: Held): [DoubleList, DoubleList][] =>
    signs.map((_, index) => [lists[2 * index]!, lists[2 * index + 1]!]);
  return {
    slotCount: 0,
    listCount: 2 * signs.length,
    sampleCountMin: 1,
    add: (held, _at, { timeMs, value }, from, to) => {
      for (const [index, sign] of signs.entries()) {
        const times = held.lists[2 * index]!;
        const values = held.lists[2 * index + 1]!;
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
    remove: (held, _at, samples) => {
      for (const [times, values] of candidatesOf(held)) {
        if (times.at(0) !== samples.times.at(0)) continue;
        times.shift(1);
        values.shift(1);
      }
    },
    result: (held) => result(candidatesOf(held)),
  };
}
