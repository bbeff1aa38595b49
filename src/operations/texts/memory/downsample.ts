import type { Describe, OperationTexts } from '../../operation.js';
import { textIn } from '../../parameters.js';
import { inZone } from '../../windowing.js';

export const downsampleTexts: OperationTexts = {
  summary: 'Keeps the samples of each window that give a chart its shape.',
  parameters: {
    interval: 'The windows: as long as some pixels of the chart.',
    method:
      '`lttb`: one sample of each window, that of the largest triangle (Steinarsson, 2013), and the first and ' +
      'last sample of all; `minmax`: the least and the greatest of each window.',
    timezone: 'The zone whose local days the windows follow.',
  },
  examples: [
    {
      title: 'The least and the greatest of each hour, at their own times',
      parameters: { interval: 'Hourly', method: 'minmax' },
      inputs: ['00:00 5, 00:10 9, 00:20 1, 00:30 4, 01:00 7, 01:30 7'],
      output: '00:10 9, 00:20 1, 01:00 7',
    },
    {
      title: 'The sample of the largest triangle of each hour',
      parameters: { interval: 'Hourly' },
      inputs: ['00:00 0, 00:20 0, 00:40 10, 01:10 1, 01:20 8, 01:50 2, 02:00 3, 02:30 3'],
      output: '00:00 0, 00:40 10, 01:10 1, 02:00 3, 02:30 3',
    },
    {
      title: 'A window with one sample keeps it',
      parameters: { interval: 'Daily' },
      inputs: ['2024-03-01T06:00:00Z 1, 2024-03-03T06:00:00Z 2, 2024-03-04T06:00:00Z 1'],
      output: '2024-03-01T06:00:00Z 1, 2024-03-03T06:00:00Z 2, 2024-03-04T06:00:00Z 1',
    },
  ],
};

export const describeDownsample: Describe = (parameters) => ({
  does:
    (parameters.method === 'minmax' ? 'the least and greatest sample' : 'the sample of the largest triangle') +
    ` of each ${textIn(parameters, 'interval')} window${inZone(parameters)}`,
  reads: { kind: 'neighbours', gapMsMax: undefined },
  keeps: parameters.method === 'minmax' ? 'the samples of the open window' : 'the samples of two windows',
  final: `when time has passed the end of ${parameters.method === 'minmax' ? 'its' : 'the next'} window`,
});
