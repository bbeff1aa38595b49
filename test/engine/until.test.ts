import { expect, test } from 'vitest';
import { createPlan, InputError, openStream, pipeline, runBatch } from '../../src/index.js';

const HOUR_MS = 3_600_000;
const raw = { timeseriesId: 'a', metric: 'Raw' };
const plan = createPlan([pipeline('a').aggregate({ function: 'Sum', interval: 'Hourly' }).as('Hours')]);

test('a sample after `until` is left out, but moves time up to it', () => {
  const stream = openStream(plan, { until: HOUR_MS });
  const series = { ...raw, timeMs: Float64Array.of(1, 2, 5 * HOUR_MS), value: Float64Array.of(1, 2, 4) };
  expect(stream.push([series]).map(({ value }) => [...value])).toEqual([[3]]);
  expect(stream.report().sources[0]?.dropped.outOfRun).toBe(1);
});

test('an argument that is not a list of series is named in the error', () => {
  const series = { ...raw, timeMs: Float64Array.of(1), value: Float64Array.of(1) };
  // A caller without types who forgot the brackets.
  const asList = series as unknown as readonly (typeof series)[];
  expect(() => runBatch(plan, asList)).toThrow(InputError);
  expect(() => openStream(plan).push(asList)).toThrow(/an array of series/);
});
