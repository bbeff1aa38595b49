import { type Describe, type OperationTexts, ofEachSample } from '../operation.js';
import { numberIn, type Parameters } from '../parameters.js';

export const roundTexts: OperationTexts = {
  summary: 'Rounds each value to a number of decimal places, as a person reading the number would.',
  parameters: {
    roundtodigits: 'Decimal places; negative ones round to tens, hundreds and so on.',
    mode: 'Where ties go: away from zero, or to the even neighbour.',
  },
  examples: [
    {
      title: 'Ties go away from zero, judged on the number as it is written',
      parameters: { roundtodigits: 2 },
      inputs: ['00:00 1.005, 00:01 2.675, 00:02 -0.125, 00:03 -0.001'],
      output: '00:00 1.01, 00:01 2.68, 00:02 -0.13, 00:03 0',
    },
    {
      title: 'Negative digits round to tens',
      parameters: { roundtodigits: -1 },
      inputs: ['00:00 14.9, 00:01 15, 00:02 -25'],
      output: '00:00 10, 00:01 20, 00:02 -30',
    },
    {
      title: 'Ties to even',
      parameters: { roundtodigits: 0, mode: 'halfeven' },
      inputs: ['00:00 0.5, 00:01 1.5, 00:02 2.5'],
      output: '00:00 0, 00:01 2, 00:02 2',
    },
  ],
};

export const describeRound: Describe = (parameters) => ({
  does: `rounds to ${digitsOf(parameters)} after the point, ties ${
    parameters.mode === 'halfeven' ? 'to even' : 'away from zero'
  }`,
  ...ofEachSample,
});

function digitsOf(parameters: Parameters): string {
  const digits = numberIn(parameters, 'roundtodigits');
  return digits === 1 ? '1 digit' : `${digits} digits`;
}
