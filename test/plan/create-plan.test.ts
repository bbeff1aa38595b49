import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Issue } from '../../src/core/errors.js';
import { finish } from '../../src/core/turns.js';
import { createPlan, openStream, type Plan, pipeline, type RequestItem, runBatch } from '../../src/index.js';
import { explain } from '../../src/inspect/index.js';
import { operationNames, operationsByName } from '../../src/operations/index.js';
import { readRequest } from '../../src/plan/read-request.js';
import { resolve } from '../../src/plan/resolve.js';
import { expectSame, runWithin, sceneArbitrary, seriesOf } from '../laws/running.js';
import { hourly, item, type Json, raw, step } from './requests.js';

const out = (metric: string): Json => ({ output: [{ timeseriesId: 'a', metric }] });
const from = (...metrics: string[]): Json => ({ input: metrics.map((metric) => ({ timeseriesId: 'a', metric })) });

test('the plan holds defaults, names in the spelling of the interface, and the running order', () => {
  const plan = createPlan([
    item(
      [
        step('ROUND', { roundtodigits: -0 }, { ...from('Mean'), ...out('Rounded') }),
        step('aggregate', { function: 'AVERAGE', interval: 'pt1h'.toUpperCase() }, out('Mean')),
      ].reverse(),
      { frequency: 'pt1h' },
    ),
  ]);
  expect(plan).toEqual({
    version: 1,
    timezone: 'UTC',
    sources: [raw('a')],
    steps: [
      {
        pointer: '/0/operations/0',
        operation: 'Aggregate',
        parameters: {
          function: 'Average',
          interval: 'Hourly',
          empty: 'omit',
          label: 'start',
          closed: 'left',
          timezone: 'UTC',
        },
        inputs: [{ from: 'source', index: 0 }],
        output: { timeseriesId: 'a', metric: 'Mean' },
      },
      {
        pointer: '/0/operations/1',
        operation: 'Round',
        parameters: { roundtodigits: 0, mode: 'halfaway' },
        inputs: [{ from: 'step', index: 0 }],
        output: { timeseriesId: 'a', metric: 'Rounded' },
      },
    ],
    items: [{ processingType: 'batch', frequency: 'PT1H', step: 1, output: { timeseriesId: 'a', metric: 'Result' } }],
    request: plan.request,
  });
});

/** Texts with the case of each letter changed. */
const recased = (text: string, flips: readonly boolean[]): string =>
  [...text].map((letter, i) => (flips[i % flips.length] ? letter.toUpperCase() : letter.toLowerCase())).join('');

test('names of operations, functions, intervals and choices are case-insensitive', () => {
  const flips = fc.array(fc.boolean(), { minLength: 1, maxLength: 9 });
  const names = ['function', 'align', 'label', 'closed', 'empty', 'mode', 'method', 'direction'];
  const property = fc.property(sceneArbitrary(3), flips, ({ request, options }, pattern) => {
    const change = (key: string, value: unknown): unknown => {
      const isName = names.includes(key) || key === 'operation' || key === 'processingType';
      const isInterval = (key === 'interval' || key === 'window') && /^[A-Z][a-z]/.test(String(value));
      return typeof value === 'string' && (isName || isInterval) ? recased(value, pattern) : value;
    };
    const recasedRequest: unknown = JSON.parse(JSON.stringify(request), change);
    const { request: _one, ...plan } = createPlan(request, zoneOf(options));
    const { request: _other, ...same } = createPlan(recasedRequest, zoneOf(options));
    expect(same).toEqual(plan);
  });
  fc.assert(property, { numRuns: 600 });
});

const zoneOf = ({ timezone }: { readonly timezone?: string }): { timezone?: string } =>
  timezone === undefined ? {} : { timezone };

describe('a plan', () => {
  test('is frozen in all its parts', () => {
    const property = fc.property(sceneArbitrary(4), ({ request, options }) => {
      expect(thawed(createPlan(request, zoneOf(options)))).toEqual([]);
    });
    fc.assert(property, { numRuns: 300 });
  });

  test('runs the same and explains the same after a round trip through JSON', () => {
    const property = fc.property(sceneArbitrary(5), ({ request, samples, options }) => {
      const plan = createPlan(request, zoneOf(options));
      const travelled = JSON.parse(JSON.stringify(plan)) as Plan;
      expect(travelled).toEqual(plan);
      expect(explain(travelled)).toBe(explain(plan));
      const [here, there] = [plan, travelled].map((one) => runWithin(one, seriesOf(samples), options));
      expectSame(there?.series ?? [], here?.series ?? []);
      expect(there === undefined).toBe(here === undefined);
    });
    fc.assert(property, { numRuns: 300 });
  });

  test('copies the request and never changes it', () => {
    const property = fc.property(sceneArbitrary(3), ({ request, options }) => {
      const before = JSON.stringify(request);
      const plan = createPlan(request, zoneOf(options));
      expect(JSON.stringify(request)).toBe(before);
      expect(plan.request).toEqual(JSON.parse(before));
      expect(plan.request).not.toBe(request);
    });
    fc.assert(property, { numRuns: 300 });
  });

  test('for a run in another time zone equals that of the request in this zone', () => {
    const plan = createPlan([item([hourly])]);
    const input = seriesOf([{ timeMs: [0, 3_600_000], value: [1, 2] }]).map((series) => ({
      ...series,
      timeseriesId: 'a',
    }));
    const run = runBatch(plan, input, { timezone: 'Asia/Kolkata' });
    expect([...run.series[0]!.timeMs]).toEqual([-1_800_000, 1_800_000]);
    expect(run.series).toEqual(runBatch(createPlan([item([hourly])], { timezone: 'Asia/Kolkata' }), input).series);
  });
});

