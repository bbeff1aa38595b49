import { expect, test } from 'vitest';
import { createPlan, OutputLimitError, pipeline, runBatch, type Series } from '../../src/index.js';

// A plan keeps its machine between runs: whatever one run leaves behind, the next must not see it.

const second = { timeseriesId: 'b', metric: 'Raw' };
const request = [
  pipeline('a').add(second, { align: 'hold' }).aggregate({ function: 'Median', interval: 'Hourly' }).as('Held'),
  pipeline('a').add(second).shift({ function: 'ShiftByTime', shift: 'PT1H', direction: 'forward' }).as('Shifted'),
  pipeline('a').aggregate({ function: 'TimeWeightedAverage', interval: 'PT7M', empty: 'hold' }).as('Weighted'),
  pipeline('b').resample({ frequency: 'PT1M', method: 'linear' }).as('Even'),
  pipeline('b').holdLastValue({ interval: 'PT10M' }).as('Ticks'),
];

function series(timeseriesId: string, count: number, stepMs: number, from: number): Series {
  const timeMs = Float64Array.from({ length: count }, (_, i) => from + i * stepMs);
  return { timeseriesId, metric: 'Raw', timeMs, value: timeMs.map((t) => (t / 1000) % 97) };
}

function reversed({ timeMs, value, ...name }: Series): Series {
  return { ...name, timeMs: timeMs.slice().reverse(), value: value.slice().reverse() };
}

const first = [series('a', 9000, 60_000, 0), series('b', 5000, 90_000, 30_000)];
const later = [series('a', 50, 61_000, 7), series('b', 60, 59_000, 13)];

test('a second run of a plan gives what a new plan gives', () => {
  const plan = createPlan(request);
  for (const inputs of [first, later, first, later.map(reversed), later]) {
    expect(runBatch(plan, inputs)).toEqual(runBatch(createPlan(request), inputs));
  }
});

test('nor does a run that failed, or one with other bounds, leave anything behind', () => {
  const plan = createPlan(request);
  expect(() => runBatch(plan, first, { maxOutputSamples: 100 })).toThrow(OutputLimitError);
  const bounds = { from: 1000, until: 2_000_000 };
  expect(runBatch(plan, first, bounds)).toEqual(runBatch(createPlan(request), first, bounds));
  expect(runBatch(plan, later)).toEqual(runBatch(createPlan(request), later));
});
