import { describe, expect, test } from 'vitest';
import { expectedCounts } from '../../src/engine/batch/expected-counts.js';
import { readOptions } from '../../src/engine/options.js';
import { InputError, runBatch } from '../../src/index.js';
import { chainPlan, seriesOf } from './streams.js';

/** One sample a minute, exactly or with jitter, as in most series. */
const COUNT = 3000;
const START_MS = Date.UTC(2024, 2, 1);
const times = Array.from({ length: COUNT }, (_, i) => START_MS + i * 60_000);
const values = times.map((_, i) => 20 + Math.sin(i / 7));
const regular = seriesOf(times, values);
const jittered = seriesOf(
  times.map((t, i) => t + 500 + ((i * 7919) % 59_000)),
  values,
);

const chains: readonly Parameters<typeof chainPlan>[0][] = [
  [['Mul', { scalar: 2 }]],
  [['Difference', {}]],
  [['Derivative', { unit: 'PT1H' }]],
  [['Counter', {}]],
  [['CumulativeSum', {}]],
  [['Hampel', { samples: 3 }]],
  [['Shift', { function: 'ShiftByTime', shift: 'PT1H', direction: 'forward' }]],
  [['Aggregate', { function: 'Average', interval: 'QuarterHourly' }]],
  [['Aggregate', { function: 'Sum', interval: 'PT1S' }]],
  [['Aggregate', { function: 'TimeWeightedAverage', interval: 'Hourly' }]],
  [['Aggregate', { function: 'Max', interval: 'Hourly', empty: 'hold', label: 'end' }]],
  [
    [
      'Aggregate Pipeline',
      {
        pipeline: [
          { function: 'Max', interval: 'PT5M' },
          { function: 'Sum', interval: 'PT1H' },
        ],
      },
    ],
  ],
  [['HoldLastValue', { interval: 'QuarterHourly' }]],
  [['HoldLastValue', { interval: 'QuarterHourly', maxhold: 'PT1H' }]],
  [['Resample', { frequency: 'PT7S' }]],
  [['Resample', { frequency: 'PT2M', method: 'linear', maxgap: 'PT5M' }]],
  [
    ['Mul', { scalar: 2 }],
    ['Aggregate', { function: 'Average', interval: 'PT5M' }],
    ['Difference', {}],
  ],
];

describe('the expected count is the number of results, so that they are copied once', () => {
  test.each(chains)('%j', (...steps) => {
    const plan = chainPlan(steps);
    for (const input of [regular, jittered]) {
      const [expected] = expectedCounts(plan, [input], readOptions({}, 'UTC'));
      expect(expected?.count).toBe(runBatch(plan, [input]).series[0]?.value.length);
    }
  });
});

test('of a run over a part of a long series, only the grid within the run is expected', () => {
  const plan = chainPlan([['Resample', { frequency: 'PT1S' }]]);
  const years = seriesOf([0, START_MS, START_MS + 60_000, 2 * START_MS], [1, 2, 3, 4]);
  const options = { from: START_MS, until: START_MS + 120_000 };
  const [expected] = expectedCounts(plan, [years], readOptions(options, 'UTC'));
  expect(runBatch(plan, [years], options).series[0]?.value.length).toBe(61);
  expect(expected?.count).toBeLessThan(125);
});

test('a time that is not a number is refused as such, whatever count is expected', () => {
  for (const timeMs of [
    [0, 1000, Number.NaN],
    [Number.NaN, 1000],
    [0, Number.POSITIVE_INFINITY],
    // More than a chunk, so that results exist by then.
    Array.from({ length: 40_000 }, (_, i) => (i === 39_999 ? Number.NaN : 1000 * i)),
  ]) {
    for (const steps of chains) {
      const input = seriesOf(
        timeMs,
        timeMs.map(() => 1),
      );
      expect(() => runBatch(chainPlan(steps), [input])).toThrow(InputError);
    }
  }
});
