import { groupBy } from '../../../core/group.js';
import { nextDouble } from '../../../core/next-double.js';
import type { Series, SeriesReference } from '../../../core/series.js';
import type { Columns } from '../../../storage/samples/samples.js';
import type { ServiceContext } from '../../context.js';
import { ServiceError } from '../../http/errors.js';
import type { SamplesRequest } from './query.js';

/** Where a read resumes: after a sample of one of its series. */
export interface Place {
  readonly seriesIndex: number;
  readonly timeMs: number;
}

/** A page: samples of one or more series, in order, and where the next page begins. */
export interface SamplesPage {
  readonly series: readonly Series[];
  readonly next: Place | undefined;
}

/**
 * How many samples are read from the store at a time, so that a long read blocks neither the store nor takes much
 * memory.
 */
export const PIECE_SAMPLES = 65_536;

/** What reads of all callers share. */
export interface SampleReading {
  readonly context: ServiceContext;
  /** Waits for a turn of the event loop that has room for so much work, in samples written as text. */
  readonly turnOf: (work: number) => Promise<void> | undefined;
}

/** Samples that are read in the time that one takes to be written as text. */
const READ_SAMPLES = 5;
/** As much work as a read of a series takes besides its samples. */
const SERIES_WORK = 200;

/** Reads up to `limit` samples of the series, one series after the other. */
export async function readPage(
  reading: SampleReading,
  organisation: string,
  references: readonly SeriesReference[],
  request: SamplesRequest,
  limit: number,
  from: Place | undefined,
): Promise<SamplesPage> {
  const series: Series[] = [];
  let room = limit;
  for (let index = from?.seriesIndex ?? 0; index < references.length; index++) {
    const reference = references[index]!;
    const after = index === from?.seriesIndex ? from.timeMs : undefined;
    const found = await readPiece(reading, organisation, reference, request, room + 1, after);
    reading.context.metrics.samplesRead.inc(Math.min(found.timeMs.length, room));
    if (found.timeMs.length > room) {
      const timeMs = found.timeMs.subarray(0, room);
      series.push({ ...reference, timeMs, value: found.value.subarray(0, room) });
      // If the page ended exactly before this series, its place is before all of its samples.
      const startMs = request.isDescending ? Number.MAX_VALUE : -Number.MAX_VALUE;
      return { series, next: { seriesIndex: index, timeMs: timeMs.at(-1) ?? after ?? startMs } };
    }
    if (found.timeMs.length > 0) series.push({ ...reference, ...found });
    room -= found.timeMs.length;
  }
  return { series, next: undefined };
}

/** All samples of the series, up to the limit, piece by piece. */
export async function* readPieces(
  reading: SampleReading,
  organisation: string,
  references: readonly SeriesReference[],
  request: SamplesRequest,
): AsyncGenerator<Series> {
  let room = request.limit ?? Number.POSITIVE_INFINITY;
  for (const reference of references) {
    let after: number | undefined;
    for (;;) {
      const count = Math.min(room, PIECE_SAMPLES);
      if (count === 0) return;
      const found = await readPiece(reading, organisation, reference, request, count, after);
      reading.context.metrics.samplesRead.inc(found.timeMs.length);
      if (found.timeMs.length > 0) yield { ...reference, ...found };
      room -= found.timeMs.length;
      after = found.timeMs.at(-1);
      if (found.timeMs.length < count) break;
    }
  }
}

// In the requested order, after the given time.
async function readPiece(
  { context: { storage, samples, placements }, turnOf }: SampleReading,
  organisation: string,
  reference: SeriesReference,
  { fromMs = -Infinity, untilMs = Infinity, isDescending, isFinalOnly }: SamplesRequest,
  limit: number,
  afterMs: number | undefined,
): Promise<Columns> {
  const isAscendingOn = afterMs !== undefined && !isDescending;
  const isDescendingOn = afterMs !== undefined && isDescending;
  const range = {
    fromMs: isAscendingOn ? Math.max(fromMs, nextDouble(afterMs)) : fromMs,
    untilMs: isDescendingOn ? Math.min(untilMs, afterMs) : untilMs,
    limit,
    isDescending,
    isFinalOnly,
  };
  const shard = (await placements.of(organisation)).shardOf(reference.timeseriesId);
  await samples.log.load(storage, shard);
  await turnOf(SERIES_WORK + limit / READ_SAMPLES);
  const found = await storage.read(shard, (tx) => samples.read(tx, organisation, reference, range));
  if (!isDescending) return found;
  return { timeMs: found.timeMs.slice().reverse(), value: found.value.slice().reverse() };
}

/** @throws ServiceError 404 if one of the series does not exist. */
export async function checkSeries(
  { storage, samples, placements }: ServiceContext,
  organisation: string,
  references: readonly SeriesReference[],
): Promise<void> {
  const placement = await placements.of(organisation);
  const missing = new Set<SeriesReference>();
  for (const [shard, part] of groupBy(references, ({ timeseriesId }) => placement.shardOf(timeseriesId))) {
    const itemIds = await storage.read(shard, (tx) => samples.itemIdsOf(tx, organisation, part));
    for (const [i, reference] of part.entries()) if (itemIds[i] === undefined) missing.add(reference);
  }
  if (missing.size === 0) return;
  const listed = references.filter((reference) => missing.has(reference));
  const names = listed
    .slice(0, 10)
    .map(({ timeseriesId, metric }) => `${JSON.stringify(timeseriesId)}, metric ${metric}`);
  const message = `there is no series ${names.join('; ')}; GET /core/timeseries lists the series`;
  throw new ServiceError(404, message, { details: { missing: listed } });
}
