import { InputError } from '../core/errors.js';
import { formatInstant, type Instant } from '../core/instant.js';
import { nextDouble } from '../core/next-double.js';
import { type Columns, concatenate, type Series, type SeriesReference, seriesKey, seriesName } from '../core/series.js';
import { SourceMatcher } from '../core/source-matcher.js';
import { runBatch } from '../engine/batch/run-batch.js';
import { sortInput } from '../engine/batch/sort-input.js';
import { partsOf as partsOfPlan } from '../engine/every/parts.js';
import { type RunOptions, type RunSettings, readOptions, toMs } from '../engine/options.js';
import { operationOf } from '../operations/index.js';
import { describeStep } from '../operations/texts/index.js';
import { openWindows } from '../operations/windowing.js';
import { planEveryIn, planOfMember } from '../plan/patterns.js';
import type { Plan, PlanInput, PlanStep } from '../plan/plan.js';
import { findReads, type Range, type Span, slice, spanOf } from './reads.js';

export interface Sample {
  readonly timeMs: number;
  readonly value: number;
}

/** A sample of an input, and its index in the input as it was given. */
export interface GivenSample extends Sample {
  readonly position: number;
}

/** A sample that a step or the run left out. */
export interface LeftOut extends Sample {
  readonly reason: string;
}

/** How one result came about: the steps from the last one back, and the samples that the result depends on. */
export interface Why {
  readonly series: SeriesReference;
  readonly timeMs: number;
  readonly value: number;
  readonly timezone: string;
  readonly steps: readonly WhyStep[];
  readonly sources: readonly WhySource[];
}

/** Some results of a step, and the samples that it used for them. */
export interface WhyStep {
  /** JSON pointer of the step in the request. */
  readonly pointer: string;
  readonly operation: string;
  /** What it computes, in words. */
  readonly does: string;
  readonly output: SeriesReference;
  readonly results: readonly Sample[];
  /** The window of the results, if the operation has windows and they all lie in one. */
  readonly window?: Window;
  readonly inputs: readonly WhyInput[];
  /**
   * Whether the step gives the same bits when all other samples of its inputs are removed, or all raised, lowered or
   * replaced alike. If false, the step could not be run by itself, and the samples listed are those at the times of
   * the results.
   */
  readonly isProved: boolean;
}

export interface Window {
  readonly startMs: number;
  readonly endMs: number;
  readonly timezone: string;
}

/** The samples of one input that a step used. */
export interface WhyInput {
  readonly series: SeriesReference;
  readonly from: 'source' | 'step';
  readonly used: readonly Sample[];
  /** Samples among these that have no result at their own time. */
  readonly leftOut: readonly LeftOut[];
}

/** The samples of a source that the result depends on. */
export interface WhySource {
  readonly series: SeriesReference;
  readonly used: readonly GivenSample[];
  /** Samples among these that the run left out. */
  readonly leftOut: readonly (GivenSample & LeftOut)[];
}

/**
 * Explains how a result of a batch came about, step by step back to the samples of the input. Each step runs again by
 * itself with changed inputs to find out what it used, so the answer holds for every operation.
 *
 * @param of the series of the result: that of an item, or of a step on the way to one.
 * @param at the time of the result.
 * @throws InputError if there is no such result; the message names the nearest ones.
 */
export function why(
  plan: Plan,
  inputs: readonly Series[],
  of: SeriesReference,
  at: Instant,
  options: RunOptions = {},
): Why {
  const planned = planOfResult(planEveryIn(plan, options), of);
  const timeMs = toMs('at', at, planned.timezone);
  const last = stepOf(planned, of);
  const results = runBatch(everyStep(planned), plan.every === undefined ? inputs : withEmpty(planned, inputs), {
    ...options,
    timezone: planned.timezone,
  }).series;
  const value = valueAt(results[last]!, timeMs, of);
  const search = new Search(planned, inputs, results, options);
  search.want({ from: 'step', index: last }, { fromMs: timeMs, untilMs: nextDouble(timeMs) });
  const { timezone } = planned;
  return { series: of, timeMs, value, timezone, steps: search.steps(), sources: search.sources() };
}

/** For a plan with patterns: the plan that gives a result, with plain ids. */
function planOfResult(plan: Plan, of: SeriesReference): Plan {
  if (plan.every === undefined) return plan;
  const outputs = [...plan.items, ...plan.steps].map(({ output }) => output);
  const [place] = new SourceMatcher(outputs).placesOf(of);
  const names = outputs.map(seriesName).join(', ');
  if (place === undefined) {
    throw new InputError('input.missing', `expected a result of the request (${names}), received ${seriesName(of)}`);
  }
  return place.member === undefined ? partsOfPlan(plan).plain!.plan : planOfMember(plan, place.member);
}

/** Adds empty series, as a member may lack a source that others have. */
function withEmpty({ sources }: Plan, inputs: readonly Series[]): readonly Series[] {
  const present = new Set(inputs.map(seriesKey));
  const empty = { timeMs: new Float64Array(0), value: new Float64Array(0) };
  const lacking = sources.filter((source) => !present.has(seriesKey(source)));
  return [...inputs, ...lacking.map((source) => ({ ...source, ...empty }))];
}

