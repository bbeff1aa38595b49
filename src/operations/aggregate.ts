import { formatDuration } from '../core/duration.js';
import { type IntervalName, longestMs, parseInterval } from '../core/interval.js';
import {
  type AggregateFunction,
  accumulatorOf,
  aggregateFunctionNames,
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
import { timeWeightedRunner } from './time-weighted-average.js';
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
    { summary: 'How long a value is held, for time-weighted averages.', optional: true, extension: true },
    0,
  ),
};

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

/** A function over windows of one length. `percentile` is 0 to 100; `maxhold` an ISO 8601 duration. */
export type AggregateStage = {
  readonly interval: IntervalName;
  readonly empty?: 'omit' | 'zero' | 'hold';
  readonly maxhold?: string;
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
    return timeWeightedRunner({ windows, label, empty, maxHoldMs });
  }
  const percent = parameters.percentile === undefined ? 50 : numberIn(parameters, 'percentile');
  return windowRunner(accumulatorOf(name, percent), { windows, label, closed, empty }, column);
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
  if (parameters.maxhold !== undefined && !timeWeightedNames.includes(name)) {
    const hint = 'take the function TimeWeightedAverage, or leave maxhold out';
    report('/maxhold', 'request.conflict', 'maxhold only with a time-weighted average', `the function ${name}`, hint);
  }
}

function quoted(parameters: Parameters): string {
  return `\`${textIn(parameters, 'interval')}\``;
}

/** What one function over one interval does, in words. */
export function describeAggregate(parameters: Parameters): Description {
  const name = textIn(parameters, 'function');
  const isTimeWeighted = timeWeightedNames.includes(name);
  const percent = parameters.percentile === undefined ? 50 : numberIn(parameters, 'percentile');
  const accumulator = isTimeWeighted ? undefined : accumulatorOf(name, percent);
  const text = textIn(parameters, 'interval');
  const lengthMsMax = longestMs(parseInterval(text) ?? checkedInterval(text));
  return {
    does: `${accumulator?.words ?? 'the time-weighted average'} of each ${text} window${inZone(parameters)}`,
    reads: { kind: 'window', lengthMsMax, isCarriedIn: isTimeWeighted },
    keeps: accumulator?.keeps ?? 'a few numbers of the open window',
    final: `when time has passed the end of its window, at most ${formatDuration(lengthMsMax)} after a sample`,
  };
}