/** The places that are not frozen. */
function thawed(value: unknown, place = ''): string[] {
  if (value === null || typeof value !== 'object') return [];
  const below = Object.entries(value).flatMap(([name, part]) => thawed(part, `${place}/${name}`));
  return Object.isFrozen(value) ? below : [place, ...below];
}

test('steps can be written in any order, over any items', () => {
  const steps = [
    step('Aggregate', { function: 'Sum', interval: 'Hourly' }, out('A')),
    step('Abs', {}, { ...from('A'), ...out('B') }),
    step('Add', {}, { ...from('A', 'B'), ...out('C') }),
    step('Shift', { function: 'ShiftByWindow', shift: 1, direction: 'forward' }, { ...from('C'), ...out('D') }),
    step('Not', {}, { ...from('D'), ...out('E') }),
  ];
  const inOrder = createPlan([item(steps)]);
  const order = fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 });
  const property = fc.property(order, (indices) => {
    const plan = createPlan([item([...indices.map((index) => steps[index]!), steps[4]!])]);
    const withoutPlaces = (one: Plan) => one.steps.map(({ pointer: _pointer, ...rest }) => rest);
    expect(withoutPlaces(plan)).toEqual(withoutPlaces(inOrder));
    expect(plan.items[0]!.step).toBe(4);
  });
  fc.assert(property);
});

test('an item can read what another one publishes, by either of its names', () => {
  const request = [
    item([step('Abs', {}, { ...from('First'), ...out('Second') })], { metric: 'Last' }),
    item([step('Not', {}, { ...from('Inner'), ...out('Third') })], { metric: 'Other' }),
    item([step('Aggregate', { function: 'Sum', interval: 'Hourly' }, out('Inner'))], { metric: 'First' }),
  ];
  const plan = createPlan(request);
  expect(plan.sources).toEqual([raw('a')]);
  expect(plan.steps.map(({ operation }) => operation)).toEqual(['Aggregate', 'Abs', 'Not']);
  expect(plan.items.map(({ step: at, output }) => `${at} ${output.metric}`)).toEqual(['1 Last', '2 Other', '0 First']);
  expect(
    openStream(plan)
      .close()
      .series.map(({ metric }) => metric),
  ).toEqual(['Last', 'Other', 'First']);
});

test('ShiftByWindow counts the windows of the nearest step upstream, on its first input first', () => {
  const shift = (...metrics: string[]) =>
    step('Shift', { function: 'ShiftByWindow', shift: 1, direction: 'forward' }, { ...from(...metrics), ...out('Z') });
  const windowOf = (steps: Json[]): unknown => {
    const plan = createPlan([item([...steps, shift('Y')])]);
    return plan.steps.find(({ operation }) => operation === 'Shift')!.parameters.window;
  };
  const daily = step('Aggregate', { function: 'Sum', interval: 'Daily' }, out('X'));
  const hold = step('HoldLastValue', { interval: 'QuarterHourly' }, out('W'));
  expect(windowOf([daily, step('Abs', {}, { ...from('X'), ...out('Y') })])).toBe('Daily');
  expect(windowOf([daily, hold, step('Add', {}, { ...from('X', 'W'), ...out('Y') })])).toBe('Daily');
  expect(windowOf([daily, hold, step('Add', {}, { ...from('W', 'X'), ...out('Y') })])).toBe('QuarterHourly');
  expect(windowOf([daily, step('Resample', { frequency: 'PT5M' }, { ...from('X'), ...out('Y') })])).toBe('PT5M');
});

