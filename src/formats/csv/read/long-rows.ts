import { type SeriesReference, seriesKey } from '../../../core/series.js';
import { CARRIAGE_RETURN, LINE_FEED } from '../bytes.js';
import type { RowProblem } from '../errors.js';
import { createLongChunk, sortBySeries } from './by-series.js';
import { createClock } from './clock.js';
import type { Header } from './header.js';
import { createNameBook, learnName, type NameBook } from './names.js';
import { createPairs, learnPair } from './pairs.js';
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
import { type LongState, rolesOf, scanLong } from './scan-long.js';

/** The metric of rows that name none: what the sensor sent. */
export const RAW_METRIC = 'Raw';

/** Rows of the long layout: each names its series. */
export function createLongRows(settings: RowsSettings, wanted: (reference: SeriesReference) => boolean): Rows {
  const { header, zone, chunkRows, onChunk, onRows } = settings;
  const state = createState(settings);
  const { ids, metrics, pairs, series, chunk } = state;
  const indexOfKey = new Map<string, number>();
  let missing = 0;

  function take(record: CsvRecord): RowProblem | undefined {
    const fault =
      shapeProblem(record, header) ??
      takeTime(record, header, zone, chunk.timeMs, state.count) ??
      takeNumber(record, header, header.valueColumn, chunk.value, state.count);
    if (fault !== undefined) return fault;
    const reference = referenceOf(record, header);
    if ('code' in reference) return reference;
    const index = indexOf(reference);
    learn(record, index);
    keep(index);
    return undefined;
  }

  function indexOf(reference: SeriesReference): number {
    const key = seriesKey(reference);
    const known = indexOfKey.get(key);
    if (known !== undefined) return known;
    indexOfKey.set(key, series.length);
    series.push({ ...reference, index: series.length, isWanted: wanted(reference), samples: 0 });
    return series.length - 1;
  }

  function learn(record: CsvRecord, index: number): void {
    if (!isPlain(record, header.idColumn, header) || !isPlain(record, header.metricColumn, header)) return;
    const id = learnField(ids, record, header.idColumn);
    learnPair(pairs, id, header.metricColumn < 0 ? 0 : learnField(metrics, record, header.metricColumn), index);
  }

  function keep(index: number): void {
    const entry = series[index]!;
    state.taken++;
    entry.samples++;
    if (entry.isWanted) chunk.series[state.count++] = index;
  }

  function flush(): void {
    const rowCount = state.count;
    if (rowCount === 0) return;
    state.count = 0;
    missing += countMissing(chunk.value, rowCount);
    const part = <A extends Float64Array | Int32Array>(column: A): A => column.subarray(0, rowCount) as A;
    if (onRows === undefined) onChunk(sortBySeries(chunk, rowCount, series));
    else onRows({ timeMs: part(chunk.timeMs), values: [part(chunk.value)], series: part(chunk.series) });
  }

  return {
    taken: () => state.taken,
    isFull: () => state.count === chunkRows,
    scan: (bytes, view, at, stop) => scanLong(state, bytes, view, at, stop),
    take,
    flush,
    missing: () => missing,
    series: () => series.map(({ timeseriesId, metric, samples }) => ({ timeseriesId, metric, samples })),
  };
}

function referenceOf(record: CsvRecord, header: Header): SeriesReference | RowProblem {
  const { idColumn, metricColumn } = header;
  const timeseriesId = fieldText(record, idColumn);
  if (timeseriesId === undefined) return notText(record, columnOf(header, idColumn));
  if (timeseriesId === '') {
    const reason = 'names no series; every row needs a timeseriesId';
    return { code: 'csv.row', column: columnOf(header, idColumn), text: timeseriesId, reason };
  }
  const metric = metricColumn < 0 ? RAW_METRIC : fieldText(record, metricColumn);
  if (metric === undefined) return notText(record, columnOf(header, metricColumn));
  return { timeseriesId, metric: metric === '' ? RAW_METRIC : metric };
}

// Whether the field's bytes are all that stands between its separators.
function isPlain(record: CsvRecord, column: number, { separator }: Header): boolean {
  if (column < 0) return true;
  const { bytes, start } = record;
  const from = record.fieldStart[column]!;
  const after = bytes[record.fieldEnd[column]!];
  const isWhole = from === start || bytes[from - 1] === separator;
  const isEnded = after === separator || after === LINE_FEED || after === CARRIAGE_RETURN;
  return record.isQuoted[column] === 0 && isWhole && isEnded;
}

function learnField(book: NameBook, record: CsvRecord, column: number): number {
  return learnName(book, record.bytes, record.fieldStart[column]!, record.fieldEnd[column]!);
}

function createState({ header, zone, chunkRows }: RowsSettings): LongState {
  return {
    roles: rolesOf(header),
    separator: header.separator,
    clock: createClock(zone),
    ids: createNameBook(),
    metrics: createNameBook(),
    pairs: createPairs(),
    series: [],
    chunk: createLongChunk(chunkRows),
    count: 0,
    taken: 0,
  };
}
