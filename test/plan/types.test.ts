// What must not compile: `tsc` reports an expected error that does not occur.

import { expect, test } from 'vitest';
import { createPlan, type OperationName, pipeline, RequestError, type RequestItem } from '../../src/index.js';
import { operations } from '../../src/inspect/index.js';
import { operationsByName } from '../../src/operations/index.js';

const celsius = pipeline('office').sub(32).div(1.8);

test('a pipeline without `as` is refused by the compiler and at run time', () => {
  // @ts-expect-error: no `.as(…)`
  expect(() => createPlan([celsius])).toThrow(RequestError);
  // @ts-expect-error: no `.as(…)` and not a list
  expect(() => createPlan(celsius)).toThrow(RequestError);
  expect(createPlan([celsius.as('Celsius')]).items).toHaveLength(1);
});

test('anything but a list of items is refused by the compiler', () => {
  // @ts-expect-error: a number
  expect(() => createPlan(42)).toThrow(RequestError);
  // @ts-expect-error: an item outside a list
  expect(() => createPlan(celsius.as('Celsius'))).toThrow(RequestError);
});

test('parsed JSON is accepted', () => {
  const parsed: unknown = JSON.parse(JSON.stringify([celsius.as('Celsius')]));
  expect(createPlan(parsed).items).toHaveLength(1);
  expect(createPlan(JSON.parse('[]').concat(parsed)).items).toHaveLength(1);
});

const office = { timeseriesId: 'office', metric: 'Raw' };
const output = [{ timeseriesId: 'office', metric: 'Result' }];
const common = { input: [office], output } as const;
const item = { metric: 'Result', processingType: 'batch' } as const;

test('a plain request object is typed like the builder', () => {
  const hourly = { function: 'Average', interval: 'Hourly' } as const;
  const step = { operation: 'Aggregate', ...common, parameters: hourly } as const;
  expect(createPlan([{ ...item, operations: [step] }]).items).toHaveLength(1);
  expect(createPlan({ $schema: 'x', items: [{ ...item, operations: [step] }] }).items).toHaveLength(1);
  const typed: RequestItem = { ...item, frequency: 'PT15M', operations: [step] };
  expect(createPlan([typed]).items).toHaveLength(1);
  // @ts-expect-error: a misspelt name
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
  // @ts-expect-error: no percentile
  expect(() => createPlan([{ ...item, operations }])).toThrow(RequestError);
  // @ts-expect-error: no percentile
  expect(() => createPlan([pipeline('office').aggregate(parameters).as('P')])).toThrow(RequestError);
  const whole = { ...parameters, percentile: 90 } as const;
  expect(createPlan([pipeline('office').aggregate(whole).as('P')]).items).toHaveLength(1);
  const quarter = { ...whole, interval: '15M' } as const;
  // @ts-expect-error: `15M` is not a duration
  expect(() => createPlan([pipeline('office').aggregate(quarter).as('P')])).toThrow(RequestError);
});

test('an invalid duration is refused by the compiler, wherever a duration is expected', () => {
  const office = pipeline('office');
  const refused = [
    // @ts-expect-error: `15M` is not a duration
    () => office.resample({ frequency: '15M' }),
    // @ts-expect-error: minutes need a T before them
    () => office.resample({ frequency: 'P15M' }),
    // @ts-expect-error: a month has no fixed length
    () => office.resample({ frequency: 'P1M' }),
    // @ts-expect-error: lower case
    () => office.movingAverage('PT15m'),
    // @ts-expect-error: no unit
    () => office.exponentialAverage('PT15'),
    // @ts-expect-error: Grafana's form
    () => office.stuckValue('1h'),
    // @ts-expect-error: Grafana's form
    () => office.gaps('1h'),
    // @ts-expect-error: pandas' form
    () => office.delay({ on: '5min' }),
    // @ts-expect-error: pandas' form
    () => office.difference({ maxgap: '5min' }),
    // @ts-expect-error: pandas' form
    () => office.fill({ frequency: '5min' }),
    // @ts-expect-error: pandas' form
    () => office.sub(pipeline('outside'), { align: 'hold', maxhold: '1h' }),
    // @ts-expect-error: pandas' form
    () => office.holdLastValue({ interval: '15min' }),
    // @ts-expect-error: `1W` is not a duration (a week is P1W)
    () => office.shift({ function: 'ShiftByTime', shift: '1W', direction: 'forward' }),
    // @ts-expect-error: pandas' form
    () => office.aggregate({ function: 'Integral', interval: 'Daily', unit: '1h' }),
  ];
  for (const write of refused) expect(() => createPlan([write().as('X')])).toThrow(RequestError);
  for (const frequency of ['P1W', 'P7D', 'P1W2D', 'P1DT12H', 'PT1.5H', 'PT1H30M', 'PT0.1S'] as const) {
    expect(createPlan([office.resample({ frequency }).as('X')]).items).toHaveLength(1);
  }
});

