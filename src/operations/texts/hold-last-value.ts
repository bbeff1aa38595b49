import type { Describe, OperationTexts } from '../operation.js';
import { durationMsIn, textIn } from '../parameters.js';
import { inZone } from '../windowing.js';

export const holdLastValueTexts: OperationTexts = {
  summary: 'Gives the value of the last sample at or before each tick of an interval.',
  parameters: {
    function: 'Always `HoldLastValue`.',
    interval: 'How far apart the ticks are.',
    timezone: 'The zone whose local days the ticks follow.',
    maxhold: 'How old a held value may be.',
  },
  examples: [
    {
      title: 'Changes of state, held every quarter of an hour',
      parameters: { function: 'HoldLastValue', interval: 'QuarterHourly' },
      inputs: ['00:05 20, 00:20 21, 01:00 22'],
      output: '00:15 20, 00:30 21, 00:45 21, 01:00 22',
    },
    {
      title: 'Values older than maxhold are unknown',
      parameters: { interval: 'PT10M', maxhold: 'PT15M' },
      inputs: ['00:00 1, 00:50 2'],
      output: '00:00 1, 00:10 1, 00:50 2',
    },
    {
      title: 'Ticks at local midnight',
      parameters: { interval: 'Daily', timezone: 'Europe/Berlin' },
      inputs: ['2024-03-30T12:00:00Z 5, 2024-04-01T12:00:00Z 6'],
      output: '2024-03-30T23:00:00Z 5, 2024-03-31T22:00:00Z 5',
    },
  ],
};

export const describeHoldLastValue: Describe = (parameters) => {
  const oldest = parameters.maxhold === undefined ? '' : `, for at most ${textIn(parameters, 'maxhold')}`;
  return {
    does: `holds the last value at each tick of ${textIn(parameters, 'interval')}${inZone(parameters)}${oldest}`,
    reads: { kind: 'last', ageMsMax: durationMsIn(parameters, 'maxhold') },
    keeps: 'the last sample and the next tick',
    final: 'when a sample at or after its tick is certain, or `advance` has passed it',
  };
};
