import { formatDuration } from '../core/duration.js';
import type { Instant } from '../core/instant.js';
import { type IntervalName, longestMs, parseInterval, SHORTEST_MS } from '../core/interval.js';
import {
  type Accumulator,
  type AggregateFunction,
  aggregateFunctionNames,
  type FunctionSettings,
  plainFunctions,
  timeWeightedNames,
} from './aggregate-functions.js';
import { windowRunner } from './aggregate-windows.js';
import type { KindOptions, WindowKind } from './extensions/aggregates/window-kind.js';
import { moreFunctions, windowKinds } from './extensions/index.js';
import type { Description, Operation, RegridRunner, RunContext, StepDraft, WrittenExample } from './operation.js';
import {
  choice,
  duration,
  durationMsIn,
  number,
  numberIn,
  type Parameter,
  type Parameters,
  type Report,
  readName,
  readParameters,
  refuse,
  textIn,
  timezone,
  within,
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

/** The accumulator of a function that is not time-weighted. */
function accumulatorOf(name: string, settings: FunctionSettings): Accumulator {
  const create = plainFunctions.get(name) ?? moreFunctions.get(name);
  if (create === undefined) throw new Error(`assertion failed: no accumulator ${name}`);
  return create(settings);
}

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

/** Windows other than those of an interval, by their type. */
function windowParameter(): Parameter {
  const types = windowKinds.map(({ type }) => type);
  const oneOf = windowKinds.map(({ type, summary, fields }) => {
    const own = Object.entries(fields);
    const described = own.map(([name, field]) => [name, { ...field.schema, description: field.summary }]);
    const properties = { type: { const: type, description: summary }, ...Object.fromEntries(described) };
    const required = ['type', ...own.filter(([, { isRequired }]) => isRequired).map(([name]) => name)];
    return { type: 'object', properties, required, additionalProperties: false };
  });
  const told = windowKinds.map(({ type, summary }) => `\`${type}\`, ${summary}`).join('; ');
  return {
    summary: `The windows, in place of an interval: ${told}.`,
    isRequired: false,
    isExtension: true,
    schema: { oneOf },
    read: (value, report, context) => {
      if (value === null || typeof value !== 'object' || Array.isArray(value)) {
        return refuse(report, 'request.type', `an object with a type: one of ${types.join(', ')}`, value);
      }
      const { type: given, ...rest } = { type: undefined, ...value };
      const type = readName(given, types, within(report, '/type'));
      const kind = windowKinds.find((one) => one.type === type);
      const fields = kind && readParameters(rest, kind.fields, report, context);
      return kind && fields && { type: kind.type, ...fields };
    },
  };
}

/** The kind of a window that the plan has checked, and what it says. */
function windowIn({ window }: Parameters): { readonly kind: WindowKind; readonly window: Parameters } | undefined {
  if (typeof window !== 'object' || !('type' in window)) return undefined;
  const kind = windowKinds.find(({ type }) => type === window.type);
  return kind && { kind, window };
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

/** A function over windows of one interval. `percentile` is 0 to 100; `maxhold` and `unit` are ISO 8601 durations. */
export type AggregateStage = { readonly interval: IntervalName } & AggregateSettings;

/** Windows other than those of an interval. `size` and `every` are intervals, `gap` is a duration. */
export type AggregateWindow =
  | { readonly type: 'sliding'; readonly size: IntervalName; readonly every?: IntervalName }
  | { readonly type: 'session'; readonly gap: string }
  | { readonly type: 'running'; readonly since: IntervalName | Instant };

type AggregateSettings = {
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
  aggregate(
    parameters: AggregateSettings &
      WindowParameters &
      (
        | { readonly interval: IntervalName; readonly window?: undefined }
        | { readonly window: AggregateWindow; readonly interval?: undefined }
      ),
  ): StepDraft;
}

export const aggregate: Operation<AggregateMethods> = {
  name: 'Aggregate',
  summary: 'Computes one value for each window of time, from its samples.',
  shape: 'regrid',
  inputs: 'one',
  methods: { aggregate: (parameters) => ({ parameters }) },
  parameters: {
    ...functionParameters,
    interval: { ...functionParameters.interval, isRequired: false },
    window: windowParameter(),
    ...windowParameters,
  },
  either: ['interval', 'window'],
  check: (parameters, report) => {
    checkFunction(parameters, report);
    const timezone = textIn(parameters, 'timezone');
    const of = windowIn(parameters);
    if (of === undefined) return checkInterval(textIn(parameters, 'interval'), timezone, within(report, '/interval'));
    of.kind.check?.(of.window, timezone, within(report, '/window'));
    if (parameters.empty !== 'omit' && !of.kind.canFill(of.window)) {
      const expected = 'empty only with windows at the borders of an interval';
      report('/empty', 'request.conflict', expected, `a window of type ${of.kind.type}`, 'leave empty out');
    }
  },
  describe: (parameters) => describeAggregate(parameters),
  open: (parameters, run) => {
    const label = parameters.label === 'end' ? 'end' : 'start';
    const closed = parameters.closed === 'right' ? 'right' : 'left';
    return openAggregate(parameters, { timezone: textIn(parameters, 'timezone'), label, closed }, run.column);
  },
  windows: (parameters) => {
    const of = windowIn(parameters);
    const timezone = textIn(parameters, 'timezone');
    if (of !== undefined) return of.kind.windows?.(of.window, timezone);
    return { window: textIn(parameters, 'interval'), timezone };
  },
  boundsOf: (parameters, timeMs) => {
    const of = windowIn(parameters);
    const label = parameters.label === 'end' ? 'end' : 'start';
    return of?.kind.boundsOf?.(of.window, textIn(parameters, 'timezone'), label, timeMs);
  },
  pointsEveryMs: (parameters) => {
    const windows = aggregate.windows?.(parameters);
    if (windows === undefined) return undefined;
    const isHeld = timeWeightedNames.includes(textIn(parameters, 'function')) && parameters.maxhold === undefined;
    const { window: own, timezone } = windows;
    return isHeld || parameters.empty !== 'omit' ? pointsEveryMs({ interval: own, timezone }) : undefined;
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
  {
    title: 'Sliding windows: the average of the last hour, every half hour',
    parameters: {
      function: 'Average',
      window: { type: 'sliding', size: 'PT1H', every: 'PT30M' },
      label: 'end',
    },
    inputs: ['00:10 1, 00:40 3, 01:10 8'],
    output: '00:30 1, 01:00 2, 01:30 5.5, 02:00 8',
  },
  {
    title: 'A window for each sample: the median of the last half hour',
    parameters: { function: 'Median', window: { type: 'sliding', size: 'PT30M' } },
    inputs: ['00:00 1, 00:10 9, 00:20 2, 00:30 3, 02:00 4'],
    output: '00:00 1, 00:10 5, 00:20 2, 00:30 3, 02:00 4',
  },
  {
    title: 'Sessions: what ran without a pause of more than ten minutes, and how much it took',
    parameters: { function: 'Sum', window: { type: 'session', gap: 'PT10M' } },
    inputs: ['00:00 2, 00:05 3, 00:15 1, 01:00 4, 01:10 5'],
    output: '00:00 6, 01:00 9',
  },
  {
    title: 'Totals so far: the energy of the day, held from power',
    parameters: { function: 'Integral', window: { type: 'running', since: 'Daily' } },
    inputs: ['00:00 6, 00:30 2, 02:30 0'],
    output: '00:30 3, 02:30 7',
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
  const empty = parameters.empty === 'zero' || parameters.empty === 'hold' ? parameters.empty : 'omit';
  const name = textIn(parameters, 'function');
  const settings = settingsOf(parameters);
  const of = functionOf(parameters);
  const own = windowIn(parameters);
  if (own !== undefined) return own.kind.open(own.window, { ...options, name, settings, of, empty });
  const windows = openWindows(textIn(parameters, 'interval'), options.timezone);
  const { label, closed } = options;
  if ('held' in of) return timeWeightedRunner({ windows, label, empty, ...of });
  return windowRunner(of.accumulator, { windows, label, closed, empty }, column);
}

function functionOf(parameters: Parameters): KindOptions['of'] {
  const name = textIn(parameters, 'function');
  const settings = settingsOf(parameters);
  if (!timeWeightedNames.includes(name)) return { accumulator: accumulatorOf(name, settings) };
  const maxHoldMs = durationMsIn(parameters, 'maxhold') ?? Number.POSITIVE_INFINITY;
  return { held: heldFunctionOf(name, settings), maxHoldMs };
}

/** Reports parameters that do not fit the function. */
export function checkFunction(parameters: Parameters, report: Report): void {
  const name = textIn(parameters, 'function');
  if (name === 'WeightedAverage' && parameters.interval !== 'QuarterHourly') {
    const hint = 'TimeWeightedAverage takes every interval';
    const received = parameters.interval === undefined ? 'a window' : `\`${textIn(parameters, 'interval')}\``;
    report('/interval', 'request.conflict', 'QuarterHourly, alone, with WeightedAverage', received, hint);
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

/** What one function over one interval, or other windows, does, in words. */
export function describeAggregate(parameters: Parameters): Description {
  const of = functionOf(parameters);
  const { words } = 'held' in of ? of.held : of.accumulator;
  const accumulator = 'held' in of ? undefined : of.accumulator;
  const isCarriedIn = accumulator === undefined || accumulator.keptSlotCount !== undefined;
  const zone = inZone(parameters);
  const own = windowIn(parameters);
  if (own !== undefined) {
    return own.kind.describe(own.window, { does: words, zone, keeps: accumulator?.keeps ?? FEW, isCarriedIn });
  }
  const text = textIn(parameters, 'interval');
  const lengthMsMax = longestMs(parseInterval(text) ?? checkedInterval(text));
  return {
    does: `${words} of each ${text} window${zone}`,
    reads: { kind: 'window', lengthMsMax, isCarriedIn },
    keeps: accumulator?.keeps ?? FEW,
    final: `when time has passed the end of its window, at most ${formatDuration(lengthMsMax)} after a sample`,
  };
}

const FEW = 'a few numbers of the open window';
