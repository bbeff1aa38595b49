import { expect, test } from 'vitest';
import { openEvery, planEvery, restoreEvery, runEvery } from '../../src/engine/every/index.js';
import { CheckpointError, InputError, loadSeries, OutputLimitError, pipeline, type Series } from '../../src/index.js';

const series = (timeseriesId: string, timeMs: readonly number[], value: readonly number[]): Series => {
  return { timeseriesId, metric: 'Raw', timeMs: Float64Array.from(timeMs), value: Float64Array.from(value) };
};
const grid = pipeline('zone-{n}').resample({ frequency: 'PT1S' }).as('Grid');
const total = pipeline('meter').aggregate({ function: 'Sum', interval: 'Hourly' }).as('Total');
const totalGrid = pipeline('meter').resample({ frequency: 'PT1S' }).as('Total');
const peaks = pipeline('zone-{n}').aggregate({ function: 'Max', interval: 'Hourly' }).as('Peak');

test.each([
  ['members', planEvery([grid, total]), [series('zone-1', [1e6], [1]), series('meter', [1000], [7])]],
  ['plain series', planEvery([peaks, totalGrid]), [series('zone-1', [7.2e6], [1]), series('meter', [1e6], [7])]],
])('a stream whose %s exceed the limit takes no more calls, as its parts would differ', (_, plan, next) => {
  const stream = openEvery(plan, { maxOutputSamples: 10 });
  stream.push([series('zone-1', [0], [1]), series('meter', [0], [5])]);
  expect(() => stream.push(next)).toThrow(OutputLimitError);
  const refusal = new InputError('stream.closed', 'the stream has failed before; restore its last checkpoint');
  for (const call of [() => stream.push([]), () => stream.advance(2e6), () => stream.preview(), () => stream.close()]) {
    expect(call).toThrow(refusal);
  }
  expect(() => stream.checkpoint()).toThrow(CheckpointError);
  expect(stream.report().sources.map(({ samplesIn }) => samplesIn > 0)).toEqual([true, true]);
});

test('a call that is refused before it begins leaves the stream as it was', () => {
  const stream = openEvery(planEvery([peaks, total]));
  stream.push([series('zone-1', [0], [1]), series('meter', [0], [5])]);
  const before = stream.checkpoint();
  expect(() => stream.advance('yesterday')).toThrow(InputError);
  expect(() => stream.push([series('meter', [Number.NaN], [5])])).toThrow(InputError);
  expect(stream.checkpoint()).toEqual(before);
  expect(stream.close().series.map(({ value }) => [...value])).toEqual([[1], [5]]);
});

test('a closed stream takes no more calls, whatever they bring', () => {
  const stream = openEvery(planEvery([peaks, total]));
  stream.push([series('zone-1', [0], [1])]);
  stream.close();
  const refusal = new InputError('stream.closed', 'the stream is closed; open another, or restore a checkpoint');
  for (const brought of [[], [series('zone-2', [0], [1])], [series('unread', [0], [1])]]) {
    expect(() => stream.push(brought)).toThrow(refusal);
  }
  expect(stream.report().unused).toBe(0);
});

test('a checkpoint is refused by a plan that lacks one of its parts, or has another', () => {
  const both = planEvery([peaks, total]);
  const patterns = planEvery([peaks]);
  const bytesOf = (plan: typeof both): Uint8Array => {
    const stream = openEvery(plan);
    stream.push([series('zone-1', [0], [1])]);
    return stream.checkpoint();
  };
  const refusal = { code: 'checkpoint.plan' };
  expect(() => restoreEvery(patterns, bytesOf(both))).toThrow(expect.objectContaining(refusal));
  expect(() => restoreEvery(both, bytesOf(patterns))).toThrow(expect.objectContaining(refusal));
});

test('whichever bit of a checkpoint changes, it is refused', () => {
  const plan = planEvery([peaks, total]);
  const stream = openEvery(plan);
  stream.push([series('zone-1', [0], [1]), series('meter', [0], [5]), series('unread', [0], [1])]);
  const bytes = stream.checkpoint();
  expect(restoreEvery(plan, bytes).report()).toEqual({ ...stream.report(), durationMs: 0 });
  for (let bit = 0; bit < 8 * bytes.length; bit++) {
    const changed = bytes.slice();
    changed[bit >> 3]! ^= 1 << (bit & 7);
    expect(() => restoreEvery(plan, changed), `bit ${bit}`).toThrow(CheckpointError);
  }
  for (let length = 0; length < bytes.length; length++) {
    expect(() => restoreEvery(plan, bytes.slice(0, length))).toThrow(CheckpointError);
  }
});

test('loaded series that nobody reads count with the samples that loading left out', () => {
  const inputs = [series('zone-1', [0], [1]), series('unread', [0, 0, 1], [1, Number.NaN, 2])];
  const plan = planEvery([peaks]);
  expect(runEvery(plan, inputs).report.unused).toBe(3);
  expect(runEvery(plan, loadSeries(inputs)).report.unused).toBe(3);
});