test('the parameters of a plain step are typed like those of the builder', () => {
  const window = { operation: 'MovingAverage', ...common, parameters: { window: '15M' } } as const;
  const none = { operation: 'MovingAverage', ...common } as const;
  const text = { operation: 'Round', ...common, parameters: { roundtodigits: '2' } } as const;
  const scalar = { operation: 'Add', ...common, parameters: { scalar: '2' } } as const;
  const refused = [
    // @ts-expect-error: `15M` is not a duration
    () => createPlan([{ ...item, operations: [window] }]),
    // @ts-expect-error: no window
    () => createPlan([{ ...item, operations: [none] }]),
    // @ts-expect-error: not a number but text
    () => createPlan([{ ...item, operations: [text] }]),
    // @ts-expect-error: not a number but text
    () => createPlan([{ ...item, operations: [scalar] }]),
  ];
  for (const plan of refused) expect(plan).toThrow(RequestError);
  const operations = [
    { operation: 'Abs', ...common, output: [{ ...office, metric: 'A' }] },
    { operation: 'Add', input: [{ ...office, metric: 'A' }], output, parameters: { scalar: 2 } },
  ] as const;
  expect(createPlan([{ ...item, operations }]).items).toHaveLength(1);
});

test('the zone of a grid or shift, and Fill from another series, are known to the compiler', () => {
  const other = { timeseriesId: 'other', metric: 'Raw' };
  const timezone = 'Europe/Berlin';
  const operations = [
    { operation: 'Resample', ...common, parameters: { function: 'Resample', frequency: 'P1D', timezone } },
    { operation: 'Fill', input: [office, other], output, parameters: { method: 'series', frequency: 'PT1H' } },
  ] as const;
  for (const operation of operations) {
    expect(createPlan([{ ...item, operations: [operation] }]).items).toHaveLength(1);
  }
  const shifted = { function: 'ShiftByWindow', shift: 1, direction: 'forward', window: 'Daily', timezone } as const;
  expect(createPlan([pipeline('office').shift(shifted).as('S')]).items).toHaveLength(1);
  // @ts-expect-error: `previous` needs no second series
  expect(() => createPlan([{ ...item, operations: [{ ...operations[1], parameters: { method: 'prev' } }] }])).toThrow();
});

test('an Aggregate has an interval or a window, and a window only the fields of its type', () => {
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

test('a function of two inputs needs both', () => {
  const parameters = { function: 'Correlation', interval: 'Daily', align: 'hold' } as const;
  const lab = { timeseriesId: 'lab', metric: 'Raw' };
  expect(createPlan([pipeline('office').aggregate(parameters, lab).as('C')]).sources).toHaveLength(2);
  // @ts-expect-error: one input is missing
  expect(() => createPlan([pipeline('office').aggregate(parameters).as('C')])).toThrow(RequestError);
  const sum = { function: 'Sum', interval: 'Daily' } as const;
  // @ts-expect-error: one input too many
  expect(() => createPlan([pipeline('office').aggregate(sum, lab).as('S')])).toThrow(RequestError);
});

test('names that the compiler knows only as string are checked at run time', () => {
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

test('methods of the builder have the names of their operations, with the exceptions that library.md lists', () => {
  const exceptions = [...operationsByName.values()].flatMap(({ name, methods }) => {
    const usual = name.replace(/ /g, '').replace(/^./, (first) => first.toLowerCase());
    return Object.keys(methods).flatMap((method) => (method === usual ? [] : `${method} is ${name}`));
  });
  expect([...new Set(exceptions)].sort()).toEqual([
    'anomalies is Cleanse',
    'clamp is Cleanse',
    'fillFrom is Fill',
    'limit is Clamp',
  ]);
});
