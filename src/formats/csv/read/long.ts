import { type SeriesReference, seriesKey } from '../../../core/series.js';
import { CARRIAGE_RETURN, LINE_FEED, skipField } from '../bytes.js';
import type { RowProblem } from '../errors.js';
import { createLongChunk, type LongChunk, type LongSeries, sortBySeries } from './by-series.js';
import type { Header } from './header.js';
import {
  createNameBook,
  createPairs,
  findName,
  findPair,
  learnName,
  learnPair,
  type NameBook,
  type Pairs,
} from './names.js';
import { parseNumber } from './number.js';
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
import { type Clock, createClock, parseTime, TIME_REACH } from './time.js';

/** The metric of rows that name none: what the sensor sent. */
export const RAW_METRIC = 'Raw';

/** Rows of the long layout: each names its series. */
export function createLongRows(settings: RowsSettings, wanted: (reference: SeriesReference) => boolean): Rows {
  const { header, zone, chunkRows, onChunk, onRows, seriesMax } = settings;
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
    if (index >= seriesMax) {
      const reason = `is one series more than the ${seriesMax} that one file may have; send it in parts`;
      return { code: 'csv.row', column: columnOf(header, header.idColumn), text: reference.timeseriesId, reason };
    }
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
    parse: (bytes, view, at, stop) => parseLong(state, bytes, view, at, stop),
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

// What a column of the long layout holds.
const UNKNOWN = 0;
const TIME = 1;
const ID = 2;
const METRIC = 3;
const VALUE = 4;

/** The rows of the long layout: what is known of the file, and the chunk at hand. */
interface LongState {
  readonly roles: Uint8Array;
  readonly separator: number;
  readonly clock: Clock;
  readonly ids: NameBook;
  readonly metrics: NameBook;
  readonly pairs: Pairs;
  readonly series: LongSeries[];
  readonly chunk: LongChunk;
  /** Rows in the chunk. */
  count: number;
  /** Rows taken so far, wanted or not. */
  taken: number;
}

function rolesOf({ columns, timeColumn, idColumn, metricColumn, valueColumn }: Header): Uint8Array {
  const roles = new Uint8Array(columns.length).fill(UNKNOWN);
  roles[timeColumn] = TIME;
  roles[idColumn] = ID;
  roles[valueColumn] = VALUE;
  if (metricColumn >= 0) roles[metricColumn] = METRIC;
  return roles;
}

/** The fast path of the long layout: see `Rows.parse`. */
function parseLong(state: LongState, bytes: Uint8Array, view: DataView, from: number, stop: number): number {
  const { roles, separator, clock, ids, metrics, pairs, series } = state;
  const { timeMs, value, series: rowSeries } = state.chunk;
  const capacity = timeMs.length;
  const lastColumn = roles.length - 1;
  const timeStop = bytes.length - TIME_REACH;
  let count = state.count;
  let taken = 0;
  let rowStart = from;
  rows: while (rowStart < stop && count < capacity) {
    let at = rowStart;
    let id = 0;
    let metric = 0;
    for (let column = 0; ; column++) {
      const role = roles[column]!;
      if (role === TIME) {
        at = at > timeStop ? -1 : parseTime(bytes, view, at, clock, timeMs, count);
      } else if (role === VALUE) {
        at = parseNumber(bytes, at, separator, value, count);
      } else if (role === ID) {
        id = findName(ids, bytes, at, separator);
        at = id < 0 ? -1 : ids.end;
      } else if (role === METRIC) {
        metric = findName(metrics, bytes, at, separator);
        at = metric < 0 ? -1 : metrics.end;
      } else at = skipField(bytes, at, separator);
      if (at < 0) break rows;
      if (column === lastColumn) break;
      if (bytes[at] !== separator) break rows;
      at++;
    }
    if (bytes[at] === CARRIAGE_RETURN) at++;
    const index = bytes[at] === LINE_FEED ? findPair(pairs, id, metric) : -1;
    if (index < 0) break;
    const entry = series[index]!;
    entry.samples++;
    taken++;
    if (entry.isWanted) rowSeries[count++] = index;
    rowStart = at + 1;
  }
  state.count = count;
  state.taken += taken;
  return rowStart;
}
