import { formatDuration } from '../core/duration.js';
import { longestMs, parseInterval } from '../core/interval.js';
import {
  type Accumulator,
  aggregateFunctionNames,
  type FunctionSettings,
  pairFunctionNames,
  plainFunctions,
  timeWeightedNames,
} from './aggregate-functions.js';
import {
  type AggregateSettings,
  checkFunction,
  checkInputs,
  functionIn,
  functionParameters,
  isOfPairs,
  type PairSettings,
  settingsOf,
  type WindowsOrInterval,
  windowParameters,
} from './aggregate-parameters.js';
import { windowRunner } from './aggregate-windows.js';
import type { KindOptions } from './extensions/aggregates/window-kind.js';
import {
  between,
  moreFunctions,
  windowParameters as ownWindows,
  pairFunctions,
  pairsInto,
  windowIn,
} from './extensions/index.js';
import type {
  Description,
  Operation,
  OtherInput,
  RegridRunner,
  RunContext,
  StepDraft,
  WrittenExample,
} from './operation.js';
import { durationMsIn, type Parameters, textIn, within } from './parameters.js';
import { heldFunctionOf, isBetween, timeWeightedRunner } from './time-weighted-average.js';
import { alignParameters, describeTwo } from './two-inputs.js';
import { checkedInterval, checkInterval, inZone, openWindows, pointsEveryMs } from './windowing.js';

/** The accumulator of a function that is not time-weighted. */
function accumulatorOf(name: string, settings: FunctionSettings): Accumulator {
  const create = plainFunctions.get(name) ?? moreFunctions.get(name);
  if (create === undefined) throw new Error(`assertion failed: no accumulator ${name}`);
  return create(settings);
}

export interface AggregateMethods {
  aggregate(
    ...given:
      | [parameters: AggregateSettings & WindowsOrInterval]
      | [parameters: PairSettings & WindowsOrInterval, second: OtherInput]
  ): StepDraft;
}

export const aggregate: Operation<AggregateMethods> = {
  name: 'Aggregate',
  summary: 'Computes one value for each window of time, from its samples.',
  shape: 'regrid',
  inputs: 'one or two',
  methods: { aggregate: (...[parameters, second]) => ({ parameters, others: second === undefined ? [] : [second] }) },
  parameters: {
    ...functionParameters,
    function: functionIn([...aggregateFunctionNames, ...pairFunctionNames]),
    ...alignParameters,
    maxhold: functionParameters.maxhold,
    maxgap: functionParameters.maxgap,
    interval: { ...functionParameters.interval, isRequired: false },
    ...ownWindows,
    ...windowParameters,
  },
  either: ['interval', 'window'],
  check: (parameters, report, inputCount) => {
    checkFunction(parameters, report);
    checkInputs(parameters, report, inputCount);
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
    const options = { timezone: textIn(parameters, 'timezone'), label, closed } as const;
    if (!isOfPairs(parameters)) return openAggregate(parameters, options, run.column);
    const second = run.column();
    return [pairsInto(second), openAggregate(parameters, options, run.column, second)];
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
  second?: Float64Array,
): RegridRunner {
  const empty = parameters.empty === 'zero' || parameters.empty === 'hold' ? parameters.empty : 'omit';
  const name = textIn(parameters, 'function');
  const settings = settingsOf(parameters);
  const of = functionOf(parameters, second);
  const own = windowIn(parameters);
  if (own !== undefined) return own.kind.open(own.window, { ...options, name, settings, of, empty });
  const windows = openWindows(textIn(parameters, 'interval'), options.timezone);
  const { label, closed } = options;
  if ('held' in of) return (isBetween(of) ? between.open : timeWeightedRunner)({ windows, label, empty, ...of });
  return windowRunner(of.accumulator, { windows, label, closed, empty }, column);
}

function functionOf(parameters: Parameters, second: Float64Array = new Float64Array(0)): KindOptions['of'] {
  const name = textIn(parameters, 'function');
  const settings = settingsOf(parameters);
  const ofPairs = pairFunctions.get(name);
  if (ofPairs !== undefined) return { accumulator: ofPairs(second) };
  if (!timeWeightedNames.includes(name)) return { accumulator: accumulatorOf(name, settings) };
  const maxHoldMs = durationMsIn(parameters, 'maxhold') ?? Number.POSITIVE_INFINITY;
  const maxGapMs = durationMsIn(parameters, 'maxgap') ?? Number.POSITIVE_INFINITY;
  return { held: heldFunctionOf(name, settings), maxHoldMs, maxGapMs, isLinear: parameters.method === 'linear' };
}

/** What one function over one interval, or other windows, does, in words. */
export function describeAggregate(parameters: Parameters): Description {
  const of = functionOf(parameters);
  const described = describeWindows(parameters, of);
  return 'held' in of && isBetween(of) ? between.describe(described, parameters, of) : described;
}

function describeWindows(parameters: Parameters, of: KindOptions['of']): Description {
  const { words } = 'held' in of ? of.held : of.accumulator;
  const accumulator = 'held' in of ? undefined : of.accumulator;
  const isCarriedIn = accumulator === undefined || accumulator.keptSlotCount !== undefined;
  const zone = inZone(parameters);
  const keeps = (accumulator?.keeps ?? FEW) + (isOfPairs(parameters) ? `, and ${describeTwo(parameters).keeps}` : '');
  const own = windowIn(parameters);
  if (own !== undefined) return own.kind.describe(own.window, { does: words, zone, keeps, isCarriedIn });
  const text = textIn(parameters, 'interval');
  const lengthMsMax = longestMs(parseInterval(text) ?? checkedInterval(text));
  return {
    does: `${words} of each ${text} window${zone}`,
    reads: { kind: 'window', lengthMsMax, isCarriedIn },
    keeps,
    final: `when time has passed the end of its window, at most ${formatDuration(lengthMsMax)} after a sample`,
  };
}

const FEW = 'a few numbers of the open window';
