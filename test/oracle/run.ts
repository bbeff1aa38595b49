// Runs a request over its inputs (semantics §1 and §4): sources are cleaned, steps run in order of dependence.

import { aggregate, aggregatePipeline } from './aggregate.js';
import { type ExtensionParameters, runExtension } from './extensions.js';
import {
  byRanges,
  cleanse,
  durationOr,
  holdLastValue,
  mapValues,
  type RangeParameters,
  resample,
  round,
  shiftByTime,
  shiftByWindow,
} from './operations.js';
import { isBinary, type PairParameters, pairsOf, withScalar, withSecond } from './pairs.js';
import { countDropped, type Dropped, type Outcome, type Sample } from './series.js';
import { DAY_MS, parseDuration } from './time.js';
import type { AggregateParameters, OtherWindow } from './window-result.js';
import { windowsOf } from './windows.js';

export interface OracleSeries {
  timeseriesId: string;
  metric: string;
  /** In order of arrival. */
  samples: [timeMs: number, value: number | null][];
}

export interface OracleOptions {
  timezone?: string;
  fromMs?: number;
  untilMs?: number;
}

export interface OracleResult {
  /** One for each item of the request, in time order. */
  series: OracleSeries[];
  /** By source ('timeseriesId/metric'), and by step in the order written, over all items. */
  dropped: { sources: Record<string, Dropped>; steps: Dropped[] };
}

interface Reference {
  readonly timeseriesId: string;
  readonly metric: string;
}

type Parameters = Partial<AggregateParameters> &
  ExtensionParameters &
  PairParameters &
  RangeParameters & {
    readonly scalar?: number;
    readonly roundtodigits?: number;
    readonly mode?: string;
    readonly lowerbound?: number;
    readonly upperbound?: number;
    readonly shift?: number | string;
    readonly direction?: string;
    readonly window?: string;
    readonly frequency?: string;
    readonly method?: string;
    readonly maxgap?: string;
    readonly pipeline?: readonly AggregateParameters[];
  };

interface Step {
  readonly operation: string;
  readonly input: readonly Reference[];
  readonly output: readonly Reference[];
  readonly parameters?: Parameters;
}

interface Item {
  readonly metric: string;
  readonly operations: readonly Step[];
}

/** A unique name for a series: different references have different names. */
const nameOf = ({ timeseriesId, metric }: Reference): string => JSON.stringify([timeseriesId, metric]);

function must<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`the request lacks ${what}`);
  return value;
}

/** Operations are case-insensitive; the space of `Aggregate Pipeline` is optional. */
const operationOf = (step: Step): string => step.operation.toLowerCase().replace(' ', '');

/** Runs a whole request, which must be valid. */
export function runOracle(request: unknown[], inputs: OracleSeries[], options: OracleOptions = {}): OracleResult {
  const items = request as Item[]; // `as`: valid by the contract of this function
  const producers = producersOf(items);
  const sources: Record<string, Dropped> = {};
  const outcomes = new Map<string | Step, Outcome>();

  const outcomeOfStep = (step: Step): Outcome => {
    const known = outcomes.get(step);
    if (known !== undefined) return known;
    const series = step.input.map((reference) => outcomeOf(reference).samples);
    const outcome = runStep(step, series, options, producers);
    outcomes.set(step, outcome);
    return outcome;
  };
  const outcomeOf = (reference: Reference): Outcome => {
    const producer = producers.get(nameOf(reference));
    if (producer !== undefined) return outcomeOfStep(producer);
    const known = outcomes.get(nameOf(reference));
    if (known !== undefined) return known;
    const outcome = readSource(reference, inputs, options);
    outcomes.set(nameOf(reference), outcome);
    sources[`${reference.timeseriesId}/${reference.metric}`] = outcome.dropped;
    return outcome;
  };

  const steps = items.flatMap((item) => item.operations.map((step) => outcomeOfStep(step).dropped));
  const series = items.map((item) => {
    const lastStep = must(item.operations.at(-1), 'a step');
    const { timeseriesId } = must(lastStep.output[0], 'an output');
    const samples = outcomeOfStep(lastStep).samples.map(({ timeMs, value }): [number, number] => [timeMs, value]);
    return { timeseriesId, metric: item.metric, samples };
  });
  return { series, dropped: { sources, steps } };
}

