import { expect, test } from 'vitest';
import {
  createPlan,
  OutputLimitError,
  openStream,
  pipeline,
  restoreStream,
  runBatch,
  type Series,
  type Stream,
  type StreamOptions,
} from '../../src/index.js';

// A plan keeps its graph for its next run. Nothing of one run may show in the next.

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

test('a failed run, or one with other bounds, leaves nothing behind', () => {
  const plan = createPlan(request);
  expect(() => runBatch(plan, first, { maxOutputSamples: 100 })).toThrow(OutputLimitError);
  const bounds = { from: 1000, until: 2_000_000 };
  expect(runBatch(plan, first, bounds)).toEqual(runBatch(createPlan(request), first, bounds));
  expect(runBatch(plan, later)).toEqual(runBatch(createPlan(request), later));
});

function part({ timeMs, value, ...name }: Series, from: number, to: number): Series {
  return { ...name, timeMs: timeMs.slice(from, to), value: value.slice(from, to) };
}

/** Everything that a stream returns while it takes the inputs in parts, some samples of them late. */
function* life(stream: Stream, inputs: readonly Series[], length: number): Generator<unknown> {
  const unused = series('c', 3, 1, 0);
  for (let from = 0; from < 240; from += length) {
    yield stream.push([...inputs.map((one) => part(one, from, from + length)), unused]);
    yield stream.push(inputs.map((one) => part(one, Math.max(0, from - 2), from + 1)));
    yield stream.late;
    yield stream.checkpoint();
  }
  yield stream.advance((inputs[0]?.timeMs.at(-1) ?? 0) + 1e7);
  yield stream.preview();
  yield stream.report();
  yield stream.close();
  yield stream.report();
}

test('a stream of a plan that has closed streams gives what one of a new plan gives', () => {
  const plan = createPlan(request);
  const lives: readonly (readonly [readonly Series[], number, StreamOptions])[] = [
    [first, 100, {}],
    [later, 1, {}],
    [first, 7, { allowedLateness: 'PT3M' }],
    [later, 7, { allowedLateness: 'PT3M' }],
    [later, 30, {}],
    [first, 250, { from: 1000, until: 40_000_000 }],
  ];
  for (const [inputs, length, options] of [...lives, ...lives]) {
    const expected = life(openStream(createPlan(request), options), inputs, length);
    for (const returned of life(openStream(plan, options), inputs, length))
      expect(returned).toEqual(expected.next().value);
    expect(expected.next().done).toBe(true);
    expect(runBatch(plan, inputs)).toEqual(runBatch(createPlan(request), inputs));
  }
});

test('a stream can be restored after another one of its plan was closed', () => {
  const plan = createPlan(request);
  const half = openStream(createPlan(request));
  half.push(first.map((one) => part(one, 0, 300)));
  const bytes = half.checkpoint();
  openStream(plan).close();
  const restored = restoreStream(plan, bytes);
  expect(restored.checkpoint()).toEqual(bytes);
  const rest = first.map((one) => part(one, 300, 900));
  expect(restored.push(rest)).toEqual(half.push(rest));
  expect(restored.close()).toEqual(half.close());
});

test('a closed stream stays closed, whatever the next stream of its plan does', () => {
  const plan = createPlan(request);
  const closed = openStream(plan);
  closed.push(first.map((one) => part(one, 0, 500)));
  const { report } = closed.close();
  const next = openStream(plan);
  const beside = openStream(plan);
  const alone = openStream(createPlan(request));
  const [given, , expected] = [next, beside, alone].map((stream) => stream.push(later));
  expect(given).toEqual(expected);
  expect(closed.report()).toEqual(report);
  for (const use of uses(closed)) expect(use).toThrow(/the stream is closed/);
  expect(next.checkpoint()).toEqual(alone.checkpoint());
  const run = alone.close();
  expect(beside.close()).toEqual(run);
  expect(next.close()).toEqual(run);
});

function uses(stream: Stream): (() => unknown)[] {
  return [
    () => stream.push([]),
    () => stream.advance(0),
    () => stream.preview(),
    () => stream.checkpoint(),
    () => stream.close(),
  ];
}

test('a failed stream leaves nothing behind', () => {
  const plan = createPlan(request);
  const failing = openStream(plan, { maxOutputSamples: 100 });
  expect(() => failing.push(first)).toThrow(OutputLimitError);
  expect(() => failing.close()).toThrow(/has failed before/);
  const [live, expected] = [plan, createPlan(request)].map((one) => openStream(one, { maxOutputSamples: 100 }));
  expect(live?.push(later)).toEqual(expected?.push(later));
  expect(live?.close()).toEqual(expected?.close());
});
