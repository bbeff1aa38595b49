import { InputError } from '../../../core/errors.js';
import { formatInstant } from '../../../core/instant.js';
import type { Series, SeriesReference } from '../../../core/series.js';
import { type Sample, type Why, why } from '../../../inspect/index.js';
import type { Plan } from '../../../plan/plan.js';

/** The most samples in one list of an explanation. */
const SHOWN_MAX = 1000;

export interface Question {
  readonly plan: Plan;
  /** Samples of each source around the result. */
  readonly read: readonly Series[];
  readonly of: SeriesReference;
  /** The stored result. */
  readonly stored: Sample;
  /** Up to where the item has read its sources, if it does not follow them. */
  readonly until: number | undefined;
}

export type Explanation = ReturnType<typeof describe>;

/** Explains a result, in whichever thread it runs; undefined if the samples read do not give it bit for bit. */
export function explain({ plan, read, of, stored, until }: Question): Explanation | undefined {
  try {
    const explanation = why(plan, read, of, stored.timeMs, until === undefined ? {} : { until });
    return Object.is(explanation.value, stored.value) ? describe(explanation) : undefined;
  } catch (error) {
    // The samples do not reach far enough.
    if (error instanceof InputError) return undefined;
    throw error;
  }
}

function describe({ series, timeMs, value, steps, sources }: Why) {
  return {
    ...series,
    timestamp: formatInstant(timeMs),
    val: value,
    steps: steps.map(({ pointer, operation, does, output, results, window, inputs, isProved }) => ({
      pointer,
      operation,
      does,
      output,
      window:
        window === undefined
          ? null
          : {
              startTime: formatInstant(window.startMs),
              endTime: formatInstant(window.endMs),
              timezone: window.timezone,
            },
      results: listOf(results),
      inputs: inputs.map(({ series: read, used, leftOut }) => ({
        ...read,
        used: listOf(used),
        leftOut: listOf(leftOut),
      })),
      isProved,
    })),
    sources: sources.map(({ series: read, used, leftOut }) => ({
      ...read,
      used: listOf(used),
      leftOut: listOf(leftOut),
    })),
  };
}

function listOf(samples: readonly (Sample & { readonly reason?: string })[]) {
  const shown = samples.slice(0, SHOWN_MAX).map(({ timeMs, value, reason }) => ({
    timestamp: formatInstant(timeMs),
    val: value,
    ...(reason === undefined ? {} : { reason }),
  }));
  return { count: samples.length, samples: shown };
}
