import { clamp } from '../kernels/arithmetic.js';
import { selectRange } from '../kernels/select.js';
import { type Describe, type Operation, type OperationTexts, ofEachSample, type StepDraft } from './operation.js';
import { choice, number, numberIn, textIn } from './parameters.js';

export interface CleanseParameters {
  readonly function: 'BoundsLimitCleanse' | 'BoundsLimitAnomaly';
  readonly lowerbound: number;
  readonly upperbound: number;
}

export interface CleanseMethods {
  /** BoundsLimitCleanse: clamps values into a range. */
  clamp(lowerbound: number, upperbound: number): StepDraft<CleanseParameters>;
  /** BoundsLimitAnomaly: keeps the samples outside of a range. */
  anomalies(lowerbound: number, upperbound: number): StepDraft<CleanseParameters>;
}

export const cleanse: Operation<CleanseMethods, 'Cleanse'> = {
  name: 'Cleanse',
  shape: 'map',
  methods: {
    clamp: (lowerbound, upperbound) => ({ parameters: { function: 'BoundsLimitCleanse', lowerbound, upperbound } }),
    anomalies: (lowerbound, upperbound) => ({ parameters: { function: 'BoundsLimitAnomaly', lowerbound, upperbound } }),
  },
  parameters: {
    function: choice(['BoundsLimitCleanse', 'BoundsLimitAnomaly']),
    lowerbound: number(),
    upperbound: number(),
  },
  check: (parameters, report) => {
    const lower = numberIn(parameters, 'lowerbound');
    const upper = numberIn(parameters, 'upperbound');
    if (lower <= upper) return;
    report('', 'request.range', 'lowerbound at most upperbound', `${lower} over ${upper}`, 'swap the two');
  },
  open: (parameters) => {
    const lower = numberIn(parameters, 'lowerbound');
    const upper = numberIn(parameters, 'upperbound');
    if (textIn(parameters, 'function') === 'BoundsLimitAnomaly') {
      return { kind: 'filter', select: (chunk, out) => selectRange(lower, upper, false, chunk, out) };
    }
    return { kind: 'map', apply: (value, count, out) => clamp(value, count, lower, upper, out) };
  },
};

export const cleanseTexts: OperationTexts = {
  summary: 'Clamps values into a range (BoundsLimitCleanse), or keeps only samples outside it (BoundsLimitAnomaly).',
  parameters: {
    function: 'What to do with the range.',
    lowerbound: 'The lowest value of the range.',
    upperbound: 'The highest value of the range.',
  },
  examples: [
    {
      title: 'Values are clamped into the range',
      parameters: { function: 'BoundsLimitCleanse', lowerbound: 0, upperbound: 100 },
      inputs: ['00:00 -5, 00:01 50, 00:02 120'],
      output: '00:00 0, 00:01 50, 00:02 100',
    },
    {
      title: 'The samples outside the range',
      parameters: { function: 'BoundsLimitAnomaly', lowerbound: 0, upperbound: 100 },
      inputs: ['00:00 -5, 00:01 50, 00:02 120, 00:03 100'],
      output: '00:00 -5, 00:02 120',
    },
    {
      title: 'Bounds may be fractions',
      parameters: { function: 'BoundsLimitCleanse', lowerbound: 18.5, upperbound: 21.5 },
      inputs: ['00:00 18, 00:01 20, 00:02 22'],
      output: '00:00 18.5, 00:01 20, 00:02 21.5',
    },
  ],
};

export const describeCleanse: Describe = (parameters) => {
  const range = `[${numberIn(parameters, 'lowerbound')}, ${numberIn(parameters, 'upperbound')}]`;
  const isAnomaly = textIn(parameters, 'function') === 'BoundsLimitAnomaly';
  return {
    does: isAnomaly ? `keeps samples outside ${range}` : `trims values into ${range}`,
    ...ofEachSample,
  };
};
