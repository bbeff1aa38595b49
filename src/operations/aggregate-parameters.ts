import type { Duration } from '../core/duration.js';
import type { Instant } from '../core/instant.js';
import type { IntervalName } from '../core/interval.js';
import {
  type AggregateFunction,
  aggregateFunctionNames,
  extensionFunctionNames,
  type FunctionSettings,
  otherFunctionNames,
  pairFunctionNames,
  timeWeightedNames,
} from './aggregate-functions.js';
import { checkOwn, ownParameters } from './extensions/index.js';
import {
  choice,
  duration,
  durationMsIn,
  type JsonSchema,
  number,
  numberIn,
  type Parameter,
  type Parameters,
  type Report,
  textIn,
  timezone,
} from './parameters.js';
import { alignment, has, is, type OperationRules, oneOf, pairedBy, when, without } from './rules.js';
import { type AlignParameters, checkAlign } from './two-inputs.js';
import { interval } from './windowing.js';

/** The parameters of aggregates: their checks and their types. */

/** The parameter `function` of a step or a stage, with the functions allowed there. */
export function functionIn(names: readonly string[]): Parameter {
  return choice(names, { otherNames: otherFunctionNames }, extensionFunctionNames);
}

/** Parameters that an aggregate and each stage of a pipeline share. */
export const functionParameters = {
  function: functionIn(aggregateFunctionNames),
  interval: interval(),
  percentile: number({ minimum: 0, maximum: 100, optional: true, extension: true }),
  empty: choice(['omit', 'zero', 'hold'], { default: 'omit', extension: true }),
  maxhold: duration(0, { optional: true, extension: true }),
  ...ownParameters,
};

/** Which parameters belong to which functions. */
const FUNCTIONS_WITH: Readonly<Record<string, readonly string[]>> = {
  percentile: ['Percentile'],
  align: pairFunctionNames,
  maxgap: [...timeWeightedNames, ...pairFunctionNames],
  method: ['Integral', 'TimeWeightedAverage'],
  maxhold: [...timeWeightedNames, ...pairFunctionNames],
  unit: ['Integral', 'TimeInState', 'Rate', 'Slope'],
  max: ['Increase', 'Rate'],
  lower: ['TimeInState', 'Transitions'],
  upper: ['TimeInState', 'Transitions'],
};

/** The settings of a function, with defaults filled in. */
export function settingsOf(parameters: Parameters): FunctionSettings {
  const numberOr = <T>(name: string, fallback: T): number | T =>
    parameters[name] === undefined ? fallback : numberIn(parameters, name);
  return {
    percent: numberOr('percentile', 50),
    max: numberOr('max', undefined),
    unitMs: durationMsIn(parameters, 'unit') ?? 3_600_000,
    lower: numberOr('lower', Number.NEGATIVE_INFINITY),
    upper: numberOr('upper', Number.POSITIVE_INFINITY),
  };
}

/** Parameters of the whole step. */
export const windowParameters = {
  timezone: timezone({ extension: true }),
  label: choice(['start', 'end'], { default: 'start', extension: true }),
  closed: choice(['left', 'right'], { default: 'left', extension: true }),
};

/** `timezone`: IANA zone of the windows. `label`: the border that stamps a result. `closed`: the border included. */
export interface WindowParameters {
  readonly timezone?: string;
  readonly label?: 'start' | 'end';
  readonly closed?: 'left' | 'right';
}

/** A function over windows of one interval. `percentile` is 0 to 100; `maxhold` and `unit` are ISO 8601 durations. */
export type AggregateStage = { readonly interval: IntervalName } & AggregateSettings;

/** Windows other than those of an interval. `size` and `every` are intervals, `gap` is an ISO 8601 duration. */
export type AggregateWindow =
  | { readonly type: 'sliding'; readonly size: IntervalName; readonly every?: IntervalName }
  | { readonly type: 'session'; readonly gap: Duration }
  | { readonly type: 'running'; readonly since: IntervalName | Instant };

