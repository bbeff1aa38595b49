// Aggregate, the time-weighted average and the Aggregate Pipeline (semantics §2 and §3).

import {
  averageOf,
  dividedBy,
  fractionOf,
  minus,
  nearest,
  nearestRoot,
  percentileOf,
  sumOf,
  times,
  total,
  varianceOf,
} from './numbers.js';
import { countDropped, type Dropped, type Outcome, type Sample, settle } from './series.js';
import { parseDuration } from './time.js';
import { type Windows, windowsOf } from './windows.js';

export interface AggregateParameters {
  readonly function: string;
  readonly interval: string;
  readonly timezone?: string | undefined;
  readonly label?: string | undefined;
  readonly closed?: string | undefined;
  readonly empty?: string | undefined;
  readonly percentile?: number | undefined;
  readonly maxhold?: string | undefined;
}

/** What a window comes to: a number (perhaps not finite), or why there is none. */
type WindowResult = number | 'empty' | 'insufficient';

/** One pass over the windows. `parameters.timezone` is the step's own or the run's. */
export function aggregate(samples: readonly Sample[], parameters: AggregateParameters): Outcome {
  const dropped: Dropped = {};
  const windows = windowsOf(parameters.interval, parameters.timezone);
  const resultOf = isTimeWeighted(parameters)
    ? timeWeightedResults(samples, parameters, windows)
    : plainResults(samples, parameters, windows);

  const candidates: Sample[] = [];
  let before: number | undefined;
  for (const startMs of windowStarts(samples, parameters, windows)) {
    const stampMs = parameters.label?.toLowerCase() === 'end' ? windows.borderAfter(startMs) : startMs;
    const result = resultOf(startMs);
    if (result === 'insufficient') {
      countDropped(dropped, 'insufficient');
    } else if (result === 'empty') {
      const fill = parameters.empty?.toLowerCase();
      if (fill === 'zero') candidates.push({ timeMs: stampMs, value: 0 });
      if (fill === 'hold' && before !== undefined) candidates.push({ timeMs: stampMs, value: before });
    } else {
      candidates.push({ timeMs: stampMs, value: result });
      if (Number.isFinite(result)) before = result;
    }
  }
  return settle(candidates, dropped);
}

/**
 * §3: stages run one after another; the label is for the last, the zone and `closed` for all. Windows that own their
 * end pass results on stamped with it, so that the last hour belongs to its own day.
 */
export function aggregatePipeline(
  samples: readonly Sample[],
  stages: readonly AggregateParameters[],
  whole: Pick<AggregateParameters, 'timezone' | 'closed' | 'label'>,
): Outcome {
  const dropped: Dropped = {};
  let current = [...samples];
  stages.forEach((stage, index) => {
    const between = whole.closed?.toLowerCase() === 'right' ? 'end' : 'start';
    const label = index === stages.length - 1 ? whole.label : between;
    const outcome = aggregate(current, { ...stage, timezone: whole.timezone, closed: whole.closed, label });
    for (const [reason, count] of Object.entries(outcome.dropped)) countDropped(dropped, reason, count);
    current = outcome.samples;
  });
  return { samples: current, dropped };
}

function isTimeWeighted(parameters: AggregateParameters): boolean {
  return ['timeweightedaverage', 'weightedaverage'].includes(parameters.function.toLowerCase());
}

/** The start of the window a sample lies in: [start, end), or (start, end] where closed is right. */
function windowStartOf(sample: Sample, parameters: AggregateParameters, windows: Windows): number {
  const closedRight = parameters.closed?.toLowerCase() === 'right' && !isTimeWeighted(parameters);
  return closedRight ? windows.borderBefore(sample.timeMs) : windows.borderAtOrBefore(sample.timeMs);
}

/** The windows looked at: those with a sample, or all from the first of them to the last. */
function windowStarts(samples: readonly Sample[], parameters: AggregateParameters, windows: Windows): number[] {
  const starts = [...new Set(samples.map((sample) => windowStartOf(sample, parameters, windows)))];
  const first = starts[0];
  const last = starts.at(-1);
  const fills = ['zero', 'hold'].includes(parameters.empty?.toLowerCase() ?? 'omit');
  if (first === undefined || last === undefined || !(fills || isTimeWeighted(parameters))) return starts;
  const all: number[] = [];
  for (let startMs = first; startMs <= last; startMs = windows.borderAfter(startMs)) all.push(startMs);
  return all;
}

function plainResults(
  samples: readonly Sample[],
  parameters: AggregateParameters,
  windows: Windows,
): (startMs: number) => WindowResult {
  const valuesOf = new Map<number, number[]>();
  for (const sample of samples) {
    const startMs = windowStartOf(sample, parameters, windows);
    const values = valuesOf.get(startMs) ?? [];
    values.push(sample.value);
    valuesOf.set(startMs, values);
  }
  return (startMs) => {
    const values = valuesOf.get(startMs);
    return values === undefined ? 'empty' : functionOf(values, parameters);
  };
}

/** The function over one window's values, at least one, in time order. */
function functionOf(values: readonly number[], parameters: AggregateParameters): WindowResult {
  const first = values[0] ?? Number.NaN;
  const last = values.at(-1) ?? Number.NaN;
  let min = first;
  let max = first;
  for (const x of values) {
    if (x < min) min = x; // of equals (0 and -0) the first met stays, which Math.min would not do
    if (x > max) max = x;
  }
  switch (parameters.function.toLowerCase()) {
    case 'average':
      return averageOf(values);
    case 'sum':
      return sumOf(values);
    case 'count':
      return values.length;
    case 'first':
      return first;
    case 'last':
      return last;
    case 'min':
      return min;
    case 'max':
      return max;
    case 'range':
      return max - min;
    case 'delta':
      return last - first;
    case 'median':
      return percentileOf(values, 50);
    case 'percentile':
      return percentileOf(values, parameters.percentile ?? Number.NaN);
    case 'variance':
      return values.length === 1 ? 'insufficient' : nearest(varianceOf(values));
    case 'standarddeviation':
      return values.length === 1 ? 'insufficient' : nearestRoot(varianceOf(values));
    default:
      throw new Error(`no such function: ${parameters.function}`);
  }
}

/** Each sample holds to the next one; the last to the end of its window; none longer than `maxhold`. */
function timeWeightedResults(
  samples: readonly Sample[],
  parameters: AggregateParameters,
  windows: Windows,
): (startMs: number) => WindowResult {
  const maxholdMs = parameters.maxhold === undefined ? Number.POSITIVE_INFINITY : parseDuration(parameters.maxhold);
  const held = samples.map((sample, index) => {
    const nextMs = samples[index + 1]?.timeMs ?? windows.borderAfter(sample.timeMs);
    return { value: sample.value, fromMs: sample.timeMs, toMs: Math.min(nextMs, sample.timeMs + maxholdMs) };
  });
  return (startMs) => {
    const endMs = windows.borderAfter(startMs);
    const parts = held
      .map(({ value, fromMs, toMs }) => ({ value, from: Math.max(fromMs, startMs), to: Math.min(toMs, endMs) }))
      .filter(({ from, to }) => from < to)
      .map(({ value, from, to }) => ({ value: fractionOf(value), length: minus(fractionOf(to), fractionOf(from)) }));
    if (parts.length === 0) return 'empty';
    const area = total(parts.map(({ value, length }) => times(value, length)));
    return nearest(dividedBy(area, total(parts.map(({ length }) => length))));
  };
}
