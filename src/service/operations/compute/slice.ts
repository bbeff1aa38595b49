import { nextDouble } from '../../../core/next-double.js';
import type { Series, SeriesReference } from '../../../core/series.js';
import { firstAtOrAfter } from '../../../kernels/search.js';
import type { Columns } from '../../../storage/samples/samples.js';
import { lastTimeMs } from './columns.js';

/** For each source of a plan, the time of the last sample read; −Infinity before the first. */
export type Positions = readonly number[];

export function startPositions(sourceCount: number): Positions {
  return new Array<number>(sourceCount).fill(Number.NEGATIVE_INFINITY);
}

/** The next samples of all sources of a plan: all that are stored up to one instant, and none after it. */
export interface Slice {
  readonly chunks: readonly Series[];
  /** The positions after this slice. */
  readonly positions: Positions;
  readonly sampleCount: number;
  /** Whether no more samples are stored. */
  readonly isLast: boolean;
}

/**
 * Cuts the samples read from each source to one common instant, so that no source gets ahead of another.
 *
 * @param limit how many samples of a source were requested; fewer mean that there are no more.
 */
export function cutSlice(
  sources: readonly SeriesReference[],
  positions: Positions,
  read: readonly Columns[],
  limit: number,
): Slice {
  let untilMs = Number.POSITIVE_INFINITY;
  for (const columns of read) {
    if (columns.timeMs.length >= limit) untilMs = Math.min(untilMs, lastTimeMs(columns)!);
  }
  const chunks = read.map(({ timeMs, value }, source): Series => {
    const { timeseriesId, metric } = sources[source]!;
    const count = firstAtOrAfter(timeMs, 0, timeMs.length, nextDouble(untilMs));
    return { timeseriesId, metric, timeMs: timeMs.subarray(0, count), value: value.subarray(0, count) };
  });
  const sampleCount = chunks.reduce((sum, { timeMs }) => sum + timeMs.length, 0);
  return {
    chunks,
    positions: positions.map((timeMs, source) => lastTimeMs(chunks[source]!) ?? timeMs),
    sampleCount,
    isLast: untilMs === Number.POSITIVE_INFINITY,
  };
}
