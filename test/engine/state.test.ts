import { expect, test } from 'vitest';
import { createPlan, openStream, type Plan } from '../../src/index.js';
import { chainPlan, seriesOf } from './streams.js';

const DAY_S = 86_400;
const START_MS = Date.UTC(2024, 0, 1);

const pipelines: readonly (readonly [title: string, plan: Plan])[] = [
  [
    'a typical one',
    chainPlan([
      ['Mask', { valuerangelist: [{ lower: 100 }] }],
      ['Aggregate', { function: 'Average', interval: 'QuarterHourly' }],
      ['Sub', { scalar: 20 }],
      ['Shift', { function: 'ShiftByWindow', shift: 4, direction: 'forward' }],
      ['Round', { roundtodigits: 2 }],
    ]),
  ],
  [
    'one that keeps more',
    chainPlan(
      [
        ['HoldLastValue', { interval: 'PT10S', maxhold: 'PT5M' }],
        ['Resample', { frequency: 'PT15S', method: 'linear' }],
        ['Aggregate', { function: 'TimeWeightedAverage', interval: 'PT1M', empty: 'hold' }],
        ['Aggregate', { function: 'StandardDeviation', interval: 'Hourly', empty: 'zero' }],
        [
          'Aggregate Pipeline',
          {
            pipeline: [
              { function: 'Max', interval: 'PT6H' },
              { function: 'Sum', interval: 'Daily' },
            ],
          },
        ],
      ],
      'Europe/Berlin',
    ),
  ],
];

test.each(pipelines)(
  'state stays below 800 bytes and stops growing after a day of one-second samples: %s',
  (_title, plan) => {
    const stream = openStream(plan, { allowedLateness: 'PT10S' });
    const sizes: number[] = [];
    for (let day = 0; day < 6; day++) {
      for (let hour = 0; hour < 24; hour++) {
        const from = day * DAY_S + hour * 3600;
        const seconds = Array.from({ length: 3600 }, (_, i) => from + i);
        stream.push([
          seriesOf(
            seconds.map((s) => START_MS + s * 1000),
            seconds.map((s) => 20 + Math.sin(s / 1000)),
          ),
        ]);
      }
      sizes.push(stream.checkpoint().length);
    }
    expect(Math.max(...sizes)).toBeLessThan(800);
    // The counts of samples grow to four bytes each.
    expect(Math.max(...sizes) - sizes[0]!).toBeLessThan(60);
    expect(sizes.at(-1)! - sizes[3]!).toBeLessThan(30);
  },
);

test('two inputs keep only what the slower one has yet to reach', () => {
  const ref = (timeseriesId: string, metric: string) => ({ timeseriesId, metric });
  const step = (operation: string, parameters: object, from: string[], to: string) => {
    const input = from.map((metric) => ref('in', metric));
    return { operation, parameters, input, output: [ref('in', to)] };
  };
  const operations = [
    step('Aggregate', { function: 'Average', interval: 'Hourly' }, ['Raw'], 'Hour'),
    step('Sub', { align: 'asof' }, ['Raw', 'Hour'], 'Rest'),
    step('Add', { align: 'linear' }, ['Rest', 'Hour'], 'Sum'),
    step('Mul', { align: 'hold' }, ['Sum', 'Raw'], 'Product'),
  ];
  const stream = openStream(createPlan([{ metric: 'Result', processingType: 'stream', operations }]));
  const sizes: number[] = [];
  for (let day = 0; day < 5; day++) {
    const minutes = Array.from({ length: 1440 }, (_, i) => START_MS + (day * 1440 + i) * 60_000);
    stream.push([
      seriesOf(
        minutes,
        minutes.map((t) => (t / 60_000) % 7),
      ),
    ]);
    sizes.push(stream.checkpoint().length);
  }
  // At most an hour and a half of one-minute samples waits for the hourly average.
  expect(Math.max(...sizes)).toBeLessThan(6000);
  expect(sizes.at(-1)! - sizes[1]!).toBeLessThan(60);
});
