import type { Describe, OperationTexts } from '../../operation.js';
import { textIn } from '../../parameters.js';

export const gapsTexts: OperationTexts = {
  summary: 'Gives the length of each gap, at the last sample before it.',
  parameters: {
    gap: 'Samples further apart than this have a gap between them.',
    unit: 'The unit of the lengths.',
  },
  examples: [
    {
      title: 'Gaps of more than a quarter of an hour, in minutes',
      parameters: { gap: 'PT15M', unit: 'PT1M' },
      inputs: ['00:00 20, 00:15 21, 01:15 22, 01:30 22, 04:30 23'],
      output: '00:15 60, 01:30 180',
    },
    {
      title: 'By default in seconds',
      parameters: { gap: 'PT1S' },
      inputs: ['00:00:00 1, 00:00:01 1, 00:00:02.5 1'],
      output: '00:00:01 1.5',
    },
    {
      title: 'Days without a reading',
      parameters: { gap: 'P1D', unit: 'P1D' },
      inputs: ['2024-03-01T08:00:00Z 1, 2024-03-02T08:00:00Z 2, 2024-03-05T20:00:00Z 3'],
      output: '2024-03-02T08:00:00Z 3.5',
    },
  ],
};

export const describeGaps: Describe = (parameters) => ({
  does: `the lengths of gaps over ${textIn(parameters, 'gap')}, in ${textIn(parameters, 'unit')}`,
  reads: { kind: 'neighbours', gapMsMax: undefined },
  keeps: 'the time of the last sample',
  final: 'with the sample after the gap',
});
