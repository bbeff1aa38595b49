import type { OperationTexts } from '../../operation.js';
import { inputs, is, type OperationRules, when } from '../../rules.js';
import { describeOperand, operandTexts } from '../two-inputs.js';

export const minTexts: OperationTexts = {
  summary: 'Gives the smallest of a value and a scalar, or of several series.',
  parameters: operandTexts,
  examples: [
    {
      title: 'At most 100',
      parameters: { scalar: 100 },
      inputs: ['00:00 99.5, 00:01 100, 00:02 104'],
      output: '00:00 99.5, 00:01 100, 00:02 100',
    },
    {
      title: 'The coldest of three sensors',
      parameters: {},
      inputs: ['00:00 21, 00:15 22', '00:00 20.5, 00:15 23', '00:00 24, 00:15 21.5'],
      output: '00:00 20.5, 00:15 21.5',
    },
    {
      title: 'The smaller of two series, each held until its next sample',
      parameters: { align: 'hold' },
      inputs: ['00:00 5, 00:10 1', '00:05 3'],
      output: '00:05 3, 00:10 1',
    },
  ],
};

export const describeMin = /* @__PURE__ */ describeOperand(
  'the smallest of its inputs',
  'the smallest of each value and $',
);

export const maxTexts: OperationTexts = {
  summary: 'Gives the greatest of a value and a scalar, or of several series.',
  parameters: operandTexts,
  examples: [
    {
      title: 'At least 0',
      parameters: { scalar: 0 },
      inputs: ['00:00 -0.5, 00:01 0, 00:02 4'],
      output: '00:00 0, 00:01 0, 00:02 4',
    },
    {
      title: 'The hottest of three sensors',
      parameters: {},
      inputs: ['00:00 21, 00:15 22', '00:00 20.5, 00:15 23', '00:00 24, 00:15 21.5'],
      output: '00:00 24, 00:15 23',
    },
    {
      title: 'At the times of the first series, with the latest of the second',
      parameters: { align: 'asof' },
      inputs: ['00:00 1, 00:10 2, 00:20 3', '00:05 2.5'],
      output: '00:10 2.5, 00:20 3',
    },
  ],
};

export const describeMax = /* @__PURE__ */ describeOperand(
  'the greatest of its inputs',
  'the greatest of each value and $',
);

/** Of Min and Max. */
export const extremeRules = (): OperationRules => ({
  step: [when(inputs(3), { properties: { parameters: { not: is('align', 'linear') } } })],
});
