import { describe, expect, test } from 'vitest';
import { OutputLimitError, openStream, type Plan, runBatch } from '../../src/index.js';
import { chainPlan, seriesOf } from './streams.js';

const wide = seriesOf([Date.UTC(1970, 0, 1), Date.UTC(2100, 0, 1)], [1, 2]);

const greedy: readonly (readonly [title: string, plan: Plan, pointer: string])[] = [
  ['HoldLastValue', chainPlan([['HoldLastValue', { interval: 'PT1S' }]]), '/0/operations/0'],
  ['Resample', chainPlan([['Resample', { frequency: 'PT1S', method: 'linear' }]]), '/0/operations/0'],
  [
    'TimeWeightedAverage',
    chainPlan([['Aggregate', { function: 'TimeWeightedAverage', interval: 'PT1S' }]]),
    '/0/operations/0',
  ],
  [
    'an Aggregate that fills',
    chainPlan([['Aggregate', { function: 'Sum', interval: 'PT1S', empty: 'zero' }]]),
    '/0/operations/0',
  ],
  [
    'a step after others',
    chainPlan([
      ['Where', { valuerangelist: [{ lower: 0 }] }],
      ['Mul', { scalar: 2 }],
      ['HoldLastValue', { interval: 'PT1S' }],
    ]),
    '/0/operations/2',
  ],
  [
    'ticks of a zone behind a filter',
    chainPlan(
      [
        ['Where', { valuerangelist: [{ lower: 0 }] }],
        ['HoldLastValue', { interval: 'PT1S' }],
      ],
      'Europe/Berlin',
    ),
    '/0/operations/1',
  ],
  [
    'time-weighted windows of a zone behind a filter',
    chainPlan(
      [
        ['Where', { valuerangelist: [{ lower: 0 }] }],
        ['Aggregate', { function: 'TimeWeightedAverage', interval: 'PT1S' }],
      ],
      'Europe/Berlin',
    ),
    '/0/operations/1',
  ],
  [
    'filled windows of a zone behind a filter',
    chainPlan(
      [
        ['Where', { valuerangelist: [{ lower: 0 }] }],
        ['Aggregate', { function: 'Sum', interval: 'PT1S', empty: 'zero' }],
      ],
      'Europe/Berlin',
    ),
    '/0/operations/1',
  ],
  [
    'a stage of a pipeline',
    chainPlan([
      [
        'Aggregate Pipeline',
        {
          pipeline: [
            { function: 'Sum', interval: 'PT1S', empty: 'hold' },
            { function: 'Sum', interval: 'Daily' },
          ],
        },
      ],
    ]),
    '/0/operations/0',
  ],
];

describe('PT1S from 1970 to 2100 is refused before memory is taken', () => {
  test.each(greedy)('%s', (_title, plan, pointer) => {
    for (const run of [() => runBatch(plan, [wide]), () => openStream(plan).push([wide])]) {
      const before = process.memoryUsage().arrayBuffers;
      let refusal: unknown;
      try {
        run();
      } catch (error) {
        refusal = error;
      }
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64_000_000);
      // In a stream the last sample is not final yet, so nothing may have been made so far; then close is refused.
      if (refusal === undefined) {
        const stream = openStream(plan);
        stream.push([wide]);
        expect(() => stream.close()).toThrow(OutputLimitError);
        continue;
      }
      expect(refusal).toBeInstanceOf(OutputLimitError);
      const { sampleCount, limit, message } = refusal as OutputLimitError;
      expect((refusal as OutputLimitError).pointer).toBe(pointer);
      expect(limit).toBe(100_000_000);
      // Counted at once, or as far as the first half of the samples reaches.
      expect(sampleCount).toBeGreaterThan(2_000_000_000);
      expect(message).toMatch(
        new RegExp(`^${pointer}: .* makes at least \\d,\\d{3},\\d{3},\\d{3} samples, over the limit of 100,000,000; `),
      );
    }
  });
});

test('a run that makes exactly the limit of samples succeeds; one more is refused', () => {
  const plan = chainPlan([['HoldLastValue', { interval: 'PT1S' }]]);
  const input = seriesOf([0, 9000], [1, 2]);
  expect(runBatch(plan, [input], { maxOutputSamples: 10 }).series[0]!.timeMs.length).toBe(10);
  expect(() => runBatch(plan, [input], { maxOutputSamples: 9 })).toThrow(OutputLimitError);
});

test('samples outside the run do not count towards the limit', () => {
  const plan = chainPlan([['HoldLastValue', { interval: 'PT1S' }]]);
  const input = seriesOf([-9e12, 0, 5000, 9e12, 9.1e12], [Number.NaN, 1, 1, 2, Number.NaN]);
  expect(runBatch(plan, [input], { maxOutputSamples: 10, from: 0, until: 10_000 }).series[0]!.timeMs.length).toBe(10);
});

test('in a stream the limit applies to each call', () => {
  const stream = openStream(chainPlan([['HoldLastValue', { interval: 'PT1S' }]]), { maxOutputSamples: 60 });
  for (let minute = 0; minute < 5; minute++) stream.push([seriesOf([minute * 60_000], [minute])]);
  // Ticks come as soon as a later sample makes them final.
  expect(() => stream.push([seriesOf([1_000_000], [0])])).toThrow(OutputLimitError);
});

test.each([
  ['held for a limited time', { function: 'Integral', interval: 'PT1S', maxgap: 'PT1M' }, 2],
  ['too few samples for a result to hold', { function: 'StandardDeviation', interval: 'PT1S', empty: 'hold' }, 0],
])('windows that may have no result do not count before the run: %s', (_, parameters, count) => {
  const plan = chainPlan([['Aggregate', parameters]]);
  const input = seriesOf([0, 2000, 3e7, 3e7 + 86_400_000], [1, 2, 3, 4]);
  expect(runBatch(plan, [input], { maxOutputSamples: 100 }).series[0]!.timeMs.length).toBe(count);
});
