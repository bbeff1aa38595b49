import { expect, test } from 'vitest';
import { createPlan, RequestError } from '../../src/index.js';
import { item, raw, step } from './requests.js';

/** Errors in the parameters of operations that the interface does not have. */

const P = '/0/operations/0/parameters';
const I = '/0/operations/0/input';
const two = [raw('a'), raw('b')];
const three = [...two, raw('c')];

type Short = readonly [pointer: string, code: string, suggestion?: string];

type Case = readonly [operation: string, parameters: object, inputs: readonly object[], ...issues: Short[]];

const cases: readonly Case[] = [
  ['Haempel', {}, [raw('a')], ['/0/operations/0/operation', 'request.unknown', 'did you mean `Hampel`?']],
  ...['mean', 'Average', 'avrage'].map(
    (name): Case => [
      name,
      {},
      [raw('a')],
      ['/0/operations/0/operation', 'request.unknown', 'did you mean Aggregate with the function `Average`?'],
    ],
  ),
  ['Min', {}, [raw('a')], [I, 'request.inputs', 'add a scalar or a second input']],
  ['Max', { scalar: 1 }, three, [I, 'request.inputs', 'leave the scalar or the second input out']],
  ['Max', { align: 'linear' }, three, [`${P}/align`, 'request.conflict']],
  ['Log', { base: 1 }, [raw('a')], [`${P}/base`, 'request.range']],
  ['Log', { base: -2 }, [raw('a')], [`${P}/base`, 'request.range']],
  [
    'Aggregate',
    { function: 'Integral', interval: 'Hourly', method: 'linear', maxhold: 'PT1H' },
    [raw('a')],
    [`${P}/maxhold`, 'request.conflict', 'take maxgap'],
  ],
  [
    'Aggregate',
    { function: 'TimeInState', interval: 'Hourly', method: 'linear', lower: 0 },
    [raw('a')],
    [`${P}/method`, 'request.conflict', 'leave method out'],
  ],
  [
    'Aggregate',
    { function: 'Average', interval: 'Hourly', maxgap: 'PT1H' },
    [raw('a')],
    [`${P}/maxgap`, 'request.conflict', 'leave maxgap out'],
  ],
  ['Aggregate', { function: 'Sum' }, [raw('a')], [`${P}/interval`, 'request.missing', 'or give window instead']],
  ['Scale', {}, [raw('a')], [P, 'request.conflict']],
  ['Scale', { slope: 2, from: 'W', to: 'kW' }, [raw('a')], [P, 'request.conflict']],
  ['Scale', { from: 'W', offset: 1 }, [raw('a')], [`${P}/offset`, 'request.conflict'], [`${P}/to`, 'request.missing']],
  ['Scale', { from: 'W', to: 'KW' }, [raw('a')], [`${P}/to`, 'request.unknown', 'did you mean `kW`?']],
  ['Scale', { from: 'mw', to: 'W' }, [raw('a')], [`${P}/from`, 'request.unknown', 'did you mean `mW` or `MW`?']],
  [
    'Scale',
    { from: 'F', to: 'celsius' },
    [raw('a')],
    [`${P}/from`, 'request.unknown', 'did you mean `degF`?'],
    [`${P}/to`, 'request.unknown', 'did you mean `degC`?'],
  ],
  [
    'Scale',
    { from: 'degC', to: 'bar' },
    [raw('a')],
    [`${P}/to`, 'request.conflict', 'units of temperature are K, degC, °C, degF, °F, degR'],
  ],
  ['Scale', { points: [{ x: 1, y: 2 }] }, [raw('a')], [`${P}/points`, 'request.value']],
  [
    'Scale',
    {
      points: [
        { x: 1, y: 2 },
        { x: 1, y: 3 },
      ],
    },
    [raw('a')],
    [`${P}/points`, 'request.range'],
  ],
  ['Clamp', {}, [raw('a')], [P, 'request.missing']],
  ['Clamp', { lower: 2, upper: 1 }, [raw('a')], [P, 'request.range', 'swap the two']],
  ['Select', { else: 0 }, three, [`${P}/else`, 'request.conflict']],
  ['Select', {}, [raw('a')], [I, 'request.inputs']],
  ['Select', { align: 'linear' }, two, [`${P}/align`, 'request.unknown']],
  ['Coalesce', {}, [raw('a')], [I, 'request.inputs']],
  ['Counter', { max: 0 }, [raw('a')], [`${P}/max`, 'request.range']],
  ['Aggregate', { function: 'Increase', interval: 'Daily', max: -5 }, [raw('a')], [`${P}/max`, 'request.range']],
  ['CumulativeSum', { interval: 'Dayly' }, [raw('a')], [`${P}/interval`, 'request.unknown', 'did you mean `Daily`?']],
  ['MovingAverage', { window: '1H' }, [raw('a')], [`${P}/window`, 'request.duration']],
  ['MovingAverage', {}, [raw('a')], [`${P}/window`, 'request.missing']],
  ['Hysteresis', { on: 1, off: 1 }, [raw('a')], [`${P}/off`, 'request.range', 'for a single bound take Gte or Lte']],
  ['Edge', { direction: 'raising' }, [raw('a')], [`${P}/direction`, 'request.unknown', 'did you mean `rising`?']],
  ['Hampel', { samples: 2.5 }, [raw('a')], [`${P}/samples`, 'request.value']],
  ['Deadband', { tolerance: -1 }, [raw('a')], [`${P}/tolerance`, 'request.range']],
  [
    'Downsample',
    { interval: 'P2D', timezone: 'Europe/Berlin' },
    [raw('a')],
    [`${P}/interval`, 'request.conflict', 'take Weekly, Monthly or Yearly, or the timezone UTC'],
  ],
  ['Schedule', {}, [raw('a')], [P, 'request.missing']],
  ['Schedule', { days: ['Mo'] }, [raw('a')], [`${P}/days/0`, 'request.unknown', 'did you mean `Mon`?']],
  ['Schedule', { days: [] }, [raw('a')], [`${P}/days`, 'request.missing']],
  [
    'Schedule',
    { hours: [{ start: '8:00', end: '25:00' }] },
    [raw('a')],
    [`${P}/hours/0/end`, 'request.value'],
    [`${P}/hours/0/start`, 'request.value'],
  ],
  ['Schedule', { holidays: ['2024-02-30'] }, [raw('a')], [`${P}/holidays/0`, 'request.value']],
  [
    'Schedule',
    { ranges: [{ first: '2024-05-01', last: '2024-04-01' }] },
    [raw('a')],
    [`${P}/ranges/0`, 'request.range', 'swap the two'],
  ],
  ['Fill', { frequency: 'PT1H', method: 'constant' }, [raw('a')], [`${P}/value`, 'request.missing']],
  ['Fill', { frequency: 'PT1H', value: 1 }, [raw('a')], [`${P}/value`, 'request.conflict']],
  [
    'Fill',
    { frequency: 'PT1H', method: 'series' },
    [raw('a')],
    [`${P}/method`, 'request.inputs', 'add the series to fill from'],
  ],
  ['Fill', { frequency: 'PT1H' }, two, [`${P}/method`, 'request.inputs', 'take the method series']],
  [
    'Gaps',
    { gap: 'P1M' },
    [raw('a')],
    [`${P}/gap`, 'request.duration', 'months and years have no fixed length; a minute is `PT1M`'],
  ],
  ...windowCases(),
  [
    'Aggregate',
    { function: 'Correlation', interval: 'Hourly' },
    [raw('a')],
    [`${P}/function`, 'request.inputs', 'add a second input'],
  ],
  ['Aggregate', { function: 'Sum', interval: 'Hourly' }, two, [`${P}/function`, 'request.inputs']],
  ['Aggregate', { function: 'Sum', interval: 'Hourly', align: 'hold' }, [raw('a')], [`${P}/align`, 'request.conflict']],
  [
    'Aggregate',
    { function: 'Covariance', interval: 'Hourly', maxhold: 'PT1H' },
    two,
    [`${P}/maxhold`, 'request.conflict'],
  ],
];

