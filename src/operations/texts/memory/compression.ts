import { FROM_THE_PAST } from '../../extensions/memory/per-sample.js';
import type { Describe, OperationTexts } from '../../operation.js';
import { numberIn } from '../../parameters.js';

export const deadbandTexts: OperationTexts = {
  summary: 'Keeps only samples that differ from the last one kept by more than a tolerance.',
  parameters: {
    tolerance: 'How far a dropped sample may be from the last one kept.',
  },
  examples: [
    {
      title: 'Changes of more than half a degree',
      parameters: { tolerance: 0.5 },
      inputs: ['00:00 20, 00:15 20.5, 00:30 20.75, 00:45 20.5, 01:00 20'],
      output: '00:00 20, 00:30 20.75, 01:00 20',
    },
    {
      title: 'With no tolerance, every change',
      parameters: { tolerance: 0 },
      inputs: ['00:00 1, 00:01 1, 00:02 2, 00:03 2, 00:04 1'],
      output: '00:00 1, 00:02 2, 00:04 1',
    },
    {
      title: 'A slow drift is kept step by step',
      parameters: { tolerance: 1 },
      inputs: ['00:00 0, 01:00 0.75, 02:00 1.5, 03:00 2.25, 04:00 3'],
      output: '00:00 0, 02:00 1.5, 04:00 3',
    },
  ],
};

export const describeDeadband: Describe = (parameters) => ({
  ...FROM_THE_PAST,
  does: `keeps samples more than ${numberIn(parameters, 'tolerance')} from the last one kept`,
  keeps: 'the last value kept',
});

export const swingingDoorTexts: OperationTexts = {
  summary: 'Keeps only samples that straight lines need to pass all others within a tolerance.',
  parameters: {
    tolerance: 'How far a dropped sample may be from the line between those kept.',
  },
  examples: [
    {
      title: 'The corners of a line',
      parameters: { tolerance: 0.1 },
      inputs: ['00:00 0, 00:10 1, 00:20 2, 00:30 3, 00:40 2, 00:50 1'],
      output: '00:00 0, 00:30 3, 00:50 1',
    },
    {
      title: 'A step',
      parameters: { tolerance: 0.5 },
      inputs: ['00:00 20, 00:10 20.25, 00:20 19.75, 00:30 20, 00:40 30, 00:50 30'],
      output: '00:00 20, 00:30 20, 00:40 30, 00:50 30',
    },
    {
      title: 'The first and the last sample are always kept',
      parameters: { tolerance: 100 },
      inputs: ['00:00 1, 00:10 50, 00:20 3'],
      output: '00:00 1, 00:20 3',
    },
  ],
};

export const describeSwingingDoor: Describe = (parameters) => ({
  does: `keeps samples whose lines pass the others within ${numberIn(parameters, 'tolerance')}`,
  reads: { kind: 'past' },
  keeps: 'the last sample kept, the last sample, and the slopes that are open',
  final: 'when a line to a later sample would miss one in between, or at the end',
});