function stepOf(plan: Plan, of: SeriesReference): number {
  const key = seriesKey(of);
  const item = plan.items.find(({ output }) => seriesKey(output) === key);
  const step = item?.step ?? plan.steps.findIndex(({ output }) => seriesKey(output) === key);
  if (step >= 0) return step;
  const names = plan.items.map(({ output }) => seriesName(output)).join(', ');
  throw new InputError('input.missing', `expected a result of the request (${names}), received ${seriesName(of)}`);
}

/** The plan with the result of each step as an item. */
function everyStep(plan: Plan): Plan {
  return { ...plan, items: plan.steps.map(({ output }, step) => ({ processingType: 'batch', step, output })) };
}

function valueAt(series: Columns, timeMs: number, of: SeriesReference): number {
  const { from, until } = spanOf(series, { fromMs: timeMs, untilMs: nextDouble(timeMs) });
  if (from < until) return series.value[from]!;
  const near = [series.timeMs[from - 1], series.timeMs[from]].filter((time) => time !== undefined);
  const nearest =
    near.length === 0 ? 'it has no results' : `the nearest are at ${near.map(formatInstant).join(' and ')}`;
  throw new InputError('input.missing', `${seriesName(of)} has no result at ${formatInstant(timeMs)}; ${nearest}`);
}

/** The search back from a result: the ranges of time that are needed from each step and source. */
class Search {
  readonly #plan: Plan;
  readonly #inputs: readonly Series[];
  readonly #results: readonly Series[];
  readonly #options: RunOptions;
  readonly #settings: RunSettings;
  readonly #wanted: Readonly<Record<PlanInput['from'], Range[][]>>;
  readonly #sorted: (Series | undefined)[] = [];

  constructor(plan: Plan, inputs: readonly Series[], results: readonly Series[], options: RunOptions) {
    this.#plan = plan;
    this.#inputs = inputs;
    this.#results = results;
    this.#options = options;
    this.#settings = readOptions(options, plan.timezone);
    this.#wanted = { source: plan.sources.map(() => []), step: plan.steps.map(() => []) };
  }

  want({ from, index }: PlanInput, range: Range): void {
    this.#wanted[from][index] = joined([...this.#wanted[from][index]!, range]);
  }

  /** The steps from the last one back, each before those that it reads. */
  steps(): WhyStep[] {
    const { steps } = this.#plan;
    return [...steps.keys()].reverse().flatMap((at) => this.#wanted.step[at]!.map((range) => this.#explain(at, range)));
  }

  sources(): WhySource[] {
    return this.#plan.sources.flatMap((series, index) => {
      const ranges = this.#wanted.source[index]!;
      return ranges.length === 0 ? [] : [this.#explainSource(series, ranges)];
    });
  }

  #explain(at: number, range: Range): WhyStep {
    const step = this.#plan.steps[at]!;
    const operation = operationOf(step);
    const all = this.#results[at]!;
    const results = slice(all, spanOf(all, range));
    const columns = step.inputs.map((input) => this.#columnsOf(input));
    const window = windowOf(step, results, range);
    const core = window === undefined ? trailingOf(step, range) : { fromMs: window.startMs, untilMs: window.endMs };
    const isElsewhere = core === undefined && operation.shape === 'regrid' && results.timeMs.length > 0;
    const around = isElsewhere ? undefined : (core ?? range);
    const reads = findReads(step, columns, results, range, this.#options, around);
    const inputs = step.inputs.map((input, k): WhyInput => {
      const span = reads?.[k] ?? spanOf(columns[k]!, range);
      const used = slice(columns[k]!, span);
      this.want(
        input,
        span.from < span.until ? reachOf(columns[k]!, span, around) : gapAt(columns[k]!, around ?? range),
      );
      const series = input.from === 'source' ? this.#plan.sources[input.index]! : this.#plan.steps[input.index]!.output;
      const leftOut = operation.shape === 'regrid' ? [] : leftOutBy(step, used, results);
      return { series, from: input.from, used: samplesOf(used), leftOut };
    });
    const { does } = describeStep(step.operation, step.parameters);
    const { pointer, output } = step;
    const isProved = reads !== undefined;
    const told = { pointer, operation: step.operation, does, output, results: samplesOf(results), inputs, isProved };
    return window === undefined ? told : { ...told, window };
  }

  #columnsOf({ from, index }: PlanInput): Series {
    if (from === 'step') return this.#results[index]!;
    const { fromMs, untilMs = Number.POSITIVE_INFINITY } = this.#settings;
    this.#sorted[index] ??= sortInput(partsOf(this.#inputs, this.#plan.sources[index]!), fromMs, untilMs).series;
    return this.#sorted[index];
  }

