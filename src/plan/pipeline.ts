import type { Instant } from '../core/instant.js';
import type { SeriesReference } from '../core/series.js';

/** An item of a request, as POST /operations takes it (section 2.5 of the interface). */
export interface RequestItem {
  readonly metric: string;
  readonly processingType: 'stream' | 'batch';
  readonly frequency?: Frequency;
  readonly operations: readonly RequestStep[];
}

/** A step of an item: one reference in `output`, one or two in `input`. */
export interface RequestStep {
  readonly operation: string;
  readonly input: readonly SeriesReference[];
  readonly output: readonly SeriesReference[];
  readonly parameters: object;
}

/** How often a batch runs, on the multiples of it in UTC. */
export type Frequency = 'PT15M' | 'PT1H' | 'PT24H';

/** A name of the interface, or an ISO 8601 duration. */
export type IntervalName =
  | 'QuarterHourly'
  | 'HalfHourly'
  | 'Hourly'
  | 'Daily'
  | 'Weekly'
  | 'Monthly'
  | 'Yearly'
  | `P${string}`;

export type AggregateFunction =
  | 'Average'
  | 'WeightedAverage'
  | 'Sum'
  | 'Count'
  | 'First'
  | 'Last'
  | 'Min'
  | 'Max'
  | 'Range'
  | 'Median'
  | 'Percentile'
  | 'StandardDeviation'
  | 'Variance'
  | 'Delta'
  | 'TimeWeightedAverage';

/** Whose local days windows follow (an IANA zone), which border stamps a result, and which belongs to the window. */
export interface WindowParameters {
  readonly timezone?: string;
  readonly label?: 'start' | 'end';
  readonly closed?: 'left' | 'right';
}

/** A function over windows of one length. `percentile` is 0 to 100; `maxhold` an ISO 8601 duration. */
export interface AggregateStage {
  readonly function: AggregateFunction;
  readonly interval: IntervalName;
  readonly percentile?: number;
  readonly empty?: 'omit' | 'zero' | 'hold';
  readonly maxhold?: string;
}

/** How two inputs meet; `maxhold`, an ISO 8601 duration, goes with `hold` and `asof`. */
export interface AlignParameters {
  readonly align?: 'inner' | 'hold' | 'linear' | 'asof';
  readonly maxhold?: string;
}

/** An instant of a request: JSON has it as ISO 8601 text, as which a Date or luxon's DateTime is written there. */
type Time = Exclude<Instant, number>;

/** Closed value ranges and half-open time ranges; an absent bound is open. */
export interface RangeParameters {
  readonly valuerangelist?: readonly { readonly lower?: number; readonly upper?: number }[];
  readonly timerangelist?: readonly { readonly starttime?: Time; readonly endtime?: Time }[];
}

/** A shift by an ISO 8601 duration, or by a whole number of windows (0 or more). */
export type ShiftParameters = { readonly direction: 'forward' | 'backward' } & (
  | { readonly function: 'ShiftByTime'; readonly shift: string }
  | { readonly function: 'ShiftByWindow'; readonly shift: number; readonly window?: IntervalName }
);

/** A scalar, or a second series with how the two meet. */
export type Operand = number | SeriesReference;

/** What each method adds; the parameters are those of the request. */
export interface Pipeline {
  aggregate(parameters: AggregateStage & WindowParameters): Pipeline;
  aggregatePipeline(stages: readonly AggregateStage[], parameters?: WindowParameters): Pipeline;
  add(operand: Operand, parameters?: AlignParameters): Pipeline;
  sub(operand: Operand, parameters?: AlignParameters): Pipeline;
  mul(operand: Operand, parameters?: AlignParameters): Pipeline;
  div(operand: Operand, parameters?: AlignParameters): Pipeline;
  eq(operand: Operand, parameters?: AlignParameters & { readonly tolerance?: number }): Pipeline;
  ne(operand: Operand, parameters?: AlignParameters & { readonly tolerance?: number }): Pipeline;
  lte(operand: Operand, parameters?: AlignParameters): Pipeline;
  lt(operand: Operand, parameters?: AlignParameters): Pipeline;
  gt(operand: Operand, parameters?: AlignParameters): Pipeline;
  gte(operand: Operand, parameters?: AlignParameters): Pipeline;
  not(): Pipeline;
  and(second: SeriesReference, parameters?: AlignParameters): Pipeline;
  or(second: SeriesReference, parameters?: AlignParameters): Pipeline;
  mask(ranges: RangeParameters): Pipeline;
  where(ranges: RangeParameters): Pipeline;
  round(roundtodigits: number, parameters?: { readonly mode?: 'halfaway' | 'halfeven' }): Pipeline;
  abs(): Pipeline;
  clamp(lowerbound: number, upperbound: number): Pipeline;
  anomalies(lowerbound: number, upperbound: number): Pipeline;
  shift(parameters: ShiftParameters): Pipeline;
  holdLastValue(parameters: {
    readonly interval: IntervalName;
    readonly timezone?: string;
    readonly maxhold?: string;
  }): Pipeline;
  resample(parameters: {
    readonly frequency: string;
    readonly method?: 'step' | 'linear';
    readonly maxgap?: string;
  }): Pipeline;
  /** The request item that gives the result under a metric. Put items into an array: that is a request. */
  as(
    metric: string,
    run?: { readonly processingType?: 'stream' | 'batch'; readonly frequency?: Frequency },
  ): RequestItem;
}

