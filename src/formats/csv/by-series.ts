import type { Series, SeriesReference } from '../../core/series.js';

/** A series of the long layout, with what sorting a chunk by series needs to know of it. */
export interface LongSeries extends SeriesReference {
  readonly isWanted: boolean;
  /** Rows so far. */
  samples: number;
  /** Rows in the chunk at hand; 0 outside the sort. */
  chunkCount: number;
  /** Where its next row goes. */
  place: number;
}

/** The rows of a chunk of the long layout, in the order of the file. */
export interface LongChunk {
  readonly timeMs: Float64Array;
  readonly value: Float64Array;
  /** Index of the series. */
  readonly series: Int32Array;
  readonly sortedTimeMs: Float64Array;
  readonly sortedValue: Float64Array;
}

export function createLongChunk(chunkRows: number): LongChunk {
  return {
    timeMs: new Float64Array(chunkRows),
    value: new Float64Array(chunkRows),
    series: new Int32Array(chunkRows),
    sortedTimeMs: new Float64Array(chunkRows),
    sortedValue: new Float64Array(chunkRows),
  };
}

/** The rows by series, in order of first sight, as views: a counting sort, which keeps the order within a series. */
export function sortBySeries(chunk: LongChunk, rowCount: number, series: readonly LongSeries[]): Series[] {
  const { timeMs, value, sortedTimeMs, sortedValue } = chunk;
  const present: LongSeries[] = [];
  for (let row = 0; row < rowCount; row++) {
    const entry = series[chunk.series[row]!]!;
    if (entry.chunkCount++ === 0) present.push(entry);
  }
  let place = 0;
  for (const entry of present) {
    entry.place = place;
    place += entry.chunkCount;
  }
  for (let row = 0; row < rowCount; row++) {
    const to = series[chunk.series[row]!]!.place++;
    sortedTimeMs[to] = timeMs[row]!;
    sortedValue[to] = value[row]!;
  }
  return present.map((entry) => {
    const from = entry.place - entry.chunkCount;
    entry.chunkCount = 0;
    return {
      timeseriesId: entry.timeseriesId,
      metric: entry.metric,
      timeMs: sortedTimeMs.subarray(from, entry.place),
      value: sortedValue.subarray(from, entry.place),
    };
  });
}
