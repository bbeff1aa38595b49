import type { Series, SeriesReference } from '../../core/series.js';
import type { RowProblem } from './errors.js';
import type { CsvRecord } from './record.js';
import { countMissing, type Rows, type RowsSettings, shapeProblem, takeNumber, takeTime } from './rows.js';

/** A series of a table: one column of the file. */
export interface TableSeries extends SeriesReference {
  /** Index of the column. */
  readonly column: number;
  readonly isWanted: boolean;
}

/** Rows of the single and the wide layout: a time, and a value for each of the series. */
export function createTableRows(settings: RowsSettings, series: readonly TableSeries[]): Rows {
  const { header, zone, chunkRows, onChunk } = settings;
  const kept = series.filter((entry) => entry.isWanted);
  const timeMs = new Float64Array(chunkRows);
  const values = kept.map(() => new Float64Array(chunkRows));
  let count = 0;
  let handedOver = 0;
  let missing = 0;

  function take(record: CsvRecord): RowProblem | undefined {
    const problem = shapeProblem(record, header) ?? takeTime(record, header, zone, timeMs, count);
    if (problem !== undefined) return problem;
    for (let slot = 0; slot < kept.length; slot++) {
      const fault = takeNumber(record, header, kept[slot]!.column, values[slot]!, count);
      if (fault !== undefined) return fault;
    }
    count++;
    return undefined;
  }

  function flush(): void {
    if (count === 0) return;
    const rowCount = count;
    for (const value of values) missing += countMissing(value, rowCount);
    handedOver += rowCount;
    count = 0;
    if (kept.length === 0) return;
    const times = timeMs.subarray(0, rowCount);
    const chunk = kept.map(
      ({ timeseriesId, metric }, slot): Series => ({
        timeseriesId,
        metric,
        timeMs: times,
        value: values[slot]!.subarray(0, rowCount),
      }),
    );
    onChunk(chunk);
  }

  return {
    taken: () => handedOver + count,
    isFull: () => count === chunkRows,
    scan: (_bytes, _view, at) => at,
    take,
    flush,
    missing: () => missing,
    series: () => series.map(({ timeseriesId, metric }) => ({ timeseriesId, metric, samples: handedOver + count })),
  };
}
