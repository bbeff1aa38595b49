// The schema accepts what the parser accepts, except for rules that no schema can state: random steps of every kind are
// changed in one place and given to both.
import fc from 'fast-check';
import { Compile } from 'typebox/schema';
import { expect, test } from 'vitest';
import { createPlan, type Issue, RequestError } from '../../src/index.js';
import { requestSchema } from '../../src/plan/request-schema.js';
import { recipeArbitrary } from '../laws/requests.js';
import { scales } from '../laws/samples.js';

const schema = Compile(requestSchema());

interface Step {
  readonly operation: string;
  readonly inputCount: number;
  readonly parameters: unknown;
}

function requestOf({ operation, inputCount, parameters }: Step): unknown[] {
  const input = Array.from({ length: inputCount }, (_, index) => ({ timeseriesId: `s${index}`, metric: 'Raw' }));
  const step = { operation, input, output: [{ timeseriesId: 's', metric: 'C' }], parameters };
  return [{ metric: 'C', processingType: 'batch', operations: [step] }];
}

function issuesOf(request: unknown): readonly Issue[] {
  try {
    createPlan(request);
    return [];
  } catch (error) {
    if (error instanceof RequestError) return error.issues;
    throw error;
  }
}

interface Unsayable {
  readonly what: string;
  readonly is: (issue: Issue) => boolean;
  /** Steps that only the parser refuses. */
  readonly steps: readonly (readonly [operation: string, parameters: unknown])[];
}

/** What the parser refuses and the schema accepts: a schema sees the form of a value, not its meaning. */
const UNSAYABLE: readonly Unsayable[] = [
  {
    what: 'which time zones there are',
    is: ({ code }) => code === 'request.timezone',
    steps: [['HoldLastValue', { interval: 'Daily', timezone: 'Mars/Olympus' }]],
  },
  {
    what: 'which of two values is the greater, or whether they are equal',
    is: ({ code, expected }) =>
      code === 'request.range' && /^(lower|lowerbound|first|starttime|another bound|two points)\b/.test(expected),
    steps: [
      ['Clamp', { lower: 2, upper: 1 }],
      ['Hysteresis', { on: 1, off: 1 }],
      [
        'Scale',
        {
          points: [
            { x: 1, y: 1 },
            { x: 1, y: 2 },
          ],
        },
      ],
    ],
  },
  {
    what: 'which days a month has',
    is: ({ code, expected }) =>
      code === 'request.instant' || (code === 'request.value' && expected.startsWith('a date')),
    steps: [
      ['Schedule', { holidays: ['2023-02-29'] }],
      ['Mask', { timerangelist: [{ starttime: '2023-02-29' }] }],
    ],
  },
  {
    what: 'how long a duration is',
    is: ({ code, expected }) => code === 'request.duration' && /PT0\.0001S|nanosec/.test(expected),
    steps: [
      ['MovingAverage', { window: 'PT0.00001S' }],
      ['HoldLastValue', { interval: 'PT0.0033333333S' }],
    ],
  },
  {
    what: 'whether one length divides another',
    is: ({ code, expected }) =>
      code === 'request.conflict' && /in the timezone|multiple of the one before|of whole days/.test(expected),
    steps: [
      ['HoldLastValue', { interval: 'PT7M', timezone: 'Europe/Berlin' }],
      ['Aggregate Pipeline', { pipeline: ['PT10M', 'PT15M'].map((interval) => ({ function: 'Sum', interval })) }],
    ],
  },
  {
    what: 'whether a step upstream has windows',
    is: ({ code }) => code === 'request.window',
    steps: [['Shift', { function: 'ShiftByWindow', shift: 1, direction: 'forward' }]],
  },
];

function isSayable(issue: Issue): boolean {
  return !UNSAYABLE.some(({ is }) => is(issue));
}

