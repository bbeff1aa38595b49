import { type Series, type SeriesReference, seriesKey } from '../../core/series.js';
import type { RowProblem } from './errors.js';
import { type CsvRecord, fieldText } from './record.js';
import {
  columnOf,
  countMissing,
  notText,
  type Rows,
  type RowsSettings,
  shapeProblem,
  takeNumber,
  takeTime,
} from './rows.js';

/** The metric of rows that name none: what the sensor sent. */
export const RAW_METRIC = 'Raw';

interface LongSeries extends SeriesReference {
  readonly isWanted: boolean;
  samples: number;
  /** Rows of the series in the chunk at hand. */
  chunkCount: number;
  /** Where its next row goes when the chunk is sorted by series. */
  place: number;
}

/** Rows of the long layout: each names its series. */
export function createLongRows(settings: RowsSettings, wanted: (reference: SeriesReference) => boolean): Rows {
  const { header, zone, chunkRows, onChunk } = settings;
  const timeMs = new Float64Array(chunkRows);
  const value = new Float64Array(chunkRows);
  const rowSeries = new Int32Array(chunkRows);
  const sortedTimeMs = new Float64Array(chunkRows);
  const sortedValue = new Float64Array(chunkRows);
  const series: LongSeries[] = [];
  const indexOfKey = new Map<string, number>();
  let count = 0;
  let taken = 0;
  let missing = 0;

  function take(record: CsvRecord): RowProblem | undefined {
    const shape = shapeProblem(record, header) ?? takeTime(record, header, zone, timeMs, count);
    if (shape !== undefined) return shape;
    const fault = takeNumber(record, header, header.valueColumn, value, count);
    if (fault !== undefined) return fault;
    const named = nameOf(record, header.idColumn);
    if (typeof named !== 'string') return named;
    if (named === '') {
      const column = columnOf(header, header.idColumn);
      return { code: 'csv.row', column, text: named, reason: 'names no series; every row needs a timeseriesId' };
    }
    const metric = header.metricColumn < 0 ? RAW_METRIC : nameOf(record, header.metricColumn);
    if (typeof metric !== 'string') return metric;
    keep(indexOf({ timeseriesId: named, metric: metric === '' ? RAW_METRIC : metric }));
    return undefined;
  }

  function nameOf(record: CsvRecord, column: number): string | RowProblem {
    return fieldText(record, column) ?? notText(record, columnOf(header, column));
  }

  function indexOf(reference: SeriesReference): number {
    const key = seriesKey(reference);
    const known = indexOfKey.get(key);
    if (known !== undefined) return known;
    indexOfKey.set(key, series.length);
    series.push({ ...reference, isWanted: wanted(reference), samples: 0, chunkCount: 0, place: 0 });
    return series.length - 1;
  }

  function keep(index: number): void {
    const entry = series[index]!;
    taken++;
    entry.samples++;
    if (entry.isWanted) rowSeries[count++] = index;
  }

  function flush(): void {
    if (count === 0) return;
    const rowCount = count;
    count = 0;
    missing += countMissing(value, rowCount);
    onChunk(sortBySeries(rowCount));
  }

  // A counting sort, which keeps the order of rows within a series.
  function sortBySeries(rowCount: number): Series[] {
    const present: LongSeries[] = [];
    for (let row = 0; row < rowCount; row++) {
      const entry = series[rowSeries[row]!]!;
      if (entry.chunkCount++ === 0) present.push(entry);
    }
    let place = 0;
    for (const entry of present) {
      entry.place = place;
      place += entry.chunkCount;
    }
    for (let row = 0; row < rowCount; row++) {
      const to = series[rowSeries[row]!]!.place++;
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

  return {
    taken: () => taken,
    isFull: () => count === chunkRows,
    scan: (_bytes, _view, at) => at,
    take,
    flush,
    missing: () => missing,
    series: () => series.map(({ timeseriesId, metric, samples }) => ({ timeseriesId, metric, samples })),
  };
}
