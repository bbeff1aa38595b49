import { OutputLimitError } from '../../core/errors.js';
import { type Series, TIME_MS_END, TIME_MS_MIN } from '../../core/series.js';
import { operationsByName } from '../../operations/index.js';
import type { Plan } from '../../plan/plan.js';
import type { RunSettings } from '../options.js';

/**
 * Stops a batch that is certain to make too many samples before any memory is taken: steps that make a result
 * at each point of a grid, over inputs whose span is known.
 */
export function checkExpectedCounts(plan: Plan, inputs: readonly Series[], settings: RunSettings): void {
  const spans = inputs.map((input) => spanInRun(input, settings));
  const stepSpans: (Span | undefined)[] = [];
  for (const { operation, parameters, inputs: read, pointer } of plan.steps) {
    const known = read.map(({ from, index }) => (from === 'source' ? spans[index] : stepSpans[index]));
    const span = known.length === 1 ? known[0] : undefined;
    const described = operationsByName.get(operation);
    // Other steps may drop samples at either end.
    stepSpans.push(operation === 'Abs' || operation === 'Not' ? span : undefined);
    const everyMs = described?.pointsEveryMs?.(parameters);
    if (span === undefined || everyMs === undefined) continue;
    const count = Math.floor((span.lastMs - span.firstMs) / everyMs);
    if (count > settings.maxOutputSamples) {
      throw new OutputLimitError(pointer, operation, count, settings.maxOutputSamples);
    }
  }
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

function spanOf({ timeMs }: Series): Span | undefined {
  const firstMs = timeMs[0];
  const lastMs = timeMs[timeMs.length - 1];
  return firstMs === undefined || lastMs === undefined ? undefined : { firstMs, lastMs };
}

/**
 * How many results each item may have, as far as that is known: a map or filter has no more than its samples, a
 * grid no more than the points in its span. 0 where it cannot be told. Room that stays empty costs nothing, as
 * the system hands out memory when it is first written.
 */
export function expectedCounts(plan: Plan, inputs: readonly Series[], settings: RunSettings): number[] {
  const counts: number[] = [];
  for (const { operation, parameters, inputs: read } of plan.steps) {
    const described = operationsByName.get(operation);
    const given = read.map(({ from, index }) => (from === 'source' ? inputs[index]!.timeMs.length : counts[index]!));
    const everyMs = described?.pointsEveryMs?.(parameters);
    const [first] = read;
    const span = first?.from === 'source' ? spanOf(inputs[first.index]!) : undefined;
    if (described?.shape !== 'regrid' || operation === 'Shift') counts.push(Math.min(...given));
    else if (everyMs === undefined || span === undefined) counts.push(0);
    else counts.push(Math.min(Math.max(0, (span.lastMs - span.firstMs) / everyMs + 2), settings.maxOutputSamples));
  }
  return plan.items.map(({ step }) => Math.floor(counts[step]!));
}
