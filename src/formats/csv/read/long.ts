import { type SeriesReference, seriesKey } from '../../../core/series.js';
import { type FieldKind, FieldScanner } from '../../../kernels/scan-fields.js';
import { beginScan } from '../../../kernels/scan-input.js';
import { RAW_METRIC, type SeriesNaming } from '../../table/naming.js';
import type { RepeatedHours } from '../../table/repeated-hours.js';
import { CARRIAGE_RETURN, LINE_FEED, skipField } from '../bytes.js';
import type { RowProblem } from '../errors.js';
import type { Header } from '../head/header.js';
import { createLongChunk, type LongSeries, sortBySeries } from './by-series.js';
import { LONG_CHUNK_ROWS } from './limits.js';
import { type ScannedLong, scanLong } from './long-scan.js';
import {
  createNameTable,
  createPairs,
  findName,
  findPair,
  learnName,
  learnPair,
  type NameTable,
  withRoom,
} from './names.js';
import { parseNumber } from './number.js';
import type { CsvRecord } from './record.js';
import {
  columnOf,
  countMissing,
  FieldReader,
  notText,
  type Rows,
  type RowsSettings,
  type RowTime,
  shapeProblem,
  slowRowsAfter,
} from './rows.js';
import { createClock, parseTime, TIME_REACH } from './time.js';

/**
 * Rows of the long layout, each of which names its series. A row may have several samples: one for each of several
 * metrics, or for each time of a day.
 */
export function createLongRows(settings: RowsSettings, naming: SeriesNaming, unnamed: string): Rows {
  const { zone, chunkRows = LONG_CHUNK_ROWS, onChunk, onRows } = settings;
  let { header } = settings;
  const fields = new FieldReader(header, zone);
  const state = createState(settings, chunkRows);
  const { series } = state;
  const indexOfKey = new Map<string, number>();
  let missing = 0;

  function take(record: CsvRecord): RowProblem | undefined {
    const fault = shapeProblem(record, header);
    if (fault !== undefined) return fault;
    const time = fields.time(record, header.layout === 'days' ? NOON_MS : undefined);
    if ('code' in time) return time;
    const samples = samplesOf(record, time, header, fields);
    if ('code' in samples) return samples;
    const reference = referenceOf(record, header, fields, unnamed);
    if ('code' in reference) return reference;
    for (const { time, value, name } of samples) {
      const index = indexOf(name === undefined ? reference : { ...reference, metric: name });
      if (index >= settings.seriesMax) return tooManySeries(header, reference, settings.seriesMax);
      if (header.isPlain) learn(state, header, record, index);
      keep(state, index, time, value, settings.repeatedHours);
    }
    state.taken++;
    return undefined;
  }

  function indexOf(reference: SeriesReference): number {
    const key = seriesKey(reference);
    const known = indexOfKey.get(key);
    if (known !== undefined) return known;
    indexOfKey.set(key, series.length);
    const named = naming.name(reference);
    settings.onSeries?.(named.reference);
    const index = series.length;
    series.push({ ...named.reference, index });
    state.samples = withRoom(state.samples, index + 1, (length) => new Float64Array(length));
    state.isWanted = withRoom(state.isWanted, index + 1, (length) => new Uint8Array(length));
    state.isWanted[index] = named.isWanted ? 1 : 0;
    return index;
  }

  function flush(): void {
    if (state.count > 0) missing += handOver(state, onChunk, onRows);
  }

  return {
    get notes() {
      return naming.notes;
    },
    taken: () => state.taken,
    isFull: () => state.count >= chunkRows,
    parse: (bytes, view, at, stop) => (header.isPlain ? parseLong(state, chunkRows, bytes, view, at, stop) : at),
    take,
    flush,
    missing: () => missing,
    series: () =>
      series.map(({ timeseriesId, metric }, index) => ({ timeseriesId, metric, samples: state.samples[index]! })),
    relay: (next) => {
      header = next;
      fields.relay(next);
    },
  };
}

