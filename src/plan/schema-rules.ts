import { pairFunctionNames } from '../operations/aggregate-functions.js';
import { FUNCTIONS_WITH } from '../operations/aggregate-parameters.js';
import { quantityOf, unitNames, unitsOf } from '../operations/extensions/values/units.js';
import type { Operation } from '../operations/operation.js';
import type { JsonSchema } from '../operations/parameters.js';

/**
 * How the parameters and inputs of a step must fit together, as JSON Schemas. They say the same as the operations' own
 * `check`, and a test compares the two. They are not in the operations' files, because applications need only `check`.
 */

const has = (...names: string[]): JsonSchema => ({ required: names });
const without = (...names: string[]): JsonSchema => ({ not: oneOf(...names) });
const oneOf = (...names: string[]): JsonSchema => ({ anyOf: names.map((name) => has(name)) });
const is = (name: string, ...values: unknown[]): JsonSchema => ({
  properties: { [name]: { enum: values } },
  required: [name],
});
// biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
const when = (condition: JsonSchema, result: JsonSchema): JsonSchema => ({ if: condition, then: result });
const withParameters = (parameters: JsonSchema): JsonSchema => ({
  properties: { parameters },
  required: ['parameters'],
});
const inputs = (least: number, most?: number): JsonSchema => ({
  properties: { input: { minItems: least, ...(most === undefined ? {} : { maxItems: most }) } },
});

/** Which alignment parameters fit together. */
const alignment = [when(has('maxhold'), is('align', 'hold', 'asof')), when(has('maxgap'), is('align', 'linear'))];

const ofFunctions = [
  when(is('function', 'Percentile'), has('percentile')),
  when(is('function', 'Coverage'), oneOf('maxhold', 'maxgap')),
  when(is('function', 'TimeInState', 'Transitions'), oneOf('lower', 'upper')),
  when(is('function', 'WeightedAverage'), is('interval', 'QuarterHourly')),
  when(is('method', 'linear'), without('maxhold')),
  ...Object.entries(FUNCTIONS_WITH).map(([name, functions]) => when(has(name), is('function', ...functions))),
];

const ofWindows = [
  // Only windows at the borders of an interval can be empty.
  when(
    { ...is('empty', 'zero', 'hold'), required: ['empty', 'window'] },
    {
      properties: { window: { ...has('every'), properties: { type: { const: 'sliding' } } } },
    },
  ),
  when(
    { properties: { window: is('size', 'Monthly', 'Yearly', 'P1M', 'P1Y') }, required: ['window'] },
    { properties: { window: has('every') } },
  ),
];

/** Rules for the parameters of an operation, by its name. */
const PARAMETERS: Readonly<Record<string, readonly JsonSchema[]>> = {
  Aggregate: [...ofFunctions, ...ofWindows, when(is('function', ...pairFunctionNames), { allOf: alignment })],
  'Aggregate Pipeline': [{ properties: { pipeline: { items: { allOf: ofFunctions } } } }],
  Shift: [
    when(is('function', 'ShiftByTime'), { properties: { shift: { type: 'string' }, window: false } }),
    when(is('function', 'ShiftByWindow'), {
      properties: { shift: { type: 'integer', maximum: Number.MAX_SAFE_INTEGER } },
    }),
  ],
  Select: alignment,
  Scale: [
    { oneOf: [has('slope'), has('points'), oneOf('from', 'to')] },
    when(has('offset'), has('slope')),
    when(oneOf('from', 'to'), has('from', 'to')),
    ...[...new Set(unitNames.map((unit) => quantityOf(unit) ?? ''))].map((quantity) =>
      when(is('from', ...unitsOf(quantity)), { properties: { to: { enum: unitsOf(quantity) } } }),
    ),
  ],
  Clamp: [oneOf('lower', 'upper')],
  Counter: [{ properties: { max: { exclusiveMinimum: 0 } } }],
  Schedule: [oneOf('days', 'hours', 'holidays', 'ranges')],
  Fill: [when(is('method', 'constant'), has('value')), when(has('value'), is('method', 'constant'))],
  Mask: [someRange()],
  Where: [someRange()],
};

function someRange(): JsonSchema {
  const names = ['valuerangelist', 'timerangelist'];
  return { anyOf: names.map((name) => ({ properties: { [name]: { minItems: 1 } }, required: [name] })) };
}

const ofExtremes = [when(inputs(3), { properties: { parameters: { not: is('align', 'linear') } } })];

/** Rules for the whole step of an operation, by its name. */
const STEPS: Readonly<Record<string, readonly JsonSchema[]>> = {
  Aggregate: [
    when(withParameters(is('function', ...pairFunctionNames)), inputs(2, 2)),
    when(inputs(2), withParameters(is('function', ...pairFunctionNames))),
  ],
  Select: [when(inputs(3), { properties: { parameters: without('else') } })],
  Fill: [
    when(withParameters(is('method', 'series')), inputs(2, 2)),
    when(inputs(2), withParameters(is('method', 'series'))),
  ],
  Min: ofExtremes,
  Max: ofExtremes,
};

/** Operations that need some parameter, although each one is optional. */
const NEEDED: ReadonlySet<string> = new Set(['Clamp', 'Mask', 'Scale', 'Schedule', 'Where']);

/** Whether a step of the operation must have parameters. */
export function needsParameters({ name, parameters, either }: Operation): boolean {
  return either !== undefined || NEEDED.has(name) || Object.values(parameters).some(({ isRequired }) => isRequired);
}

/** How the parameters of a step must fit together. */
export function parameterRules({ name, inputs: count = 'one', either }: Operation): readonly JsonSchema[] {
  const exactlyOne = either === undefined ? [] : [{ oneOf: either.map((one) => has(one)) }];
  const isAligned = count.startsWith('one and a scalar') || count === 'two';
  return [...exactlyOne, ...(PARAMETERS[name] ?? []), ...(isAligned ? alignment : [])];
}

/** How its parameters and its inputs must fit together. */
export function stepRules({ name, inputs: count = 'one' }: Operation): readonly JsonSchema[] {
  const own = STEPS[name] ?? [];
  if (!count.startsWith('one and a scalar')) return own;
  const scalar = { allOf: [inputs(1, 1), withParameters(without('align', 'maxhold', 'maxgap'))] };
  return [...own, when(withParameters(has('scalar')), scalar), when({ not: withParameters(has('scalar')) }, inputs(2))];
}
