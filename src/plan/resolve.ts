import type { Issue } from '../core/errors.js';
import { type SeriesReference, seriesKey, seriesName } from '../core/series.js';
import type { WindowsMade } from '../operations/operation.js';
import type { Parameters } from '../operations/parameters.js';
import type { PlanInput } from './plan.js';
import type { RequestItem, RequestStep } from './read-request.js';

/** Steps in running order with their inputs. `position` is the index of each step of the request in that order. */
export interface Resolved {
  readonly sources: readonly SeriesReference[];
  readonly steps: readonly { readonly step: RequestStep; readonly inputs: readonly PlanInput[] }[];
  readonly position: ReadonlyMap<RequestStep, number>;
}

/** Finds what each input refers to, and an order in which every step comes after those that it reads. */
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
    if (last === undefined || item.metric === undefined || !item.isWhole) continue;
    const result = { timeseriesId: last.output.timeseriesId, metric: item.metric };
    if (seriesKey(result) !== seriesKey(last.output)) name(result, last, `${item.pointer}/metric`);
  }
  return producers;
}

function orderSteps(
  written: readonly RequestStep[],
  producers: ReadonlyMap<string, RequestStep>,
  issues: Issue[],
): RequestStep[] {
  const read: Links = new Map(
    written.map((step) => [step, step.inputs.flatMap((reference) => producers.get(seriesKey(reference)) ?? [])]),
  );
  const readers: Links = new Map(written.map((step) => [step, []]));
  for (const [step, inputs] of read) for (const producer of inputs) readers.get(producer)?.push(step);
  const ordered = inRounds(written, read, readers);
  if (ordered.length < written.length) {
    // A step that merely comes after a cycle waits, too. In the reverse order it waits for nobody.
    const notAtFault = new Set([...ordered, ...inRounds(written, readers, read)]);
    const cycle = written.filter((step) => !notAtFault.has(step));
    const received = cycle.map((step) => step.pointer).join(', ');
    const expected = 'steps that do not form a cycle';
    issues.push({ pointer: cycle[0]?.pointer ?? '', code: 'request.cycle', expected, received });
  }
  return ordered;
}

type Links = Map<RequestStep, RequestStep[]>;

// Kahn's algorithm in rounds: each takes the steps that wait for no other any more, in the order of the request. Steps
// in a cycle are left out, as are those that wait for one.
function inRounds(written: readonly RequestStep[], waitsFor: Links, awaitedBy: Links): RequestStep[] {
  const place = new Map(written.map((step, index) => [step, index]));
  const left = new Map(written.map((step) => [step, waitsFor.get(step)?.length ?? 0]));
  const ordered: RequestStep[] = [];
  let ready = written.filter((step) => left.get(step) === 0);
  while (ready.length > 0) {
    ordered.push(...ready);
    const next: RequestStep[] = [];
    for (const step of ready.flatMap((one) => awaitedBy.get(one) ?? [])) {
      const count = (left.get(step) ?? 0) - 1;
      left.set(step, count);
      if (count === 0) next.push(step);
    }
    ready = next.sort((a, b) => (place.get(a) ?? 0) - (place.get(b) ?? 0));
  }
  return ordered;
}

/** The parameters of each step, with inherited windows filled in from upstream. */
export function fillWindows(resolved: Resolved, issues: Issue[]): Parameters[] {
  const isWhole = issues.length === 0;
  return resolved.steps.map(({ step }, index) => {
    const { parameters, operation, pointer } = step;
    if (operation.inheritsWindows?.(parameters) !== true) return parameters;
    const known = nearestWindows(resolved, index);
    if (known === undefined) {
      // Steps with problems were left out, so their results look like sources and their windows are unknown.
      if (!isWhole && resolved.sources.some(({ metric }) => metric !== 'Raw')) return parameters;
      issues.push({
        pointer: `${pointer}/parameters/window`,
        code: 'request.window',
        expected: 'a window to count by: an Aggregate, HoldLastValue or Resample upstream, or the parameter window',
        received: 'nothing',
        suggestion: 'add `"window": "Hourly"`, or take ShiftByTime',
      });
      return parameters;
    }
    if (!step.hasTimezone) return { ...parameters, ...known };
    // The step has a zone of its own, which the inherited window must fit.
    const own = { ...known, ...parameters, window: known.window };
    operation.check?.(
      own,
      (below, code, expected, received, suggestion) => {
        const place = `${pointer}/parameters${below}`;
        issues.push({ pointer: place, code, expected, received, ...(suggestion === undefined ? {} : { suggestion }) });
      },
      step.inputs.length,
    );
    return own;
  });
}

// The windows of the step that is fewest steps upstream; among equals, along the first input.
function nearestWindows(resolved: Resolved, index: number): WindowsMade | undefined {
  let level = [index];
  const seen = new Set(level);
  while (level.length > 0) {
    const above = level.flatMap((at) => resolved.steps[at]?.inputs ?? []).filter((input) => input.from === 'step');
    level = [...new Set(above.map((input) => input.index))].filter((at) => !seen.has(at));
    for (const at of level) {
      seen.add(at);
      const step = resolved.steps[at]?.step;
      const known = step?.operation.windows?.(step.parameters);
      if (known !== undefined) return known;
    }
  }
  return undefined;
}
