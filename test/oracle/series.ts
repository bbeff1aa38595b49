// Samples, outcomes, and the checks that every result passes (semantics §1).

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
