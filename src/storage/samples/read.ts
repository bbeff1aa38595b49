import { nextDouble } from '../../core/next-double.js';
import { DamagedSamplesError } from '../errors.js';
import { countWork } from '../next-turn.js';
import type { Reader } from '../storage.js';
import { provisionalSamples, type SegmentHead, type SeriesRow } from '../tables/samples.js';
import {
  between,
  countOverlaid,
  indexAt,
  isEmptyPatch,
  overlay,
  type Patch,
  patchBetween,
  sliceColumns,
} from './patch.js';
import type { PendingLog, SeriesOfLog } from './pending.js';
import { type Columns, concatenate, NO_COLUMNS, type SampleRange, type SeriesInfo, type TimeRange } from './samples.js';
import {
  checkSegment,
  checkStart,
  headsFrom,
  isErased,
  SegmentCursor,
  segmentsBefore,
  segmentsFrom,
  touchedAreas,
  unpackProvisional,
  unpackSegments,
  unpackTimes,
} from './segments.js';

interface SeriesToRead {
  readonly key: number;
  /** Whether it may have provisional samples. */
  readonly isPreviewed: boolean;
  /** Whether it may have segments. */
  readonly hasSegments: boolean;
}

/** A series as a reader found it, and the log as the reader sees it. */
export interface FoundSeries extends SeriesToRead, SeriesOfLog {
  readonly log: PendingLog;
}

/** A series whose patch has what its segments lack, within a range. */
export interface OpenSeries extends SeriesToRead {
  readonly patch: Patch;
}

/**
 * The samples of a range. With a limit, no more is taken from the log than most likely has as many.
 *
 * @param partSamplesMin the fewest samples to take from the log at a time.
 */
export async function readInParts(
  tx: Reader,
  found: FoundSeries,
  range: SampleRange,
  partSamplesMin: number,
): Promise<Columns> {
  const { fromMs = -Infinity, untilMs = Infinity, limit = Infinity, isDescending = false } = range;
  const { log } = found;
  const parts: Columns[] = [];
  let rest: TimeRange = { fromMs, untilMs };
  let room = limit;
  let wanted = Math.max(limit, partSamplesMin);
  do {
    const part = limit === Infinity ? rest : log.partOf(found, rest, wanted, isDescending);
    const series = { ...found, patch: await log.patchOf(found, part) };
    const columns = await readSamples(tx, series, { ...range, ...part, limit: room });
    parts.push(columns);
    room -= columns.timeMs.length;
    rest = isDescending ? { ...rest, untilMs: part.fromMs } : { ...rest, fromMs: part.untilMs };
    // Changes may replace each other, or delete: each part has more of them.
    wanted *= 4;
  } while (room > 0 && rest.fromMs < rest.untilMs);
  return parts.length === 1 ? parts[0]! : concatenate(isDescending ? parts.reverse() : parts);
}

/** The samples of a range from segments and log, and provisional ones unless excluded. */
async function readSamples(tx: Reader, series: OpenSeries, range: SampleRange): Promise<Columns> {
  const { fromMs = -Infinity, untilMs = Infinity, limit = Infinity, isDescending = false } = range;
  if (!(fromMs < untilMs) || limit <= 0) return NO_COLUMNS;
  const finals = await readFinals(tx, series, fromMs, untilMs, limit, isDescending);
  if (range.isFinalOnly === true || !series.isPreviewed) return finals;
  const provisional = between(await readProvisional(tx, series.key), fromMs, untilMs);
  if (provisional.timeMs.length === 0) return finals;
  return cutTo(overlay(provisional, { ...finals, deleted: [] }), limit, isDescending);
}

export async function readProvisional(tx: Reader, seriesKey: number): Promise<Columns> {
  const row = await tx.get(provisionalSamples, { seriesKey });
  return row === undefined ? NO_COLUMNS : unpackProvisional(row);
}

