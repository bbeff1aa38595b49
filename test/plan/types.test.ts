// What does not compile: `tsc` fails on an expected error that is none.

import { expect, test } from 'vitest';
import {
  createPlan,
  type OperationName,
  operations,
  pipeline,
  RequestError,
  type RequestItem,
} from '../../src/index.js';

const celsius = pipeline('office').sub(32).div(1.8);

test('a pipeline without `as` is refused by the compiler, and as the program runs', () => {
  // @ts-expect-error: no `.as(…)`
  expect(() => createPlan([celsius])).toThrow(RequestError);
  // @ts-expect-error: no `.as(…)`, nor a list
  expect(() => createPlan(celsius)).toThrow(RequestError);
  expect(createPlan([celsius.as('Celsius')]).items).toHaveLength(1);
});

test('what is no list of items is refused by the compiler', () => {
  // @ts-expect-error: a number
  expect(() => createPlan(42)).toThrow(RequestError);
  // @ts-expect-error: an item outside of a list
  expect(() => createPlan(celsius.as('Celsius'))).toThrow(RequestError);
});

test('parsed JSON is taken as it is', () => {
  const parsed: unknown = JSON.parse(JSON.stringify([celsius.as('Celsius')]));
  expect(createPlan(parsed).items).toHaveLength(1);
  expect(createPlan(JSON.parse('[]').concat(parsed)).items).toHaveLength(1);
});

const office = { timeseriesId: 'office', metric: 'Raw' };
const output = [{ timeseriesId: 'office', metric: 'Result' }];
const common = { input: [office], output } as const;
const item = { metric: 'Result', processingType: 'batch' } as const;

test('a plain request object is typed as the builder is', () => {
  const hourly = { function: 'Average', interval: 'Hourly' } as const;
  const step = { operation: 'Aggregate', ...common, parameters: hourly } as const;
  expect(createPlan([{ ...item, operations: [step] }]).items).toHaveLength(1);
  expect(createPlan({ $schema: 'x', items: [{ ...item, operations: [step] }] }).items).toHaveLength(1);
  const typed: RequestItem = { ...item, frequency: 'PT15M', operations: [step] };
  expect(createPlan([typed]).items).toHaveLength(1);
  // @ts-expect-error: a name with a typing mistake
  expect(() => createPlan([{ ...item, operations: [{ ...step, operation: 'Agregate' }] }])).toThrow(RequestError);
  // @ts-expect-error: no such frequency
  expect(() => createPlan([{ ...item, frequency: '15M', operations: [step] }])).toThrow(RequestError);
  // @ts-expect-error: no such frequency
  const late: RequestItem = { ...item, frequency: '15M', operations: [step] };
  expect(() => createPlan([late])).toThrow(RequestError);
});

test('a Percentile without `percentile` is refused by the compiler', () => {
  const parameters = { function: 'Percentile', interval: 'Hourly' } as const;
  const operations = [{ operation: 'Aggregate', ...common, parameters }] as const;
  // @ts-expect-error: which percentile?
  expect(() => createPlan([{ ...item, operations }])).toThrow(RequestError);
  // @ts-expect-error: which percentile?
  expect(() => createPlan([pipeline('office').aggregate(parameters).as('P')])).toThrow(RequestError);
  const whole = { ...parameters, percentile: 90 } as const;
  expect(createPlan([pipeline('office').aggregate(whole).as('P')]).items).toHaveLength(1);
  const quarter = { ...whole, interval: '15M' } as const;
  // @ts-expect-error: `15M` is no duration
  expect(() => createPlan([pipeline('office').aggregate(quarter).as('P')])).toThrow(RequestError);
});

test('an Aggregate has an interval or a window, and a window what belongs to its type', () => {
  const sum = { function: 'Sum' } as const;
  const windows = [
    { type: 'sliding', size: 'PT1H', every: 'Daily' },
    { type: 'session', gap: 'PT10M' },
    { type: 'running', since: 'Daily' },
    { type: 'running', since: '2024-01-01T00:00:00Z' },
  ] as const;
  for (const window of windows) {
    expect(
      createPlan([
        pipeline('office')
          .aggregate({ ...sum, window })
          .as('S'),
      ]).items,
    ).toHaveLength(1);
  }
  // @ts-expect-error: neither
  expect(() => createPlan([pipeline('office').aggregate(sum).as('S')])).toThrow(RequestError);
  const both = { ...sum, interval: 'Daily', window: windows[1] } as const;
  // @ts-expect-error: both
  expect(() => createPlan([pipeline('office').aggregate(both).as('S')])).toThrow(RequestError);
  const sized = { ...sum, window: { type: 'session', size: 'PT1H' } } as const;
  // @ts-expect-error: a session has no size
  expect(() => createPlan([pipeline('office').aggregate(sized).as('S')])).toThrow(RequestError);
});

test('names that are texts to the compiler are checked as the program runs', () => {
  const imported = JSON.parse(JSON.stringify([{ ...item, operations: [] }])) as {
    metric: string;
    processingType: string;
    operations: { operation: string; input: object[]; output: object[]; parameters: object }[];
  }[];
  expect(() => createPlan(imported)).toThrow(RequestError);
});

test('every operation has a name that the compiler knows', () => {
  const names: Record<OperationName, true> = {
    Aggregate: true,
    'Aggregate Pipeline': true,
    AggregatePipeline: true,
    Add: true,
    Sub: true,
    Mul: true,
    Div: true,
    Eq: true,
    Ne: true,
    Lte: true,
    Lt: true,
    Gt: true,
    Gte: true,
    Not: true,
    And: true,
    Or: true,
    Mask: true,
    Where: true,
    Round: true,
    Abs: true,
    Cleanse: true,
    Shift: true,
    HoldLastValue: true,
    Resample: true,
    Min: true,
    Max: true,
    Pow: true,
    Mod: true,
    Sqrt: true,
    Exp: true,
    Log: true,
    Sign: true,
    Floor: true,
    Ceil: true,
    Scale: true,
    Clamp: true,
    Select: true,
    Coalesce: true,
    Difference: true,
    Derivative: true,
    CumulativeSum: true,
    Counter: true,
    MovingAverage: true,
    ExponentialAverage: true,
    Hysteresis: true,
    Delay: true,
    Edge: true,
    StuckValue: true,
    Hampel: true,
    Deadband: true,
    SwingingDoor: true,
    Downsample: true,
    Schedule: true,
    Fill: true,
    Gaps: true,
  };
  expect([...operations.keys()].filter((name) => !(name in names))).toEqual([]);
});
