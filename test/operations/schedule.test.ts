import { expect, test } from 'vitest';
import { createPlan, runBatch } from '../../src/index.js';

// In St. John's the clock went back from 00:01 to 23:01 of the day before, so that day had one more hour.
test('a daily schedule applies again when the clock goes back over midnight', () => {
  const plan = createPlan([
    {
      metric: 'Open',
      processingType: 'batch',
      operations: [
        {
          operation: 'Schedule',
          input: [{ timeseriesId: 's', metric: 'Raw' }],
          output: [{ timeseriesId: 's', metric: 'Open' }],
          parameters: {
            hours: [
              { start: '00:00', end: '23:59:59' },
              { start: '00:00', end: '00:00' },
            ],
            ranges: [{ first: '2006-10-28', last: '2006-10-28' }],
            timezone: 'America/St_Johns',
          },
        },
      ],
    },
  ]);
  const timeMs = Float64Array.of(Date.parse('2006-10-27T00:00Z'), Date.parse('2006-10-30T00:00Z'));
  const [open] = runBatch(plan, [{ timeseriesId: 's', metric: 'Raw', timeMs, value: Float64Array.of(1, 1) }]).series;
  const changes = [...open!.timeMs].map((ms, i) => `${new Date(ms).toISOString()} ${open!.value[i]}`);
  expect(changes).toEqual([
    '2006-10-27T00:00:00.000Z 0',
    '2006-10-28T02:30:00.000Z 1',
    '2006-10-29T02:30:00.000Z 0',
    '2006-10-29T02:31:00.000Z 1',
    '2006-10-29T03:30:00.000Z 0',
  ]);
});
