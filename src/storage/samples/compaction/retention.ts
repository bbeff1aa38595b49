import { equal, type Reader, type Transaction } from '../../storage.js';
import {
  type RetentionRow,
  type SegmentRow,
  type SeriesRow,
  segmentHeads,
  segments,
  series,
} from '../../tables/samples.js';
import type { LogRow } from '../log-index.js';
import { indexAt, sliceColumns } from '../patch.js';
import { compactedOf, readProgress } from '../progress.js';
import type { Columns } from '../samples.js';
import { packSegment, segmentRange, segmentsFrom, unpackIfSound } from '../segments.js';
import { findSeries } from './move.js';

/** The most segments that a transaction deletes, so that others do not wait long. */
const SEGMENTS_PER_TRANSACTION = 100;

/** Series looked through in one read. */
const SERIES_PER_READ = 1000;

/** What a rule says of a series, at some instant. */
export interface Expiry {
  /** Samples before this have outlived their rule. */
  readonly beforeMs: number;
  /** Those before this are deleted even if newer ones have to be written again for that. */
  readonly lateMs: number;
}

/** What the rules of an organisation say of its series, at some instant. */
export interface Expiries {
  /** By the most specific rule that fits the series; undefined if none does. */
  of(row: Pick<SeriesRow, 'timeseriesId' | 'metric' | 'itemId'>): Expiry | undefined;
  /** The latest `lateMs` of all rules. */
  readonly lateMsMax: number;
}

/**
 * @param rules of one organisation.
 * @param slackShare for which share of its rule a sample may be kept longer.
 */
