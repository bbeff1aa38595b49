import type { Duration } from '../../core/duration.js';
import type { Instant } from '../../core/instant.js';
import type { IntervalName } from '../../core/interval.js';
import {
  checkOwn,
  heldFunctions,
  moreFunctionNames,
  ownFunctionsWith,
  ownParameters,
  pairFunctionNames,
} from '../extensions/index.js';
import {
  choice,
  duration,
  number,
  type Parameter,
  type Parameters,
  type Report,
  textIn,
  timezone,
} from '../parameters.js';
import type { AlignParameters } from '../two-inputs.js';
import { interval } from '../windowing.js';
import { otherFunctionNames } from './functions.js';

/** The parameters of aggregates: their checks and their types. */

/** The functions that the interface has. */
const plainFunctionNames = [
  'Average',
  'WeightedAverage',
  'Sum',
  'Count',
  'First',
  'Last',
  'Min',
  'Max',
  'Range',
  'Median',
  'Percentile',
  'StandardDeviation',
  'Variance',
  'Delta',
  'TimeWeightedAverage',
] as const;

/** Every aggregate function of one input, in the interface's spelling. */
export const aggregateFunctionNames = [...plainFunctionNames, ...moreFunctionNames] as const;

export type AggregateFunction = (typeof aggregateFunctionNames)[number];

/** The functions that weigh values by how long they were held. */
export const timeWeightedNames: readonly string[] = ['WeightedAverage', 'TimeWeightedAverage', ...heldFunctions.keys()];

/** The parameter `function` of a step or a stage, with the functions allowed there. */
export function functionIn(names: readonly string[]): Parameter {
  return choice(names, { otherNames: otherFunctionNames }, [...moreFunctionNames, ...pairFunctionNames]);
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
export const FUNCTIONS_WITH: Readonly<Record<string, readonly string[]>> = {
  percentile: ['Percentile'],
  maxhold: timeWeightedNames,
  ...ownFunctionsWith,
};

/** Parameters of the whole step. */
export const windowParameters = {
  timezone: timezone({ extension: true }),
  label: choice(['start', 'end'], { default: 'start', extension: true }),
  closed: choice(['left', 'right'], { default: 'left', extension: true }),
};

/** `timezone`: IANA zone of the windows. `label`: which boundary stamps a result. `closed`: which is included. */
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