/**
 * Writes a request item step by step, each step reading the one before.
 *
 * @example
 * const celsius = pipeline('office').sub(32).mul(5 / 9).round(1).as('Celsius');
 * const plan = createPlan([celsius]);
 */
export function pipeline(timeseriesId: string, metric = 'Raw'): Pipeline {
  return extend({ timeseriesId, metric }, []);
}

interface Draft {
  readonly operation: string;
  readonly parameters: object;
  readonly second?: SeriesReference;
}

function extend(source: SeriesReference, drafts: readonly Draft[]): Pipeline {
  const step = (operation: string, parameters: object = {}, second?: SeriesReference): Pipeline =>
    extend(source, [...drafts, { operation, parameters, ...(second === undefined ? {} : { second }) }]);
  const withOperand =
    (operation: string) =>
    (operand: Operand, parameters: object = {}): Pipeline =>
      typeof operand === 'number'
        ? step(operation, { scalar: operand, ...parameters })
        : step(operation, parameters, operand);
  const bounds = (name: string) => (lowerbound: number, upperbound: number) =>
    step('Cleanse', { function: name, lowerbound, upperbound });
  return {
    aggregate: (parameters) => step('Aggregate', parameters),
    aggregatePipeline: (stages, parameters) => step('Aggregate Pipeline', { pipeline: stages, ...parameters }),
    add: withOperand('Add'),
    sub: withOperand('Sub'),
    mul: withOperand('Mul'),
    div: withOperand('Div'),
    eq: withOperand('Eq'),
    ne: withOperand('Ne'),
    lte: withOperand('Lte'),
    lt: withOperand('Lt'),
    gt: withOperand('Gt'),
    gte: withOperand('Gte'),
    not: () => step('Not'),
    and: (second, parameters) => step('And', parameters, second),
    or: (second, parameters) => step('Or', parameters, second),
    mask: (ranges) => step('Mask', ranges),
    where: (ranges) => step('Where', ranges),
    round: (roundtodigits, parameters) => step('Round', { roundtodigits, ...parameters }),
    abs: () => step('Abs'),
    clamp: bounds('BoundsLimitCleanse'),
    anomalies: bounds('BoundsLimitAnomaly'),
    shift: (parameters) => step('Shift', parameters),
    holdLastValue: (parameters) => step('HoldLastValue', { function: 'HoldLastValue', ...parameters }),
    resample: (parameters) => step('Resample', { function: 'Resample', ...parameters }),
    as: (metric, run = {}) => writeItem(source, drafts, metric, run),
  };
}

function writeItem(
  source: SeriesReference,
  drafts: readonly Draft[],
  metric: string,
  { processingType = 'batch', frequency }: Parameters<Pipeline['as']>[1] & object,
): RequestItem {
  const { timeseriesId } = source;
  const nameOf = (index: number): string => (index === drafts.length - 1 ? metric : `${metric} step ${index + 1}`);
  const operations = drafts.map(({ operation, parameters, second }, index): RequestStep => {
    const first = index === 0 ? source : { timeseriesId, metric: nameOf(index - 1) };
    const input = second === undefined ? [first] : [first, second];
    return { operation, input, output: [{ timeseriesId, metric: nameOf(index) }], parameters };
  });
  return { metric, processingType, ...(frequency === undefined ? {} : { frequency }), operations };
}
