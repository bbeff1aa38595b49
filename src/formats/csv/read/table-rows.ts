import type { Series, SeriesReference } from '../../../core/series.js';
import { scanColumns } from '../../../kernels/scan-rows.js';
import type { RowProblem } from '../errors.js';
import { createClock } from './clock.js';
import type { CsvRecord } from './record.js';
import { countMissing, type Rows, type RowsSettings, shapeProblem, takeNumber, takeTime } from './rows.js';
import { PATIENCE_MIN, scanTable, type TableState, TIME, UNWANTED } from './scan-table.js';

/** A series of a table: one column of the file. */
export interface TableSeries extends SeriesReference {
  /** Index of the column. */
  readonly column: number;
  readonly isWanted: boolean;
}

/** Rows of the single and the wide layout: a time, and a value for each of the series. */
export function createTableRows(settings: RowsSettings, series: readonly TableSeries[]): Rows {
  const { header, zone, chunkRows, onChunk, onRows } = settings;
  const kept = series.filter((entry) => entry.isWanted);
  const state = createState(settings, kept);
  const { timeMs, values } = state;
  let handedOver = 0;
  let missing = 0;

  function take(record: CsvRecord): RowProblem | undefined {
    const row = state.count;
    const problem = shapeProblem(record, header) ?? takeTime(record, header, zone, timeMs, row);
    if (problem !== undefined) return problem;
    for (let slot = 0; slot < kept.length; slot++) {
      const fault = takeNumber(record, header, kept[slot]!.column, values[slot]!, row);
      if (fault !== undefined) return fault;
    }
    state.count++;
    return undefined;
  }

  function flush(): void {
    const rowCount = state.count;
    if (rowCount === 0) return;
    for (const value of values) missing += countMissing(value, rowCount);
    handedOver += rowCount;
    state.count = 0;
    if (kept.length === 0) return;
    const times = timeMs.subarray(0, rowCount);
    if (onRows !== undefined) {
      onRows({ timeMs: times, values: values.map((value) => value.subarray(0, rowCount)), series: undefined });
      return;
    }
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

  const taken = (): number => handedOver + state.count;
  return {
    taken,
    isFull: () => state.count === chunkRows,
    scan: (bytes, view, at, stop) => scanTable(state, bytes, view, at, stop),
    take,
    flush,
    missing: () => missing,
    series: () => series.map(({ timeseriesId, metric }) => ({ timeseriesId, metric, samples: taken() })),
  };
}

function createState({ header, zone, chunkRows, isAlone }: RowsSettings, kept: readonly TableSeries[]): TableState {
  const slots = new Int32Array(header.columns.length).fill(UNWANTED);
  slots[header.timeColumn] = TIME;
  kept.forEach(({ column }, slot) => {
    slots[column] = slot;
  });
  const columns = isAlone && kept.length === 1 ? scanColumns(chunkRows) : undefined;
  return {
    slots,
    separator: header.separator,
    clock: createClock(zone),
    timeMs: columns?.timeMs ?? new Float64Array(chunkRows),
    values: columns === undefined ? kept.map(() => new Float64Array(chunkRows)) : [columns.value],
    count: 0,
    patience: PATIENCE_MIN,
  };
}
