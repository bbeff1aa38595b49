import { describe, expect, test } from 'vitest';
import { createPlan, InputError, type Issue, openStream, RequestError, runBatch } from '../../src/index.js';
import { explain } from '../../src/inspect/index.js';
import { hourly, item, raw, step } from './requests.js';

function issuesOf(request: unknown): readonly Issue[] {
  try {
    createPlan(request);
  } catch (error) {
    if (error instanceof RequestError) return error.issues;
    throw error;
  }
  return [];
}

const ofStep = (operation: unknown, parameters: unknown, fields = {}): unknown => [
  item([step(operation, parameters, fields)]),
];
const at = (metric: string) => ({ timeseriesId: 'a', metric });
const hourlyOut = at('M');
const two = { input: [raw('a'), raw('b')] };

/** A whole issue in short: pointer, code, what was received, and the suggestion. Issues come in this order. */
type Short = readonly [pointer: string, code: string, received: string, suggestion?: string];

const P = '/0/operations/0/parameters';

const cases: readonly (readonly [title: string, request: unknown, ...issues: Short[]])[] = [
  ['a request that is no array', 7, ['', 'request.type', '7']],
  ['null', null, ['', 'request.type', 'null']],
  ['nothing', undefined, ['', 'request.type', 'nothing']],
  ['an item without its array', item([hourly]), ['', 'request.type', 'an object', 'put the item into an array: [ … ]']],
  ['no items', [], ['', 'request.missing', 'an empty array']],
  ['an item that is no object', ['x'], ['/0', 'request.type', '"x"']],
  ['an item without steps', [item([])], ['/0/operations', 'request.type', 'an empty array']],
  [
    'an item without anything',
    [{}],
    ['/0/metric', 'request.missing', 'nothing'],
    ['/0/operations', 'request.type', 'nothing'],
    ['/0/processingType', 'request.missing', 'nothing'],
  ],
  [
    'an unknown field',
    [item([hourly], { metrik: 'x' })],
    ['/0/metrik', 'request.unknown', '`metrik`', 'did you mean `metric`?'],
  ],
  ['a field with a slash and a tilde', [item([hourly], { 'a/b~c': 1 })], ['/0/a~1b~0c', 'request.unknown', '`a/b~c`']],
  [
    'an unknown processing type',
    [item([hourly], { processingType: 'bach' })],
    ['/0/processingType', 'request.unknown', '"bach"', 'did you mean `batch`?'],
  ],
  [
    'a frequency that is none of three',
    [item([hourly], { frequency: 'PT30M' })],
    ['/0/frequency', 'request.unknown', '"PT30M"'],
  ],
  [
    'a frequency in a stream',
    [item([hourly], { processingType: 'stream', frequency: 'PT1H' })],
    ['/0/frequency', 'request.conflict', '"PT1H"', 'leave it out'],
  ],
  [
    'an unknown operation',
    ofStep('Agregate', {}),
    ['/0/operations/0/operation', 'request.unknown', '"Agregate"', 'did you mean `Aggregate`?'],
  ],
  ['an operation that is no text', ofStep(5, {}), ['/0/operations/0/operation', 'request.type', '5']],
  [
    'no parameters where some are required',
    ofStep('Aggregate', undefined),
    [`${P}/function`, 'request.missing', 'nothing'],
    [`${P}/interval`, 'request.missing', 'nothing', 'or give window instead'],
  ],
  ['parameters that are no object', ofStep('Abs', [1]), [P, 'request.type', 'an array of 1']],
  ['an unknown parameter', ofStep('Abs', { scalar: 1 }), [`${P}/scalar`, 'request.unknown', '`scalar`']],
  [
    'a misspelt parameter',
    ofStep('Aggregate', { function: 'Sum', intervall: 'Daily' }),
    [`${P}/interval`, 'request.missing', 'nothing', 'or give window instead'],
    [`${P}/intervall`, 'request.unknown', '`intervall`', 'did you mean `interval`?'],
  ],
  [
    'a misspelt interval',
    ofStep('Aggregate', { function: 'Sum', interval: 'Hourli' }),
    [`${P}/interval`, 'request.unknown', '"Hourli"', 'did you mean `Hourly`?'],
  ],
  [
    'a duration in lower case',
    ofStep('Aggregate', { function: 'Sum', interval: 'pt15m' }),
    [`${P}/interval`, 'request.duration', '"pt15m"', 'did you mean `PT15M`?'],
  ],
  [
    'a duration without its T',
    ofStep('Resample', { frequency: 'P15M' }),
    [`${P}/frequency`, 'request.duration', '"P15M"', 'months and years have no fixed length; a minute is `PT1M`'],
  ],
  [
    'a duration of nothing',
    ofStep('Resample', { frequency: 'PT0S' }),
    [`${P}/frequency`, 'request.duration', '"PT0S"'],
  ],
  [
    'an interval of nothing',
    ofStep('Aggregate', { function: 'Sum', interval: 'PT0S' }),
    [`${P}/interval`, 'request.duration', '"PT0S"'],
  ],
  [
    'stages longer than all of time',
    ofStep('AggregatePipeline', { pipeline: [{ function: 'Sum', interval: 'P99999999999999999999999W' }] }),
    [`${P}/pipeline/0/interval`, 'request.duration', '"P99999999999999999999999W"'],
  ],
  [
    'a misspelt function',
    ofStep('Aggregate', { function: 'Averge', interval: 'Daily' }),
    [`${P}/function`, 'request.unknown', '"Averge"', 'did you mean `Average`?'],
  ],
  [
    'WeightedAverage of an hour',
    ofStep('Aggregate', { function: 'WeightedAverage', interval: 'Hourly' }),
    [`${P}/interval`, 'request.conflict', '`Hourly`', 'TimeWeightedAverage takes every interval'],
  ],
  [
    'Percentile of nothing',
    ofStep('Aggregate', { function: 'Percentile', interval: 'Hourly' }),
    [`${P}/percentile`, 'request.missing', 'nothing'],
  ],
  [
    'a percentile over 100',
    ofStep('Aggregate', { function: 'Percentile', interval: 'Hourly', percentile: 101 }),
    [`${P}/percentile`, 'request.range', '101'],
  ],
  [
    'a percentile of a sum',
    ofStep('Aggregate', { function: 'Sum', interval: 'Hourly', percentile: 5 }),
    [`${P}/percentile`, 'request.conflict', 'the function Sum', 'leave percentile out'],
  ],
  [
    'maxhold of a sum',
    ofStep('Aggregate', { function: 'Sum', interval: 'Hourly', maxhold: 'PT1H' }),
    [`${P}/maxhold`, 'request.conflict', 'the function Sum', 'leave maxhold out'],
  ],
  [
    'a zone by its city',
    ofStep('Aggregate', { function: 'Sum', interval: 'Hourly', timezone: 'new york' }),
    [`${P}/timezone`, 'request.timezone', '"new york"', 'did you mean `America/New_York`?'],
  ],
  [
    'a function by its name elsewhere, and an interval as others write it',
    ofStep('Aggregate', { function: 'mean', interval: '15 min' }),
    [`${P}/function`, 'request.unknown', '"mean"', 'did you mean `Average`?'],
    [`${P}/interval`, 'request.duration', '"15 min"', 'did you mean `PT15M`?'],
  ],
  [
    'an interval of several months, which may have been minutes',
    ofStep('Aggregate', { function: 'Sum', interval: 'P3M' }),
    [`${P}/interval`, 'request.duration', '"P3M"', 'months and years have no fixed length; a minute is `PT1M`'],
  ],
  [
    'a month as others write it',
    ofStep('Aggregate', { function: 'Sum', interval: '1M' }),
    [`${P}/interval`, 'request.duration', '"1M"', 'months and years have no fixed length; a minute is `PT1M`'],
  ],
  [
    'an operation by its name elsewhere',
    ofStep('ffill', {}),
    ['/0/operations/0/operation', 'request.unknown', '"ffill"', 'did you mean `HoldLastValue`?'],
  ],
  [
    'a zone that is none',
    ofStep('Aggregate', { function: 'Sum', interval: 'Hourly', timezone: 'Europe/Berln' }),
    [`${P}/timezone`, 'request.timezone', '"Europe/Berln"', 'did you mean `Europe/Berlin`?'],
  ],
  [
    'windows that no local day holds a whole number of',
    ofStep('Aggregate', { function: 'Sum', interval: 'PT7M', timezone: 'Europe/Berlin' }),
    [`${P}/interval`, 'request.conflict', '`PT7M`', 'or take the timezone UTC'],
  ],
  [
    'windows longer than a local day',
    ofStep('Aggregate', { function: 'Sum', interval: 'P2D', timezone: 'Europe/Berlin' }),
    [`${P}/interval`, 'request.conflict', '`P2D`', 'take Weekly, Monthly or Yearly, or the timezone UTC'],
  ],
  [
    'a pipeline of no stage',
    ofStep('AggregatePipeline', { pipeline: [] }),
    [`${P}/pipeline`, 'request.missing', 'an empty array'],
  ],
  [
    'stages that are no multiples',
    ofStep('AggregatePipeline', {
      pipeline: [
        { function: 'Sum', interval: 'PT7M' },
        { function: 'Sum', interval: 'Hourly' },
      ],
    }),
    [`${P}/pipeline/1/interval`, 'request.conflict', '`Hourly`'],
  ],
  [
    'months of weeks',
    ofStep('AggregatePipeline', {
      pipeline: [
        { function: 'Sum', interval: 'Weekly' },
        { function: 'Sum', interval: 'Monthly' },
      ],
    }),
    [`${P}/pipeline/1/interval`, 'request.conflict', '`Monthly`'],
  ],
  [
    'two faults of one stage',
    ofStep('AggregatePipeline', { pipeline: [{ function: 'Som', intrval: 'Hourly' }] }),
    [`${P}/pipeline/0/function`, 'request.unknown', '"Som"', 'did you mean `Sum`?'],
    [`${P}/pipeline/0/interval`, 'request.missing', 'nothing'],
    [`${P}/pipeline/0/intrval`, 'request.unknown', '`intrval`', 'did you mean `interval`?'],
  ],
  [
    'neither a scalar nor a second input',
    ofStep('Add', {}),
    ['/0/operations/0/input', 'request.inputs', '1 with no scalar', 'add a scalar or a second input'],
  ],
  [
    'three inputs of a step that has two',
    ofStep('Add', {}, { input: [raw('a'), raw('b'), raw('c')] }),
    ['/0/operations/0/input', 'request.inputs', '3 with no scalar', 'take several steps'],
  ],
  [
    'a scalar and a second input',
    ofStep('Add', { scalar: 1 }, two),
    ['/0/operations/0/input', 'request.inputs', '2 with a scalar', 'leave the scalar or the second input out'],
  ],
  ['a scalar and an alignment', ofStep('Add', { scalar: 1, align: 'hold' }), [P, 'request.conflict', 'a scalar']],
  ['maxhold of an inner join', ofStep('Add', { maxhold: 'PT1M' }, two), [`${P}/maxhold`, 'request.conflict', '"PT1M"']],
  [
    'a scalar in quotes',
    ofStep('Mul', { scalar: '2.5' }),
    [`${P}/scalar`, 'request.type', '"2.5"', 'write 2.5 without quotes'],
  ],
  ['a tolerance below zero', ofStep('Eq', { scalar: 1, tolerance: -1 }), [`${P}/tolerance`, 'request.range', '-1']],
  [
    'a tolerance of Lt',
    ofStep('Lt', { scalar: 1, tolerance: 1 }),
    [`${P}/tolerance`, 'request.unknown', '`tolerance`'],
  ],
  ['And of one input', ofStep('And', {}), ['/0/operations/0/input', 'request.inputs', '1']],
  ['Not of two inputs', ofStep('Not', {}, two), ['/0/operations/0/input', 'request.inputs', '2']],
  ['Mask of no range', ofStep('Mask', {}), [P, 'request.missing', 'none', 'add valuerangelist or timerangelist']],
  [
    'an interval that is no whole number of nanoseconds',
    ofStep('HoldLastValue', { interval: 'PT0.0333333333333S' }),
    [`${P}/interval`, 'request.duration', '"PT0.0333333333333S"'],
  ],
  [
    'a range the wrong way round',
    ofStep('Where', { valuerangelist: [{ lower: 2, upper: 1 }] }),
    [`${P}/valuerangelist/0`, 'request.range', '2 over 1', 'swap the two'],
  ],
  [
    'a time range of no length',
    ofStep('Where', { timerangelist: [{ starttime: '2024-01-01', endtime: '2024-01-01T00:00Z' }] }),
    [`${P}/timerangelist/0`, 'request.range', '2024-01-01 to 2024-01-01T00:00Z'],
  ],
  [
    'an instant that is none',
    ofStep('Where', { timerangelist: [{ starttime: '2024-02-30' }] }),
    [`${P}/timerangelist/0/starttime`, 'request.instant', '"2024-02-30"', 'it has the day 30, which its month lacks'],
  ],
  ['digits over 15', ofStep('Round', { roundtodigits: 16 }), [`${P}/roundtodigits`, 'request.range', '16']],
  ['half a digit', ofStep('Round', { roundtodigits: 1.5 }), [`${P}/roundtodigits`, 'request.value', '1.5']],
  [
    'bounds the wrong way round',
    ofStep('Cleanse', { function: 'BoundsLimitCleanse', lowerbound: 2, upperbound: 1 }),
    [P, 'request.range', '2 over 1', 'swap the two'],
  ],
  [
    'a shift by rows',
    ofStep('Shift', { function: 'ShiftByWindow', shift: 1, direction: 'forward' }),
    [`${P}/window`, 'request.window', 'nothing', 'add `"window": "Hourly"`, or take ShiftByTime'],
  ],
  [
    'a shift by less than nothing',
    ofStep('Shift', { function: 'ShiftByWindow', shift: -1, direction: 'forward', window: 'Daily' }),
    [`${P}/shift`, 'request.range', '-1', 'take the direction `backward`'],
  ],
  [
    'a number of windows for a duration',
    ofStep('Shift', { function: 'ShiftByTime', shift: 1, direction: 'forward' }),
    [`${P}/shift`, 'request.type', '1', 'write a duration, or take ShiftByWindow'],
  ],
  ['no output', [item([step('Abs', {}, { output: [] })])], ['/0/operations/0/output', 'request.inputs', '0']],
  [
    'two outputs',
    [item([step('Abs', {}, { output: [hourlyOut, { ...hourlyOut, metric: 'N' }] })])],
    ['/0/operations/0/output', 'request.inputs', '2'],
  ],
  [
    'inputs that are no array',
    [item([step('Abs', {}, { input: raw('a') })])],
    ['/0/operations/0/input', 'request.type', 'an object'],
  ],
  [
    'a reference without a metric',
    [item([step('Abs', {}, { input: [{ timeseriesId: 'a' }] })])],
    ['/0/operations/0/input/0/metric', 'request.missing', 'nothing'],
  ],
  [
    'an output under the metric Raw',
    [item([step('Abs', {}, { output: [raw('x')] })])],
    ['/0/operations/0/output/0', 'request.conflict', 'x/Raw'],
  ],
  [
    'a step that reads itself',
    [item([step('Abs', {}, { input: [{ timeseriesId: 'a', metric: 'Step' }] })])],
    ['/0/operations/0', 'request.cycle', '/0/operations/0'],
  ],
  [
    'a circle, without the steps that only wait for it',
    [
      item([
        step('Abs', {}, { input: [at('N')], output: [at('M')] }),
        step('Abs', {}, { input: [at('M')], output: [at('N')] }),
        step('Abs', {}, { input: [at('N')], output: [at('After')] }),
        step('Abs', {}, { input: [at('After')], output: [at('Last')] }),
      ]),
    ],
    ['/0/operations/0', 'request.cycle', '/0/operations/0, /0/operations/1'],
  ],
  [
    'points too close to be told apart in the year 9999',
    ofStep('Resample', { frequency: 'PT0.00009S' }),
    [`${P}/frequency`, 'request.duration', '"PT0.00009S"'],
  ],
  [
    'windows too short to be told apart in the year 9999',
    ofStep('Aggregate', { function: 'Sum', interval: 'PT0.00009S' }),
    [`${P}/interval`, 'request.duration', '"PT0.00009S"'],
  ],
  [
    'the name of an interval for a duration',
    ofStep('Resample', { frequency: 'hourly' }),
    [`${P}/frequency`, 'request.duration', '"hourly"', 'did you mean `PT1H`?'],
  ],
  [
    'a month for a duration',
    ofStep('Shift', { function: 'ShiftByTime', shift: 'P1M', direction: 'forward' }),
    [`${P}/shift`, 'request.duration', '"P1M"', 'months and years have no fixed length; a minute is `PT1M`'],
  ],
  [
    'half a window',
    ofStep('Shift', { function: 'ShiftByWindow', shift: 2.5, direction: 'forward', window: 'Daily' }),
    [`${P}/shift`, 'request.value', '2.5'],
  ],
  [
    'a step that counts the windows of a faulty one',
    [
      item([step('Aggregate', { function: 'Som', interval: 'Hourly' })]),
      item([
        step(
          'Shift',
          { function: 'ShiftByWindow', shift: 1, direction: 'forward' },
          { input: [at('Step')], output: [at('Moved')] },
        ),
      ]),
    ],
    ['/0/operations/0/parameters/function', 'request.unknown', '"Som"', 'did you mean `Sum`?'],
  ],
];

