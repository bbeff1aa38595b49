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
  /** The first and last times that were read of each source, if more samples are stored beyond them. */
  readonly cuts: readonly Cut[];
  /** Up to where the item has read its sources, if it does not follow them. */
  readonly until: number | undefined;
}

export interface Cut {
  readonly firstMs: number | undefined;
  readonly lastMs: number | undefined;
}

export type Explanation = ReturnType<typeof describe>;

export interface Explained {
  readonly explanation: Explanation;
  /** Whether it rests on the first or last sample that was read of a source with more: it may rest on those, too. */
  readonly isCut: boolean;
}

/** Explains a result, in whichever thread it runs; undefined if the samples read do not give it bit for bit. */
export function explain({ plan, read, of, stored, cuts, until }: Question): Explained | undefined {
  try {
    const found = why(plan, read, of, stored.timeMs, until === undefined ? {} : { until });
    if (!Object.is(found.value, stored.value)) return undefined;
    const isCut = read.some((series, at) => reaches(found, series, cuts[at]!));
    return { explanation: describe(found), isCut };
  } catch (error) {
    // The samples do not reach far enough.
    if (error instanceof InputError) return undefined;
    throw error;
  }
}

/** Whether an explanation rests on a sample of a source at one of these times. */
function reaches({ sources }: Why, { timeseriesId, metric }: Series, { firstMs, lastMs }: Cut): boolean {
  const of = sources.filter(({ series }) => series.timeseriesId === timeseriesId && series.metric === metric);
  return of.some(({ used, leftOut }) =>
    [...used, ...leftOut].some(({ timeMs }) => timeMs === firstMs || timeMs === lastMs),
  );
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
