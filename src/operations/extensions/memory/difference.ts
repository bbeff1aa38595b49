import type { Duration } from '../../../core/duration.js';
import { SHORTEST_MS } from '../../../core/interval.js';
import { div, divScalar, sub } from '../../../kernels/arithmetic.js';
import type { Describe, Operation, OperationTexts, RegridRunner, RunContext, StepDraft } from '../../operation.js';
import { duration, durationMsIn, number, numberIn, numberOr, type Parameters, textIn } from '../../parameters.js';
import type { OperationRules } from '../../rules.js';
import { scan } from './scan.js';

/** Changes from one sample to the next: Difference, Derivative, Counter. */

export interface DifferenceParameters {
  readonly maxgap?: Duration;
}

export interface DifferenceMethods {
  difference(parameters?: DifferenceParameters): StepDraft<DifferenceParameters>;
}

const maxgap = duration(0, { optional: true });
const maxgapText = 'No result if the sample before is older than this.';

export const difference: Operation<DifferenceMethods> = {
  name: 'Difference',
  otherNames: ['diff'],
  shape: 'regrid',
  results: 'all but the first',
  methods: { difference: (parameters = {}) => ({ parameters }) },
  parameters: { maxgap },
  open: (parameters, { column }) => fromLast(parameters, column, changesOf),
};

export const differenceTexts: OperationTexts = {
  summary: 'Gives each value minus the one before it.',
  parameters: {
    maxgap: maxgapText,
  },
  examples: [
    {
      title: 'From each sample to the next; the first gives nothing',
      parameters: {},
      inputs: ['00:00 10, 00:15 12.5, 00:30 12'],
      output: '00:15 2.5, 00:30 -0.5',
    },
    {
      title: 'Not over a gap',
      parameters: { maxgap: 'PT15M' },
      inputs: ['00:00 1, 00:15 2, 01:00 9, 01:15 10'],
      output: '00:15 1, 01:15 1',
    },
    {
      title: 'Samples may lie at any distance',
      parameters: {},
      inputs: ['00:00 1, 00:00:01 1, 12:00 5'],
      output: '00:00:01 0, 12:00 4',
    },
  ],
};

export const describeDifference: Describe = (parameters) => ({
  ...fromTheLast(parameters),
  does: `each value minus the one before${within(parameters)}`,
});

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

export const derivativeTexts: OperationTexts = {
  summary: 'Gives the rate of change: the difference from the sample before, per unit of time.',
  parameters: {
    unit: 'The unit of time.',
    maxgap: maxgapText,
  },
  examples: [
    {
      title: 'Degrees an hour',
      parameters: { unit: 'PT1H' },
      inputs: ['00:00 20, 00:15 20.5, 00:45 20'],
      output: '00:15 2, 00:45 -1',
    },
    {
      title: 'Per second by default',
      parameters: {},
      inputs: ['00:00:00 0, 00:00:10 5'],
      output: '00:00:10 0.5',
    },
    {
      title: 'Power in kW from a meter in kWh, not over gaps',
      parameters: { unit: 'PT1H', maxgap: 'PT30M' },
      inputs: ['00:00 100, 00:15 101, 02:00 120, 02:15 120.5'],
      output: '00:15 4, 02:15 2',
    },
  ],
};

export const describeDerivative: Describe = (parameters) => ({
  ...fromTheLast(parameters),
  does: `the change for each ${textIn(parameters, 'unit')}${within(parameters)}`,
});

export interface CounterMethods {
  counter(parameters?: { readonly max?: number }): StepDraft<{ readonly max?: number }>;
}

export const counter: Operation<CounterMethods> = {
  name: 'Counter',
  shape: 'regrid',
  results: 'all but the first',
  methods: { counter: (parameters = {}) => ({ parameters }) },
  parameters: {
    max: number({ optional: true }),
  },
  check: (parameters, report) => {
    const max = numberOr(parameters, 'max', 1);
    if (max <= 0) report('/max', 'request.range', 'a number over 0', String(max));
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

export const counterRules = (): OperationRules => ({
  parameters: [{ properties: { max: { exclusiveMinimum: 0 } } }],
});

export const counterTexts: OperationTexts = {
  summary: 'Turns meter readings into what the meter counted from one reading to the next.',
  parameters: {
    max: 'The value at which the meter rolls over to 0. Without it, a lower reading means that it restarted at 0.',
  },
  examples: [
    {
      title: 'A meter that was replaced starts at 0',
      parameters: {},
      inputs: ['00:00 9980, 01:00 9992, 02:00 3, 03:00 15'],
      output: '01:00 12, 02:00 3, 03:00 12',
    },
    {
      title: 'A meter of four digits rolls over at 10000',
      parameters: { max: 10_000 },
      inputs: ['00:00 9980, 01:00 9992, 02:00 3, 03:00 15'],
      output: '01:00 12, 02:00 11, 03:00 12',
    },
    {
      title: 'What is counted over a gap comes at its end',
      parameters: {},
      inputs: ['00:00 10, 00:15 11, 06:00 40'],
      output: '00:15 1, 06:00 29',
    },
  ],
};

export const describeCounter: Describe = (parameters) => ({
  ...fromTheLast(parameters),
  does:
    'what a meter counted since the reading before; ' +
    (parameters.max === undefined ? 'a fall is a reset' : `a fall is a rollover at ${numberIn(parameters, 'max')}`),
});

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
  return scan(3, ({ slots }, { timeMs, value, count }, out) => {
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

function fromTheLast(parameters: Parameters) {
  return {
    reads: { kind: 'neighbours', gapMsMax: durationMsIn(parameters, 'maxgap') },
    keeps: 'the last sample',
    final: 'with its sample',
  } as const;
}

function within(parameters: Parameters): string {
  return parameters.maxgap === undefined ? '' : `, not over gaps of more than ${textIn(parameters, 'maxgap')}`;
}