describe('a bad request gives exactly these issues:', () => {
  test.each(cases.map(([title, request, ...issues]) => [title, request, issues] as const))(
    '%s',
    (_title, request, issues) => {
      const found = issuesOf(request).map(({ pointer, code, received, suggestion }) => {
        return suggestion === undefined ? [pointer, code, received] : [pointer, code, received, suggestion];
      });
      expect(found).toEqual(issues.map((issue) => [...issue]));
      for (const { expected } of issuesOf(request)) expect(expected).not.toBe('');
    },
  );
});

test('all issues of all items are reported together, in the order of the request', () => {
  const request = [
    item([step('Aggregate', { function: 'Som', interval: 'Hourli' }), step('Rond', { roundtodigits: 2 })], {
      metric: 3,
    }),
    item([step('Add', { scalar: 'x' }, { output: [{ timeseriesId: 'b', metric: 'Step' }] })], { frequency: 'often' }),
  ];
  expect(issuesOf(request).map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
    '/0/metric request.type',
    '/0/operations/0/parameters/function request.unknown',
    '/0/operations/0/parameters/interval request.unknown',
    '/0/operations/1/operation request.unknown',
    '/1/frequency request.unknown',
    '/1/operations/0/parameters/scalar request.type',
  ]);
});

test('issues between steps are reported together with issues inside items', () => {
  const out = (metric: string) => ({ output: [{ timeseriesId: 'a', metric }] });
  const request = [
    item([step('Abs', {}, out('M')), step('Not', {}, out('M'))], { metric: 'R1' }),
    item([step('Round', { roundtodigits: 99 })], { metric: 'R2' }),
  ];
  expect(issuesOf(request).map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
    '/0/operations/1/output/0 request.duplicate',
    '/1/operations/0/parameters/roundtodigits request.range',
  ]);
});

