import type { Columns } from '../core/series.js';
import { runBatch } from '../engine/batch/run-batch.js';
import type { RunOptions } from '../engine/options.js';
import { firstAtOrAfter } from '../kernels/search.js';
import type { Plan, PlanStep } from '../plan/plan.js';

/** Instants `[fromMs, untilMs)`. */
export interface Range {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Samples of a column by index: `[from, until)`. */
export interface Span {
  readonly from: number;
  readonly until: number;
}

/** The samples of a range of time, in columns whose times rise. */
export function spanOf({ timeMs }: Columns, { fromMs, untilMs }: Range): Span {
  const from = firstAtOrAfter(timeMs, 0, timeMs.length, fromMs);
  return { from, until: firstAtOrAfter(timeMs, from, timeMs.length, untilMs) };
}

export function slice({ timeMs, value }: Columns, { from, until }: Span): Columns {
  return { timeMs: timeMs.subarray(from, until), value: value.subarray(from, until) };
}

/** A step by itself: its results over inputs that are given, in a range of time. */
type StepRun = (inputs: readonly Columns[]) => Columns;

/** So many samples around a range are looked at first. */
const AROUND = 1024;

/**
 * Finds which samples of its inputs a step uses for its results in a range, whatever the operation: the least spans
 * such that the results stay the same to the bit when all samples outside of them are removed, raised or lowered. The
 * step is run again for each of these changes, so nothing rests on what an operation says of itself.
 *
 * @param core samples of this range are looked at with those that are found, and have to give the results with them.
 * @returns a span for each input, or undefined where the step does not give its results of the plan by itself.
 */
export function findReads(
  step: PlanStep,
  inputs: readonly Columns[],
  results: Columns,
  range: Range,
  options: RunOptions,
  core: Range | undefined,
): readonly Span[] | undefined {
  const run = [options, {}].map((own) => runOf(step, range, own)).find((own) => isSame(own(inputs), results));
  if (run === undefined) return undefined;
  const around = inputs.map((_, input) => localSpan(run, inputs, input, results, hull(range, core)));
  const isLocal = isSame(run(inputs.map((columns, input) => slice(columns, around[input]!))), results);
  const outer = isLocal ? around : inputs.map(({ timeMs }) => ({ from: 0, until: timeMs.length }));
  const local = inputs.map((columns, input) => slice(columns, outer[input]!));
  return local.map((_, input) => {
    const { from } = outer[input]!;
    const span = leastSpan(run, local, input, results, core && spanOf(local[input]!, core));
    return { from: from + span.from, until: from + span.until };
  });
}

function runOf(step: PlanStep, range: Range, { until }: RunOptions): StepRun {
  const sources = step.inputs.map((_, index) => ({ timeseriesId: String(index), metric: 'input' }));
  const plan: Plan = {
    version: 1,
    timezone: 'UTC',
    sources,
    steps: [{ ...step, inputs: sources.map((_, index) => ({ from: 'source', index })) }],
    items: [{ processingType: 'batch', step: 0, output: step.output }],
    request: [],
  };
  return (inputs) => {
    const given = inputs.map((columns, index) => ({ ...columns, ...sources[index]! }));
    const [result] = runBatch(plan, given, until === undefined ? {} : { until }).series;
    return result === undefined ? { timeMs: EMPTY, value: EMPTY } : slice(result, spanOf(result, range));
  };
}

const EMPTY = new Float64Array(0);

// Samples around the range, as many as it takes for the others not to matter.
function localSpan(run: StepRun, inputs: readonly Columns[], input: number, results: Columns, range: Range): Span {
  const columns = inputs[input]!;
  const { length } = columns.timeMs;
  const inner = spanOf(columns, range);
  for (let around = AROUND; ; around *= 8) {
    const span = { from: Math.max(0, inner.from - around), until: Math.min(length, inner.until + around) };
    if (span.from === 0 && span.until === length) return span;
    if (isFreeOutside(run, inputs, input, results, span)) return span;
  }
}

function leastSpan(run: StepRun, inputs: readonly Columns[], input: number, results: Columns, core?: Span): Span {
  const { length } = inputs[input]!.timeMs;
  const isFree = (span: Span): boolean => isFreeOutside(run, inputs, input, results, span);
  const leastAround = (inner?: Span): Span => {
    const from = greatest(0, inner?.from ?? length, (at) => isFree({ from: at, until: length }));
    const after = length - (inner?.until ?? from);
    const until = length - greatest(0, after, (count) => isFree({ from: 0, until: length - count }));
    return { from: Math.min(from, until), until };
  };
  const span = leastAround();
  // Many samples may not matter together where some of them do: a window is filled because a sample follows it.
  const isWhole =
    core === undefined || isFree({ from: Math.min(span.from, core.from), until: Math.max(span.until, core.until) });
  const found = isWhole ? span : leastAround(core);
  // What matters on neither side alone may matter on both.
  return isFree(found) ? found : { from: 0, until: length };
}

function hull(a: Range, b: Range | undefined): Range {
  return b === undefined ? a : { fromMs: Math.min(a.fromMs, b.fromMs), untilMs: Math.max(a.untilMs, b.untilMs) };
}

/** The greatest number for which a law holds, that holds for the least and no longer from some number on. */
function greatest(least: number, most: number, holds: (number: number) => boolean): number {
  let [low, high] = [least, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Whether results stay as they are when samples of an input outside of a span are removed, raised or lowered. */
function isFreeOutside(
  run: StepRun,
  inputs: readonly Columns[],
  input: number,
  results: Columns,
  { from, until }: Span,
): boolean {
  const { timeMs, value } = inputs[input]!;
  const most = value.reduce((sofar, x) => Math.max(sofar, Number.isFinite(x) ? Math.abs(x) : 0), 1);
  // So that at least one of the greatest numbers raised and lowered is a number.
  const by = Math.min(2 * most, Number.MAX_VALUE / 4);
  return [Number.NaN, by, -by].every((change) => {
    const changed = value.map((x, i) => (i >= from && i < until ? x : x + change));
    return isSame(run(inputs.map((columns, at) => (at === input ? { timeMs, value: changed } : columns))), results);
  });
}

/** Whether two columns hold the same samples, to the bit. */
export function isSame(a: Columns, b: Columns): boolean {
  if (a.timeMs.length !== b.timeMs.length) return false;
  for (let i = 0; i < a.timeMs.length; i++) {
    if (!Object.is(a.timeMs[i], b.timeMs[i]) || !Object.is(a.value[i], b.value[i])) return false;
  }
  return true;
}
