import { formatDuration } from '../core/duration.js';
import { type IntervalName, longestMs, parseInterval, SHORTEST_MS } from '../core/interval.js';
import {
  type AggregateFunction,
  accumulatorOf,
  aggregateFunctionNames,
  type FunctionSettings,
  timeWeightedNames,
} from './aggregate-functions.js';
import { windowRunner } from './aggregate-windows.js';
import type { Description, Operation, RegridRunner, RunContext, StepDraft, WrittenExample } from './operation.js';
import {
  choice,
  duration,
  durationMsIn,
  number,
  numberIn,
  type Parameters,
  type Report,
  textIn,
  timezone,
} from './parameters.js';
import { heldFunctionOf, timeWeightedRunner } from './time-weighted-average.js';
import { checkedInterval, checkInterval, interval, inZone, openWindows, pointsEveryMs } from './windowing.js';

/** Parameters that an aggregate and each stage of a pipeline share. */
export const functionParameters = {
  function: choice({ summary: 'What to compute from the samples of a window.' }, aggregateFunctionNames),
  interval: interval('The length of the windows.'),
  percentile: number({
    summary: 'Which percentile, for the function Percentile.',
    minimum: 0,
    maximum: 100,
    optional: true,
    extension: true,
  }),
  empty: choice(
    {
      summary: 'The result of windows without samples, between the first and the last with some.',
      default: 'omit',
      extension: true,
    },
    ['omit', 'zero', 'hold'],
  ),
  maxhold: duration(
    {
      summary: 'How long a value is held, for TimeWeightedAverage, Integral, Coverage and TimeInState.',
      optional: true,
      extension: true,
    },
    0,
  ),
  unit: duration(
    {
      summary: 'The unit of time of Integral, TimeInState, Rate and Slope; PT1H by default.',
      optional: true,
      extension: true,
    },
    SHORTEST_MS,
  ),
  max: number({
    summary: 'Of a counter, for Increase and Rate: the value at which it starts at 0 again.',
    optional: true,
    extension: true,
  }),
  lower: number({
    summary: 'The least value of the state, for TimeInState and Transitions.',
    optional: true,
    extension: true,
  }),
  upper: number({
    summary: 'The greatest value of the state, for TimeInState and Transitions.',
    optional: true,
    extension: true,
  }),
};

/** Which parameters belong to which functions; those of Percentile are checked by hand. */
const FUNCTIONS_WITH: Readonly<Record<string, readonly string[]>> = {
  maxhold: timeWeightedNames,
  unit: ['Integral', 'TimeInState', 'Rate', 'Slope'],
  max: ['Increase', 'Rate'],
  lower: ['TimeInState', 'Transitions'],
  upper: ['TimeInState', 'Transitions'],
};

function settingsOf(parameters: Parameters): FunctionSettings {
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
  timezone: timezone({ summary: 'The zone whose local days the windows follow.', extension: true }),
  label: choice({ summary: 'Which border stamps a result.', default: 'start', extension: true }, ['start', 'end']),
  closed: choice({ summary: 'Which border a window includes.', default: 'left', extension: true }, ['left', 'right']),
};

/** The zone (IANA) of the windows, which of their borders is the time of a result, and which they include. */
export interface WindowParameters {
  readonly timezone?: string;
  readonly label?: 'start' | 'end';
  readonly closed?: 'left' | 'right';
}

/** A function over windows of one length. `percentile` is 0 to 100; `maxhold` and `unit` are ISO 8601 durations. */
export type AggregateStage = {
  readonly interval: IntervalName;
  readonly empty?: 'omit' | 'zero' | 'hold';
  readonly maxhold?: string;
  readonly unit?: string;
  readonly max?: number;
  readonly lower?: number;
  readonly upper?: number;
} & (
  | { readonly function: 'Percentile'; readonly percentile: number }
  | { readonly function: Exclude<AggregateFunction, 'Percentile'>; readonly percentile?: undefined }
);

export interface AggregateMethods {
  aggregate(parameters: AggregateStage & WindowParameters): StepDraft;
}

