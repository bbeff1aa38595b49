import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planEvery, runEvery } from '../../src/engine/every/index.js';
import { createPlan, pipeline, runBatch, type Series } from '../../src/index.js';
import { why } from '../../src/inspect/index.js';
import { runWithin, type Scene, sceneArbitrary, seriesOf } from '../laws/running.js';

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2024, 2, 1);

function series(values: readonly number[], timeseriesId = 'office'): Series {
  const timeMs = Float64Array.from(values, (_, i) => START_MS + i * MINUTE_MS);
  return { timeseriesId, metric: 'Raw', timeMs, value: Float64Array.from(values) };
}

const samples = (from: number, values: readonly number[]) =>
  values.map((value, i) => ({ timeMs: START_MS + (from + i) * MINUTE_MS, value }));

/** The hour in which the window ends is filled because a sample follows the window. */
const filledWindow: Scene = {
  request: [
    item('Aggregate Pipeline', 's1', {
      pipeline: [
        { function: 'Average', interval: 'Hourly', empty: 'zero' },
        { function: 'Last', interval: 'PT12H' },
        { function: 'Average', interval: 'Weekly' },
      ],
    }),
  ],
  samples: samplesOf('s1', {
    timeMs: [Date.UTC(2018, 10, 3, 11), Date.UTC(2018, 10, 4, 22), Date.UTC(2018, 10, 5)],
    value: [0, 2, 0],
  }),
  options: {},
};

/** The inputs are one series; either alone gives the result. */
const greatNumber: Scene = {
  request: [item('Coalesce', 's0', {}, 2)],
  samples: samplesOf('s0', { timeMs: [START_MS], value: [1e308] }),
  options: {},
};

function item(operation: string, timeseriesId: string, parameters: object, inputCount = 1) {
  const input = Array.from({ length: inputCount }, () => ({ timeseriesId, metric: 'Raw' }));
  const output = [{ timeseriesId: 't0', metric: 'Step' }];
  return { metric: 'Result', processingType: 'batch', operations: [{ operation, input, output, parameters }] };
}

function samplesOf(timeseriesId: string, samples: Scene['samples'][number]): Scene['samples'] {
  return ['s0', 's1', 's2'].map((id) => (id === timeseriesId ? samples : { timeMs: [], value: [] }));
}

