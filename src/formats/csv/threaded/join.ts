import type { Series, SeriesReference } from '../../../core/series.js';
import { joinedColumns } from '../../../kernels/scan-pairs.js';
import { createLongChunk, type LongSeries, sortBySeries } from '../read/by-series.js';
import { CELLS_USUAL, CHUNK_ROWS, LONG_CHUNK_ROWS, rowsInChunk } from '../read/limits.js';
import type { ColumnRows } from '../read/rows.js';

/** Joins rows that were read in ranges into exactly the chunks that one reader would have made. */
export interface RowJoiner {
  /** @param series the list that the rows' indices of series refer to. */
  readonly add: (rows: ColumnRows, series: readonly LongSeries[]) => void;
  readonly flush: () => void;
}

type OnChunk = (series: readonly Series[]) => void;

/** @param series the series of the table's columns. */
export function createTableJoiner(
  series: readonly SeriesReference[],
  rowsMax: number | undefined,
  onChunk: OnChunk,
): RowJoiner {
  const chunkRows = rowsInChunk(rowsMax ?? CHUNK_ROWS, CELLS_USUAL, series.length);
  const columns = series.length === 1 ? joinedColumns(chunkRows) : undefined;
  const timeMs = columns?.timeMs ?? new Float64Array(chunkRows);
  const values = series.map(() => columns?.value ?? new Float64Array(chunkRows));
  let count = 0;

  function add(rows: ColumnRows): void {
    const rowCount = rows.timeMs.length;
    for (let from = 0; from < rowCount; ) {
      const to = Math.min(rowCount, from + chunkRows - count);
      timeMs.set(rows.timeMs.subarray(from, to), count);
      for (const [index, value] of values.entries()) value.set(rows.values[index]!.subarray(from, to), count);
      count += to - from;
      from = to;
      if (count === chunkRows) flush();
    }
  }

  function flush(): void {
    if (count === 0) return;
    const end = count;
    count = 0;
    const times = timeMs.subarray(0, end);
    onChunk(
      series.map(({ timeseriesId, metric }, index) => {
        const value = values[index] ?? times;
        return { timeseriesId, metric, timeMs: times, value: value.subarray(0, end) };
      }),
    );
  }

  return { add, flush };
}

/** @param all the series of the file so far, in the order of their indices. */
export function createLongJoiner(all: readonly LongSeries[], rowsMax: number | undefined, onChunk: OnChunk): RowJoiner {
  const chunkRows = rowsMax ?? LONG_CHUNK_ROWS;
  const chunk = createLongChunk(chunkRows);
  let count = 0;

  function add(
    { timeMs, values, series: rowSeries = new Int32Array(0) }: ColumnRows,
    series: readonly LongSeries[],
  ): void {
    const value = values[0] ?? timeMs;
    for (let from = 0; from < timeMs.length; ) {
      const to = Math.min(timeMs.length, from + chunkRows - count);
      chunk.timeMs.set(timeMs.subarray(from, to), count);
      chunk.value.set(value.subarray(from, to), count);
      for (let row = from; row < to; row++) chunk.series[count++] = series[rowSeries[row]!]!.index;
      from = to;
      if (count === chunkRows) flush();
    }
  }

  function flush(): void {
    if (count === 0) return;
    const end = count;
    count = 0;
    onChunk(sortBySeries(chunk, end, all));
  }

  return { add, flush };
}
