// Samples, outcomes, and the checks that every result passes (semantics §1).

import { lerp } from './numbers.js';
import { liesInYears } from './time.js';

export interface Sample {
  readonly timeMs: number;
  readonly value: number;
  /** Of an aligned pair: the value of the second input. */
  readonly second?: number;
}

/** How many samples were dropped, by reason. Reasons without samples are absent. */
export type Dropped = Record<string, number>;

export interface Outcome {
  readonly samples: Sample[];
  readonly dropped: Dropped;
}

export function countDropped(dropped: Dropped, reason: string, sampleCount = 1): void {
  if (sampleCount > 0) dropped[reason] = (dropped[reason] ?? 0) + sampleCount;
}

/**
 * §1.2: values that are not finite and times outside the years 0001-9999 are dropped; of two results of one time the
 * later counts.
 */
export function settle(candidates: readonly Sample[], dropped: Dropped): Outcome {
  const samples: Sample[] = [];
  for (const candidate of candidates) {
    if (!Number.isFinite(candidate.value)) {
      countDropped(dropped, 'nonFinite');
    } else if (!liesInYears(candidate.timeMs)) {
      countDropped(dropped, 'outOfRange');
    } else {
      if (samples.at(-1)?.timeMs === candidate.timeMs) {
        samples.pop();
        countDropped(dropped, 'duplicate');
      }
      samples.push(candidate);
    }
  }
  return { samples, dropped };
}

/** The last sample at or before the time, if any. Samples are in time order. */
export function latestAtOrBefore(samples: readonly Sample[], timeMs: number): Sample | undefined {
  let latest: Sample | undefined;
  for (const sample of samples) {
    if (sample.timeMs > timeMs) break;
    latest = sample;
  }
  return latest;
}

/** The first sample after the time, if any. */
export function earliestAfter(samples: readonly Sample[], timeMs: number): Sample | undefined {
  return samples.find((sample) => sample.timeMs > timeMs);
}

/** The last value at or before the time; unknown before the first sample, and after its time plus `maxhold`. */
export function heldValue(samples: readonly Sample[], timeMs: number, maxholdMs: number): number | undefined {
  const latest = latestAtOrBefore(samples, timeMs);
  return latest === undefined || timeMs > latest.timeMs + maxholdMs ? undefined : latest.value;
}

/** The value of a sample at the time, else interpolated between its neighbours; unknown outside the first and last. */
export function linearValue(
  samples: readonly Sample[],
  timeMs: number,
  maxgapMs = Number.POSITIVE_INFINITY,
): number | undefined {
  const before = latestAtOrBefore(samples, timeMs);
  if (before === undefined || before.timeMs === timeMs) return before?.value;
  const after = earliestAfter(samples, timeMs);
  if (after === undefined || after.timeMs - before.timeMs > maxgapMs) return undefined;
  const f = (timeMs - before.timeMs) / (after.timeMs - before.timeMs);
  return lerp(before.value, after.value, f);
}
