import type { Describe, OperationTexts } from '../../operation.js';
import { durationMsIn, textIn } from '../../parameters.js';
import { has, is, type OperationRules, pairedBy, when } from '../../rules.js';

export const fillTexts: OperationTexts = {
  summary: 'Fills gaps between samples with further samples; existing ones stay as they are.',
  parameters: {
    frequency: 'How far apart samples should be.',
    method:
      '`previous`: the value before the gap; `linear`: interpolated; `constant`: `value`; `series`: the samples ' +
      'that the second input has there, at their own times.',
    value: 'The value to fill with, for the method `constant`.',
    maxgap: 'Longer gaps stay as they are.',
  },
  examples: [
    {
      title: 'Short gaps are interpolated, long ones stay',
      parameters: { frequency: 'PT15M', method: 'linear', maxgap: 'PT1H' },
      inputs: ['00:00 1, 00:15 2, 00:45 4, 03:00 8'],
      output: '00:00 1, 00:15 2, 00:30 3, 00:45 4, 03:00 8',
    },
    {
      title: 'The value before the gap',
      parameters: { frequency: 'PT10M' },
      inputs: ['00:00 1, 00:30 2'],
      output: '00:00 1, 00:10 1, 00:20 1, 00:30 2',
    },
    {
      title: 'Zero where a pulse counter was silent',
      parameters: { frequency: 'PT15M', method: 'constant', value: 0 },
      inputs: ['00:00 3, 00:45 5'],
      output: '00:00 3, 00:15 0, 00:30 0, 00:45 5',
    },
    {
      title: 'From a second sensor',
      parameters: { frequency: 'PT15M', method: 'series' },
      inputs: ['00:00 20, 00:15 21, 01:00 22', '00:00 30, 00:15 31, 00:30 32, 00:45 33, 01:00 34, 01:15 35'],
      output: '00:00 20, 00:15 21, 00:30 32, 00:45 33, 01:00 22',
    },
    {
      title: 'Samples that are a little early or late leave no gap',
      parameters: { frequency: 'PT15M' },
      inputs: ['00:00 1, 00:16:30 2, 00:30 3, 00:58 4'],
      output: '00:00 1, 00:16:30 2, 00:30 3, 00:45 3, 00:58 4',
    },
  ],
};

export const describeFill: Describe = (parameters) => ({
  does:
    `fills gaps between samples that should be ${textIn(parameters, 'frequency')} apart (${parameters.method})` +
    (parameters.maxgap === undefined ? '' : `, of up to ${textIn(parameters, 'maxgap')}`),
  reads: { kind: 'neighbours', gapMsMax: durationMsIn(parameters, 'maxgap') },
  keeps: 'the last sample, and those of the second input since',
  final: 'with its sample or, in a gap, with the sample after it',
});

export const fillRules = (): OperationRules => ({
  parameters: [when(is('method', 'constant'), has('value')), when(has('value'), is('method', 'constant'))],
  step: pairedBy(is('method', 'series')),
});
