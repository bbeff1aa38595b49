import { type Describe, type OperationTexts, ofEachSample } from '../operation.js';

export const absTexts: OperationTexts = {
  summary: 'Takes the absolute value of each sample.',
  parameters: {},
  examples: [
    {
      title: 'Negative values turn positive',
      parameters: {},
      inputs: ['00:00 -3.5, 00:01 2, 00:02 0'],
      output: '00:00 3.5, 00:01 2, 00:02 0',
    },
    {
      title: 'The size of a deviation',
      parameters: {},
      inputs: ['08:00 -0.25, 08:15 0.25'],
      output: '08:00 0.25, 08:15 0.25',
    },
    {
      title: 'Times stay as they are, evenly spaced or not',
      parameters: {},
      inputs: ['00:00:01 -1, 00:00:07 -2, 23:59:59 -3'],
      output: '00:00:01 1, 00:00:07 2, 23:59:59 3',
    },
  ],
};

export const describeAbs: Describe = () => ({
  does: 'takes absolute values',
  ...ofEachSample,
});