function windowCases(): Case[] {
  const W = `${P}/window`;
  const hour = { type: 'session', gap: 'PT1H' };
  const given: readonly (readonly [parameters: object, ...issues: Short[]])[] = [
    [{ window: 'PT1H' }, [W, 'request.type']],
    [{ window: {} }, [`${W}/type`, 'request.missing']],
    [{ window: { type: 'slidding', size: 'PT1H' } }, [`${W}/type`, 'request.unknown', 'did you mean `sliding`?']],
    [{ window: { type: 'sliding' } }, [`${W}/size`, 'request.missing']],
    [{ window: { type: 'sliding', size: '1h' } }, [`${W}/size`, 'request.duration', 'did you mean `PT1H`?']],
    [{ window: { ...hour, size: 'PT1H' } }, [`${W}/size`, 'request.unknown']],
    [
      { window: { type: 'sliding', size: 'Monthly', every: 'Hourly' } },
      [`${W}/size`, 'request.conflict', 'or take a size of fixed length, such as P30D'],
    ],
    [{ window: { type: 'sliding', size: 'Yearly' } }, [`${W}/size`, 'request.conflict']],
    [{ window: { type: 'running', since: 'Dayly' } }, [`${W}/since`, 'request.unknown', 'did you mean `Daily`?']],
    [{ window: { type: 'running', since: '2024-02-30' } }, [`${W}/since`, 'request.instant']],
    [{ window: hour, interval: 'Hourly' }, [W, 'request.conflict', 'leave window out']],
    [{ window: hour, empty: 'zero' }, [`${P}/empty`, 'request.conflict', 'leave empty out']],
    [{ window: hour, function: 'WeightedAverage' }, [`${P}/interval`, 'request.conflict']],
    [
      { window: { type: 'sliding', size: 'PT7H', every: 'PT7H' }, timezone: 'Europe/Berlin' },
      [`${W}/every`, 'request.conflict'],
    ],
  ];
  return given.map(([own, ...issues]) => ['Aggregate', { function: 'Sum', ...own }, [raw('a')], ...issues]);
}

