import type { Describe, OperationTexts } from '../../operation.js';
import { alignment, inputs, type OperationRules, when, without } from '../../rules.js';
import { describeTwo, maxholdText } from '../two-inputs.js';

export const selectTexts: OperationTexts = {
  summary:
    'Takes the first series where the second, a condition, is not 0, and elsewhere the third, a number or nothing.',
  parameters: {
    else: 'The result where the condition is 0, instead of a third input.',
    align:
      'How the inputs meet: `inner`, at equal times; `hold`, at every time of any, each holding its last value; ' +
      '`asof`, at the times of the first, with the latest of the others.',
    maxhold: maxholdText,
  },
  examples: [
    {
      title: 'The temperature while a room is occupied',
      parameters: { align: 'asof' },
      inputs: ['07:00 19, 08:00 20, 09:00 21.5, 18:00 21', '06:00 0, 08:00 1, 18:00 0'],
      output: '08:00 20, 09:00 21.5',
    },
    {
      title: 'A number elsewhere',
      parameters: { else: 0 },
      inputs: ['00:00 5, 00:15 6, 00:30 7', '00:00 1, 00:15 0, 00:30 1'],
      output: '00:00 5, 00:15 0, 00:30 7',
    },
    {
      title: 'A number elsewhere, and the latest that is known of the condition',
      parameters: { align: 'asof', else: 0 },
      inputs: ['00:00 5, 00:15 6, 00:30 7', '00:00 1, 00:10 0'],
      output: '00:00 5, 00:15 0, 00:30 0',
    },
    {
      title: 'One of two sensors',
      parameters: {},
      inputs: ['00:00 20, 00:15 21', '00:00 0, 00:15 1', '00:00 30, 00:15 31'],
      output: '00:00 30, 00:15 21',
    },
  ],
};

export const describeSelect: Describe = (parameters) => ({
  does: `the first input where the second is not 0, else ${elseOf(parameters.else)}`,
  ...describeTwo(parameters),
});

function elseOf(constant: unknown): string {
  return typeof constant === 'number' ? String(constant) : 'the third, if there is one';
}

export const selectRules = (): OperationRules => ({
  parameters: alignment(),
  step: [when(inputs(3), { properties: { parameters: without('else') } })],
});