function keep(
  state: LongState,
  index: number,
  { timeMs, isNearChange }: RowTime,
  value: number,
  repeatedHours: RepeatedHours | undefined,
): void {
  const { chunk, nearChange } = state;
  state.samples[index]!++;
  if (state.isWanted[index] === 0) return;
  const row = state.count++;
  chunk.timeMs[row] = isNearChange ? (repeatedHours?.settle(index, timeMs) ?? timeMs) : timeMs;
  if (isNearChange) nearChange.push(row);
  chunk.value[row] = value;
  chunk.series[row] = index;
}

// Passes on the rows of the chunk and returns how many values are missing.
function handOver(state: LongState, onChunk: RowsSettings['onChunk'], onRows: RowsSettings['onRows']): number {
  const { chunk, series, nearChange, count } = state;
  state.count = 0;
  state.nearChange = [];
  const missing = countMissing(chunk.value, count);
  const timeMs = chunk.timeMs.subarray(0, count);
  const values = [chunk.value.subarray(0, count)];
  if (onRows === undefined) onChunk(sortBySeries(chunk, count, series));
  else onRows({ timeMs, values, series: chunk.series.subarray(0, count), nearChange });
  return missing;
}

/** A time of day that no clock skips, to check a date alone. */
const NOON_MS = 43_200_000;

/** One of the samples of a row. */
interface Sample {
  readonly time: RowTime;
  readonly value: number;
  /** The metric, if a row has several. */
  readonly name: string | undefined;
}

// The values of a row: one, or one for each metric or time of day.
function samplesOf(record: CsvRecord, time: RowTime, header: Header, fields: FieldReader): Sample[] | RowProblem {
  const { values, metricColumn, layout } = header;
  const isNamed = layout === 'long' && metricColumn < 0 && values.length > 1;
  const samples: Sample[] = [];
  for (const { column, name, clockMs } of values) {
    const value = fields.value(record, column);
    if (typeof value !== 'number') return value;
    // In a row that holds a day, a time that the clock skips has no value.
    if (clockMs !== undefined && Number.isNaN(value)) continue;
    const at = clockMs === undefined ? time : fields.time(record, clockMs, time.timeMs - NOON_MS);
    if ('code' in at) return at;
    samples.push({ time: at, value, name: isNamed ? name : undefined });
  }
  return samples;
}

function tooManySeries({ ids, columns }: Header, { timeseriesId }: SeriesReference, most: number): RowProblem {
  const column = ids[0]?.column ?? 0;
  const reason = `is one series more than the ${most} that one file may have; send it in parts`;
  return { code: 'csv.row', column: { name: columns[column] ?? '', number: column + 1 }, text: timeseriesId, reason };
}

function referenceOf(
  record: CsvRecord,
  header: Header,
  fields: FieldReader,
  unnamed: string,
): SeriesReference | RowProblem {
  const { ids, metricColumn } = header;
  let timeseriesId = ids.length === 0 ? unnamed : '';
  for (const { column, prefix } of ids) {
    const text = fields.text(record, column);
    if (text === undefined) return notText(record, columnOf(header, column));
    // In InfluxDB's CSV, a series may lack some of the tags.
    if (text !== '') timeseriesId += timeseriesId === '' ? text : prefix + text;
  }
  if (timeseriesId === '') {
    const column = columnOf(header, ids[0]!.column);
    const reason = `names no series; every row needs a ${column.name}`;
    return { code: 'csv.row', column, text: timeseriesId, reason };
  }
  const metric = metricColumn < 0 ? RAW_METRIC : fields.text(record, metricColumn);
  if (metric === undefined) return notText(record, columnOf(header, metricColumn));
  return { timeseriesId, metric: metric === '' ? RAW_METRIC : metric };
}

// Teaches the fast path to recognise the series of a row by its bytes.
function learn({ ids, metrics, pairs }: LongState, header: Header, record: CsvRecord, index: number): void {
  const idColumn = header.ids[0]!.column;
  if (!isPlain(record, idColumn, header) || !isPlain(record, header.metricColumn, header)) return;
  const id = learnField(ids, record, idColumn);
  learnPair(pairs, id, header.metricColumn < 0 ? 0 : learnField(metrics, record, header.metricColumn), index);
}