/**
 * §4: which step makes a series. Its name is the step's output or, for the last step of an item, the item's `metric`.
 */
function producersOf(items: readonly Item[]): Map<string, Step> {
  const producers = new Map<string, Step>();
  for (const item of items) {
    for (const step of item.operations) producers.set(nameOf(must(step.output[0], 'an output')), step);
    const lastStep = must(item.operations.at(-1), 'a step');
    const { timeseriesId } = must(lastStep.output[0], 'an output');
    producers.set(nameOf({ timeseriesId, metric: item.metric }), lastStep);
  }
  return producers;
}

/**
 * §1.2, §1.3, §4: missing values are dropped first, then samples outside [from, until), then duplicates: the last
 * counts.
 */
function readSource(reference: Reference, inputs: readonly OracleSeries[], options: OracleOptions): Outcome {
  const dropped: Dropped = {};
  const { fromMs = Number.NEGATIVE_INFINITY, untilMs = Number.POSITIVE_INFINITY } = options;
  const lastGivenAt = new Map<number, Sample>();
  for (const input of inputs) {
    if (nameOf(input) !== nameOf(reference)) continue;
    for (const [timeMs, value] of input.samples) {
      if (value === null || !Number.isFinite(value)) {
        countDropped(dropped, 'missing');
      } else if (timeMs < fromMs || timeMs >= untilMs) {
        countDropped(dropped, 'outOfRun');
      } else {
        if (lastGivenAt.has(timeMs)) countDropped(dropped, 'duplicate');
        lastGivenAt.set(timeMs, { timeMs, value });
      }
    }
  }
  return { samples: [...lastGivenAt.values()].sort((a, b) => a.timeMs - b.timeMs), dropped };
}

function runStep(
  step: Step,
  series: readonly Sample[][],
  options: OracleOptions,
  producers: ReadonlyMap<string, Step>,
): Outcome {
  const operation = operationOf(step);
  const parameters = step.parameters ?? {};
  const timezone = parameters.timezone ?? options.timezone;
  const first = must(series[0], 'an input');
  if (isBinary(operation) && series.length <= 2) {
    if (parameters.scalar !== undefined) return withScalar(operation, first, parameters.scalar, parameters);
    return withSecond(operation, first, must(series[1], 'a second input'), parameters);
  }
  switch (operation) {
    case 'aggregate': {
      const pairs = series[1] === undefined ? undefined : pairsOf(first, series[1], parameters);
      const outcome = aggregate(pairs?.samples ?? first, {
        ...parameters,
        function: must(parameters.function, 'function'),
        interval: parameters.interval ?? '',
        other: otherWindow(parameters),
        timezone,
        runTimezone: options.timezone,
      });
      for (const [reason, count] of Object.entries(pairs?.dropped ?? {})) countDropped(outcome.dropped, reason, count);
      return outcome;
    }
    case 'aggregatepipeline':
      return aggregatePipeline(first, must(parameters.pipeline, 'pipeline'), { ...parameters, timezone });
    case 'not':
      return mapValues(first, (value) => (value === 0 ? 1 : 0));
    case 'abs':
      return mapValues(first, Math.abs);
    case 'mask':
      return byRanges(first, parameters, false, options.timezone);
    case 'where':
      return byRanges(first, parameters, true, options.timezone);
    case 'round':
      return round(first, must(parameters.roundtodigits, 'roundtodigits'), parameters.mode);
    case 'cleanse': {
      const { lowerbound, upperbound } = parameters;
      const functionName = must(parameters.function, 'function');
      return cleanse(first, functionName, must(lowerbound, 'lowerbound'), must(upperbound, 'upperbound'));
    }
    case 'shift':
      return runShift(first, step, options, producers);
    case 'holdlastvalue': {
      const ticks = windowsOf(must(parameters.interval, 'interval'), timezone);
      return holdLastValue(first, ticks, durationOr(parameters.maxhold, Number.POSITIVE_INFINITY), options.untilMs);
    }
    case 'resample': {
      const grid = windowsOf(must(parameters.frequency, 'frequency'), gridZone(parameters, timezone));
      return resample(first, grid, parameters.method, durationOr(parameters.maxgap, Number.POSITIVE_INFINITY));
    }
    default: {
      const outcome = runExtension(operation, series, { ...parameters, timezone, untilMs: options.untilMs });
      if (outcome === undefined) throw new Error(`no such operation: ${step.operation}`);
      return outcome;
    }
  }
}

