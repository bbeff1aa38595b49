import type { Series, SeriesReference } from '../../../core/series.js';

/** A series of the long layout. */
export interface LongSeries extends SeriesReference {
  /** Its index in the list of series. */
  readonly index: number;
}

/** The rows of a chunk of the long layout, in the order of the file. */
export interface LongChunk {
  readonly timeMs: Float64Array;
  readonly value: Float64Array;
  /** Index of the series. */
  readonly series: Int32Array;
  readonly sortedTimeMs: Float64Array;
  readonly sortedValue: Float64Array;
  /** For the sort: how many rows a series has, then where its next row goes. All 0 between sorts. */
  place: Int32Array;
}

export function createLongChunk(chunkRows: number): LongChunk {
  return {
    timeMs: new Float64Array(chunkRows),
    value: new Float64Array(chunkRows),
    series: new Int32Array(chunkRows),
    sortedTimeMs: new Float64Array(chunkRows),
    sortedValue: new Float64Array(chunkRows),
    place: new Int32Array(16),
  };
}

/** The rows by series, in the order in which series first appear, as views. A counting sort keeps the order of rows. */
export function sortBySeries(chunk: LongChunk, rowCount: number, series: readonly LongSeries[]): Series[] {
  const { timeMs, value, sortedTimeMs, sortedValue, series: rowSeries } = chunk;
  if (chunk.place.length < series.length) chunk.place = new Int32Array(2 * series.length);
  const { place } = chunk;
  const present: LongSeries[] = [];
  for (let row = 0; row < rowCount; row++) {
    const index = rowSeries[row]!;
    if (place[index]!++ === 0) present.push(series[index]!);
  }
  let from = 0;
  for (const { index } of present) {
    const count = place[index]!;
    place[index] = from;
    from += count;
  }
  for (let row = 0; row < rowCount; row++) {
    const to = place[rowSeries[row]!]!++;
    sortedTimeMs[to] = timeMs[row]!;
    sortedValue[to] = value[row]!;
  }
  let start = 0;
  return present.map(({ timeseriesId, metric, index }) => {
    const end = place[index]!;
    place[index] = 0;
    const views = { timeMs: sortedTimeMs.subarray(start, end), value: sortedValue.subarray(start, end) };
    start = end;
    return { timeseriesId, metric, ...views };
  });
}
