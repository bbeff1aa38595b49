import type { Issue } from '../core/errors.js';
import { type SeriesReference, seriesKey, seriesName } from '../core/series.js';
import { type Parameters, textIn } from '../operations/parameters.js';
import { checkInterval } from '../operations/windowing.js';
import type { PlanInput } from './plan.js';
import type { RequestItem, RequestStep } from './read-request.js';

/** Steps in running order with their inputs found; `position` says where each written step has gone. */
export interface Resolved {
  readonly sources: readonly SeriesReference[];
  readonly steps: readonly { readonly step: RequestStep; readonly inputs: readonly PlanInput[] }[];
  readonly position: ReadonlyMap<RequestStep, number>;
}

/** Finds what each input means and an order in which every step comes after those that it reads. */
export function resolve(items: readonly RequestItem[], issues: Issue[]): Resolved {
  const written = items.flatMap((item) => item.steps);
  const producers = nameOutputs(items, issues);
  const ordered = orderSteps(written, producers, issues);
  const position = new Map(ordered.map((step, index) => [step, index]));
  const sources: SeriesReference[] = [];
  const sourceIndex = new Map<string, number>();
  const steps = ordered.map((step) => ({
    step,
    inputs: step.inputs.map((reference): PlanInput => {
      const key = seriesKey(reference);
      const producer = producers.get(key);
      if (producer !== undefined) return { from: 'step', index: position.get(producer) ?? 0 };
      const index = sourceIndex.get(key) ?? sources.push(reference) - 1;
      sourceIndex.set(key, index);
      return { from: 'source', index };
    }),
  }));
  return { sources, steps, position };
}

function nameOutputs(items: readonly RequestItem[], issues: Issue[]): Map<string, RequestStep> {
  const producers = new Map<string, RequestStep>();
  const name = (reference: SeriesReference, step: RequestStep, pointer: string): void => {
    const other = producers.get(seriesKey(reference));
    if (reference.metric === 'Raw') {
      const expected = 'an output under another metric than Raw, which means the samples from outside';
      issues.push({ pointer, code: 'request.conflict', expected, received: seriesName(reference) });
    } else if (other !== undefined && other !== step) {
      const received = `${seriesName(reference)}, which ${other.pointer} gives too`;
      issues.push({ pointer, code: 'request.duplicate', expected: 'an output that no other step has', received });
    } else {
      producers.set(seriesKey(reference), step);
    }
  };
  for (const item of items) {
    for (const step of item.steps) name(step.output, step, `${step.pointer}/output/0`);
  }
  for (const item of items) {
    const last = item.steps.at(-1);
    const result = last && { timeseriesId: last.output.timeseriesId, metric: item.metric };
    if (result && seriesKey(result) !== seriesKey(last.output)) name(result, last, `${item.pointer}/metric`);
  }
  return producers;
}

// Kahn's algorithm; among steps that are ready, the one written first goes first.
function orderSteps(
  written: readonly RequestStep[],
  producers: ReadonlyMap<string, RequestStep>,
  issues: Issue[],
): RequestStep[] {
  const ordered: RequestStep[] = [];
  const done = new Set<RequestStep>();
  let waiting = [...written];
  while (waiting.length > 0) {
    const ready = waiting.filter((step) =>
      step.inputs.every((reference) => {
        const producer = producers.get(seriesKey(reference));
        return producer === undefined || done.has(producer);
      }),
    );
    if (ready.length === 0) {
      const received = waiting.map((step) => step.pointer).join(', ');
      const pointer = waiting[0]?.pointer ?? '';
      const expected = 'steps that do not wait for each other in a circle';
      issues.push({ pointer, code: 'request.cycle', expected, received });
      return ordered;
    }
    for (const step of ready) {
      done.add(step);
      ordered.push(step);
    }
    waiting = waiting.filter((step) => !done.has(step));
  }
  return ordered;
}

/** A window that a step makes, for the ShiftByWindow steps after it. */
interface KnownWindow {
  readonly window: string;
  readonly timezone: string;
}

/** The parameters of each step, with the windows of ShiftByWindow filled in from upstream. */
export function fillWindows(resolved: Resolved, issues: Issue[]): Parameters[] {
  return resolved.steps.map(({ step }, index) => {
    const { parameters, operation, pointer } = step;
    const isOpen = operation.name === 'Shift' && parameters.function === 'ShiftByWindow';
    if (!isOpen || parameters.window !== undefined) return parameters;
    const known = nearestWindow(resolved, index);
    if (known === undefined) {
      issues.push({
        pointer: `${pointer}/parameters/window`,
        code: 'request.window',
        expected: 'a window to count by: an Aggregate, HoldLastValue or Resample upstream, or the parameter window',
        received: 'nothing',
        suggestion: 'add `"window": "Hourly"`, or take ShiftByTime',
      });
      return parameters;
    }
    checkInterval(known.window, known.timezone, (below, code, expected, received) =>
      issues.push({ pointer: `${pointer}/parameters/window${below}`, code, expected, received }),
    );
    return { ...parameters, ...known };
  });
}

// By the fewest steps upstream; among those, the first input first.
function nearestWindow(resolved: Resolved, index: number): KnownWindow | undefined {
  let level = [index];
  const seen = new Set(level);
  while (level.length > 0) {
    const above = level.flatMap((at) => resolved.steps[at]?.inputs ?? []).filter((input) => input.from === 'step');
    level = [...new Set(above.map((input) => input.index))].filter((at) => !seen.has(at));
    for (const at of level) {
      seen.add(at);
      const known = windowMadeBy(resolved.steps[at]?.step);
      if (known !== undefined) return known;
    }
  }
  return undefined;
}

function windowMadeBy(step: RequestStep | undefined): KnownWindow | undefined {
  if (step === undefined) return undefined;
  const { parameters } = step;
  switch (step.operation.name) {
    case 'Aggregate':
    case 'HoldLastValue':
      return { window: textIn(parameters, 'interval'), timezone: textIn(parameters, 'timezone') };
    case 'Aggregate Pipeline': {
      const stages = parameters.pipeline;
      const last: Parameters = Array.isArray(stages) ? stages.at(-1) : {};
      return { window: textIn(last, 'interval'), timezone: textIn(parameters, 'timezone') };
    }
    case 'Resample':
      return { window: textIn(parameters, 'frequency'), timezone: 'UTC' };
    default:
      return undefined;
  }
}