test('every operation is found by its name and aliases, and every name is unique', () => {
  expect(new Set(operationNames.map((name) => name.toLowerCase())).size).toBe(operationNames.length);
  expect(operationNames).toContain('AggregatePipeline');
  expect([...operationsByName.keys()]).toEqual([
    'Aggregate',
    'Aggregate Pipeline',
    'Add',
    'Sub',
    'Mul',
    'Div',
    'Eq',
    'Ne',
    'Lte',
    'Lt',
    'Gt',
    'Gte',
    'Not',
    'And',
    'Or',
    'Mask',
    'Where',
    'Round',
    'Abs',
    'Cleanse',
    'Shift',
    'HoldLastValue',
    'Resample',
    'Min',
    'Max',
    'Pow',
    'Mod',
    'Sqrt',
    'Exp',
    'Log',
    'Sign',
    'Floor',
    'Ceil',
    'Scale',
    'Clamp',
    'Select',
    'Coalesce',
    'Difference',
    'Derivative',
    'CumulativeSum',
    'Counter',
    'MovingAverage',
    'ExponentialAverage',
    'Hysteresis',
    'Delay',
    'Edge',
    'StuckValue',
    'Hampel',
    'Deadband',
    'SwingingDoor',
    'Downsample',
    'Schedule',
    'Fill',
    'Gaps',
  ]);
});

describe('thousands of steps in reverse order', () => {
  const COUNT = 20_000;
  const name = (index: number): string => (index === 0 ? 'Raw' : `M${index}`);
  const steps = Array.from({ length: COUNT }, (_, at) => COUNT - at).map((index) =>
    step('Abs', {}, { ...from(name(index - 1)), ...out(name(index)) }),
  );

  test('are put in order', () => {
    const plan = createPlan([item(steps)]);
    expect(plan.steps.map(({ output }) => output.metric)).toEqual(plan.steps.map((_, at) => name(at + 1)));
  });

  test('are each visited only a few times, however many depend on one another', () => {
    let lookCount = 0;
    const issues: Issue[] = [];
    const items = finish(readRequest([item(steps)], 'UTC', issues)).map((read) => ({
      ...read,
      steps: read.steps.map(
        (one) =>
          new Proxy(one, {
            get: (target, key) => {
              lookCount++;
              return Reflect.get(target, key);
            },
          }),
      ),
    }));
    expect(resolve(items, issues).steps).toHaveLength(COUNT);
    expect(issues).toEqual([]);
    expect(lookCount).toBeGreaterThan(COUNT);
    expect(lookCount).toBeLessThan(10 * COUNT);
  });
});

test('a pipeline without `as` is one problem that says how to end it', () => {
  // `as`: what a program in JavaScript may hand in.
  const given = [pipeline('zone').mul(2)] as unknown as RequestItem[];
  expect(() => createPlan(given)).toThrow("/0: expected `.as('…')` at the end, received an object");
});

describe('a pipeline that reads another', () => {
  const outside = { timeseriesId: 'outside', metric: 'Raw' };
  const averageOf = (id: string) => pipeline(id).aggregate({ function: 'Average', interval: 'Hourly' });
  const inputs = ['zone', 'outside', 'roof'].map((timeseriesId, k) => ({
    timeseriesId,
    metric: 'Raw',
    timeMs: Float64Array.from({ length: 200 }, (_, i) => i * 900_000),
    value: Float64Array.from({ length: 200 }, (_, i) => Math.sin(i / (7 + k)) * 20),
  }));
  const resultsOf = (...items: RequestItem[]) => runBatch(createPlan(items), inputs).series;

  test('without steps reads the series itself', () => {
    expect(pipeline('zone').sub(pipeline('outside')).as('Excess')).toEqual(pipeline('zone').sub(outside).as('Excess'));
  });

  test('runs the steps of the other first, and publishes none of their results', () => {
    const excess = averageOf('zone').sub(averageOf('outside')).round(1).as('Excess');
    const hourly = { timeseriesId: 'outside', metric: 'Hourly' };
    const named = pipeline('zone', 'Hourly').sub(hourly).round(1).as('Excess');
    const [, , expected] = resultsOf(averageOf('zone').as('Hourly'), averageOf('outside').as('Hourly'), named);
    expect(resultsOf(excess)).toEqual([expected]);
    expect(expected?.value.length).toBe(50);
  });

  test('can be nested, and can read one series twice', () => {
    const warmest = pipeline('roof').max([averageOf('outside'), pipeline('outside').add(pipeline('roof').mul(2))]);
    const step = (name: string) => ({ timeseriesId: 'zone', metric: name });
    const item = pipeline('zone').sub(warmest, { align: 'asof' }).abs().as('Lag');
    expect(item.operations.at(-1)?.output).toEqual([step('Lag')]);
    const names = item.operations.flatMap(({ output }) => output.map((one) => `${one.timeseriesId}/${one.metric}`));
    expect(new Set(names).size).toBe(names.length);
    expect(createPlan([item]).steps).toHaveLength(6);
  });
});