function runShift(
  samples: readonly Sample[],
  step: Step,
  options: OracleOptions,
  producers: ReadonlyMap<string, Step>,
): Outcome {
  const { function: functionName, shift, direction = 'forward', window, timezone } = step.parameters ?? {};
  const sign = direction.toLowerCase() === 'backward' ? -1 : 1;
  if (functionName?.toLowerCase() === 'shiftbytime') return shiftByTime(samples, sign * parseDuration(String(shift)));
  const own = window === undefined ? undefined : { interval: window, timezone: options.timezone };
  const found = own ?? must(windowsUpstream(step, options, producers), 'a window');
  return shiftByWindow(samples, sign * Number(shift), found.interval, timezone ?? found.timezone);
}

/** The `window` of an Aggregate; in other operations it is text. */
function otherWindow({ window }: Parameters): OtherWindow | undefined {
  const given: unknown = window;
  return typeof given === 'object' ? (given as OtherWindow) : undefined; // `as`: valid by the contract of the oracle
}

/** Grids of whole days follow the zone; all others are on the epoch grid. */
function gridZone({ frequency }: Parameters, timezone: string | undefined): string | undefined {
  return parseDuration(must(frequency, 'frequency')) % DAY_MS === 0 ? timezone : undefined;
}

interface Found {
  readonly interval: string;
  readonly timezone: string | undefined;
}

/** §3 Shift: the windows of the nearest step upstream that has some: fewest steps away, first inputs first. */
function windowsUpstream(step: Step, options: OracleOptions, producers: ReadonlyMap<string, Step>): Found | undefined {
  let nearby: Step[] = [step];
  while (nearby.length > 0) {
    const inputs = nearby.flatMap(({ input }) => input);
    const found = inputs.map((reference) => producers.get(nameOf(reference)));
    nearby = [...new Set(found)].filter((producer) => producer !== undefined);
    for (const near of nearby) {
      const windows = ownWindows(near, options);
      if (windows !== undefined) return windows;
    }
  }
  return undefined;
}

function ownWindows(step: Step, options: OracleOptions): Found | undefined {
  const { interval, frequency, pipeline, timezone = options.timezone } = step.parameters ?? {};
  const other = otherWindow(step.parameters ?? {});
  switch (operationOf(step)) {
    case 'aggregate':
      if (other === undefined) return { interval: must(interval, 'interval'), timezone };
      return other.type === 'sliding' && other.every !== undefined ? { interval: other.every, timezone } : undefined;
    case 'holdlastvalue':
      return { interval: must(interval, 'interval'), timezone };
    case 'aggregatepipeline':
      return { interval: must(pipeline?.at(-1)?.interval, 'a stage'), timezone };
    case 'resample':
      return { interval: must(frequency, 'frequency'), timezone: gridZone(step.parameters ?? {}, timezone) };
    default:
      return undefined;
  }
}
