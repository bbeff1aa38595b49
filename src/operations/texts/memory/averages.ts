import { FROM_THE_PAST } from '../../extensions/memory/per-sample.js';
import type { Describe, OperationTexts } from '../../operation.js';
import { durationMsIn, textIn } from '../../parameters.js';

export const movingAverageTexts: OperationTexts = {
  summary: 'Gives, at each sample, the average of the samples up to it within a span of time.',
  parameters: {
    window: 'How far back the average reaches; a sample exactly that old is left out.',
  },
  examples: [
    {
      title: 'Of the last half hour',
      parameters: { window: 'PT30M' },
      inputs: ['00:00 1, 00:15 2, 00:30 6, 00:45 10'],
      output: '00:00 1, 00:15 1.5, 00:30 4, 00:45 8',
    },
    {
      title: 'After a gap it starts again',
      parameters: { window: 'PT1H' },
      inputs: ['00:00 1, 00:15 3, 06:00 8, 06:15 9'],
      output: '00:00 1, 00:15 2, 06:00 8, 06:15 8.5',
    },
    {
      title: 'A large value leaves no trace once it is out of the window',
      parameters: { window: 'PT20M' },
      inputs: ['00:00 0.1, 00:10 1e300, 00:20 0.1, 00:30 0.3'],
      output: '00:00 0.1, 00:10 5e299, 00:20 5e299, 00:30 0.2',
    },
  ],
};

export const describeMovingAverage: Describe = (parameters) => ({
  does: `the average of the last ${textIn(parameters, 'window')} at each sample`,
  reads: { kind: 'trailing', lengthMs: durationMsIn(parameters, 'window') ?? 0 },
  keeps: 'the samples of that time',
  final: 'with its sample',
});

export const exponentialAverageTexts: OperationTexts = {
  summary: 'Gives, at each sample, the average of all samples so far, whose weights halve with each half-life of age.',
  parameters: {
    halflife: 'The age at which a sample weighs half as much as a new one.',
  },
  examples: [
    {
      title: 'A sample as old as the half-life counts half',
      parameters: { halflife: 'PT15M' },
      inputs: ['00:00 3, 00:15 6, 00:30 6'],
      output: '00:00 3, 00:15 5, 00:30 5.571428571428571',
    },
    {
      title: 'Age is time, not the number of samples',
      parameters: { halflife: 'PT15M' },
      inputs: ['00:00 3, 00:30 8, 00:30:00.001 8'],
      output: '00:00 3, 00:30 7, 00:30:00.001 7.444444634608288',
    },
    {
      title: 'What stays the same is its own average',
      parameters: { halflife: 'P1D' },
      inputs: ['00:00 0.1, 07:00 0.1, 13:00 0.1'],
      output: '00:00 0.1, 07:00 0.1, 13:00 0.1',
    },
  ],
};

export const describeExponentialAverage: Describe = (parameters) => ({
  ...FROM_THE_PAST,
  does: `the average of all samples, whose weights halve every ${textIn(parameters, 'halflife')}`,
  keeps: 'the average and the sum of its weights',
});
