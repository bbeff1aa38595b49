import { describe, expect, test } from 'vitest';
import { type Parameters, runStep } from '../laws/steps.js';

/** The results of a step over samples a minute apart, as minutes and values. */
function resultsOf(operation: string, parameters: Parameters, values: readonly number[]) {
  const timeMs = Float64Array.from(values, (_, i) => i * 60_000);
  const input = { timeseriesId: 'in', metric: 'Raw', timeMs, value: Float64Array.from(values) };
  const [result] = runStep(operation, parameters, [input]).series;
  return { minutes: Array.from(result!.timeMs, (time) => time / 60_000), values: [...result!.value] };
}

test('a line through points whose distance is larger than any double goes through both of them', () => {
  const points = [
    { x: -1e308, y: 0 },
    { x: 1e308, y: 100 },
  ];
  expect(resultsOf('Scale', { points }, [-1e308, 0, 5e307, 1e308]).values).toEqual([0, 50, 75, 100]);
});

test('of an even number of neighbours, Hampel takes the median that Aggregate gives', () => {
  const values = [1000, 0, 0.01, 0.07];
  expect(resultsOf('Hampel', {}, values).values[0]).toBe(0.04);
  expect(resultsOf('Aggregate', { function: 'Median', interval: 'Daily' }, values).values).toEqual([0.04]);
});

describe('no sample that SwingingDoor leaves out is further than the tolerance from the line', () => {
  test.each([
    ['of large values', 1e-4, [1e12, 1e12 + 2 ** -13, 1e12]],
    ['of the largest that have a fraction', 0.3, [4e15, 4e15 + 0.5, 4e15]],
    ['whose slope is larger than any double', 1, [-1e308, 1e308, 1e308]],
  ])('%s', (_, tolerance, values) => {
    expect(resultsOf('SwingingDoor', { tolerance }, values).minutes).toEqual([0, 1, 2]);
  });
});
