import { type SeriesReference, seriesKey } from '../../core/series.js';
import { createLongChunk, type LongSeries, sortBySeries } from './by-series.js';
import { CARRIAGE_RETURN, LINE_FEED } from './bytes.js';
import { createClock } from './clock.js';
import type { RowProblem } from './errors.js';
import type { Header } from './header.js';
import { createNameBook, findName, learnName, type NameBook } from './names.js';
import { createPairs, findPair, learnPair } from './pairs.js';
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
import { scanNumber } from './scan-number.js';
import { scanTime, TIME_REACH } from './scan-time.js';
import { skipField } from './skip-field.js';

/** The metric of rows that name none: what the sensor sent. */
export const RAW_METRIC = 'Raw';

// What a column holds.
const UNKNOWN = 0;
const TIME = 1;
const ID = 2;
const METRIC = 3;
const VALUE = 4;

/** Rows of the long layout: each names its series. */
export function createLongRows(settings: RowsSettings, wanted: (reference: SeriesReference) => boolean): Rows {
  const { header, zone, chunkRows, onChunk } = settings;
  const roles = rolesOf(header);
  const chunk = createLongChunk(chunkRows);
  const { timeMs, value } = chunk;
  const clock = createClock(zone);
  const ids = createNameBook();
  const metrics = createNameBook();
  const pairs = createPairs();
  const series: LongSeries[] = [];
  const indexOfKey = new Map<string, number>();
  let count = 0;
  let taken = 0;
  let missing = 0;

  function scan(bytes: Uint8Array, view: DataView, from: number, stop: number): number {
    let rowStart = from;
    while (rowStart < stop && count < chunkRows) {
      const at = scanFields(bytes, view, rowStart);
      if (at < 0) break;
      rowStart = at;
    }
    return rowStart;
  }

  // Keeps the row and gives the place after it, or −1.
  function scanFields(bytes: Uint8Array, view: DataView, from: number): number {
    const { separator } = header;
    let at = from - 1;
    let id = -1;
    let metric = 0;
    for (let column = 0; column < roles.length; column++) {
      at++;
      const role = roles[column]!;
      if (role === TIME) at = at > bytes.length - TIME_REACH ? -1 : scanTime(bytes, view, at, clock, timeMs, count);
      else if (role === VALUE) at = scanNumber(bytes, at, separator, value, count);
      else if (role === ID) {
        id = findName(ids, bytes, at, separator);
        at = id < 0 ? -1 : ids.end;
      } else if (role === METRIC) {
        metric = findName(metrics, bytes, at, separator);
        at = metric < 0 ? -1 : metrics.end;
      } else at = skipField(bytes, at, separator);
      if (at < 0 || (bytes[at] !== separator && column + 1 < roles.length)) return -1;
    }
    if (bytes[at] === CARRIAGE_RETURN) at++;
    if (bytes[at] !== LINE_FEED) return -1;
    const index = findPair(pairs, id, metric);
    if (index < 0) return -1;
    keep(index);
    return at + 1;
  }

  function take(record: CsvRecord): RowProblem | undefined {
    const fault =
      shapeProblem(record, header) ??
      takeTime(record, header, zone, timeMs, count) ??
      takeNumber(record, header, header.valueColumn, value, count);
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
    series.push({ ...reference, isWanted: wanted(reference), samples: 0, chunkCount: 0, place: 0 });
    return series.length - 1;
  }

  function learn(record: CsvRecord, index: number): void {
    if (!isPlain(record, header.idColumn, header) || !isPlain(record, header.metricColumn, header)) return;
    const id = learnField(ids, record, header.idColumn);
    learnPair(pairs, id, header.metricColumn < 0 ? 0 : learnField(metrics, record, header.metricColumn), index);
  }

  function keep(index: number): void {
    const entry = series[index]!;
    taken++;
    entry.samples++;
    if (entry.isWanted) chunk.series[count++] = index;
  }

  function flush(): void {
    if (count === 0) return;
    const rowCount = count;
    count = 0;
    missing += countMissing(value, rowCount);
    onChunk(sortBySeries(chunk, rowCount, series));
  }

  return {
    taken: () => taken,
    isFull: () => count === chunkRows,
    scan,
    take,
    flush,
    missing: () => missing,
    series: () => series.map(({ timeseriesId, metric, samples }) => ({ timeseriesId, metric, samples })),
  };
}

function rolesOf({ columns, timeColumn, idColumn, metricColumn, valueColumn }: Header): Uint8Array {
  const roles = new Uint8Array(columns.length).fill(UNKNOWN);
  roles[timeColumn] = TIME;
  roles[idColumn] = ID;
  roles[valueColumn] = VALUE;
  if (metricColumn >= 0) roles[metricColumn] = METRIC;
  return roles;
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
