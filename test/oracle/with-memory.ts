// The extensions that look back: differences, running totals and averages, states, outliers, compression.

import { exactPow, nearestQuotient, unitsOf } from './exact.js';
import { averageOf, sumOf } from './numbers.js';
import { type Outcome, type Sample, settle } from './series.js';
import type { Windows } from './windows.js';

type Samples = readonly Sample[];

/** For each sample from the second on, `f` of it and the one before, unless that is older than `maxgapMs`. */
export function withLast(samples: Samples, maxgapMs: number, f: (now: Sample, last: Sample) => number): Outcome {
  const results = samples.flatMap((now, i) => {
    const last = samples[i - 1];
    return last === undefined || now.timeMs - last.timeMs > maxgapMs
      ? []
      : [{ timeMs: now.timeMs, value: f(now, last) }];
  });
  return settle(results, {});
}

export function counted(now: Sample, last: Sample, max: number | undefined): number {
  if (now.value >= last.value) return now.value - last.value;
  return max === undefined ? now.value : max - last.value + now.value;
}

export function cumulativeSum(samples: Samples, windows: Windows | undefined): Outcome {
  const startsMs = samples.map(({ timeMs }) => windows?.borderAtOrBefore(timeMs) ?? 0);
  const results = samples.map(({ timeMs }, i) => {
    const own = samples.slice(startsMs.indexOf(startsMs[i]!), i + 1);
    return { timeMs, value: sumOf(own.map(({ value }) => value)) };
  });
  return settle(results, {});
}

/** The exact mean of the samples less than `windowMs` old, rounded once. */
export function movingAverage(samples: Samples, windowMs: number): Outcome {
  const units = samples.map(({ value }) => unitsOf(value));
  const results = samples.map(({ timeMs }, i) => {
    const from = samples.findIndex((one) => timeMs - one.timeMs < windowMs);
    const sum = units.slice(from, i + 1).reduce((total, x) => total + x, 0n);
    return { timeMs, value: nearestQuotient(sum, BigInt(i + 1 - from) << 1074n) };
  });
  return settle(results, {});
}

export function exponentialAverage(samples: Samples, halflifeMs: number): Outcome {
  let weight = 0;
  let average = 0;
  const results = samples.map(({ timeMs, value }, i) => {
    const last = samples[i - 1];
    weight = last === undefined ? 1 : weight * exactPow(0.5, (timeMs - last.timeMs) / halflifeMs) + 1;
    const next = average + (value - average) / weight;
    if (weight === 1) average = value;
    else average = Number.isFinite(next) ? next : average - average / weight + value / weight;
    return { timeMs, value: average };
  });
  return settle(results, {});
}

export function hysteresis(samples: Samples, on: number, off: number): Outcome {
  const isOn = (x: number) => (on > off ? x >= on : x <= on);
  const isOff = (x: number) => (on > off ? x <= off : x >= off);
  const results = samples.map(({ timeMs }, i) => {
    const decisive = samples
      .slice(0, i + 1)
      .filter(({ value }) => isOn(value) || isOff(value))
      .at(-1);
    return { timeMs, value: decisive !== undefined && isOn(decisive.value) ? 1 : 0 };
  });
  return settle(results, {});
}

/** By definition: the state at a time follows an input that has lasted for `onMs` or `offMs`. */
export function delay(samples: Samples, onMs: number, offMs: number, untilMs: number): Outcome {
  const truth = ({ value }: Sample) => value !== 0;
  // For each sample, since when the input has had its state; before the first sample it was false.
  const sinceMs: number[] = [];
  for (const [i, sample] of samples.entries()) {
    const last = samples[i - 1];
    const isNew = last === undefined ? truth(sample) : truth(last) !== truth(sample);
    sinceMs.push(isNew ? sample.timeMs : (sinceMs[i - 1] ?? Number.NEGATIVE_INFINITY));
  }
  const results: Sample[] = [];
  let state = false;
  for (const [i, sample] of samples.entries()) {
    const dueMs = sinceMs[i]! + (truth(sample) ? onMs : offMs);
    if (state !== truth(sample) && dueMs <= sample.timeMs) state = truth(sample);
    results.push({ timeMs: sample.timeMs, value: Number(state) });
    const nextMs = samples[i + 1]?.timeMs ?? untilMs;
    if (state === truth(sample) || dueMs >= nextMs) continue;
    state = truth(sample);
    results.push({ timeMs: dueMs, value: Number(state) });
  }
  return settle(results, {});
}

export function edge(samples: Samples, direction = 'rising'): Outcome {
  const mode = direction.toLowerCase();
  const results = samples.map(({ timeMs, value }, i) => {
    const last = samples[i - 1];
    const isRising = last !== undefined && last.value === 0 && value !== 0;
    const isFalling = last !== undefined && last.value !== 0 && value === 0;
    return { timeMs, value: Number((isRising && mode !== 'falling') || (isFalling && mode !== 'rising')) };
  });
  return settle(results, {});
}