test.each(cases.map((one): [string, Case] => [`${one[0]} ${JSON.stringify(one[1])}`, one]))('%s', (_title, one) => {
  const [operation, parameters, input, ...expected] = one;
  let found: readonly unknown[] = [];
  try {
    createPlan([item([step(operation, parameters, { input })])]);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    found = error.issues.map(({ pointer, code, suggestion }, i) =>
      expected[i]?.[2] === undefined ? [pointer, code] : [pointer, code, suggestion],
    );
  }
  expect(found).toEqual(expected.map((issue) => [...issue].filter((part) => part !== undefined)));
});

test.each([
  ['Abs', {}, two, 'expected one input, received 2'],
  ['Max', { scalar: 1, align: 'hold' }, [raw('a')], 'align, maxhold and maxgap only with two or more inputs'],
  ['Schedule', { days: 'Mon' }, [raw('a')], 'expected an array of Mon, Tue, Wed, Thu, Fri, Sat, Sun, received "Mon"'],
  ['Schedule', { hours: '8-18' }, [raw('a')], 'expected an array of objects with start, end, received "8-18"'],
  ['Scale', { points: { x: 0, y: 1 } }, [raw('a')], 'expected an array of objects with x, y, received an object'],
])('%s %j says what it takes', (operation, parameters, inputs, message) => {
  expect(() => createPlan([item([step(operation, parameters, { input: inputs })])])).toThrow(message);
});