// Whether the field is written without quotes and spaces around it.
function isPlain(record: CsvRecord, column: number, { separator }: Header): boolean {
  if (column < 0) return true;
  const { bytes, start } = record;
  const from = record.fieldStart[column]!;
  const after = bytes[record.fieldEnd[column]!];
  const isWhole = from === start || bytes[from - 1] === separator;
  const isEnded = after === separator || after === LINE_FEED || after === CARRIAGE_RETURN;
  return record.isQuoted[column] === 0 && isWhole && isEnded;
}

function learnField(names: NameTable, record: CsvRecord, column: number): number {
  return learnName(names, record.bytes, record.fieldStart[column]!, record.fieldEnd[column]!);
}

function createState({ header, zone }: RowsSettings, chunkRows: number): LongState {
  // The last row of a chunk may have several samples.
  const roomRows = chunkRows + header.values.length - 1;
  const kinds = kindsOf(header);
  return {
    kinds,
    scanner: FieldScanner.open(kinds, header.separator),
    slowRows: 1,
    separator: header.separator,
    clock: createClock(zone),
    ids: createNameTable(),
    metrics: createNameTable(),
    pairs: createPairs(),
    series: [],
    samples: new Float64Array(16),
    isWanted: new Uint8Array(16),
    chunk: createLongChunk(roomRows),
    count: 0,
    nearChange: [],
    taken: 0,
  };
}

/** What is known of a file in the long layout, and the current chunk. */
interface LongState extends ScannedLong {
  /** How many rows to read one by one before trying many at once again. */
  slowRows: number;
  readonly separator: number;
  readonly series: LongSeries[];
  /** The rows whose local time lies near a clock change. */
  nearChange: number[];
}

function kindsOf({ columns, timeColumn, ids, metricColumn, values }: Header): FieldKind[] {
  const kinds = columns.map((): FieldKind => 'skipped');
  kinds[timeColumn] = 'time';
  for (const { column } of ids) kinds[column] = 'id';
  for (const { column } of values) kinds[column] = 'number';
  if (metricColumn >= 0) kinds[metricColumn] = 'metric';
  return kinds;
}

/** The fast path of the long layout: see `Rows.parse`. */
function parseLong(
  state: LongState,
  capacity: number,
  bytes: Uint8Array,
  view: DataView,
  from: number,
  stop: number,
): number {
  let rowStart = from;
  beginScan();
  // As in a table, rows that WebAssembly leaves are read one by one.
  while (rowStart < stop && state.count < capacity) {
    const scanFrom = rowStart;
    rowStart = scanLong(state, capacity, bytes, rowStart, stop);
    state.slowRows = slowRowsAfter(rowStart > scanFrom, state.slowRows);
    const limit = state.taken + state.slowRows;
    rowStart = parseEach(state, capacity, bytes, view, rowStart, stop, limit);
    if (state.taken < limit) break;
  }
  return rowStart;
}

function parseEach(
  state: LongState,
  capacity: number,
  bytes: Uint8Array,
  view: DataView,
  from: number,
  stop: number,
  takenLimit: number,
): number {
  const { kinds, separator, clock, ids, metrics, pairs, samples, isWanted } = state;
  const { timeMs, value, series: rowSeries } = state.chunk;
  const lastColumn = kinds.length - 1;
  const timeStop = bytes.length - TIME_REACH;
  let count = state.count;
  let taken = state.taken;
  let rowStart = from;
  rows: while (rowStart < stop && count < capacity && taken < takenLimit) {
    let at = rowStart;
    let id = 0;
    let metric = 0;
    for (let column = 0; ; column++) {
      const kind = kinds[column]!;
      if (kind === 'time') {
        at = at > timeStop ? -1 : parseTime(bytes, view, at, clock, timeMs, count);
      } else if (kind === 'number') {
        at = parseNumber(bytes, at, separator, value, count);
      } else if (kind === 'id') {
        id = findName(ids, bytes, at, separator);
        at = id < 0 ? -1 : ids.end;
      } else if (kind === 'metric') {
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
    samples[index]!++;
    taken++;
    if (isWanted[index] === 1) rowSeries[count++] = index;
    rowStart = at + 1;
  }
  state.count = count;
  state.taken = taken;
  return rowStart;
}