/** Reads from one end of the range to the other, some segments at a time, until there are enough samples. */
async function readFinals(
  tx: Reader,
  { key, patch, hasSegments }: OpenSeries,
  fromMs: number,
  untilMs: number,
  limit: number,
  isDescending: boolean,
): Promise<Columns> {
  if (!hasSegments) {
    return cutTo(between(patchBetween(patch, fromMs, untilMs), fromMs, untilMs), limit, isDescending);
  }
  const parts: Columns[] = [];
  let [startMs, endMs] = [fromMs, untilMs];
  // The segment that contains the end of the range ends after it; `segmentsBefore` finds only earlier ones.
  const [last] = isDescending && untilMs !== Infinity ? await segmentsFrom(tx, key, untilMs, 1) : [];
  let endSegments = last === undefined ? [] : [last];
  let count = 0;
  let rowCount = Math.min(Math.ceil(limit / SAMPLES_EXPECTED), ROWS_FIRST);
  while (startMs < endMs && count < limit) {
    const found = await (isDescending
      ? segmentsBefore(tx, key, endMs, rowCount)
      : segmentsFrom(tx, key, startMs, rowCount));
    // The result is complete up to the last segment read, and beyond it only if there are no more.
    const end = found.length === rowCount ? found.at(-1)! : undefined;
    const from = isDescending && end !== undefined ? Math.max(startMs, end.startMs) : startMs;
    const until = !isDescending && end !== undefined ? Math.min(endMs, nextDouble(end.endMs)) : endMs;
    const rows = (isDescending ? [...endSegments, ...found].reverse() : found).filter((row) => {
      if (isErased(row, patch)) return false;
      if (row.startMs < until && row.endMs >= from) return true;
      checkStart(row, until);
      return false;
    });
    const part = between(overlay(unpackSegments(rows), patchBetween(patch, from, until)), from, until);
    parts.push(part);
    count += part.timeMs.length;
    if (isDescending) endMs = from;
    else startMs = until;
    endSegments = [];
    // As many as the rest takes if it lies as the last ones do: what is read beyond it is unpacked in vain.
    const rowsLeft = 1 + Math.ceil((limit - count) / (part.timeMs.length / rowCount));
    rowCount = Math.min(4 * rowCount, ROWS_MAX, rowsLeft);
  }
  return cutTo(concatenate(isDescending ? parts.reverse() : parts), limit, isDescending);
}

const ROWS_MAX = 256;
/** A segment has some thousand samples: enough rows, most likely, without reading many in vain. */
const SAMPLES_EXPECTED = 2048;

const ROWS_FIRST = 8;

function cutTo(columns: Columns, limit: number, isDescending: boolean): Columns {
  const { length } = columns.timeMs;
  if (length <= limit) return columns;
  return isDescending ? sliceColumns(columns, length - limit, length) : sliceColumns(columns, 0, limit);
}

/**
 * Checks some of the segments of a range: a reader of the embedded store holds writers up for as long as it reads.
 *
 * @returns where to go on; undefined at the end of the range.
 * @throws DamagedSamplesError if samples of the range are damaged.
 */
export async function checkSamples(tx: Reader, series: OpenSeries, range: TimeRange): Promise<number | undefined> {
  const { fromMs, untilMs } = range;
  patchBetween(series.patch, fromMs, untilMs);
  const rows = await segmentsFrom(tx, series.key, fromMs, ROWS_CHECKED);
  for (const row of rows) {
    if (row.startMs >= untilMs) {
      checkStart(row, untilMs);
      return undefined;
    }
    if (!isErased(row, series.patch)) checkSegment(row);
  }
  return rows.length < ROWS_CHECKED ? undefined : nextDouble(rows.at(-1)!.endMs);
}

/** Some milliseconds of work. */
const ROWS_CHECKED = 64;

/** Counts the final samples of a range. Segments that lie within it, untouched by the log, are not read. */
export async function countSamples(tx: Reader, { key, patch }: OpenSeries, range: TimeRange): Promise<number> {
  const { fromMs, untilMs } = range;
  const change = patchBetween(patch, fromMs, untilMs);
  const isUnchanged = isEmptyPatch(change);
  const afterWork = countWork(HEADS_PER_TURN);
  let count = change.timeMs.length;
  for await (const head of headsFrom(tx, key, fromMs)) {
    const { startMs, endMs, sampleCount } = head;
    if (startMs >= untilMs) break;
    await afterWork(1);
    if (isErased(head, patch)) continue;
    const own = isUnchanged ? change : patchBetween(change, startMs, nextDouble(endMs));
    const isWhole = startMs >= fromMs && endMs < untilMs && isEmptyPatch(own);
    count += isWhole ? sampleCount : (await countOf(tx, key, head, own, range)) - own.timeMs.length;
  }
  return count;
}

