import { OutputLimitError } from '../../core/errors.js';
import { type Series, TIME_MS_END, TIME_MS_MIN } from '../../core/series.js';
import { operationsByName } from '../../operations/index.js';
import type { Operation } from '../../operations/operation.js';
import type { Plan, PlanStep } from '../../plan/plan.js';
import type { RunSettings } from '../options.js';

/** How many samples an item's result is likely to have. */
export interface Expected {
  /** 0 where it cannot be told. */
  readonly count: number;
  /** Whether a step on the way drops samples: then there may be far fewer. */
  readonly isFiltered: boolean;
}

/**
 * Stops a batch that is certain to make too many samples before any memory is taken: steps that make a result
 * at each point of a grid, over inputs whose span is known.
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
 * How many results each item is likely to have: a map as many as its samples, a filter at most as many, a grid as many
 * as it has points in the span of its input.
 */
export function expectedCounts(plan: Plan, inputs: readonly Series[], settings: RunSettings): Expected[] {
  const ofSteps: Expected[] = [];
  for (const step of plan.steps) {
    const operation = operationOf(step);
    const read = step.inputs.map(({ from, index }): Expected => {
      return from === 'source' ? { count: inputs[index]!.timeMs.length, isFiltered: false } : ofSteps[index]!;
    });
    if (operation.shape === 'regrid' && operation.results === undefined) {
      ofSteps.push({ count: pointCount(operation, step, inputs, settings), isFiltered: false });
    } else {
      const isFiltered = operation.shape === 'filter' || read.some((one) => one.isFiltered);
      ofSteps.push({ count: Math.min(...read.map(({ count }) => count)), isFiltered });
    }
  }
  return plan.items.map(({ step }) => ofSteps[step]!);
}

function operationOf({ operation }: PlanStep): Operation {
  const found = operationsByName.get(operation);
  if (found === undefined) throw new Error(`assertion failed: no operation ${operation}`);
  return found;
}

function pointCount(operation: Operation, step: PlanStep, inputs: readonly Series[], settings: RunSettings): number {
  const [first] = step.inputs;
  const everyMs = operation.pointsEveryMs?.(step.parameters);
  const timeMs = first?.from === 'source' ? inputs[first.index]!.timeMs : undefined;
  const firstMs = timeMs?.[0];
  const lastMs = timeMs?.[timeMs.length - 1];
  if (everyMs === undefined || firstMs === undefined || lastMs === undefined) return 0;
  const count = Math.floor(lastMs / everyMs) - Math.ceil(firstMs / everyMs) + 1;
  return Math.min(Math.max(0, count), settings.maxOutputSamples);
}

interface Span {
  readonly firstMs: number;
  readonly lastMs: number;
}

// The samples at both ends that a run takes, none of them outside the known years: those have an error of their own.
// Unsorted input is looked at again once it is sorted.
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
