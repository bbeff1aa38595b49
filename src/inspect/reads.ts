import { areSameColumns, type Columns } from '../core/series.js';
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

/** Runs a step by itself over some inputs; returns its results in a range of time. */
interface StepRun {
  (inputs: readonly Columns[]): Columns;
  /** The greatest absolute value of the numbers among the step's parameters; at least 1. */
  readonly bound: number;
}

/** How many samples around a range are tried first. */
const AROUND = 1024;

/**
 * Finds which samples of its inputs a step uses for its results in a range, whatever the operation: the least spans
 * such that the results stay the same, bit for bit, when all samples outside them are removed, raised or lowered
 * beyond all values and all numbers of the step's parameters, turned to 0 or 1, or made equal to the least or the
 * greatest of the span. The step runs again for each of these changes, so the answer does not rely on what an operation
 * says about itself.
 *
 * @param core a range whose samples must be part of the answer if the results change without them.
 * @returns a span for each input; undefined if the step by itself does not give the results that it gives in the plan.
 */
export function findReads(
  step: PlanStep,
  inputs: readonly Columns[],
  results: Columns,
  range: Range,
  options: RunOptions,
  core: Range | undefined,
): readonly Span[] | undefined {
  const run = [options, {}].map((own) => runOf(step, range, own)).find((own) => areSameColumns(own(inputs), results));
  if (run === undefined) return undefined;
  const around = inputs.map((_, input) => localSpan(run, inputs, input, results, hull(range, core)));
  const isLocal = areSameColumns(run(inputs.map((columns, input) => slice(columns, around[input]!))), results);
  const outer = isLocal ? around : inputs.map(({ timeMs }) => ({ from: 0, until: timeMs.length }));
  const local = inputs.map((columns, input) => slice(columns, outer[input]!));
  const findLeast = (given: readonly Columns[], input: number): Span =>
    leastSpan(run, given, input, results, core && spanOf(given[input]!, core));
  const least = local.map((_, input) => findLeast(local, input));
  const reduced = local.map((columns, input) => slice(columns, least[input]!));
  if (!areSameColumns(run(reduced), results)) {
    // An input may stand in for another that has the same samples, so they are reduced one after the other.
    const given = [...local];
    for (const input of local.keys()) {
      least[input] = findLeast(given, input);
      given[input] = slice(local[input]!, least[input]);
    }
  }
  return least.map((span, input) => {
    const { from } = outer[input]!;
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
  const runStep = (inputs: readonly Columns[]): Columns => {
    const given = inputs.map((columns, index) => ({ ...columns, ...sources[index]! }));
    const [result] = runBatch(plan, given, until === undefined ? {} : { until }).series;
    return result === undefined ? { timeMs: EMPTY, value: EMPTY } : slice(result, spanOf(result, range));
  };
  return Object.assign(runStep, { bound: greatestIn(step.parameters) });
}

function greatestIn(part: unknown): number {
  if (typeof part === 'object') return Math.max(1, ...Object.values(part ?? {}).map(greatestIn));
  return typeof part === 'number' ? Math.abs(part) : 1;
}

const EMPTY = new Float64Array(0);

// A span around the range, wide enough that samples outside it do not matter.
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
  // Removing many samples may change nothing although removing some does: an empty window is filled only if a sample
  // follows it.
  const isWhole =
    core === undefined || isFree({ from: Math.min(span.from, core.from), until: Math.max(span.until, core.until) });
  const found = isWhole ? span : leastAround(core);
  // Samples may matter only together with samples on the other side.
  for (let { from, until } = found, by = 1; ; by *= 2) {
    if (isFree({ from, until })) {
      // No more of either side than it takes; where one of several would do, the last.
      from = greatest(from, found.from, (at) => isFree({ from: at, until }));
      return {
        from,
        until: until - greatest(0, until - found.until, (count) => isFree({ from, until: until - count })),
      };
    }
    from = Math.max(0, from - by);
    until = Math.min(length, until + by);
  }
}

function hull(a: Range, b: Range | undefined): Range {
  return b === undefined ? a : { fromMs: Math.min(a.fromMs, b.fromMs), untilMs: Math.max(a.untilMs, b.untilMs) };
}

/** The greatest number for which `holds` is true; it is true from `least` up to that number. */
function greatest(least: number, most: number, holds: (number: number) => boolean): number {
  let [low, high] = [least, most];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Whether results stay the same when samples of an input outside a span are removed or changed. */
function isFreeOutside(
  run: StepRun,
  inputs: readonly Columns[],
  input: number,
  results: Columns,
  { from, until }: Span,
): boolean {
  const { timeMs, value } = inputs[input]!;
  const [least, most] = extent(value.subarray(from, until));
  const by = 2 * Math.max(run.bound, ...extent(value).map(Math.abs));
  const changes: readonly ((x: number) => number)[] = [
    () => Number.NaN,
    (x) => Math.min(x + by, Number.MAX_VALUE),
    (x) => Math.max(x - by, -Number.MAX_VALUE),
    // True becomes false, and false true.
    (x) => (x === 0 ? 1 : 0),
    // As if nothing had changed since, or would change; of an empty span that is to remove them once more.
    () => least,
    () => most,
  ];
  return changes.every((change) => {
    const changed = value.map((x, i) => (i >= from && i < until ? x : change(x)));
    return areSameColumns(
      run(inputs.map((columns, at) => (at === input ? { timeMs, value: changed } : columns))),
      results,
    );
  });
}

/** The least and the greatest of some values; infinite where there are none. */
function extent(values: Float64Array): [least: number, most: number] {
  return values.reduce<[number, number]>(
    ([least, most], x) => [Math.min(least, x), Math.max(most, x)],
    [Infinity, -Infinity],
  );
}
