import { expect, test } from 'vitest';
import { createPlan } from '../../src/index.js';
import { explain } from '../../src/inspect/index.js';

const ref = (timeseriesId: string, metric: string) => ({ timeseriesId, metric });

test('explain lists steps in running order, their parameters and state, and when results come', () => {
  const plan = createPlan(
    [
      {
        metric: 'Deviation',
        processingType: 'batch',
        frequency: 'PT1H',
        operations: [
          {
            operation: 'Sub',
            input: [ref('room', 'Held'), ref('room', 'LastWeek')],
            output: [ref('room', 'Difference')],
            parameters: { align: 'asof', maxhold: 'PT2H' },
          },
          {
            operation: 'Round',
            input: [ref('room', 'Difference')],
            output: [ref('room', 'Rounded')],
            parameters: { roundtodigits: 1 },
          },
        ],
      },
      {
        metric: 'Held',
        processingType: 'stream',
        operations: [
          {
            operation: 'Aggregate',
            input: [ref('room', 'Raw')],
            output: [ref('room', 'Hourly')],
            parameters: { function: 'Average', interval: 'Hourly', timezone: 'Europe/Berlin' },
          },
          {
            operation: 'HoldLastValue',
            input: [ref('room', 'Hourly')],
            output: [ref('room', 'Held')],
            parameters: { interval: 'QuarterHourly', maxhold: 'P1D' },
          },
        ],
      },
      {
        metric: 'LastWeek',
        processingType: 'stream',
        operations: [
          {
            operation: 'Shift',
            input: [ref('room', 'Hourly')],
            output: [ref('room', 'LastWeek')],
            parameters: { function: 'ShiftByTime', shift: 'P7D', direction: 'forward' },
          },
        ],
      },
    ],
    { timezone: 'Europe/London' },
  );
  expect(explain(plan)).toMatchSnapshot();
});
