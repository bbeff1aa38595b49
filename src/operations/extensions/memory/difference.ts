import type { Duration } from '../../../core/duration.js';
import { SHORTEST_MS } from '../../../core/interval.js';
import { div, divScalar, sub } from '../../../kernels/arithmetic.js';
import type { Operation, RegridRunner, RunContext, StepDraft } from '../../operation.js';
import { duration, durationMsIn, numberOr, type Parameters } from '../../parameters.js';
import { rollover } from '../rollover.js';
import { perSample } from './per-sample.js';

/** Changes from one sample to the next: Difference, Derivative, Counter. */

export interface DifferenceParameters {
  readonly maxgap?: Duration;
}

export interface DifferenceMethods {
  difference(parameters?: DifferenceParameters): StepDraft<DifferenceParameters>;
}

const maxgap = duration(0, { optional: true });

export const difference: Operation<DifferenceMethods> = {
  name: 'Difference',
  otherNames: ['diff'],
  shape: 'regrid',
  results: 'all but the first',
  methods: { difference: (parameters = {}) => ({ parameters }) },
  parameters: { maxgap },
  open: (parameters, { column }) => fromLast(parameters, column, changesOf),
};

export interface DerivativeParameters extends DifferenceParameters {
  readonly unit?: Duration;
}

export interface DerivativeMethods {
  derivative(parameters?: DerivativeParameters): StepDraft<DerivativeParameters>;
}

export const derivative: Operation<DerivativeMethods> = {
  name: 'Derivative',
  shape: 'regrid',
  results: 'all but the first',
  methods: { derivative: (parameters = {}) => ({ parameters }) },
  parameters: {
    unit: duration(SHORTEST_MS, { default: 'PT1S' }),
    maxgap,
  },
  open: (parameters, { column }) => {
    const unitMs = durationMsIn(parameters, 'unit') ?? 0;
    const units = column();
    return fromLast(parameters, column, (value, count, lastValue, results, timeMs, lastMs) => {
      changesOf(timeMs, count, lastMs, units);
      divScalar(units, count, unitMs, units);
      changesOf(value, count, lastValue, results);
      return div(results, units, count, results);
    });
  },
};

export interface CounterMethods {
  counter(parameters?: { readonly max?: number }): StepDraft<{ readonly max?: number }>;
}

export const counter: Operation<CounterMethods> = {
  name: 'Counter',
  shape: 'regrid',
  results: 'all but the first',
  methods: { counter: (parameters = {}) => ({ parameters }) },
  parameters: {
    max: rollover({ optional: true }),
  },
  open: (parameters, { column }) => {
    const max = numberOr(parameters, 'max', undefined);
    return fromLast(parameters, column, (value, count, lastValue, results) => {
      let last = lastValue;
      let bad = 0;
      for (let i = 0; i < count; i++) {
        const x = value[i]!;
        // Without a branch, which would be mispredicted if the meter restarts often.
        const result = max === undefined || x >= last ? x - last * +(x >= last) : max - last + x;
        results[i] = result;
        bad += result - result;
        last = x;
      }
      return bad === 0;
    });
  },
};

const HAS_LAST = 0;
const LAST_MS = 1;
const LAST_VALUE = 2;

/** Writes a result for each sample and returns whether all are finite. That of the very first sample is not used. */
type FromLast = (
  value: Float64Array,
  count: number,
  lastValue: number,
  results: Float64Array,
  timeMs: Float64Array,
  lastMs: number,
) => boolean;

/** Fewer results are added one by one, which costs less than creating views. */
const VIEWED_MIN = 16;

function fromLast(parameters: Parameters, column: RunContext['column'], fill: FromLast): RegridRunner {
  // The first sample is infinitely far from the one before, so it has no result even without a `maxgap`.
  const gapMsMax = durationMsIn(parameters, 'maxgap') ?? Number.MAX_VALUE;
  const results = column();
  return perSample(3, ({ slots }, { timeMs, value, count }, out) => {
    const first = slots[HAS_LAST] === 1 ? 0 : 1;
    const lastMs = first === 0 ? slots[LAST_MS]! : Number.NEGATIVE_INFINITY;
    const isAllFinite = fill(value, count, slots[LAST_VALUE]!, results, timeMs, lastMs);
    if (isAllFinite && parameters.maxgap === undefined && count >= VIEWED_MIN) {
      out.addRun(timeMs.subarray(first), results.subarray(first), count - first);
    } else {
      for (let i = 0; i < count; i++) {
        const t = timeMs[i]!;
        if (t - (i === 0 ? lastMs : timeMs[i - 1]!) <= gapMsMax) out.add(t, results[i]!);
      }
    }
    slots[HAS_LAST] = 1;
    slots[LAST_MS] = timeMs[count - 1]!;
    slots[LAST_VALUE] = value[count - 1]!;
  });
}

// Each number minus the one before it.
function changesOf(column: Float64Array, count: number, last: number, out: Float64Array): boolean {
  out[0] = column[0]! - last;
  const isFirstFinite = out[0] - out[0] === 0;
  return count === 1 ? isFirstFinite : sub(column.subarray(1), column, count - 1, out.subarray(1)) && isFirstFinite;
}
