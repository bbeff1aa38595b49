import type { Describe, OperationTexts } from '../operation.js';
import { durationMsIn, textIn } from '../parameters.js';
import { gridOf, isLinear } from '../resample.js';
import { inZone } from '../windowing.js';

export const resampleTexts: OperationTexts = {
  summary: 'Gives the value at each point of an even grid, held or interpolated between samples, never averaged.',
  parameters: {
    function: 'Always `Resample`.',
    frequency: 'The distance between points; days and weeks are those of the zone.',
    timezone: 'The zone whose local days the points follow, if they are days apart.',
    method: '`step`: the last sample at or before the point; `linear`: interpolated.',
    maxgap: 'Gaps longer than this get no points.',
  },
  examples: [
    {
      title: 'The last sample at or before each point',
      parameters: { function: 'Resample', frequency: 'PT15M' },
      inputs: ['00:00 1, 00:20 2, 00:45 3'],
      output: '00:00 1, 00:15 1, 00:30 2, 00:45 3',
    },
    {
      title: 'Interpolated',
      parameters: { frequency: 'PT10M', method: 'linear' },
      inputs: ['00:05 1, 00:25 3'],
      output: '00:10 1.5, 00:20 2.5',
    },
    {
      title: 'No points inside a long gap',
      parameters: { frequency: 'PT10M', maxgap: 'PT30M' },
      inputs: ['00:00 1, 00:20 2, 01:00 3'],
      output: '00:00 1, 00:10 1, 00:20 2, 01:00 3',
    },
  ],
};

export const describeResample: Describe = (parameters) => ({
  does: `gives points every ${textIn(parameters, 'frequency')}${inZone(gridOf(parameters))}, ${
    isLinear(parameters) ? 'interpolated' : 'holding the last value'
  }${parameters.maxgap === undefined ? '' : `, none in gaps over ${textIn(parameters, 'maxgap')}`}`,
  reads: { kind: 'neighbours', gapMsMax: durationMsIn(parameters, 'maxgap') },
  keeps: 'the last sample and the next point',
  final: isLinear(parameters)
    ? 'when a sample at or after its point is final'
    : 'when a sample at or after its point is certain',
});
