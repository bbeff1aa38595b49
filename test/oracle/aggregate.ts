// Aggregate, the time-weighted average and the Aggregate Pipeline (semantics §2 and §3).

import { aggregateOther } from './other-windows.js';
import { countDropped, type Dropped, type Outcome, type Sample, settle } from './series.js';
import {
  type AggregateParameters,
  heldResult,
  holdsOf,
  isTimeWeighted,
  resultOf,
  type WindowResult,
} from './window-result.js';
import { type Windows, windowsOf } from './windows.js';

/** One pass over the windows. `parameters.timezone` is that of the step or of the run. */
export function aggregate(samples: readonly Sample[], parameters: AggregateParameters): Outcome {
  if (parameters.other !== undefined) return aggregateOther(samples, parameters, parameters.other);
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
 * §3: stages run one after another; `label` applies to the last, the zone and `closed` to all. Windows closed on the
 * right pass on results stamped with their end, so that the last hour belongs to its own day.
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

/** The start of the window of a sample: [start, end), or (start, end] if closed on the right. */
function windowStartOf(sample: Sample, parameters: AggregateParameters, windows: Windows): number {
  const closedRight = parameters.closed?.toLowerCase() === 'right' && !isTimeWeighted(parameters);
  return closedRight ? windows.borderBefore(sample.timeMs) : windows.borderAtOrBefore(sample.timeMs);
}

/** The starts of the windows with a sample, or of all windows from the first of them to the last. */
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
  const samplesOf = new Map<number, Sample[]>();
  const before = new Map<number, Sample | undefined>();
  for (const [index, sample] of samples.entries()) {
    const startMs = windowStartOf(sample, parameters, windows);
    const own = samplesOf.get(startMs) ?? [];
    if (own.length === 0) before.set(startMs, samples[index - 1]);
    own.push(sample);
    samplesOf.set(startMs, own);
  }
  return (startMs) => {
    const own = samplesOf.get(startMs);
    return own === undefined ? 'empty' : resultOf(own, before.get(startMs), parameters);
  };
}

/** Each sample holds until the next one, the last until the end of its window; none longer than `maxhold`. */
function timeWeightedResults(
  samples: readonly Sample[],
  parameters: AggregateParameters,
  windows: Windows,
): (startMs: number) => WindowResult {
  const last = samples.at(-1);
  const held = holdsOf(samples, parameters, last === undefined ? 0 : windows.borderAfter(last.timeMs));
  return (startMs) => heldResult(held, startMs, windows.borderAfter(startMs), parameters);
}
