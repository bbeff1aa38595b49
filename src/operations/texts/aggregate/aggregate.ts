import { formatDuration } from '../../../core/duration.js';
import { longestMs, parseInterval } from '../../../core/interval.js';
import { functionOf } from '../../aggregate/aggregate.js';
import { isBetween } from '../../aggregate/held-values.js';
import { type AggregateFunction, FUNCTIONS_WITH } from '../../aggregate/parameters.js';
import { pairFunctionNames, pairFunctions, windowIn } from '../../extensions/index.js';
import type { Description, OperationTexts, WrittenExample } from '../../operation.js';
import { type JsonSchema, type Parameters, textIn } from '../../parameters.js';
import { alignment, has, is, type OperationRules, oneOf, pairedBy, when, without } from '../../rules.js';
import { checkedInterval, inZone } from '../../windowing.js';
import { alignTexts, describeTwo } from '../two-inputs.js';
import { describeBetween, ownTexts } from './functions.js';
import { windowSchema, windowSummary } from './windows.js';

/** The texts of the window parameters that Aggregate and Aggregate Pipeline share. */
export const windowTexts = {
  timezone: 'The zone whose local days the windows follow.',
  label: 'Which boundary stamps a result.',
  closed: 'Which boundary a window includes.',
};

const examples: readonly WrittenExample[] = [
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
    title: 'Energy from power: 6 kW for ten minutes and then fifty offline are 1 kWh',
    parameters: { function: 'Integral', maxgap: 'PT10M', interval: 'Hourly' },
    inputs: ['00:00 6, 00:10 6, 01:00 6, 01:10 3'],
    output: '00:00 1, 01:00 1',
  },
  {
    title: 'An integral along straight lines, cut where a window ends',
    parameters: { function: 'Integral', method: 'linear', interval: 'Hourly' },
    inputs: ['00:30 0, 01:30 6'],
    output: '00:00 0.75, 01:00 2.25',
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
    title: 'How closely two series go together, in each hour',
    parameters: { function: 'Correlation', interval: 'Hourly' },
    inputs: ['00:00 1, 00:20 2, 00:40 3, 01:00 1, 01:20 2', '00:00 10, 00:20 20, 00:40 30, 01:00 6, 01:20 5'],
    output: '00:00 1, 01:00 -1',
  },
  {
    title: 'Totals so far: the energy of the day, held from power',
    parameters: { function: 'Integral', window: { type: 'running', since: 'Daily' } },
    inputs: ['00:00 6, 00:30 2, 02:30 0'],
    output: '00:30 3, 02:30 7',
  },
];

export const aggregateTexts = /* @__PURE__ */ textsOfAggregate();

function textsOfAggregate(): OperationTexts {
  return {
    summary: 'Computes one value for each window of time, from its samples.',
    parameters: {
      function: 'What to compute from the samples of a window.',
      align: alignTexts.align,
      interval: 'The length of the windows.',
      percentile: 'Which percentile, for Percentile.',
      empty: 'The result of windows without samples, between those with some.',
      maxhold: 'How long a value is held, for the time-weighted functions; with two inputs, how old it may be.',
      ...ownTexts,
      window: windowSummary(),
      ...windowTexts,
    },
    schemas: { window: windowSchema() },
    examples,
  };
}

/** The result of each function, in words. */
const RESULTS: Readonly<Record<AggregateFunction | (typeof pairFunctionNames)[number], string>> = {
  Average: 'the average',
  WeightedAverage: 'the time-weighted average',
  Sum: 'the sum',
  Count: 'the count',
  First: 'the first sample',
  Last: 'the last sample',
  Min: 'the least value',
  Max: 'the greatest value',
  Range: 'the greatest value less the least',
  Median: 'the median',
  Percentile: 'the percentile',
  StandardDeviation: 'the standard deviation (n − 1)',
  Variance: 'the variance (n − 1)',
  Delta: 'the last sample less the first',
  TimeWeightedAverage: 'the time-weighted average',
  Mode: 'the most frequent value',
  DistinctCount: 'the number of different values',
  Increase: 'the increase',
  Rate: 'the rate of increase',
  Slope: 'the slope',
  TimeOfMin: 'the time of the least value',
  TimeOfMax: 'the time of the greatest value',
  Integral: 'the integral over time',
  Coverage: 'the share of time with data',
  TimeInState: 'the time in a state',
  Transitions: 'the number of changes of state',
  Covariance: 'the covariance (n − 1)',
  Correlation: 'the correlation',
};

/** Functions that keep every value of the open window. */
const OF_ALL_VALUES = ['Median', 'Percentile', 'Mode', 'DistinctCount'];

/** What `explain` says of one function over its windows. */
export function describeAggregate(parameters: Parameters): Description {
  const code = functionOf(parameters);
  const isHeld = 'held' in code;
  const described = describeWindows(parameters, isHeld || code.accumulator.keptSlotCount !== undefined);
  return isHeld && isBetween(code) ? describeBetween(described, parameters, code) : described;
}

function describeWindows(parameters: Parameters, isCarriedIn: boolean): Description {
  const name = textIn(parameters, 'function');
  const does = resultOf(name, parameters);
  const zone = inZone(parameters);
  const kept = OF_ALL_VALUES.includes(name) ? 'every value of the open window' : 'a few numbers of the open window';
  const keeps = pairFunctions.has(name) ? `${kept}, and ${describeTwo(parameters).keeps}` : kept;
  const own = windowIn(parameters);
  if (own !== undefined) return own.kind.describe(own.window, { does, zone, keeps, isCarriedIn });
  const text = textIn(parameters, 'interval');
  const lengthMsMax = longestMs(parseInterval(text) ?? checkedInterval(text));
  return {
    does: `${does} of each ${text} window${zone}`,
    reads: { kind: 'window', lengthMsMax, isCarriedIn },
    keeps,
    final: `when time has passed the end of its window, at most ${formatDuration(lengthMsMax)} after a sample`,
  };
}

function resultOf(name: string, parameters: Parameters): string {
  const results: Readonly<Record<string, string>> = RESULTS;
  if (name !== 'Percentile') return results[name]!;
  return parameters.percentile === 50 ? RESULTS.Median : `${RESULTS.Percentile} ${parameters.percentile}`;
}

/** How the parameters of Aggregate and its inputs must fit together, for editors. */
export const aggregateRules = (): OperationRules => ({
  parameters: [
    ...functionRules(),
    // Only windows at the boundaries of an interval can be empty.
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
  when(is('function', 'WeightedAverage'), {
    properties: { interval: { pattern: '^(QuarterHourly|P(0D)?T(0H)?(15M|900S))$' } },
    required: ['interval'],
  }),
  when(is('method', 'linear'), without('maxhold')),
  ...Object.entries(FUNCTIONS_WITH).map(([name, functions]) => when(has(name), is('function', ...functions))),
];
