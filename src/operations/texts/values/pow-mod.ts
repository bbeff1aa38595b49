import type { OperationTexts } from '../../operation.js';
import { describeArithmetic } from '../arithmetic.js';
import { operandTexts } from '../two-inputs.js';

export const powTexts: OperationTexts = {
  summary: 'Raises the first series to the power of a scalar, or of the second.',
  parameters: operandTexts,
  examples: [
    {
      title: 'A fan takes power with the cube of its speed',
      parameters: { scalar: 3 },
      inputs: ['00:00 0.5, 00:15 0.75, 00:30 1'],
      output: '00:00 0.125, 00:15 0.421875, 00:30 1',
    },
    {
      title: 'Where there is no real power, there is no sample; it is counted as nonFinite',
      parameters: { scalar: 0.5 },
      inputs: ['00:00 -4, 00:01 2.25'],
      output: '00:01 1.5',
    },
    {
      title: 'Powers of two from a second series',
      parameters: {},
      inputs: ['00:00 2, 00:01 2, 00:02 2', '00:00 10, 00:01 -1, 00:02 0'],
      output: '00:00 1024, 00:01 0.5, 00:02 1',
    },
  ],
};

export const describePow = /* @__PURE__ */ describeArithmetic('to the power of');

export const modTexts: OperationTexts = {
  summary: 'Gives the remainder of dividing the first series by a scalar, or by the second.',
  parameters: operandTexts,
  examples: [
    {
      title: 'Wind directions brought into 0 to 360 degrees',
      parameters: { scalar: 360 },
      inputs: ['00:00 -10, 00:10 370, 00:20 360'],
      output: '00:00 350, 00:10 10, 00:20 0',
    },
    {
      title: 'The result has the sign of the divisor',
      parameters: { scalar: -3 },
      inputs: ['00:00 7, 00:01 -7'],
      output: '00:00 -2, 00:01 -1',
    },
    {
      title: 'A division by zero gives no sample, and is counted as nonFinite',
      parameters: {},
      inputs: ['00:00 5, 00:01 5.5', '00:00 0, 00:01 2'],
      output: '00:01 1.5',
    },
  ],
};

export const describeMod = /* @__PURE__ */ describeArithmetic('modulo');
