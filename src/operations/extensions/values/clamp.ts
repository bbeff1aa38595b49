import { clamp as clampKernel } from '../../../kernels/arithmetic.js';
import type { Operation, StepDraft } from '../../operation.js';
import { checkOrder, number, type Parameters } from '../../parameters.js';

export interface ClampParameters {
  readonly lower?: number;
  readonly upper?: number;
}

export interface ClampMethods {
  /** Clamp with one bound or both. (`clamp` is the interface's Cleanse with BoundsLimitCleanse.) */
  limit(bounds: ClampParameters): StepDraft<ClampParameters>;
}

export const clamp: Operation<ClampMethods, 'Clamp'> = {
  name: 'Clamp',
  otherNames: ['clip'],
  shape: 'map',
  results: 'one a sample',
  methods: { limit: (bounds) => ({ parameters: bounds }) },
  parameters: {
    lower: number({ optional: true }),
    upper: number({ optional: true }),
  },
  check: (parameters, report) => {
    if (parameters.lower === undefined && parameters.upper === undefined) {
      report('', 'request.missing', 'a lower bound, an upper bound or both', 'neither');
    }
    checkOrder(parameters, 'lower', 'upper', report);
  },
  open: (parameters) => {
    const { lower, upper } = boundsOf(parameters);
    return { kind: 'map', apply: (value, count, out) => clampKernel(value, count, lower, upper, out) };
  },
};

function boundsOf({ lower, upper }: Parameters): { readonly lower: number; readonly upper: number } {
  return {
    lower: typeof lower === 'number' ? lower : Number.NEGATIVE_INFINITY,
    upper: typeof upper === 'number' ? upper : Number.POSITIVE_INFINITY,
  };
}
