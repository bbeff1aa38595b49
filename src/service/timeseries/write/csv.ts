import { describeValue } from '../../../core/errors.js';
import type { Series, SeriesReference } from '../../../core/series.js';
import type { InTurns } from '../../../core/turns.js';
import type { RejectedRow } from '../../../formats/csv/options.js';
import { CHUNK_ROWS } from '../../../formats/csv/read/limits.js';
import { FileReader } from '../../../formats/csv/read/reader.js';
import type { Roles } from '../../../formats/table/roles.js';
import { inTurns, nextTurn } from '../../../storage/next-turn.js';
import { messageForBody, ServiceError } from '../../http/errors.js';
import type { ServiceSettings } from '../../settings.js';
import { addColumns, seriesIndexOf } from './batch.js';
import { partsOf, type StreamedBody } from './bodies.js';
import { checkNames, type NamePlace } from './json.js';
import type { Ingest, Sink } from './sink.js';

/** The body's name in messages, and the name of its series while the reader knows no other. */
const BODY = 'the body';
/** Of a wide body: 4 MiB. */
const CELLS_MAX = 2 ** 19;
/** Where a wide body names its series. */
const HEADER: NamePlace = { text: `${BODY}, in its header` };
const SERIES_PER_TURN = 2000;
/** As sockets give them; of rows with thousands of values, which take ten times as long to read. */
const PIECE_BYTES = 65_536;
const WIDE_PIECE_BYTES = 16_384;
const WIDE_VALUES = 1000;

/** Which names of its series a file gives. */
interface Naming {
  /** Whether it gives ids; otherwise the series is that of the path. */
  readonly hasId: boolean;
  readonly hasMetric: boolean;
}

/** A chunk of a very wide body, copied: thousands of columns take some turns of the event loop. */
interface WideChunk {
  readonly names: readonly SeriesReference[];
  readonly timeMs: Float64Array;
  /** Column by column: to make thousands of arrays would take ten times as long. */
  readonly values: Float64Array;
}

export async function takeCsv(settings: ServiceSettings, job: Ingest, body: StreamedBody, sink: Sink): Promise<void> {
  const { batch } = sink;
  let naming: Naming | undefined;
  const checkedName = (series: SeriesReference, place: NamePlace) => {
    naming ??= namingOf(reader.roles!, job); // a series comes after the header
    return nameOf(job, naming, series, place);
  };
  const onSeries = (series: SeriesReference): void => {
    const { line } = reader;
    checkedName(series, { text: `${BODY}, line ${line}`, details: { line } });
  };
  const takeOne = (series: Series): void => {
    const { timeseriesId, metric } = checkedName(series, HEADER);
    addColumns(batch, seriesIndexOf(batch, timeseriesId, metric), series.timeMs, series.value);
  };
  // A chunk belongs to the reader, and is valid until it reads on; a piece of a body may end one and begin the next.
  const waiting: WideChunk[] = [];
  const take = (chunk: readonly Series[]): void => {
    const isWide = chunk.length > SERIES_PER_TURN && chunk[0]!.timeMs === chunk[1]!.timeMs;
    if (isWide) waiting.push(copyOf(chunk));
    else for (const series of chunk) takeOne(series);
  };
  const takeWaiting = async (): Promise<void> => {
    for (const { names, timeMs, values } of waiting.splice(0)) {
      await nextTurn();
      for await (const [i, { timeseriesId, metric }] of inTurns(names.entries(), SERIES_PER_TURN)) {
        const value = values.subarray(i * timeMs.length, (i + 1) * timeMs.length);
        takeOne({ timeseriesId, metric, timeMs, value });
      }
      await nextTurn();
    }
  };
  const inPieces = async <Result>(work: InTurns<Result>): Promise<Result> => {
    for (;;) {
      const { done, value } = work.next();
      await takeWaiting();
      if (done) return value;
      await nextTurn();
    }
  };
  const { csvLineBytesMax: lineBytesMax, csvColumnsMax: columnsMax, bodySeriesMax: seriesMax } = settings;
  const limits = { lineBytesMax, columnsMax, seriesMax, cellsMax: CELLS_MAX };
  const rejects: string[] = [];
  const onReject = (rejected: RejectedRow): void => {
    if (rejects.length < REJECTS_TOLD_MAX) rejects.push(describeReject(rejected));
  };
  // Bodies are small, and more room would take longer to get than a few rows to read.
  const options = { ...job.csv, fileName: BODY, chunkRows: CHUNK_ROWS, onReject };
  // Patient, as the command is: one row may not tell what a column is for.
  const reader = new FileReader(options, take, { limits, onSeries, isPatient: true });
  for await (const part of partsOf(body)) {
    for (let from = 0, to = 0; from < part.length; from = to) {
      to += (reader.roles?.values.length ?? 0) < WIDE_VALUES ? PIECE_BYTES : WIDE_PIECE_BYTES;
      await inPieces(reader.pushInTurns(part.subarray(from, to)));
    }
    await sink.flushWhenFull();
  }
  const { notes, rows, rejected } = await inPieces(reader.endInTurns());
  if (rejected > 0 && rows === 0) {
    throw new ServiceError(400, `none of the ${rejected} rows can be read: ${rejects[0]}; nothing was stored`);
  }
  if (rejected > 0) sink.total.rejected = rejected;
  if (notes.length + rejects.length > 0) sink.total.notes = [...notes, ...rejects];
}

/** How many of the rows that were left out an answer tells of. */
const REJECTS_TOLD_MAX = 20;

function describeReject({ line, column, text, reason, options }: RejectedRow): string {
  const place = column === undefined ? `line ${line}` : `line ${line}, column ${column.number} (${column.name})`;
  return messageForBody({ message: `${place}: ${describeValue(text)} ${reason}`, options });
}

function copyOf(chunk: readonly Series[]): WideChunk {
  const timeMs = chunk[0]!.timeMs.slice();
  const values = new Float64Array(chunk.length * timeMs.length);
  for (const [i, { value }] of chunk.entries()) values.set(value, i * timeMs.length);
  return { names: chunk, timeMs, values };
}

function namingOf({ layout, ids, metricColumn, values }: Roles, { csv, defaults }: Ingest): Naming {
  const isLong = layout === 'long';
  // In the wide layout each series is a column; the only one that is asked for is that of the path.
  const isOfPath = csv?.value?.length === 1 && defaults.timeseriesId !== undefined;
  return {
    hasId: isLong ? ids.length > 0 : layout === 'wide' && !isOfPath,
    hasMetric: metricColumn >= 0 || (isLong && values.length > 1),
  };
}

function nameOf(
  { defaults }: Ingest,
  { hasId, hasMetric }: Naming,
  series: SeriesReference,
  place: NamePlace,
): SeriesReference {
  const timeseriesId = hasId ? series.timeseriesId : defaults.timeseriesId;
  if (timeseriesId === undefined) {
    const hint = 'add a timeseriesId column, or post to /core/timeseries/{timeseriesId}/samples';
    throw new ServiceError(400, `a CSV of timestamp and value names no series; ${hint}`);
  }
  const metric = hasMetric ? series.metric : (defaults.metric ?? series.metric);
  checkNames(defaults, { timeseriesId, metric }, place);
  return { timeseriesId, metric };
}
