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

const ahead = { function: 'ShiftByTime', shift: 'PT9H', direction: 'forward' } as const;

test('a turn of Delay comes once the run has come to it, however few samples the step sees', () => {
  const rare = pipeline('a')
    .where({ valuerangelist: [{ lower: 0 }] })
    .delay({ on: 'PT2H' })
    .as('Late');
  const stream = openStream(createPlan([rare]), {});
  const push = (hour: number, value: number): number[] =>
    stream
      .push([{ ...raw, timeMs: Float64Array.of(hour * HOUR_MS), value: Float64Array.of(value) }])
      .flatMap((one) => [...one.timeMs].map((t) => t / HOUR_MS));
  expect([push(0, 1), push(1, -1), push(2, -1), push(3, -1)]).toEqual([[], [0], [], [2]]);
});

test('what follows a Delay waits for a turn that the run has not come to yet', () => {
  const state = pipeline('a')
    .aggregate({ function: 'Average', interval: 'Hourly', label: 'end' })
    .delay({ on: 'PT30M' });
  const plan = createPlan([state.add({ timeseriesId: 'b', metric: 'Raw' }, { align: 'hold' }).as('Sum')]);
  const b = { ...raw, timeseriesId: 'b' };
  const one = (of: typeof raw, hour: number, value: number) => {
    return { ...of, timeMs: Float64Array.of(hour * HOUR_MS), value: Float64Array.of(value) };
  };
  const stream = openStream(plan, {});
  const given = [one(raw, 0, 1), one(raw, 1.1, 1), one(b, 1.6, 5), one(b, 1.7, 5)].flatMap((sample) =>
    stream.push([sample]),
  );
  const samples = [...given, ...stream.close().series].flatMap(({ timeMs, value }) =>
    [...timeMs].map((t, i) => [t / HOUR_MS, value[i]]),
  );
  expect(samples).toEqual([
    [1.6, 6],
    [1.7, 6],
    [2, 6],
  ]);
});

test.each([
  [pipeline('a').shift(ahead).holdLastValue({ interval: 'Hourly' }), [9, 10, 11, 12, 13]],
  [pipeline('a').shift(ahead).delay({ on: 'PT2H' }), [9, 11, 12]],
  [
    pipeline('a')
      .shift(ahead)
      .schedule({ hours: [{ start: '10:00', end: '12:00' }] }),
    [9, 10, 12],
  ],
])('what comes between samples that are ahead of the run is in one of its parts: %#', (built, hours) => {
  const late = createPlan([built.as('Late')]);
  const series = { ...raw, timeMs: Float64Array.of(0, 3 * HOUR_MS), value: Float64Array.of(1, 1) };
  const timesOf = (from: number, until: number, warmup?: string): number[] =>
    [
      ...runBatch(late, [series], { from: from * HOUR_MS, until: until * HOUR_MS, ...(warmup && { warmup }) })
        .series[0]!.timeMs,
    ].map((t) => t / HOUR_MS);
  expect(timesOf(0, 14)).toEqual(hours);
  const parts = [timesOf(0, 2), timesOf(2, 5, 'all'), timesOf(5, 14, 'all')];
  expect([...new Set(parts.flat())].sort((a, b) => a - b)).toEqual(hours);
});

test('a HoldLastValue without `until` gives what a stream that advanced to `from` has left', () => {
  const held = createPlan([pipeline('a').holdLastValue({ interval: 'Hourly' }).as('Held')]);
  const series = { ...raw, timeMs: Float64Array.of(0, 5 * HOUR_MS), value: Float64Array.of(1, 2) };
  const hours = [...runBatch(held, [series], { from: 3 * HOUR_MS, warmup: 'all' }).series[0]!.timeMs];
  expect(hours.map((t) => t / HOUR_MS)).toEqual([3, 4, 5]);
  // The same plan without a warm-up, and once more with one.
  expect(runBatch(held, [series]).series[0]!.timeMs).toHaveLength(6);
  expect([...runBatch(held, [series], { from: 3 * HOUR_MS, warmup: 'all' }).series[0]!.timeMs]).toEqual(hours);
});
