import { type Describe, type OperationTexts, ofEachSample } from '../../operation.js';
import type { Parameters } from '../../parameters.js';
import { type OperationRules, oneOf } from '../../rules.js';

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

function bound(words: string, value: Parameters[string] | undefined): string {
  return typeof value === 'number' ? `${words} ${value}` : '';
}

export const clampRules = (): OperationRules => ({ parameters: [oneOf('lower', 'upper')] });