export function stuckValue(samples: Samples, durationMs: number, tolerance: number): Outcome {
  let first: Sample | undefined;
  const results = samples.map((sample) => {
    if (first === undefined || Math.abs(sample.value - first.value) > tolerance) first = sample;
    return { timeMs: sample.timeMs, value: sample.timeMs - first.timeMs >= durationMs ? 1 : 0 };
  });
  return settle(results, {});
}

export function hampel(samples: Samples, sideCount: number, threshold: number, action: string): Outcome {
  const results = samples.flatMap(({ timeMs, value }, i) => {
    const around = samples.slice(Math.max(0, i - sideCount), i + sideCount + 1).map((one) => one.value);
    const median = medianOf(around);
    const deviation = medianOf(around.map((x) => Math.abs(x - median)));
    const isOutlier = Math.abs(value - median) > threshold * (1.4826 * deviation);
    if (action === 'flag') return [{ timeMs, value: Number(isOutlier) }];
    if (!isOutlier) return [{ timeMs, value }];
    return action === 'replace' ? [{ timeMs, value: median }] : [];
  });
  return settle(results, {});
}

function medianOf(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort();
  const half = Math.floor(sorted.length / 2);
  if (sorted.length % 2 === 1) return sorted[half]!;
  const [a, b] = [sorted[half - 1]!, sorted[half]!];
  // Two -0: an exact sum has no sign of zero.
  if (Object.is(a, b)) return a;
  return Number.isFinite(a + b) ? averageOf([a, b]) : a / 2 + b / 2;
}

export function deadband(samples: Samples, tolerance: number): Outcome {
  const kept: Sample[] = [];
  for (const sample of samples) {
    const last = kept.at(-1);
    if (last === undefined || Math.abs(sample.value - last.value) > tolerance) kept.push(sample);
  }
  return { samples: kept, dropped: {} };
}

/** Samples are dropped as long as the line from the last sample kept to the newest one passes all between. */
export function swingingDoor(samples: Samples, tolerance: number): Outcome {
  const kept = samples.slice(0, 1);
  let between: Sample[] = [];
  for (const sample of samples.slice(1)) {
    const from = kept.at(-1)!;
    const slope = (to: Sample, offset: number) => (to.value - from.value + offset) / (to.timeMs - from.timeMs);
    const own = (sample.value - from.value) / (sample.timeMs - from.timeMs);
    const isPassing =
      between.length === 0 ||
      (Number.isFinite(own) && between.every((one) => own >= slope(one, -tolerance) && own <= slope(one, tolerance)));
    if (!isPassing) {
      kept.push(between.at(-1)!);
      between = [];
    }
    between.push(sample);
  }
  const last = between.at(-1);
  return { samples: last === undefined ? kept : [...kept, last], dropped: {} };
}

export function downsample(samples: Samples, windows: Windows, method = 'lttb'): Outcome {
  if (method.toLowerCase() === 'minmax')
    return { samples: groupsOf(samples, windows).flatMap(extremesOf), dropped: {} };
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined) return { samples: [], dropped: {} };
  const kept = [first];
  const groups = groupsOf(samples.slice(1), windows);
  for (const [index, group] of groups.entries()) {
    const next = groups[index + 1];
    const candidates = next === undefined ? group.slice(0, -1) : group;
    const to = next === undefined ? last : { timeMs: meanOf(next, 'timeMs'), value: meanOf(next, 'value') };
    if (candidates.length > 0) kept.push(largestTriangle(kept.at(-1)!, candidates, to));
  }
  if (last !== first) kept.push(last);
  return { samples: kept, dropped: {} };
}

function groupsOf(samples: Samples, windows: Windows): Sample[][] {
  const groups = new Map<number, Sample[]>();
  for (const sample of samples) {
    const startMs = windows.borderAtOrBefore(sample.timeMs);
    groups.set(startMs, [...(groups.get(startMs) ?? []), sample]);
  }
  return [...groups.values()];
}

function extremesOf(group: Samples): Sample[] {
  const least = group.find(({ value }) => group.every((one) => one.value >= value))!;
  const greatest = group.find(({ value }) => group.every((one) => one.value <= value))!;
  return group.filter((one) => one === least || one === greatest);
}

function meanOf(group: Samples, field: 'timeMs' | 'value'): number {
  const first = group[0]![field];
  return first + group.map((one) => one[field] - first).reduce((sum, x) => sum + x, 0) / group.length;
}

function largestTriangle(from: Sample, candidates: Samples, to: Sample): Sample {
  const areas = candidates.map(({ timeMs, value }) =>
    Math.abs((from.timeMs - to.timeMs) * (value - from.value) - (from.timeMs - timeMs) * (to.value - from.value)),
  );
  const largest = Math.max(...areas.filter((area) => !Number.isNaN(area)));
  return candidates[Math.max(0, areas.indexOf(largest))]!;
}