export type AggregateSettings = {
  readonly empty?: 'omit' | 'zero' | 'hold';
  readonly maxhold?: Duration;
  readonly maxgap?: Duration;
  readonly method?: 'step' | 'linear';
  readonly unit?: Duration;
  readonly max?: number;
  readonly lower?: number;
  readonly upper?: number;
} & (
  | { readonly function: 'Percentile'; readonly percentile: number }
  | { readonly function: Exclude<AggregateFunction, 'Percentile'>; readonly percentile?: undefined }
);

/** A function of two inputs, which meet as `align` says. */
export interface PairSettings extends AlignParameters {
  readonly function: (typeof pairFunctionNames)[number];
  readonly empty?: 'omit' | 'zero' | 'hold';
}

export type WindowsOrInterval = WindowParameters &
  (
    | { readonly interval: IntervalName; readonly window?: undefined }
    | { readonly window: AggregateWindow; readonly interval?: undefined }
  );

/** Whether the function takes two inputs. */
export function isOfPairs(parameters: Parameters): boolean {
  return pairFunctionNames.some((name) => name === parameters.function);
}

/** Reports a number of inputs that does not fit the function, and alignment parameters that do not fit each other. */
export function checkInputs(parameters: Parameters, report: Report, inputCount: number): void {
  const name = textIn(parameters, 'function');
  if (!isOfPairs(parameters)) {
    if (inputCount === 1) return;
    report('/function', 'request.conflict', `${pairFunctionNames.join(' or ')} with two inputs`, name);
    return;
  }
  if (inputCount !== 2) report('/function', 'request.conflict', `two inputs with ${name}`, 'one', 'add a second input');
  checkAlign(parameters, report);
}

/** Reports parameters that do not fit the function. */
export function checkFunction(parameters: Parameters, report: Report): void {
  const name = textIn(parameters, 'function');
  if (name === 'WeightedAverage' && parameters.interval !== 'QuarterHourly') {
    const hint = 'TimeWeightedAverage takes every interval';
    const received = parameters.interval === undefined ? 'a window' : `\`${textIn(parameters, 'interval')}\``;
    report('/interval', 'request.conflict', 'QuarterHourly with WeightedAverage', received, hint);
  }
  if (name === 'Percentile' && parameters.percentile === undefined) {
    report('/percentile', 'request.missing', 'a number of 0 to 100 with the function Percentile', 'nothing');
  }
  for (const [parameter, names] of Object.entries(FUNCTIONS_WITH)) {
    if (parameters[parameter] === undefined || names.includes(name)) continue;
    const expected = `${parameter} only with ${names.join(', ')}`;
    report(`/${parameter}`, 'request.conflict', expected, `the function ${name}`, `leave ${parameter} out`);
  }
  checkOwn(parameters, report);
}

/** How the parameters of Aggregate and its inputs must fit together, for editors. */
export const aggregateRules = (): OperationRules => ({
  parameters: [
    ...functionRules(),
    // Only windows at the borders of an interval can be empty.
    when(
      { ...is('empty', 'zero', 'hold'), required: ['empty', 'window'] },
      { properties: { window: { ...has('every'), properties: { type: { const: 'sliding' } } } } },
    ),
    when(
      { properties: { window: is('size', 'Monthly', 'Yearly', 'P1M', 'P1Y') }, required: ['window'] },
      { properties: { window: has('every') } },
    ),
    when(is('function', ...pairFunctionNames), { allOf: alignment() }),
  ],
  step: pairedBy(is('function', ...pairFunctionNames)),
});

export const aggregatePipelineRules = (): OperationRules => ({
  parameters: [{ properties: { pipeline: { items: { allOf: functionRules() } } } }],
});

const functionRules = (): readonly JsonSchema[] => [
  when(is('function', 'Percentile'), has('percentile')),
  when(is('function', 'Coverage'), oneOf('maxhold', 'maxgap')),
  when(is('function', 'TimeInState', 'Transitions'), oneOf('lower', 'upper')),
  when(is('function', 'WeightedAverage'), is('interval', 'QuarterHourly')),
  when(is('method', 'linear'), without('maxhold')),
  ...Object.entries(FUNCTIONS_WITH).map(([name, functions]) => when(has(name), is('function', ...functions))),
];
