import type { Describe, OperationTexts } from '../../operation.js';
import { durationMsIn, numberIn, type Parameters, textIn } from '../../parameters.js';

const maxgapText = 'No result if the sample before is older than this.';

export const differenceTexts: OperationTexts = {
  summary: 'Gives each value minus the one before it.',
  parameters: {
    maxgap: maxgapText,
  },
  examples: [
    {
      title: 'From each sample to the next; the first gives nothing',
      parameters: {},
      inputs: ['00:00 10, 00:15 12.5, 00:30 12'],
      output: '00:15 2.5, 00:30 -0.5',
    },
    {
      title: 'Not over a gap',
      parameters: { maxgap: 'PT15M' },
      inputs: ['00:00 1, 00:15 2, 01:00 9, 01:15 10'],
      output: '00:15 1, 01:15 1',
    },
    {
      title: 'Samples may lie at any distance',
      parameters: {},
      inputs: ['00:00 1, 00:00:01 1, 12:00 5'],
      output: '00:00:01 0, 12:00 4',
    },
  ],
};

export const describeDifference: Describe = (parameters) => ({
  ...fromTheLast(parameters),
  does: `each value minus the one before${within(parameters)}`,
});

export const derivativeTexts: OperationTexts = {
  summary: 'Gives the rate of change: the difference from the sample before, per unit of time.',
  parameters: {
    unit: 'The unit of time.',
    maxgap: maxgapText,
  },
  examples: [
    {
      title: 'Degrees an hour',
      parameters: { unit: 'PT1H' },
      inputs: ['00:00 20, 00:15 20.5, 00:45 20'],
      output: '00:15 2, 00:45 -1',
    },
    {
      title: 'Per second by default',
      parameters: {},
      inputs: ['00:00:00 0, 00:00:10 5'],
      output: '00:00:10 0.5',
    },
    {
      title: 'Power in kW from a meter in kWh, not over gaps',
      parameters: { unit: 'PT1H', maxgap: 'PT30M' },
      inputs: ['00:00 100, 00:15 101, 02:00 120, 02:15 120.5'],
      output: '00:15 4, 02:15 2',
    },
  ],
};

export const describeDerivative: Describe = (parameters) => ({
  ...fromTheLast(parameters),
  does: `the change for each ${textIn(parameters, 'unit')}${within(parameters)}`,
});

export const counterTexts: OperationTexts = {
  summary: 'Turns meter readings into what the meter counted from one reading to the next.',
  parameters: {
    max:
      'The value at which the meter rolls over to 0, above all readings. Without it, a lower reading means that it ' +
      'restarted at 0.',
  },
  examples: [
    {
      title: 'A meter that was replaced starts at 0',
      parameters: {},
      inputs: ['00:00 9980, 01:00 9992, 02:00 3, 03:00 15'],
      output: '01:00 12, 02:00 3, 03:00 12',
    },
    {
      title: 'A meter of four digits rolls over at 10000',
      parameters: { max: 10_000 },
      inputs: ['00:00 9980, 01:00 9992, 02:00 3, 03:00 15'],
      output: '01:00 12, 02:00 11, 03:00 12',
    },
    {
      title: 'What is counted over a gap comes at its end',
      parameters: {},
      inputs: ['00:00 10, 00:15 11, 06:00 40'],
      output: '00:15 1, 06:00 29',
    },
  ],
};

export const describeCounter: Describe = (parameters) => ({
  ...fromTheLast(parameters),
  does:
    'what a meter counted since the reading before; ' +
    (parameters.max === undefined ? 'a fall is a reset' : `a fall is a rollover at ${numberIn(parameters, 'max')}`),
});

function fromTheLast(parameters: Parameters) {
  return {
    reads: { kind: 'neighbours', gapMsMax: durationMsIn(parameters, 'maxgap') },
    keeps: 'the last sample',
    final: 'with its sample',
  } as const;
}

function within(parameters: Parameters): string {
  return parameters.maxgap === undefined ? '' : `, not over gaps of more than ${textIn(parameters, 'maxgap')}`;
}