export const aggregate: Operation<AggregateMethods> = {
  name: 'Aggregate',
  summary: 'Computes one value for each window of time, from its samples.',
  shape: 'regrid',
  inputs: 'one',
  methods: { aggregate: (parameters) => ({ parameters }) },
  parameters: { ...functionParameters, ...windowParameters },
  check: (parameters, report) => {
    checkFunction(parameters, report);
    const reportInterval: Report = (below, ...problem) => report(`/interval${below}`, ...problem);
    checkInterval(textIn(parameters, 'interval'), textIn(parameters, 'timezone'), reportInterval);
  },
  describe: (parameters) => describeAggregate(parameters),
  open: (parameters, run) => {
    const label = parameters.label === 'end' ? 'end' : 'start';
    const closed = parameters.closed === 'right' ? 'right' : 'left';
    return openAggregate(parameters, { timezone: textIn(parameters, 'timezone'), label, closed }, run.column);
  },
  windows: (parameters) => ({ window: textIn(parameters, 'interval'), timezone: textIn(parameters, 'timezone') }),
  pointsEveryMs: (parameters) => {
    const isHeld = timeWeightedNames.includes(textIn(parameters, 'function')) && parameters.maxhold === undefined;
    return isHeld || parameters.empty !== 'omit' ? pointsEveryMs(parameters) : undefined;
  },
};

export const aggregateExamples: readonly WrittenExample[] = [
  {
    title: 'The average of each hour; an hour without samples gives nothing',
    parameters: { function: 'Average', interval: 'Hourly' },
    inputs: ['00:00 1, 00:30 2, 00:45 6, 02:00 10'],
    output: '00:00 3, 02:00 10',
  },
  {
    title: 'A time-weighted average holds each value until the next, across windows too',
    parameters: { function: 'TimeWeightedAverage', interval: 'Hourly' },
    inputs: ['00:00 10, 00:45 30, 01:30 50'],
    output: '00:00 15, 01:00 40',
  },
  {
    title: 'Counts, with zeros for empty windows, stamped with the end of the window',
    parameters: { function: 'Count', interval: 'QuarterHourly', empty: 'zero', label: 'end' },
    inputs: ['00:01 1, 00:02 1, 00:40 1'],
    output: '00:15 2, 00:30 0, 00:45 1',
  },
  {
    title: 'Local days in Berlin; 31 March 2024 has 23 hours',
    parameters: { function: 'Sum', interval: 'Daily', timezone: 'Europe/Berlin' },
    inputs: ['2024-03-30T22:59:00Z 1, 2024-03-30T23:00:00Z 2, 2024-03-31T21:59:00Z 4, 2024-03-31T22:00:00Z 8'],
    output: '2024-03-29T23:00:00Z 1, 2024-03-30T23:00:00Z 6, 2024-03-31T22:00:00Z 8',
  },
  {
    title: 'The 90th percentile',
    parameters: { function: 'Percentile', percentile: 90, interval: 'Daily' },
    inputs: ['00:00 10, 06:00 20, 12:00 30'],
    output: '00:00 28',
  },
  {
    title: 'Energy from power: 6 kW for ten minutes, and then nothing is known, are 1 kWh',
    parameters: { function: 'Integral', unit: 'PT1H', maxhold: 'PT5M', interval: 'Hourly' },
    inputs: ['00:00 6, 00:05 6, 01:00 0'],
    output: '00:00 1, 01:00 0',
  },
  {
    title: 'Consumption from a meter that rolls over at 100000',
    parameters: { function: 'Increase', max: 100_000, interval: 'Hourly' },
    inputs: ['00:00 99980, 00:30 99990, 01:00 5, 01:30 20'],
    output: '00:00 10, 01:00 30',
  },
  {
    title: 'Minutes in which the value was 26 or more',
    parameters: { function: 'TimeInState', lower: 26, unit: 'PT1M', interval: 'Hourly' },
    inputs: ['00:00 25, 00:20 26.5, 00:50 24, 01:30 27'],
    output: '00:00 30, 01:00 30',
  },
];

