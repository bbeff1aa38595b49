import type { Describe, OperationTexts } from '../operation.js';
import { describeOperand, operandTexts } from './two-inputs.js';

export const addTexts: OperationTexts = {
  summary: 'Adds a scalar, or the second series, to the first.',
  parameters: operandTexts,
  examples: [
    {
      title: 'A scalar',
      parameters: { scalar: 10 },
      inputs: ['00:00 1, 00:01 -2.5'],
      output: '00:00 11, 00:01 7.5',
    },
    {
      title: 'Two series meet at equal times; other samples are counted as unmatched',
      parameters: {},
      inputs: ['00:00 1, 00:01 2, 00:03 4', '00:01 10, 00:02 20, 00:03 30'],
      output: '00:01 12, 00:03 34',
    },
    {
      title: 'Held: at every time of either series, once both are known',
      parameters: { align: 'hold' },
      inputs: ['00:00 1, 00:02 2', '00:01 10, 00:03 20'],
      output: '00:01 11, 00:02 12, 00:03 22',
    },
  ],
};

export const describeAdd = /* @__PURE__ */ describeArithmetic('plus');
export const subTexts: OperationTexts = {
  summary: 'Subtracts a scalar, or the second series, from the first.',
  parameters: operandTexts,
  examples: [
    {
      title: 'A scalar',
      parameters: { scalar: 273.15 },
      inputs: ['00:00 293.15, 00:01 273.15'],
      output: '00:00 20, 00:01 0',
    },
    {
      title: 'Supply minus return temperature',
      parameters: {},
      inputs: ['00:00 70, 00:15 68', '00:00 50, 00:15 49'],
      output: '00:00 20, 00:15 19',
    },
    {
      title: 'As of: the second series as it was last known',
      parameters: { align: 'asof', maxhold: 'PT2M' },
      inputs: ['00:01 5, 00:02 6, 00:05 7', '00:00 1, 00:02 2'],
      output: '00:01 4, 00:02 4',
    },
  ],
};

export const describeSub = /* @__PURE__ */ describeArithmetic('minus');
export const mulTexts: OperationTexts = {
  summary: 'Multiplies the first series by a scalar, or by the second.',
  parameters: operandTexts,
  examples: [
    {
      title: 'A scalar',
      parameters: { scalar: 1.5 },
      inputs: ['00:00 2, 00:01 -4'],
      output: '00:00 3, 00:01 -6',
    },
    {
      title: 'Flow times temperature difference',
      parameters: {},
      inputs: ['00:00 0.5, 00:15 0.25', '00:00 20, 00:15 16'],
      output: '00:00 10, 00:15 4',
    },
    {
      title: 'Interpolated: at every time of either, between known samples',
      parameters: { align: 'linear' },
      inputs: ['00:00 0, 00:10 10', '00:05 2, 00:15 4'],
      output: '00:05 10, 00:10 30',
    },
  ],
};

export const describeMul = /* @__PURE__ */ describeArithmetic('times');
export const divTexts: OperationTexts = {
  summary: 'Divides the first series by a scalar, or by the second.',
  parameters: operandTexts,
  examples: [
    {
      title: 'A scalar',
      parameters: { scalar: 1000 },
      inputs: ['00:00 2500, 00:01 500'],
      output: '00:00 2.5, 00:01 0.5',
    },
    {
      title: 'A division by zero gives no sample, and is counted as nonFinite',
      parameters: {},
      inputs: ['00:00 1, 00:01 2', '00:00 0, 00:01 4'],
      output: '00:01 0.5',
    },
    {
      title: 'A share of a total',
      parameters: {},
      inputs: ['00:00 3, 01:00 5', '00:00 4, 01:00 10'],
      output: '00:00 0.75, 01:00 0.5',
    },
  ],
};

export const describeDiv = /* @__PURE__ */ describeArithmetic('divided by');

/** @param words the words between the two operands. */
export function describeArithmetic(words: string): Describe {
  return describeOperand(`first input ${words} second`, `each value ${words} $`);
}
