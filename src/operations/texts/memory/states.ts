import { FROM_THE_PAST } from '../../extensions/memory/per-sample.js';
import type { Describe, OperationTexts } from '../../operation.js';
import { numberIn, textIn } from '../../parameters.js';

export const hysteresisTexts: OperationTexts = {
  summary: 'Turns to 1 when values reach one bound, and back to 0 when they reach the other.',
  parameters: {
    on: 'Where the state turns to 1: at this value and beyond, away from `off`.',
    off: 'Where it turns back to 0: at this value and beyond, away from `on`.',
  },
  examples: [
    {
      title: 'An alarm from 26 on, until it is 25 again',
      parameters: { on: 26, off: 25 },
      inputs: ['00:00 25.5, 00:15 26, 00:30 25.5, 00:45 25, 01:00 25.5'],
      output: '00:00 0, 00:15 1, 00:30 1, 00:45 0, 01:00 0',
    },
    {
      title: 'Heating below 19, until it is 21',
      parameters: { on: 19, off: 21 },
      inputs: ['00:00 20, 00:15 18.5, 00:30 20, 00:45 21, 01:00 20'],
      output: '00:00 0, 00:15 1, 00:30 1, 00:45 0, 01:00 0',
    },
    {
      title: 'Between the bounds the state stays; at the start it is 0',
      parameters: { on: 1, off: -1 },
      inputs: ['00:00 0, 00:01 5, 00:02 -0.5, 00:03 -1'],
      output: '00:00 0, 00:01 1, 00:02 1, 00:03 0',
    },
  ],
};

export const describeHysteresis: Describe = (parameters) => ({
  ...FROM_THE_PAST,
  does: `1 from ${numberIn(parameters, 'on')} on until ${numberIn(parameters, 'off')}`,
  keeps: 'the state',
});

export const delayTexts: OperationTexts = {
  summary: 'Follows a state only after it has lasted for a time: an on-delay, an off-delay or both.',
  parameters: {
    on: 'How long the input must be true (not 0) for the result to turn to 1.',
    off: 'How long it must be 0 for the result to turn back to 0.',
  },
  examples: [
    {
      title: 'An alarm that must last ten minutes',
      parameters: { on: 'PT10M' },
      inputs: ['00:00 0, 00:05 1, 00:10 0, 00:20 1, 01:00 0'],
      output: '00:00 0, 00:05 0, 00:10 0, 00:20 0, 00:30 1, 01:00 0',
    },
    {
      title: 'A light that stays on for five minutes after the last movement',
      parameters: { off: 'PT5M' },
      inputs: ['00:00 1, 00:01 0, 00:03 1, 00:04 0, 00:30 0'],
      output: '00:00 1, 00:01 1, 00:03 1, 00:04 1, 00:09 0, 00:30 0',
    },
    {
      title: 'A change that is due after the last sample still comes',
      parameters: { on: 'PT1M' },
      inputs: ['00:00 0, 00:01 1'],
      output: '00:00 0, 00:01 0, 00:02 1',
    },
  ],
};

export const describeDelay: Describe = (parameters) => ({
  does: `the state, on after ${textIn(parameters, 'on')} and off after ${textIn(parameters, 'off')}`,
  reads: { kind: 'past' },
  keeps: 'the state, the input and since when it has been so',
  final: 'with its sample or, in between, when time has passed it',
});

export const edgeTexts: OperationTexts = {
  summary: 'Gives 1 where a state changes from the sample before, and 0 elsewhere.',
  parameters: {
    direction: 'Which changes count: to true (not 0), to 0, or both.',
  },
  examples: [
    {
      title: 'When a machine starts',
      parameters: {},
      inputs: ['06:00 0, 07:00 1, 08:00 1, 09:00 0, 10:00 1'],
      output: '06:00 0, 07:00 1, 08:00 0, 09:00 0, 10:00 1',
    },
    {
      title: 'When it stops',
      parameters: { direction: 'falling' },
      inputs: ['06:00 1, 07:00 1, 08:00 0'],
      output: '06:00 0, 07:00 0, 08:00 1',
    },
    {
      title: 'Every change; the first sample is none',
      parameters: { direction: 'both' },
      inputs: ['06:00 1, 07:00 0, 08:00 2, 09:00 3'],
      output: '06:00 0, 07:00 1, 08:00 1, 09:00 0',
    },
  ],
};

export const describeEdge: Describe = (parameters) => ({
  does: `1 at each change of state (${textIn(parameters, 'direction')}), else 0`,
  reads: { kind: 'neighbours', gapMsMax: undefined },
  keeps: 'the last state',
  final: 'with its sample',
});