/** What all stages of a step share. */
export interface StageOptions {
  readonly timezone: string;
  readonly label: 'start' | 'end';
  readonly closed: 'left' | 'right';
}

/** The runner of one function over windows of one interval. */
export function openAggregate(
  parameters: Parameters,
  options: StageOptions,
  column: RunContext['column'],
): RegridRunner {
  const windows = openWindows(textIn(parameters, 'interval'), options.timezone);
  const empty = parameters.empty === 'zero' || parameters.empty === 'hold' ? parameters.empty : 'omit';
  const { label, closed } = options;
  const name = textIn(parameters, 'function');
  if (timeWeightedNames.includes(name)) {
    const maxHoldMs = durationMsIn(parameters, 'maxhold') ?? Number.POSITIVE_INFINITY;
    return timeWeightedRunner({ windows, label, empty, maxHoldMs, held: heldFunctionOf(name, settingsOf(parameters)) });
  }
  return windowRunner(accumulatorOf(name, settingsOf(parameters)), { windows, label, closed, empty }, column);
}

/** Reports parameters that do not fit the function. */
export function checkFunction(parameters: Parameters, report: Report): void {
  const name = textIn(parameters, 'function');
  if (name === 'WeightedAverage' && parameters.interval !== 'QuarterHourly') {
    const hint = 'TimeWeightedAverage takes every interval';
    report('/interval', 'request.conflict', 'QuarterHourly, alone, with WeightedAverage', quoted(parameters), hint);
  }
  if (name === 'Percentile' && parameters.percentile === undefined) {
    report('/percentile', 'request.missing', 'a number of 0 to 100 with the function Percentile', 'nothing');
  }
  if (name !== 'Percentile' && parameters.percentile !== undefined) {
    report('/percentile', 'request.conflict', 'percentile only with the function Percentile', `the function ${name}`);
  }
  for (const [parameter, names] of Object.entries(FUNCTIONS_WITH)) {
    if (parameters[parameter] === undefined || names.includes(name)) continue;
    const expected = `${parameter} only with ${names.join(', ')}`;
    report(`/${parameter}`, 'request.conflict', expected, `the function ${name}`, `leave ${parameter} out`);
  }
  const { lower, upper, maxhold } = parameters;
  if (FUNCTIONS_WITH.lower?.includes(name) && lower === undefined && upper === undefined) {
    report('/lower', 'request.missing', `a bound of the state with the function ${name}`, 'neither lower nor upper');
  }
  if (lower !== undefined && upper !== undefined && lower > upper) {
    report('/lower', 'request.range', 'lower at most upper', `${lower} over ${upper}`, 'swap the two');
  }
  if (name === 'Coverage' && maxhold === undefined) {
    report('/maxhold', 'request.missing', 'how long a sample counts as data, with the function Coverage', 'nothing');
  }
}

function quoted(parameters: Parameters): string {
  return `\`${textIn(parameters, 'interval')}\``;
}

/** What one function over one interval does, in words. */
export function describeAggregate(parameters: Parameters): Description {
  const name = textIn(parameters, 'function');
  const isTimeWeighted = timeWeightedNames.includes(name);
  const settings = settingsOf(parameters);
  const accumulator = isTimeWeighted ? undefined : accumulatorOf(name, settings);
  const words = accumulator?.words ?? heldFunctionOf(name, settings).words;
  const text = textIn(parameters, 'interval');
  const lengthMsMax = longestMs(parseInterval(text) ?? checkedInterval(text));
  return {
    does: `${words} of each ${text} window${inZone(parameters)}`,
    reads: { kind: 'window', lengthMsMax, isCarriedIn: isTimeWeighted || accumulator?.keptSlotCount !== undefined },
    keeps: accumulator?.keeps ?? 'a few numbers of the open window',
    final: `when time has passed the end of its window, at most ${formatDuration(lengthMsMax)} after a sample`,
  };
}