  #explainSource(series: SeriesReference, ranges: readonly Range[]): WhySource {
    const { timeMs, value } = partsOf(this.#inputs, series);
    const { fromMs, untilMs = Number.POSITIVE_INFINITY } = this.#settings;
    const lastAt = new Map<number, number>();
    const found: GivenSample[] = [];
    for (let position = 0; position < timeMs.length; position++) {
      const [t, x] = [timeMs[position]!, value[position]!];
      if (!ranges.some((range) => t >= range.fromMs && t < range.untilMs)) continue;
      found.push({ timeMs: t, value: x, position });
      if (Number.isFinite(x)) lastAt.set(t, position);
    }
    const reasonOf = ({ timeMs: t, value: x, position }: GivenSample): string | undefined => {
      if (!Number.isFinite(x)) return 'it has no value';
      if (t < fromMs || t >= untilMs) return 'it lies outside of the run (from, until)';
      return lastAt.get(t) === position ? undefined : 'a later sample of the same time replaced it';
    };
    const used = found.filter((sample) => reasonOf(sample) === undefined).sort((a, b) => a.timeMs - b.timeMs);
    const leftOut = found.flatMap((sample) => {
      const reason = reasonOf(sample);
      return reason === undefined ? [] : [{ ...sample, reason }];
    });
    return { series, used, leftOut };
  }
}

function partsOf(inputs: readonly Series[], source: SeriesReference): Series {
  const parts = inputs.filter((input) => seriesKey(input) === seriesKey(source));
  return { ...source, ...concatenate(parts) };
}

/** The window of a single result. */
function windowOf({ operation, parameters }: PlanStep, results: Columns, range: Range): Window | undefined {
  const described = operationOf({ operation });
  const { reads } = describeStep(operation, parameters);
  const made = reads.kind === 'window' ? described.windows?.(parameters) : undefined;
  if (made === undefined || results.timeMs.length !== 1) return undefined;
  const bounds = described.boundsOf?.(parameters, range.fromMs);
  if (bounds !== undefined) return { ...bounds, timezone: made.timezone };
  const windows = openWindows(made.window, made.timezone);
  const startMs = windows.startOf(range.fromMs);
  // A result is stamped with the start of its window, or with its end.
  const isAtEnd = parameters.label === 'end';
  const [from, until] = isAtEnd ? [windows.previous(startMs), startMs] : [startMs, windows.next(startMs)];
  return { startMs: from, endMs: until, timezone: made.timezone };
}

/** The range of time that the results in a range are made from, if they reach back by a fixed length. */
function trailingOf({ operation, parameters }: PlanStep, { fromMs, untilMs }: Range): Range | undefined {
  const { reads } = describeStep(operation, parameters);
  return reads.kind === 'trailing' ? { fromMs: nextDouble(fromMs - reads.lengthMs), untilMs } : undefined;
}

function leftOutBy({ operation, parameters: { align } }: PlanStep, used: Columns, results: Columns): LeftOut[] {
  const isLinear = align === 'linear';
  // A sample that is held or interpolated has results up to the next one, and with `linear` from the one before.
  const isRead = isLinear || align === 'hold' || align === 'asof';
  const reason = isRead ? `no result of ${operation} reads it` : `${operation} has no result at this time`;
  return samplesOf(used)
    .filter(({ timeMs }, at) => {
      const fromMs = isLinear ? nextDouble(used.timeMs[at - 1] ?? -Infinity) : timeMs;
      const untilMs = isRead ? (used.timeMs[at + 1] ?? Infinity) : nextDouble(timeMs);
      const { from, until } = spanOf(results, { fromMs, untilMs });
      return from === until;
    })
    .map((sample) => ({ ...sample, reason }));
}

function samplesOf({ timeMs, value }: Columns): Sample[] {
  return Array.from(timeMs, (t, i) => ({ timeMs: t, value: value[i]! }));
}

const NOWHERE: Range = { fromMs: Infinity, untilMs: -Infinity };

/** A range without samples, whose emptiness may be why a step gave its result; nowhere if it has samples. */
function gapAt(columns: Columns, range: Range): Range {
  const { from, until } = spanOf(columns, range);
  return from === until ? range : NOWHERE;
}

/** The range of a span of samples, widened to include another range up to the samples before and after the span. */
function reachOf({ timeMs }: Columns, { from, until }: Span, around = NOWHERE): Range {
  const used = timeMs.subarray(from, until);
  return {
    fromMs: Math.max(nextDouble(timeMs[from - 1] ?? -Infinity), Math.min(used[0] ?? Infinity, around.fromMs)),
    untilMs: Math.min(timeMs[until] ?? Infinity, Math.max(nextDouble(used.at(-1) ?? -Infinity), around.untilMs)),
  };
}

/** Ranges in order, without empty ones; those that overlap or touch become one. */
function joined(ranges: readonly Range[]): Range[] {
  const some: Range[] = [];
  for (const range of ranges.filter(({ fromMs, untilMs }) => fromMs < untilMs).sort((a, b) => a.fromMs - b.fromMs)) {
    const last = some.at(-1);
    if (last === undefined || range.fromMs > last.untilMs) some.push(range);
    else some[some.length - 1] = { ...last, untilMs: Math.max(last.untilMs, range.untilMs) };
  }
  return some;
}
