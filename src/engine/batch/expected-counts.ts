import { OutputLimitError } from '../../core/errors.js';
import { type Series, TIME_MS_END, TIME_MS_MIN } from '../../core/series.js';
import { operationOf } from '../../operations/index.js';
import type { Operation } from '../../operations/operation.js';
import { openWindows } from '../../operations/windowing.js';
import type { Plan, PlanStep } from '../../plan/plan.js';
import type { RunSettings } from '../options.js';

/** How many samples an item's result is likely to have. */
export interface Expected {
  readonly count: number;
  /** Whether a step on the way drops samples: then there may be far fewer. */
  readonly isFiltered: boolean;
}

/**
 * Stops a batch that is certain to make too many samples before it takes any memory. Certain are steps that give a
 * result at each point of a grid, over inputs whose span is known.
 */
export function checkExpectedCounts(plan: Plan, inputs: readonly Series[], settings: RunSettings): void {
  const spans = inputs.map((input) => spanInRun(input, settings));
  const stepSpans: (Span | undefined)[] = [];
  for (const step of plan.steps) {
    const known = step.inputs.map(({ from, index }) => (from === 'source' ? spans[index] : stepSpans[index]));
    const span = known.length === 1 ? known[0] : undefined;
    const operation = operationOf(step);
    // Other steps may drop samples at either end.
    stepSpans.push(operation.shape === 'map' && operation.results === 'one a sample' ? span : undefined);
    const everyMs = operation.pointsEveryMs?.(step.parameters);
    if (span === undefined || everyMs === undefined) continue;
    const count = Math.floor((span.lastMs - span.firstMs) / everyMs);
    if (count > settings.maxOutputSamples) {
      throw new OutputLimitError(step.pointer, step.operation, count, settings.maxOutputSamples);
    }
  }
}

/**
 * How many results each item is likely to have: a map as many as its input has samples, a filter at most as many, a
 * grid as many as it has points in the span of its input. A result of exactly this length is copied once, others twice.
 */
export function expectedCounts(plan: Plan, inputs: readonly Series[], settings: RunSettings): Expected[] {
  const ofSteps: (Expected & { readonly timeMs: Float64Array })[] = [];
  for (const step of plan.steps) {
    const operation = operationOf(step);
    const read = step.inputs.map(({ from, index }) => {
      if (from === 'step') return ofSteps[index]!;
      const { timeMs } = inputs[index]!;
      return { count: timeMs.length, isFiltered: false, timeMs };
    });
    const { timeMs } = read[0]!;
    const least = Math.min(...read.map(({ count }) => count));
    const count = operation.shape === 'regrid' ? regridCount(operation, step, least, timeMs, settings) : least;
    ofSteps.push({ count, isFiltered: operation.shape === 'filter' || read.some((one) => one.isFiltered), timeMs });
  }
  return plan.items.map(({ step }) => ofSteps[step]!);
}

// `timeMs` are the times of the source that the step's samples come from.
function regridCount(
  { results, windows, pointsEveryMs }: Operation,
  { parameters }: PlanStep,
  sampleCount: number,
  timeMs: Float64Array,
  settings: RunSettings,
): number {
  if (results === 'all but the first') return Math.max(0, sampleCount - 1);
  const made = windows?.(parameters);
  if (made === undefined || sampleCount === 0) return sampleCount;
  const everyMs = openWindows(made.window, made.timezone).lengthMsMax;
  const first = Math.max(settings.fromMs, timeMs[0]!) / everyMs;
  const last = Math.floor(Math.min(settings.untilMs ?? TIME_MS_END, timeMs.at(-1)!) / everyMs);
  const count = last - (results === undefined ? Math.ceil(first) : Math.floor(first)) + 1;
  const countMax = pointsEveryMs?.(parameters) === undefined ? sampleCount : settings.maxOutputSamples;
  // Times are not checked yet: they may be unsorted or NaN.
  return count > 0 ? Math.min(count, countMax) : 0;
}

interface Span {
  readonly firstMs: number;
  readonly lastMs: number;
}

// From the first sample that the run takes to the last. Samples outside the known years raise their own error later,
// and unsorted input comes here again once it is sorted.
function spanInRun({ timeMs, value }: Series, { fromMs, untilMs = Number.POSITIVE_INFINITY }: RunSettings): Span {
  const firstMs = Math.max(fromMs, TIME_MS_MIN);
  const endMs = Math.min(untilMs, TIME_MS_END);
  const isTaken = (at: number): boolean => timeMs[at]! >= firstMs && timeMs[at]! < endMs && Number.isFinite(value[at]!);
  let first = 0;
  let last = timeMs.length - 1;
  while (first < last && !isTaken(first)) first++;
  while (first < last && !isTaken(last)) last--;
  return { firstMs: timeMs[first] ?? 0, lastMs: timeMs[last] ?? 0 };
}