describe('why', () => {
  it('the samples that it names give the result, to the bit, without any others', () => {
    let count = 0;
    fc.assert(
      fc.property(sceneArbitrary(4), fc.nat(), fc.nat(), (scene, whichItem, whichResult) => {
        const plan = createPlan(scene.request);
        const inputs = seriesOf(scene.samples);
        const run = runWithin(plan, inputs, scene.options);
        if (run === undefined) return;
        const found = run.series.filter(({ timeMs }) => timeMs.length > 0);
        const result = found[whichItem % Math.max(1, found.length)];
        if (result === undefined) return;
        const at = whichResult % result.timeMs.length;
        const told = why(plan, inputs, result, result.timeMs[at]!, scene.options);
        expect(told.value).toBe(result.value[at]);
        if (!told.steps.every(({ isProved }) => isProved)) return;
        count++;
        const named = inputs.map((input): Series => {
          const of = told.sources.find(({ series }) => series.timeseriesId === input.timeseriesId);
          const used = of?.used ?? [];
          const timeMs = Float64Array.from(used, (sample) => sample.timeMs);
          return { ...input, timeMs, value: Float64Array.from(used, (sample) => sample.value) };
        });
        const again = runBatch(plan, named, scene.options).series[run.series.indexOf(result)]!;
        expect(again.value[again.timeMs.indexOf(result.timeMs[at]!)]).toBe(result.value[at]);
      }),
      { numRuns: 150, examples: [filledWindow, greatNumber].map((scene) => [scene, 0, 0]) },
    );
    expect(count).toBeGreaterThan(50);
  });

  it('a daily mean depends on the samples of its local day, through the steps before it', () => {
    const inputs = [series(Array.from({ length: 3 * 1440 }, (_, i) => i % 7))];
    const item = pipeline('office')
      .mul(2)
      .aggregate({ function: 'Average', interval: 'Daily', timezone: 'Europe/Berlin' });
    const plan = createPlan([item.as('Mean')]);
    const result = { timeseriesId: 'office', metric: 'Mean' };
    const [{ timeMs }] = runBatch(plan, inputs).series as [Series];
    const told = why(plan, inputs, result, timeMs[1]!);
    expect(told.steps.map(({ operation }) => operation)).toEqual(['Aggregate', 'Mul']);
    const [mean, doubled] = told.steps;
    expect(mean!.window).toEqual({
      startMs: Date.UTC(2024, 2, 1, 23),
      endMs: Date.UTC(2024, 2, 2, 23),
      timezone: 'Europe/Berlin',
    });
    expect(mean!.inputs[0]!.used).toHaveLength(1440);
    expect(doubled!.results).toEqual(mean!.inputs[0]!.used);
    expect(told.sources[0]!.used.map(({ position }) => position)).toEqual(
      Array.from({ length: 1440 }, (_, i) => 1380 + i),
    );
  });

  it('a maximum depends on all samples that could have been greater', () => {
    const inputs = [series([1, 5, 2, 3, 9])];
    const plan = createPlan([pipeline('office').aggregate({ function: 'Max', interval: 'PT3M' }).as('Max')]);
    const told = why(plan, inputs, { timeseriesId: 'office', metric: 'Max' }, START_MS);
    expect(told.value).toBe(5);
    expect(told.steps[0]!.inputs[0]!.used).toEqual(samples(0, [1, 5, 2]));
  });

  it.each([
    ['Edge', { direction: 'rising' }, [0, 1, 1, 1], 0, [1, 1]],
    ['Deadband', { tolerance: 1.5 }, [0, 5, 6, 7], 7, [5, 6, 7]],
    ['StuckValue', { tolerance: 1, duration: 'PT2M' }, [7, 7, 20, 7], 0, [20, 7]],
    ['Aggregate', { function: 'Transitions', lower: 5, upper: 9, interval: 'PT2M' }, [1, 2, 7, 3], 2, [2, 7, 3]],
    ['Hysteresis', { on: 5, off: 2 }, [0, 6, 3, 4], 1, [6, 3, 4]],
    ['Hysteresis', { on: 500, off: -200 }, [0, 1, 2, 1], 0, [0, 1, 2, 1]],
  ])('%s depends on the samples before it', (operation, parameters, values, result, used) => {
    const plan = createPlan([item(operation, 's1', parameters)]);
    const minute = operation === 'Aggregate' ? 2 : 3;
    const told = why(
      plan,
      [series(values, 's1')],
      { timeseriesId: 't0', metric: 'Step' },
      START_MS + minute * MINUTE_MS,
    );
    expect(told.value).toBe(result);
    expect(told.sources[0]!.used.map(({ value }) => value)).toEqual(used);
  });

  it('of two inputs of one series, either of which gives the time of the result, it names one', () => {
    const inputs = ['s0', 's1', 's1'].map((timeseriesId) => ({ timeseriesId, metric: 'Raw' }));
    const [step] = item('Coalesce', 's0', { maxhold: 'PT1H' }).operations;
    const plan = createPlan([{ ...item('', '', {}), operations: [{ ...step, input: inputs }] }]);
    const of = { timeseriesId: 't0', metric: 'Step' };
    const told = why(plan, [series([1], 's0'), series([5, 6], 's1')], of, START_MS + MINUTE_MS);
    expect(told.value).toBe(1);
    expect(told.sources.map(({ used }) => used.map(({ value }) => value))).toEqual([[1], [6]]);
  });

  it('where samples of both sides count together, it names no more of them than it takes', () => {
    const inOrder = (timeseriesId: string, pairs: readonly (readonly [number, number])[]): Series => ({
      timeseriesId,
      metric: 'Raw',
      timeMs: Float64Array.from(pairs, ([minute]) => START_MS + minute * MINUTE_MS),
      value: Float64Array.from(pairs, ([, value]) => value),
    });
    const usedFor = (plan: ReturnType<typeof createPlan>, inputs: readonly Series[], minute: number) => {
      const { sources } = why(plan, inputs, { timeseriesId: 'a', metric: 'o' }, START_MS + minute * MINUTE_MS);
      return sources.map(({ used }) => used.map(({ timeMs }) => (timeMs - START_MS) / MINUTE_MS));
    };
    const a = inOrder('a', [
      [0, 1],
      [10, 3],
      [30, 4],
    ]);
    const b = inOrder('b', [
      [0, 5],
      [20, 7],
      [30, 9],
    ]);
    const equal = createPlan([pipeline('a').eq(pipeline('b'), { align: 'hold' }).as('o')]);
    expect(usedFor(equal, [a, b], 20)).toEqual([[10], [20]]);
    const stuck = createPlan([pipeline('a').stuckValue('PT1H').as('o')]);
    const flat = inOrder('a', [
      [0, 7],
      [120, 5],
      [130, 9],
      [140, 1],
    ]);
    expect(usedFor(stuck, [flat], 120)).toEqual([[0, 120]]);
  });

  it('where an input had no value, the samples that say so are named', () => {
    const step = (operation: string, ids: readonly string[], output: string, parameters: object) => {
      const at = (timeseriesId: string) => ({ timeseriesId, metric: timeseriesId === 's1' ? 'Raw' : 'Step' });
      return { operation, input: ids.map(at), output: [at(output)], parameters };
    };
    const operations = [
      step('Deadband', ['s1'], 't0', { tolerance: 1 }),
      step('Mul', ['t0'], 't1', { scalar: 10 }),
      step('Coalesce', ['t1', 's1'], 't2', { maxhold: 'PT30S' }),
    ];
    const plan = createPlan([{ metric: 'Result', processingType: 'batch', operations }]);
    const told = why(plan, [series([2, 2.5], 's1')], { timeseriesId: 't2', metric: 'Result' }, START_MS + MINUTE_MS);
    expect(told.value).toBe(2.5);
    expect(told.sources[0]!.used.map(({ value }) => value)).toEqual([2, 2.5]);
  });

  it.each([
    ['asof', 3, [20], [3], []],
    ['hold', 3, [20], [3], []],
    ['linear', 3, [20], [3, 5], []],
    ['asof', undefined, [10, 20], [1, 2, 3], [2]],
  ])(
    'with align: %s, samples that are held or interpolated are not dropped',
    (align, minute, first, second, dropped) => {
      const at = (minutes: number[], values: number[], timeseriesId: string): Series => {
        const timeMs = Float64Array.from(minutes, (one) => START_MS + one * MINUTE_MS);
        return { timeseriesId, metric: 'Raw', timeMs, value: Float64Array.from(values) };
      };
      const sub = pipeline('a').sub({ timeseriesId: 'b', metric: 'Raw' }, { align: align as 'asof' });
      const day = sub.aggregate({ function: 'Sum', interval: 'Daily' });
      const plan = createPlan([(minute === undefined ? day : sub).as('R')]);
      const inputs = [at([1, 3], [10, 20], 'a'), at([0, 1.5, 2, 4], [1, 2, 3, 5], 'b')];
      const time = START_MS + (minute ?? 0) * MINUTE_MS;
      const { inputs: read } = why(plan, inputs, { timeseriesId: 'a', metric: 'R' }, time).steps.at(-1)!;
      expect(read.map(({ used }) => used.map(({ value }) => value))).toEqual([first, second]);
      expect(read.map(({ leftOut }) => leftOut.map(({ value }) => value))).toEqual([[], dropped]);
      for (const { reason } of read.flatMap(({ leftOut }) => leftOut)) expect(reason).toBe('no result of Sub reads it');
    },
  );

  it('it tells what a filter dropped on the way, and what the run left out', () => {
    const raw = series([1, Number.NaN, 100, 3, 4, 5]);
    const again = { ...raw, timeMs: Float64Array.of(START_MS + 3 * MINUTE_MS), value: Float64Array.of(2) };
    const item = pipeline('office').mask({ valuerangelist: [{ lower: 50, upper: 200 }] });
    const plan = createPlan([item.aggregate({ function: 'Sum', interval: 'PT5M' }).as('Sum')]);
    const told = why(plan, [raw, again], { timeseriesId: 'office', metric: 'Sum' }, START_MS);
    expect(told.value).toBe(1 + 2 + 4);
    expect(told.steps[1]!.inputs[0]!.leftOut).toEqual([
      { ...samples(2, [100])[0], reason: 'Mask has no result at this time' },
    ]);
    const at = (minute: number, value: number, position: number) => ({ ...samples(minute, [value])[0], position });
    expect(told.sources[0]!.used).toEqual([at(0, 1, 0), at(2, 100, 2), at(3, 2, 6), at(4, 4, 4)]);
    expect(told.sources[0]!.leftOut).toEqual([
      { ...at(1, Number.NaN, 1), reason: 'it has no value' },
      { ...at(3, 3, 3), reason: 'a later sample of the same time replaced it' },
    ]);
  });

  it.each([
    ['MovingAverage', { window: 'PT3M' }],
    ['Aggregate', { function: 'Average', window: { type: 'sliding', size: 'PT3M' } }],
  ])('it tells what was dropped within the window of %s, before its first sample', (operation, parameters) => {
    const input = [{ timeseriesId: 'office', metric: 'Raw' }];
    const logs = [{ timeseriesId: 'office', metric: 'Logs' }];
    const steps = [
      { operation: 'Log', input, output: logs },
      { operation, input: logs, output: [{ timeseriesId: 'office', metric: 'Mean' }], parameters },
    ];
    const plan = createPlan([{ metric: 'Mean', processingType: 'batch', operations: steps }]);
    const given = [series([1, 0, 0, 1, 1])];
    const told = why(plan, given, { timeseriesId: 'office', metric: 'Mean' }, START_MS + 3 * MINUTE_MS);
    expect(told.steps[1]!.inputs[0]!.leftOut.map(({ timeMs }) => timeMs)).toEqual([
      START_MS + MINUTE_MS,
      START_MS + 2 * MINUTE_MS,
    ]);
  });

  it('an unknown result is refused with the nearest ones, an unknown series with the known ones', () => {
    const plan = createPlan([pipeline('office').aggregate({ function: 'Sum', interval: 'PT5M' }).as('Sum')]);
    const inputs = [series([1, 2, 3, 4, 5, 6])];
    const of = { timeseriesId: 'office', metric: 'Sum' };
    expect(() => why(plan, inputs, of, START_MS + 1)).toThrow(
      'office/Sum has no result at 2024-03-01T00:00:00.001Z; ' +
        'the nearest are at 2024-03-01T00:00:00.000Z and 2024-03-01T00:05:00.000Z',
    );
    expect(() => why(plan, inputs, { ...of, metric: 'Mean' }, START_MS)).toThrow(
      'expected a result of the request (office/Sum), received office/Mean',
    );
  });
});

it('goes back from a result of a pattern, also if the items of the request are in an object', () => {
  const items = [pipeline('*').aggregate({ function: 'Sum', interval: 'Hourly' }).as('Total')];
  const plan = planEvery({ $schema: 'https://example.com/request.schema.json', items });
  const found = why(plan, [series([1, 2])], { timeseriesId: 'office', metric: 'Total' }, START_MS);
  expect(found).toMatchObject({ timeMs: START_MS, value: 3 });
  expect(found.steps.map(({ pointer }) => pointer)).toEqual(['/items/0/operations/0']);
  const told = runEvery(plan, [series([1, 2])], { timezone: 'Europe/Berlin' });
  expect(told.report.steps.map(({ pointer }) => pointer)).toEqual(['/items/0/operations/0']);
});
