import { nextDouble } from '../../core/next-double.js';
import { DamagedSamplesError } from '../errors.js';
import type { Reader } from '../storage.js';
import { provisionalSamples, type SeriesRow } from '../tables/samples.js';
import { between, indexAt, isEmptyPatch, overlay, type Patch, patchBetween, sliceColumns } from './patch.js';
import { type Columns, concatenate, NO_COLUMNS, type SampleRange, type SeriesInfo } from './samples.js';
import {
  isErased,
  SegmentCursor,
  segmentsBefore,
  segmentsFrom,
  touchedAreas,
  unpackProvisional,
  unpackSegments,
} from './segments.js';

/** A series as a reader has found it: what its segments lack is in the patch. */
export interface OpenSeries {
  readonly key: number;
  readonly patch: Patch;
  /** Whether there can be provisional samples. */
  readonly isResult: boolean;
}

/** The samples of a range, those of segments and log, and the provisional ones unless they are unwanted. */
export async function readSamples(tx: Reader, series: OpenSeries, range: SampleRange): Promise<Columns> {
  const { fromMs = -Infinity, untilMs = Infinity, limit = Infinity, isDescending = false } = range;
  if (!(fromMs < untilMs) || limit <= 0) return NO_COLUMNS;
  const finals = isDescending
    ? await readLate(tx, series, fromMs, untilMs, limit)
    : await readEarly(tx, series, fromMs, untilMs, limit);
  if (range.isFinalOnly === true || !series.isResult) return finals;
  const provisional = between(await readProvisional(tx, series.key), fromMs, untilMs);
  if (provisional.timeMs.length === 0) return finals;
  return cutTo(overlay(provisional, { ...finals, deleted: [] }), limit, isDescending);
}

export async function readProvisional(tx: Reader, seriesKey: number): Promise<Columns> {
  const row = await tx.get(provisionalSamples, { seriesKey });
  return row === undefined ? NO_COLUMNS : unpackProvisional(row);
}

async function readEarly(
  tx: Reader,
  { key, patch }: OpenSeries,
  fromMs: number,
  untilMs: number,
  limit: number,
): Promise<Columns> {
  const parts: Columns[] = [];
  let count = 0;
  let rowCount = firstRowCount(limit);
  for (let atMs = fromMs; atMs < untilMs && count < limit; rowCount = Math.min(4 * rowCount, ROWS_MAX)) {
    const found = await segmentsFrom(tx, key, atMs, rowCount);
    const rows = found.filter((row) => row.startMs < untilMs && !isErased(row, patch));
    // Up to the last of the segments nothing is missing, and beyond it only if there are no more of them.
    const endMs = found.length === rowCount ? Math.min(untilMs, nextDouble(found.at(-1)!.endMs)) : untilMs;
    const part = between(overlay(unpackSegments(rows), patchBetween(patch, atMs, endMs)), atMs, endMs);
    parts.push(part);
    count += part.timeMs.length;
    atMs = endMs;
  }
  return cutTo(concatenate(parts), limit, false);
}

async function readLate(
  tx: Reader,
  { key, patch }: OpenSeries,
  fromMs: number,
  untilMs: number,
  limit: number,
): Promise<Columns> {
  const parts: Columns[] = [];
  let count = 0;
  // The segment that the late end lies in ends after it; all others lie before it.
  const [last] = untilMs === Infinity ? [] : await segmentsFrom(tx, key, untilMs, 1);
  let inEnd = last !== undefined && last.startMs < untilMs ? [last] : [];
  let rowCount = firstRowCount(limit);
  for (let atMs = untilMs; atMs > fromMs && count < limit; rowCount = Math.min(4 * rowCount, ROWS_MAX)) {
    const found = await segmentsBefore(tx, key, atMs, rowCount);
    const rows = [...inEnd, ...found].filter((row) => row.endMs >= fromMs && !isErased(row, patch)).reverse();
    const startMs = found.length === rowCount ? Math.max(fromMs, found.at(-1)!.startMs) : fromMs;
    const part = between(overlay(unpackSegments(rows), patchBetween(patch, startMs, atMs)), startMs, atMs);
    parts.push(part);
    count += part.timeMs.length;
    atMs = startMs;
    inEnd = [];
  }
  return cutTo(concatenate(parts.reverse()), limit, true);
}

const ROWS_MAX = 256;
/** A segment has some thousand samples: so many rows are likely to be enough, and few are read in vain. */
const SAMPLES_EXPECTED = 2048;

function firstRowCount(limit: number): number {
  return Math.min(Math.ceil(limit / SAMPLES_EXPECTED), ROWS_FIRST);
}

const ROWS_FIRST = 8;

function cutTo(columns: Columns, limit: number, isLate: boolean): Columns {
  const { length } = columns.timeMs;
  if (length <= limit) return columns;
  return isLate ? sliceColumns(columns, length - limit, length) : sliceColumns(columns, 0, limit);
}

type Counted = Pick<SeriesInfo, 'sampleCount' | 'firstMs' | 'lastMs'>;

/**
 * What is known of a series: its row tells of the segments, the rest is added to it. Of what is damaged it tells as
 * much as can be known, for one damaged series does not hinder a list of all.
 */
export async function describeSeries(tx: Reader, row: SeriesRow, patch: Patch): Promise<SeriesInfo> {
  const { timeseriesId, metric, itemId, sampleCount, firstMs, lastMs } = row;
  const { timeMs, value, deleted } = patch;
  const series = { key: row.seriesKey, patch: { timeMs, value, deleted }, isResult: itemId !== null };
  try {
    const finals = await countFinals(tx, row, series);
    const counted = series.isResult ? await addProvisional(tx, series, finals) : finals;
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
    else count += overlay(unpackSegments([segment]), patch).timeMs.length - segment.sampleCount;
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
