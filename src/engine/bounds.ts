import { OutputLimitError } from '../core/errors.js';
import type { Series } from '../core/series.js';
import { operationsByName } from '../operations/index.js';
import type { Plan } from '../plan/plan.js';
import type { RunSettings } from './options.js';

/**
 * Stops a batch that is certain to make too many samples before any memory is taken: steps that make a result
 * at each point of a grid, over inputs whose span is known.
 */
export function checkExpectedCounts(plan: Plan, inputs: readonly Series[], settings: RunSettings): void {
  const spans = inputs.map(spanOf);
  const stepSpans: (Span | undefined)[] = [];
  for (const { operation, parameters, inputs: read, pointer } of plan.steps) {
    const known = read.map(({ from, index }) => (from === 'source' ? spans[index] : stepSpans[index]));
    const span = known.length === 1 ? known[0] : undefined;
    const described = operationsByName.get(operation);
    stepSpans.push(described?.shape === 'filter' || described?.name === 'Cleanse' ? undefined : span);
    const everyMs = described?.pointsEveryMs?.(parameters);
    if (span === undefined || everyMs === undefined) continue;
    const firstMs = Math.max(span.firstMs, settings.fromMs);
    const lastMs = Math.min(span.lastMs, settings.untilMs ?? Number.POSITIVE_INFINITY);
    const count = Math.floor((lastMs - firstMs) / everyMs);
    if (count > settings.maxOutputSamples) {
      throw new OutputLimitError(pointer, operation, count, settings.maxOutputSamples);
    }
  }
}

interface Span {
  readonly firstMs: number;
  readonly lastMs: number;
}

// Unsorted input is looked at again once it is sorted.
function spanOf({ timeMs }: Series): Span | undefined {
  const firstMs = timeMs[0];
  const lastMs = timeMs[timeMs.length - 1];
  return firstMs === undefined || lastMs === undefined ? undefined : { firstMs, lastMs };
}

/** How many results each item is likely to have, where every step before it gives one a sample; else 0. */
export function resultCountHints(plan: Plan, inputs: readonly Series[]): number[] {
  const counts: number[] = [];
  for (const { operation, inputs: read } of plan.steps) {
    const given = read.map(({ from, index }) => (from === 'source' ? inputs[index]!.timeMs.length : counts[index]!));
    const isOneToOne = operationsByName.get(operation)?.shape === 'map' || operation === 'Shift';
    counts.push(isOneToOne ? Math.min(...given) : 0);
  }
  return plan.items.map(({ step }) => counts[step]!);
}
