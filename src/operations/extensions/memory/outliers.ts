import type { Duration } from '../../../core/duration.js';
import { middleOf } from '../../../kernels/values.js';
import type { Operation, Output, RegridRunner, State, StepDraft } from '../../operation.js';
import { choice, duration, durationMsIn, number, numberIn, textIn } from '../../parameters.js';
import { onePerSample } from './per-sample.js';

/** Finds failing sensors: StuckValue finds values that no longer change, Hampel those that stand out. */

export interface StuckValueMethods {
  /** @param duration an ISO 8601 duration. */
  stuckValue(
    duration: Duration,
    parameters?: { readonly tolerance?: number },
  ): StepDraft<{ readonly duration: Duration; readonly tolerance?: number }>;
}

export const stuckValue: Operation<StuckValueMethods> = {
  name: 'StuckValue',
  shape: 'regrid',
  methods: { stuckValue: (text, parameters = {}) => ({ parameters: { duration: text, ...parameters } }) },
  parameters: {
    duration: duration(0),
    tolerance: number({ minimum: 0, default: 0 }),
  },
  open: (parameters, { column }) => {
    const durationMs = durationMsIn(parameters, 'duration') ?? 0;
    const tolerance = numberIn(parameters, 'tolerance');
    return {
      ...onePerSample(2, column, ({ slots }, { timeMs, value, count }, results) => {
        let firstMs = slots[0]!;
        let first = slots[1]!;
        for (let i = 0; i < count; i++) {
          const t = timeMs[i]!;
          const x = value[i]!;
          if (!(Math.abs(x - first) <= tolerance)) {
            firstMs = t;
            first = x;
          }
          results[i] = t - firstMs >= durationMs ? 1 : 0;
        }
        slots[0] = firstMs;
        slots[1] = first;
        return true;
      }),
      start: ({ slots }) => {
        slots[1] = Number.NaN; // no value is near NaN
      },
    };
  },
};

/** `samples`: how many on each side to compare with. `threshold`: the deviations that make an outlier. */
export interface HampelParameters {
  readonly samples?: number;
  readonly threshold?: number;
  readonly action?: 'replace' | 'remove' | 'flag';
}

export interface HampelMethods {
  hampel(parameters?: HampelParameters): StepDraft<HampelParameters>;
}

export const hampel: Operation<HampelMethods> = {
  name: 'Hampel',
  shape: 'regrid',
  methods: { hampel: (parameters = {}) => ({ parameters }) },
  parameters: {
    samples: number({ integer: true, minimum: 1, maximum: 1000, default: 3 }),
    threshold: number({ minimum: 0, default: 3 }),
    action: choice(['replace', 'remove', 'flag'], { default: 'replace' }),
  },
  open: (parameters) => {
    const action = textIn(parameters, 'action');
    return hampelFilter(numberIn(parameters, 'samples'), numberIn(parameters, 'threshold'), action);
  },
};

/** The median deviation of normally distributed values, times this, is their standard deviation. */
const DEVIATIONS = 1.4826;

// Lists: times and values, from those before the next sample to decide on. Slot 0: how many are before it.
function hampelFilter(sideCount: number, threshold: number, action: string): RegridRunner {
  const sorted = new Float64Array(2 * sideCount + 1);
  // Decides on the samples that have at least `afterCount` after them.
  function decide({ slots, lists }: State, out: Output, afterCount: number): void {
    const t = lists[0]!.view();
    const x = lists[1]!.view();
    let at = slots[0]!;
    const end = x.length - afterCount;
    if (at >= end) return;
    sorted.fill(Number.NaN);
    sorted.set(x.subarray(0, at + sideCount + 1));
    sorted.sort();
    for (; at < end; at++) {
      const count = Math.min(at + sideCount, x.length - 1) + 1 - Math.max(at - sideCount, 0);
      const median = medianOf(sorted, count);
      const isOutlier = Math.abs(x[at]! - median) > threshold * (DEVIATIONS * deviationOf(sorted, count, median));
      if (action === 'flag') out.add(t[at]!, isOutlier ? 1 : 0);
      else if (!isOutlier || action === 'replace') out.add(t[at]!, isOutlier ? median : x[at]!);
      replaceIn(sorted, x[at - sideCount] ?? Number.NaN, x[at + sideCount + 1] ?? Number.NaN);
    }
    const goneCount = Math.max(0, at - sideCount);
    for (const list of lists) list.shift(goneCount);
    slots[0] = at - goneCount;
  }
  return {
    kind: 'regrid',
    slotCount: 1,
    listCount: 2,
    push: (state, { timeMs, value, count }, out) => {
      state.lists[0]!.append(timeMs, 0, count);
      state.lists[1]!.append(value, 0, count);
      decide(state, out, sideCount);
    },
    advance: () => undefined,
    close: (state, _advancedMs, out) => decide(state, out, 0),
    watermark: ({ slots, lists }, watermarkMs) => {
      const times = lists[0]!;
      return slots[0]! < times.length ? Math.min(watermarkMs, times.at(slots[0]!)) : watermarkMs;
    },
  };
}

// Replaces a value in a column in rising order (-0 before 0; NaN, for no value, at the end). That moves few values,
// which is less work than sorting them all again.
function replaceIn(sorted: Float64Array, gone: number, x: number): void {
  let at = 0;
  while (!Object.is(sorted[at], gone)) at++;
  for (; at + 1 < sorted.length && isBefore(sorted[at + 1]!, x); at++) sorted[at] = sorted[at + 1]!;
  for (; at > 0 && isBefore(x, sorted[at - 1]!); at--) sorted[at] = sorted[at - 1]!;
  sorted[at] = x;
}

function isBefore(x: number, y: number): boolean {
  return x < y || (x === y ? 1 / x < 1 / y : Number.isNaN(y) && !Number.isNaN(x));
}

function medianOf(sorted: Float64Array, count: number): number {
  const middle = count >> 1;
  return count % 2 === 1 ? sorted[middle]! : middleOf(sorted[middle - 1]!, sorted[middle]!);
}

// The median distance of the values from their median. Distances grow to both sides of it, so this merges two lists.
function deviationOf(sorted: Float64Array, count: number, median: number): number {
  const middle = count >> 1;
  let below = middle;
  let above = middle;
  let deviation = 0;
  let last = 0;
  for (let rank = 0; rank <= middle; rank++) {
    last = deviation;
    const low = below > 0 ? median - sorted[below - 1]! : Number.POSITIVE_INFINITY;
    const high = above < count ? sorted[above]! - median : Number.POSITIVE_INFINITY;
    if (low < high) below--;
    else above++;
    deviation = Math.min(low, high);
  }
  return count % 2 === 1 ? deviation : middleOf(last, deviation);
}