const texts = ['', 'x', '15M', 'PT15M', 'PT1.5H30M', 'PT', 'PT0S', 'P1D', 'P1M', 'Hourly', 'Daily', 'Monthly', '24:00'];
const functions = ['Sum', 'Percentile', 'Coverage', 'TimeInState', 'Transitions', 'WeightedAverage', 'Correlation'];
const choices = ['linear', 'hold', 'asof', 'inner', 'constant', 'series', 'Europe/Berlin', 'Mars/Olympus', 'degC', 'W'];
const structures = [null, true, [], {}, [{}], [1], ['Mon'], { type: 'session', gap: 'PT1H' }, { type: 'running' }];
const windows = [
  { type: 'session', gap: '1h' },
  { type: 'sliding', size: 'Monthly' },
  { type: 'running', since: '2024-13-01' },
];
const value = fc.constantFrom<unknown>(
  ...[...texts, ...functions, ...choices, ...structures, ...windows, '2024-03-01', 0, 1, -1, 0.5, 101, 1e308],
);
const field = fc.constantFrom(
  ...['function', 'interval', 'window', 'percentile', 'maxhold', 'maxgap', 'align', 'method', 'unit', 'lower'],
  ...['upper', 'empty', 'timezone', 'scalar', 'value', 'shift', 'else', 'slope', 'offset', 'from', 'to', 'max'],
);

/** A valid step with a field or entry removed, replaced or added, or with another number of inputs. */
function changedStep(): fc.Arbitrary<Step> {
  const sound = fc.constantFrom(...scales).chain((scale) => recipeArbitrary(scale, 1.7e12));
  const change = fc.constantFrom('nothing', 'inputs', 'addition', 'value', 'value', 'loss', 'loss');
  return fc
    .tuple(sound, change, fc.nat(999), value, field, fc.integer({ min: 1, max: 4 }))
    .map(([{ operation, inputCount, parameters }, what, at, other, name, count]): Step => {
      if (what === 'nothing') return { operation, inputCount, parameters };
      if (what === 'inputs') return { operation, inputCount: count, parameters };
      if (what === 'addition') return { operation, inputCount, parameters: { ...parameters, [name]: other } };
      return { operation, inputCount, parameters: changed(parameters, at, what === 'loss' ? undefined : other) };
    });
}

/** The value with one of its fields or entries, at any depth, replaced or, if `other` is undefined, removed. */
function changed(given: unknown, at: number, other: unknown): unknown {
  if (typeof given !== 'object' || given === null) return other;
  const entries = Object.entries(given);
  const chosen = entries.length === 0 ? -1 : at % entries.length;
  const left = entries.flatMap(([name, own], index) => {
    if (index !== chosen) return [[name, own]];
    const next = at % 3 === 0 ? other : changed(own, Math.floor(at / entries.length), other);
    return next === undefined ? [] : [[name, next]];
  });
  return Array.isArray(given) ? left.map(([, own]) => own) : Object.fromEntries(left);
}

test('the schema refuses a changed step exactly when the parser does, except for what no schema can state', () => {
  const refused = { by: 0, of: 0 };
  fc.assert(
    fc.property(changedStep(), (step) => {
      const request = requestOf(step);
      const issues = issuesOf(request);
      // An issue that a schema cannot state may bring others along; one that it can state is enough.
      const isAccepted = issues.length === 0;
      const isSaid = issues.some(isSayable);
      if (isAccepted || isSaid) expect([step, issues, schema.Check(request)]).toEqual([step, issues, isAccepted]);
      refused.of++;
      if (isSaid) refused.by++;
    }),
    { numRuns: 2000 },
  );
  expect(refused.by / refused.of).toBeGreaterThan(0.3);
  expect(refused.by / refused.of).toBeLessThan(0.9);
});

test.each(UNSAYABLE.flatMap(({ what, is, steps }) => steps.map((step) => [what, is, ...step] as const)))(
  'no schema can state %s',
  (_what, is, operation, parameters) => {
    const request = requestOf({ operation, inputCount: 1, parameters });
    const issues = issuesOf(request);
    expect([issues.length, issues.every(is), schema.Check(request)]).toEqual([1, true, true]);
  },
);