test('two items must not publish the same result', () => {
  const [first, second] = ['M1', 'M2'].map((metric) =>
    item([step('Abs', {}, { output: [{ timeseriesId: 'a', metric }] })]),
  );
  expect(issuesOf([first, second])).toMatchObject([{ pointer: '/1/metric', code: 'request.duplicate' }]);
});

test('steps in a cycle are named, and so is a step that only follows them', () => {
  const link = (input: string, output: string) =>
    step('Abs', {}, { input: [{ timeseriesId: 'a', metric: input }], output: [{ timeseriesId: 'a', metric: output }] });
  const issues = issuesOf([item([link('C', 'A'), link('A', 'B'), link('B', 'C')])]);
  expect(issues).toMatchObject([{ pointer: '/0/operations/0', code: 'request.cycle' }]);
  expect(issues[0]!.received).toBe('/0/operations/0, /0/operations/1, /0/operations/2');
});

test('the error message lists every issue on a line of its own, with its place', () => {
  const bad = [item([step('Aggregate', { function: 'Som', interval: 'Hourli' })])];
  expect(() => createPlan(bad)).toThrow(
    /^the request has 2 problems\n {2}\/0.*function: expected .*\n {2}\/0.*Hourly`\?$/,
  );
});

test('the time zone of the run is checked too', () => {
  expect(() => createPlan([item([hourly])], { timezone: 'Mars/Olympus' })).toThrow(InputError);
});

test('the message says so if an operation has no parameters', () => {
  expect(issuesOf(ofStep('Abs', [1]))[0]?.expected).toBe('an object without fields');
});

test('a pipeline stage lacks a parameter in the same words as a step', () => {
  const [ofStage] = issuesOf(ofStep('AggregatePipeline', { pipeline: [{ function: 'Sum' }] }));
  const [{ suggestion: _, ...ofAggregate } = {} as Issue] = issuesOf(ofStep('Aggregate', { function: 'Sum' }));
  expect(ofAggregate.expected).toMatch(/^an interval: QuarterHourly, /);
  expect(ofStage).toEqual({ ...ofAggregate, pointer: `${P}/pipeline/0/interval` });
});

test('an undefined parameter counts as absent', () => {
  const request = [item([step('Add', { scalar: undefined, align: 'hold' }, two)])];
  expect(issuesOf(request)).toEqual([]);
  expect(issuesOf([item([step('Add', { scalar: 1, align: undefined })])])).toEqual([]);
});

test('an argument that is not a plan is named in the error', () => {
  const request = [item([hourly])];
  for (const run of [() => runBatch(request as never, []), () => openStream(request as never)]) {
    expect(run).toThrow('plan: expected the result of createPlan, received an array of 1');
    expect(run).toThrow(InputError);
  }
  expect(() => explain(request as never)).toThrow('plan: expected the result of createPlan, received an array of 1');
});

test('a faulty step does not hide errors between the other steps', () => {
  const series = (metric: string) => [{ timeseriesId: 'a', metric }];
  const written = (operation: string, input: string, output: string, parameters = {}) => ({
    operation,
    input: series(input),
    output: series(output),
    parameters,
  });
  const operations = [
    written('Round', 'Raw', 'r', { roundtodigits: 99 }),
    written('Abs', 'Raw', 'x'),
    written('Not', 'Raw', 'x'),
    written('Abs', 'z', 'y'),
    written('Abs', 'y', 'z'),
  ];
  const issues = issuesOf([{ metric: 'm', processingType: 'batch', operations }]);
  expect(issues.map(({ code }) => code)).toEqual(['request.range', 'request.duplicate', 'request.cycle']);
});

test('a hole in an array is neither a step nor an item', () => {
  const operations = new Array(1);
  expect(issuesOf([{ metric: 'm', processingType: 'batch', operations }])).toHaveLength(1);
  expect(issuesOf(new Array(1))).toHaveLength(1);
});
