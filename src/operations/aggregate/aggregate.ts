import type { KindOptions } from '../extensions/aggregates/window-kind.js';
import {
  checkInputs,
  heldFunctions,
  inputsOfAggregate,
  moreFunctions,
  openBetween,
  windowParameters as ownWindows,
  pairFunctionNames,
  pairFunctions,
  pairParameters,
  pairsInto,
  windowIn,
} from '../extensions/index.js';
import type { Operation, OtherInput, RegridRunner, RunContext, StepDraft } from '../operation.js';
import { durationMsIn, type Parameters, textIn, within } from '../parameters.js';
import { checkInterval, openWindows, pointsEveryMs } from '../windowing.js';
import { plainFunctions } from './functions.js';
import { heldAverage, isBetween } from './held-values.js';
import {
  type AggregateSettings,
  aggregateFunctionNames,
  checkFunction,
  functionIn,
  functionParameters,
  type PairSettings,
  timeWeightedNames,
  type WindowsOrInterval,
  windowParameters,
} from './parameters.js';
import { timeWeightedRunner } from './time-weighted-average.js';
import { windowRunner } from './windows.js';

type OfOne = AggregateSettings & WindowsOrInterval;
type OfTwo = PairSettings & WindowsOrInterval;

export interface AggregateMethods {
  aggregate(...given: [parameters: OfOne] | [parameters: OfTwo, second: OtherInput]): StepDraft<OfOne | OfTwo>;
}

export const aggregate: Operation<AggregateMethods> = {
  name: 'Aggregate',
  otherNames: ['bucket', 'groupby', 'timebucket'],
  shape: 'regrid',
  results: 'one a window',
  inputs: inputsOfAggregate,
  methods: { aggregate: (...[parameters, second]) => ({ parameters, others: second === undefined ? [] : [second] }) },
  parameters: {
    ...functionParameters,
    function: functionIn([...aggregateFunctionNames, ...pairFunctionNames]),
    ...pairParameters,
    interval: { ...functionParameters.interval, isRequired: false },
    ...ownWindows,
    ...windowParameters,
  },
  either: ['interval', 'window'],
  check: (parameters, report, inputCount) => {
    checkFunction(parameters, report);
    checkInputs(parameters, report, inputCount);
    const timezone = textIn(parameters, 'timezone');
    const own = windowIn(parameters);
    if (own === undefined) return checkInterval(textIn(parameters, 'interval'), timezone, within(report, '/interval'));
    own.kind.check?.(own.window, timezone, within(report, '/window'));
    if (parameters.empty !== 'omit' && !own.kind.canFill(own.window)) {
      const expected = 'empty only with windows at the boundaries of an interval';
      report('/empty', 'request.conflict', expected, `a window of type ${own.kind.type}`, 'leave empty out');
    }
  },
  open: (parameters, run) => {
    const label = parameters.label === 'end' ? 'end' : 'start';
    const closed = parameters.closed === 'right' ? 'right' : 'left';
    const options = { timezone: textIn(parameters, 'timezone'), label, closed } as const;
    if (!pairFunctions.has(textIn(parameters, 'function'))) return openAggregate(parameters, options, run.column);
    const second = run.column();
    return [pairsInto(second), openAggregate(parameters, options, run.column, second)];
  },
  windows: (parameters) => {
    const own = windowIn(parameters);
    const timezone = textIn(parameters, 'timezone');
    if (own !== undefined) return own.kind.windows?.(own.window, timezone);
    return { window: textIn(parameters, 'interval'), timezone };
  },
  boundsOf: (parameters, timeMs) => {
    const own = windowIn(parameters);
    const { label } = parameters;
    return own?.kind.boundsOf?.(own.window, textIn(parameters, 'timezone'), label === 'end' ? label : 'start', timeMs);
  },
  // Only where each window surely has a result.
  pointsEveryMs: (parameters) => {
    const windows = aggregate.windows?.(parameters);
    const isHeld =
      timeWeightedNames.includes(textIn(parameters, 'function')) && !(parameters.maxhold || parameters.maxgap);
    const isCertain = isHeld || parameters.empty === 'zero';
    return windows && isCertain ? pointsEveryMs({ ...windows, interval: windows.window }) : undefined;
  },
};

/** What all stages of a step share. */
export interface StageOptions {
  readonly timezone: string;
  readonly label: 'start' | 'end';
  readonly closed: 'left' | 'right';
}

/** The runner of one function over its windows. */
export function openAggregate(
  parameters: Parameters,
  options: StageOptions,
  column: RunContext['column'],
  second?: Float64Array,
): RegridRunner {
  const empty = parameters.empty === 'zero' || parameters.empty === 'hold' ? parameters.empty : 'omit';
  const name = textIn(parameters, 'function');
  const code = functionOf(parameters, second);
  const own = windowIn(parameters);
  if (own !== undefined) return own.kind.open(own.window, { ...options, name, parameters, code, empty });
  const windows = openWindows(textIn(parameters, 'interval'), options.timezone);
  const { label, closed } = options;
  if ('held' in code) {
    const held = { windows, label, empty, ...code } as const;
    return isBetween(code) ? openBetween(held) : timeWeightedRunner(held, column);
  }
  return windowRunner(code.accumulator, { windows, label, closed, empty }, column);
}

/** The code of the function of a step or stage. */
export function functionOf(parameters: Parameters, second: Float64Array = new Float64Array(0)): KindOptions['code'] {
  const name = textIn(parameters, 'function');
  const ofPairs = pairFunctions.get(name);
  if (ofPairs !== undefined) return { accumulator: ofPairs(second) };
  const create = plainFunctions.get(name) ?? moreFunctions.get(name);
  if (create !== undefined) return { accumulator: create(parameters) };
  const maxHoldMs = durationMsIn(parameters, 'maxhold') ?? Number.POSITIVE_INFINITY;
  const maxGapMs = durationMsIn(parameters, 'maxgap') ?? Number.POSITIVE_INFINITY;
  const held = heldFunctions.get(name)?.(parameters) ?? heldAverage;
  return { held, maxHoldMs, maxGapMs, isLinear: parameters.method === 'linear' };
}
