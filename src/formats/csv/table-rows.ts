import type { Series, SeriesReference } from '../../core/series.js';
import { CARRIAGE_RETURN, LINE_FEED } from './bytes.js';
import { createClock } from './clock.js';
import type { RowProblem } from './errors.js';
import type { CsvRecord } from './record.js';
import { countMissing, type Rows, type RowsSettings, shapeProblem, takeNumber, takeTime } from './rows.js';
import { scanNumber } from './scan-number.js';
import { scanPairs } from './scan-pairs.js';
import { scanTime, TIME_REACH } from './scan-time.js';
import { skipField } from './skip-field.js';

// What a column holds, where it is not the number of a series.
const TIME = -1;
const UNWANTED = -2;

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
  const slots = new Int32Array(header.columns.length).fill(UNWANTED);
  slots[header.timeColumn] = TIME;
  kept.forEach(({ column }, slot) => {
    slots[column] = slot;
  });
  const isPairs = slots.length === 2 && slots[0] === TIME && slots[1] === 0;
  const cursor = { row: 0 };
  const clock = createClock(zone);
  let count = 0;
  let handedOver = 0;
  let missing = 0;

  function scan(bytes: Uint8Array, view: DataView, from: number, stop: number): number {
    if (isPairs) {
      cursor.row = count;
      const at = scanPairs(bytes, view, from, stop, header.separator, clock, timeMs, values[0]!, cursor);
      count = cursor.row;
      return at;
    }
    let rowStart = from;
    while (rowStart < stop && count < chunkRows) {
      const at = scanFields(bytes, view, rowStart);
      if (at < 0) break;
      rowStart = at;
      count++;
    }
    return rowStart;
  }

  // The place after the row, or −1.
  function scanFields(bytes: Uint8Array, view: DataView, from: number): number {
    const { separator } = header;
    const timeStop = bytes.length - TIME_REACH;
    let at = from - 1;
    for (let column = 0; column < slots.length; column++) {
      at++;
      const slot = slots[column]!;
      if (slot >= 0) at = scanNumber(bytes, at, separator, values[slot]!, count);
      else if (slot === UNWANTED) at = skipField(bytes, at, separator);
      else at = at > timeStop ? -1 : scanTime(bytes, view, at, clock, timeMs, count);
      if (at < 0 || (bytes[at] !== separator && column + 1 < slots.length)) return -1;
    }
    if (bytes[at] === CARRIAGE_RETURN) at++;
    return bytes[at] === LINE_FEED ? at + 1 : -1;
  }

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
    scan,
    take,
    flush,
    missing: () => missing,
    series: () => series.map(({ timeseriesId, metric }) => ({ timeseriesId, metric, samples: handedOver + count })),
  };
}