export function createExpiries(rules: readonly RetentionRow[], nowMs: number, slackShare: number): Expiries {
  const keyOf = (kind: string, timeseriesId: string, metric: string) => JSON.stringify([kind, timeseriesId, metric]);
  const byScope = new Map<string, Expiry>();
  let lateMsMax = Number.NEGATIVE_INFINITY;
  for (const { kind, timeseriesId, metric, keepMs } of rules) {
    const beforeMs = nowMs - keepMs;
    const lateMs = beforeMs - slackShare * keepMs;
    byScope.set(keyOf(kind, timeseriesId, metric), { beforeMs, lateMs });
    lateMsMax = Math.max(lateMsMax, lateMs);
  }
  const of: Expiries['of'] = ({ timeseriesId, metric, itemId }) => {
    const kind = itemId === null ? 'samples' : 'results';
    const scopes = [
      [timeseriesId, metric],
      [timeseriesId, ''],
      ['', metric],
      ['', ''],
    ] as const;
    for (const [ofSeries, ofMetric] of scopes) {
      const found = byScope.get(keyOf(kind, ofSeries, ofMetric));
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return { of, lateMsMax };
}

/** Whether rows of the log have samples of an organisation that should have been deleted by now. */
export async function haveLate(
  tx: Reader,
  rows: readonly LogRow[],
  organisation: string,
  expiries: Expiries,
): Promise<boolean> {
  const firstMs = new Map<number, number>();
  for (const { organisation: own, heads, damage } of rows) {
    // Compaction stops before it.
    if (damage !== undefined) break;
    if (own !== organisation || heads.fromMs >= expiries.lateMsMax) continue;
    for (const key of heads.keys) firstMs.set(key, Math.min(heads.fromMs, firstMs.get(key) ?? heads.fromMs));
  }
  const keys = [...firstMs.keys()];
  for (let from = 0; from < keys.length; from += SERIES_PER_READ) {
    for (const [key, row] of await findSeries(tx, keys.slice(from, from + SERIES_PER_READ))) {
      const expiry = expiries.of(row);
      if (expiry !== undefined && firstMs.get(key)! < expiry.lateMs) return true;
    }
  }
  return false;
}

/** A series that may have segments older than its rule allows. */
export interface Expired extends Expiry {
  readonly row: SeriesRow;
  /** The commit up to which its changes are in segments. */
  readonly compactedCommit: number;
}

/**
 * Looks through some series of an organisation, so that others do not wait long.
 *
 * @param after the last series that was looked through; undefined at the start.
 * @returns those with samples that have expired, and after which series to go on; undefined if these were all.
 */
export async function findExpired(
  tx: Reader,
  organisation: string,
  expiries: Expiries,
  after?: SeriesRow,
): Promise<{ readonly expired: readonly Expired[]; readonly last: SeriesRow | undefined }> {
  const rows = await tx.find(series, {
    where: equal({ organisation }),
    orderBy: [{ column: 'timeseriesId' }, { column: 'metric' }],
    ...(after === undefined ? {} : { after: [after.timeseriesId, after.metric] }),
    limit: SERIES_PER_READ,
  });
  const progress = await readProgress(tx);
  const expired = rows.flatMap((row): Expired[] => {
    const expiry = expiries.of(row);
    if (expiry === undefined || row.firstMs === null || row.firstMs >= expiry.beforeMs) return [];
    return [{ row, ...expiry, compactedCommit: compactedOf(progress, row.seriesKey) }];
  });
  return { expired, last: rows.length < SERIES_PER_READ ? undefined : rows.at(-1) };
}

/** A series, and what of it is to be deleted. */
export interface Deletable extends Pick<Expired, 'row' | 'beforeMs' | 'lateMs'> {
  /** The commit up to which other shards have copied its changes, if they do: later ones must not be in segments. */
  readonly copiedCommit?: number;
}

/** The time of the last sample of a series that may be deleted; undefined if none may. */
export async function lastExpiredMs(tx: Reader, one: Deletable): Promise<number | undefined> {
  const { row, beforeMs } = one;
  const beginning = await lateBeginning(tx, one);
  if (beginning !== undefined) return beginning.lastMs;
  const where = [
    ['seriesKey', '=', row.seriesKey],
    ['endMs', '<', beforeMs],
  ] as const;
  const orderBy = [{ column: 'endMs', isDescending: true }] as const;
  const [last] = await tx.find(segmentHeads, { where, orderBy, limit: 1 });
  return last?.endMs;
}

/** The samples at the beginning of a segment that are to be deleted. */
interface Beginning {
  readonly segment: SegmentRow;
  readonly columns: Columns;
  readonly sampleCount: number;
  readonly lastMs: number;
}

/**
 * What is to be deleted of the segment with samples on both sides of the limit, if it starts too early to wait until
 * all of it has expired. A damaged one stays whole.
 */
async function lateBeginning(tx: Reader, { row, beforeMs, lateMs }: Deletable): Promise<Beginning | undefined> {
  const [segment] = await segmentsFrom(tx, row.seriesKey, beforeMs, 1);
  if (segment === undefined || segment.startMs >= Math.min(beforeMs, lateMs)) return undefined;
  const columns = unpackIfSound(segment);
  const sampleCount = columns === undefined ? 0 : indexAt(columns.timeMs, beforeMs);
  if (columns === undefined || sampleCount === 0) return undefined;
  return { segment, columns, sampleCount, lastMs: columns.timeMs[sampleCount - 1]! };
}

/** Series that one transaction looks at. */
export const SERIES_PER_TRANSACTION = 100;

/** What it takes to write the rest of a segment, in deletions of segments. */
const REWRITE_COST = 16;

/**
 * Deletes some of what has expired: segments that end before the instant of their series, and the beginning of one that
 * starts too early. Nothing is logged, so that items do not treat it as a change: their results stay.
 *
 * @returns how many of the first series are done.
 */
export async function deleteExpired(tx: Transaction, expired: readonly Deletable[]): Promise<number> {
  let room = SEGMENTS_PER_TRANSACTION;
  const some = expired.slice(0, SERIES_PER_TRANSACTION);
  for (const [index, one] of some.entries()) {
    room -= await deleteOfSeries(tx, one, room);
    // It may have more.
    if (room <= 0) return index;
  }
  return some.length;
}

/** @returns what it took, in deletions of segments. */
async function deleteOfSeries(tx: Transaction, one: Deletable, room: number): Promise<number> {
  const { beforeMs, copiedCommit = Number.POSITIVE_INFINITY } = one;
  const { organisation, timeseriesId, metric, seriesKey } = one.row;
  const row = await tx.get(series, { organisation, timeseriesId, metric });
  if (row === undefined || row.seriesKey !== seriesKey) return 0;
  // More may have been compacted since it was found.
  if (compactedOf(await readProgress(tx), seriesKey) > copiedCommit) return 0;
  const range = [
    ['seriesKey', '=', seriesKey],
    ['endMs', '<', beforeMs],
  ] as const;
  const orderBy = [{ column: 'endMs' }] as const;
  const old = await tx.find(segmentHeads, { where: range, orderBy, limit: room });
  const beginning = old.length < room ? await lateBeginning(tx, one) : undefined;
  const forgottenMs = beginning?.lastMs ?? old.at(-1)?.endMs;
  if (forgottenMs === undefined) return 0;
  const where = [
    ['seriesKey', '=', seriesKey],
    ['endMs', '<=', forgottenMs],
  ] as const;
  if (old.length > 0) await tx.delete(segments, where);
  if (beginning !== undefined) await deleteBeginning(tx, beginning);
  const [firstMs, lastMs] = await segmentRange(tx, seriesKey);
  const deletedCount = old.reduce((sum, { sampleCount }) => sum + sampleCount, beginning?.sampleCount ?? 0);
  await tx.update(series, equal({ organisation, timeseriesId, metric }), {
    sampleCount: row.sampleCount - deletedCount,
    firstMs,
    lastMs,
    forgottenMs: Math.max(row.forgottenMs ?? forgottenMs, forgottenMs),
  });
  return old.length + (beginning === undefined ? 0 : REWRITE_COST);
}

async function deleteBeginning(tx: Transaction, { segment, columns, sampleCount }: Beginning): Promise<void> {
  await tx.put(segments, packSegment(segment.seriesKey, sliceColumns(columns, sampleCount, segment.sampleCount)));
}
