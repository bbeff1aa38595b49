import { FROM_THE_PAST } from '../../extensions/memory/per-sample.js';
import type { Describe, OperationTexts } from '../../operation.js';
import { numberIn, textIn } from '../../parameters.js';

export const stuckValueTexts: OperationTexts = {
  summary: 'Gives 1 where a value has not changed for a time, and 0 elsewhere.',
  parameters: {
    duration: 'How long values must have stayed the same.',
    tolerance: 'How far from the first of them they may be to count as the same.',
  },
  examples: [
    {
      title: 'No change for an hour',
      parameters: { duration: 'PT1H' },
      inputs: ['00:00 21.5, 00:30 21.5, 01:00 21.5, 01:30 21.5, 02:00 21.6'],
      output: '00:00 0, 00:30 0, 01:00 1, 01:30 1, 02:00 0',
    },
    {
      title: 'With a tolerance, which is measured from the first value',
      parameters: { duration: 'PT30M', tolerance: 0.1 },
      inputs: ['00:00 5, 00:15 5.0625, 00:30 5.09375, 00:45 5.125'],
      output: '00:00 0, 00:15 0, 00:30 1, 00:45 0',
    },
    {
      title: 'Time counts, not the number of samples',
      parameters: { duration: 'PT10M' },
      inputs: ['00:00 1, 00:01 1, 00:02 1, 00:03 1, 06:00 1'],
      output: '00:00 0, 00:01 0, 00:02 0, 00:03 0, 06:00 1',
    },
  ],
};

export const describeStuckValue: Describe = (parameters) => ({
  ...FROM_THE_PAST,
  does: `1 where the value has not changed for ${textIn(parameters, 'duration')}, else 0`,
  keeps: 'the value and since when it has been so',
});

export const hampelTexts: OperationTexts = {
  summary: 'Finds values that stand out from their neighbours, and replaces, removes or flags them.',
  parameters: {
    samples: 'How many samples on each side to compare with.',
    threshold: 'How many standard deviations, estimated from the median deviation, make an outlier.',
    action: 'What becomes of outliers: `replace` with the median, `remove`, or `flag` (1 if one, else 0).',
  },
  examples: [
    {
      title: 'A spike is replaced by the median around it',
      parameters: { samples: 2 },
      inputs: ['00:00 20, 00:15 21, 00:30 85, 00:45 22, 01:00 21'],
      output: '00:00 20, 00:15 21, 00:30 21, 00:45 22, 01:00 21',
    },
    {
      title: 'Or removed',
      parameters: { samples: 2, action: 'remove' },
      inputs: ['00:00 20, 00:15 21, 00:30 85, 00:45 22, 01:00 21'],
      output: '00:00 20, 00:15 21, 00:45 22, 01:00 21',
    },
    {
      title: 'Or flagged',
      parameters: { samples: 2, action: 'flag' },
      inputs: ['00:00 20, 00:15 21, 00:30 85, 00:45 22, 01:00 21'],
      output: '00:00 0, 00:15 0, 00:30 1, 00:45 0, 01:00 0',
    },
  ],
};

export const describeHampel: Describe = (parameters) => ({
  does: `${textIn(parameters, 'action')}s values over ${numberIn(parameters, 'threshold')} deviations off the median`,
  reads: { kind: 'neighbours', gapMsMax: undefined },
  keeps: `the last ${2 * numberIn(parameters, 'samples') + 1} samples`,
  final: `when ${numberIn(parameters, 'samples')} samples after it are final`,
});