async function countOf(tx: Reader, seriesKey: number, { endMs }: SegmentHead, patch: Patch, range: TimeRange) {
  const [segment] = await segmentsFrom(tx, seriesKey, endMs, 1);
  const timeMs = unpackTimes(segment!);
  return countOverlaid(timeMs.subarray(indexAt(timeMs, range.fromMs), indexAt(timeMs, range.untilMs)), patch);
}

const HEADS_PER_TURN = 1000;

type Counted = Pick<SeriesInfo, 'sampleCount' | 'firstMs' | 'lastMs'>;

/**
 * Describes a series: its row covers the segments, the rest is added. For a damaged series it gives what is known, so
 * that one such series does not break a list.
 */
export async function describeSeries(tx: Reader, row: SeriesRow, patch: Patch): Promise<SeriesInfo> {
  const { timeseriesId, metric, itemId, sampleCount, firstMs, lastMs } = row;
  const { timeMs, value, deleted } = patch;
  const series = {
    key: row.seriesKey,
    patch: { timeMs, value, deleted },
    isPreviewed: itemId !== null,
    hasSegments: true,
  };
  try {
    const finals = await countFinals(tx, row, series);
    const counted = series.isPreviewed ? await addProvisional(tx, series, finals) : finals;
    return { timeseriesId, metric, itemId, ...counted };
  } catch (error) {
    if (!(error instanceof DamagedSamplesError)) throw error;
    return { timeseriesId, metric, itemId, sampleCount, firstMs, lastMs };
  }
}

async function countFinals(tx: Reader, row: SeriesRow, series: OpenSeries): Promise<Counted> {
  const { sampleCount, firstMs, lastMs } = row;
  const { timeMs, deleted } = series.patch;
  if (isEmptyPatch(series.patch)) return { sampleCount, firstMs, lastMs };
  if (firstMs === null || lastMs === null) return rangeOf(timeMs);
  if (deleted.length === 0 && timeMs[0]! > lastMs) {
    return { sampleCount: sampleCount + timeMs.length, firstMs, lastMs: timeMs.at(-1)! };
  }
  let count = sampleCount;
  for await (const { segment, patch } of touchedAreas(new SegmentCursor(tx, row.seriesKey), series.patch)) {
    if (segment === undefined) count += patch.timeMs.length;
    else if (isErased(segment, patch)) count += patch.timeMs.length - segment.sampleCount;
    else count += countOverlaid(unpackTimes(segment), patch) - segment.sampleCount;
  }
  if (deleted.length === 0) {
    return { sampleCount: count, firstMs: Math.min(firstMs, timeMs[0]!), lastMs: Math.max(lastMs, timeMs.at(-1)!) };
  }
  const first = await readSamples(tx, series, { limit: 1, isFinalOnly: true });
  const last = await readSamples(tx, series, { limit: 1, isDescending: true, isFinalOnly: true });
  return { sampleCount: count, firstMs: first.timeMs[0] ?? null, lastMs: last.timeMs[0] ?? null };
}

async function addProvisional(tx: Reader, series: OpenSeries, finals: Counted): Promise<Counted> {
  const provisional = await readProvisional(tx, series.key);
  const added = rangeOf(provisional.timeMs);
  if (added.firstMs === null || added.lastMs === null) return finals;
  if (finals.firstMs === null || finals.lastMs === null) return added;
  const firstMs = Math.min(finals.firstMs, added.firstMs);
  const lastMs = Math.max(finals.lastMs, added.lastMs);
  if (added.firstMs > finals.lastMs) return { sampleCount: finals.sampleCount + added.sampleCount, firstMs, lastMs };
  const { timeMs } = await readSamples(tx, series, { fromMs: added.firstMs, isFinalOnly: true });
  const count = provisional.timeMs.filter((time) => timeMs[indexAt(timeMs, time)] !== time).length;
  return { sampleCount: finals.sampleCount + count, firstMs, lastMs };
}

function rangeOf(timeMs: Float64Array): Counted {
  return { sampleCount: timeMs.length, firstMs: timeMs[0] ?? null, lastMs: timeMs.at(-1) ?? null };
}
