import { clamp } from '../kernels/arithmetic.js';
import { selectRange } from '../kernels/select.js';
import type { Operation, StepDraft } from './operation.js';
import { checkOrder, choice, number, numberIn, textIn } from './parameters.js';

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
  check: (parameters, report) => checkOrder(parameters, 'lowerbound', 'upperbound', report),
  open: (parameters) => {
    const lower = numberIn(parameters, 'lowerbound');
    const upper = numberIn(parameters, 'upperbound');
    if (textIn(parameters, 'function') === 'BoundsLimitAnomaly') {
      return { kind: 'filter', select: (chunk, out) => selectRange(lower, upper, false, chunk, out) };
    }
    return { kind: 'map', apply: (value, count, out) => clamp(value, count, lower, upper, out) };
  },
};
