import type { Describe, OperationTexts } from '../../operation.js';
import { durationMsIn, textIn } from '../../parameters.js';

export const coalesceTexts: OperationTexts = {
  summary: 'Gives, at every time of any input, the value of the first input that has one.',
  parameters: {
    maxhold: 'How long a value holds after its sample.',
  },
  examples: [
    {
      title: 'A second sensor where the first has no sample',
      parameters: {},
      inputs: ['00:00 20, 00:15 21, 01:00 22', '00:15 30, 00:30 31, 00:45 32'],
      output: '00:00 20, 00:15 21, 00:30 31, 00:45 32, 01:00 22',
    },
    {
      title: 'The first holds for twenty minutes',
      parameters: { maxhold: 'PT20M' },
      inputs: ['00:00 20, 00:15 21', '00:05 30, 00:30 31, 00:45 32'],
      output: '00:00 20, 00:05 20, 00:15 21, 00:30 21, 00:45 32',
    },
    {
      title: 'Three sources, in the order of their rank',
      parameters: {},
      inputs: ['00:00 1', '00:00 2, 01:00 3', '00:00 4, 01:00 5, 02:00 6'],
      output: '00:00 1, 01:00 3, 02:00 6',
    },
  ],
};

export const describeCoalesce: Describe = (parameters) => ({
  does: `the first input with a value, each held for ${textIn(parameters, 'maxhold')}`,
  reads: { kind: 'last', ageMsMax: durationMsIn(parameters, 'maxhold') },
  keeps: 'the last sample of each input, and those that others have not reached',
  final: 'when all inputs have passed its time',
});
