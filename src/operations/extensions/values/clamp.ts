import { clamp as clampKernel } from '../../../kernels/arithmetic.js';
import { type Describe, type Operation, type OperationTexts, ofEachSample, type StepDraft } from '../../operation.js';
import { number, type Parameters } from '../../parameters.js';

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
  shape: 'map',
  results: 'one a sample',
  methods: { limit: (bounds) => ({ parameters: bounds }) },
  parameters: {
    lower: number({ optional: true }),
    upper: number({ optional: true }),
  },
  check: (parameters, report) => {
    const { lower, upper } = boundsOf(parameters);
    if (parameters.lower === undefined && parameters.upper === undefined) {
      report('', 'request.missing', 'a lower bound, an upper bound or both', 'neither');
    }
    if (lower > upper) report('', 'request.range', 'lower at most upper', `${lower} over ${upper}`, 'swap the two');
  },
  open: (parameters) => {
    const { lower, upper } = boundsOf(parameters);
    return { kind: 'map', apply: (value, count, out) => clampKernel(value, count, lower, upper, out) };
  },
};

export const clampTexts: OperationTexts = {
  summary: 'Raises values below a lower bound to it, and lowers those above an upper bound to that.',
  parameters: {
    lower: 'The least result; none by default.',
    upper: 'The greatest result; none by default.',
  },
  examples: [
    {
      title: 'Both bounds',
      parameters: { lower: 0, upper: 100 },
      inputs: ['00:00 -5, 00:01 50, 00:02 120'],
      output: '00:00 0, 00:01 50, 00:02 100',
    },
    {
      title: 'A lower bound alone: heat that flows back counts as none',
      parameters: { lower: 0 },
      inputs: ['00:00 -2.5, 00:15 3'],
      output: '00:00 0, 00:15 3',
    },
    {
      title: 'An upper bound alone',
      parameters: { upper: 1 },
      inputs: ['00:00 1.02, 00:15 -7'],
      output: '00:00 1, 00:15 -7',
    },
  ],
};

export const describeClamp: Describe = (parameters) => ({
  does: `limits values${bound(' from', parameters.lower)}${bound(' to', parameters.upper)}`,
  ...ofEachSample,
});

function boundsOf({ lower, upper }: Parameters): { readonly lower: number; readonly upper: number } {
  return {
    lower: typeof lower === 'number' ? lower : Number.NEGATIVE_INFINITY,
    upper: typeof upper === 'number' ? upper : Number.POSITIVE_INFINITY,
  };
}

function bound(words: string, value: Parameters[string] | undefined): string {
  return typeof value === 'number' ? `${words} ${value}` : '';
}
