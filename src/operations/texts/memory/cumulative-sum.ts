import { FROM_THE_PAST } from '../../extensions/memory/per-sample.js';
import type { Describe, OperationTexts } from '../../operation.js';
import { textIn } from '../../parameters.js';
import { inZone } from '../../windowing.js';

export const cumulativeSumTexts: OperationTexts = {
  summary: 'Gives, at each sample, the total so far, since the first sample or the start of each window.',
  parameters: {
    interval: 'How often the total restarts at 0; never by default.',
    timezone: 'The zone whose local days the windows follow.',
  },
  examples: [
    {
      title: 'The total so far',
      parameters: {},
      inputs: ['00:00 1, 00:15 2.5, 00:30 -1'],
      output: '00:00 1, 00:15 3.5, 00:30 2.5',
    },
    {
      title: 'Anew each hour',
      parameters: { interval: 'Hourly' },
      inputs: ['00:15 1, 00:45 2, 01:00 4, 01:30 8'],
      output: '00:15 1, 00:45 3, 01:00 4, 01:30 12',
    },
    {
      title: 'Anew at local midnight',
      parameters: { interval: 'Daily', timezone: 'Europe/Berlin' },
      inputs: ['2024-03-30T22:30:00Z 1, 2024-03-30T23:00:00Z 2, 2024-03-31T21:30:00Z 4, 2024-03-31T22:00:00Z 8'],
      output: '2024-03-30T22:30:00Z 1, 2024-03-30T23:00:00Z 2, 2024-03-31T21:30:00Z 6, 2024-03-31T22:00:00Z 8',
    },
  ],
};

export const describeCumulativeSum: Describe = (parameters) => ({
  ...FROM_THE_PAST,
  does:
    parameters.interval === undefined
      ? 'the total so far'
      : `the total so far of each ${textIn(parameters, 'interval')} window${inZone(parameters)}`,
  keeps: 'the total, and the end of its window',
});
