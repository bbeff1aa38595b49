import { equal, type Reader, type Transaction } from '../../storage.js';
import { type RetentionRow, type SeriesRow, segmentHeads, segments, series } from '../../tables/samples.js';
import { compactedOf, readProgress } from '../progress.js';
import { segmentRange } from '../segments.js';

/** The most segments that a transaction deletes, so that others do not wait long. */
const SEGMENTS_PER_TRANSACTION = 256;

/** Series looked through in one read. */
const SERIES_PER_READ = 1000;

/** Finds the most specific rule that fits a series. */
export type RuleFinder = (row: SeriesRow) => RetentionRow | undefined;

/** @param rules of one organisation. */
export function createRuleFinder(rules: readonly RetentionRow[]): RuleFinder {
  const keyOf = (kind: string, timeseriesId: string, metric: string) => JSON.stringify([kind, timeseriesId, metric]);
  const byScope = new Map(rules.map((rule) => [keyOf(rule.kind, rule.timeseriesId, rule.metric), rule]));
  return ({ timeseriesId, metric, itemId }) => {
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
}

/** A series that may have segments older than its rule allows, and the time before which they are to be deleted. */
export interface Expired {
  readonly row: SeriesRow;
  readonly beforeMs: number;
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
  ruleFor: RuleFinder,
  nowMs: number,
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
    const rule = ruleFor(row);
    if (rule === undefined || row.firstMs === null || row.firstMs >= nowMs - rule.keepMs) return [];
    return [{ row, beforeMs: nowMs - rule.keepMs, compactedCommit: compactedOf(progress, row.seriesKey) }];
  });
  return { expired, last: rows.length < SERIES_PER_READ ? undefined : rows.at(-1) };
}

/** A series, and the time before which its segments are to be deleted. */
export interface Deletable extends Pick<Expired, 'row' | 'beforeMs'> {
  /** The commit up to which other shards have copied its changes, if they do: later ones must not be in segments. */
  readonly copiedCommit?: number;
}

/** Where the last of the segments of a series ends that may be deleted; undefined if none may. */
export async function lastExpiredMs(tx: Reader, { row, beforeMs }: Deletable): Promise<number | undefined> {
  const where = [
    ['seriesKey', '=', row.seriesKey],
    ['endMs', '<', beforeMs],
  ] as const;
  const orderBy = [{ column: 'endMs', isDescending: true }] as const;
  const [last] = await tx.find(segmentHeads, { where, orderBy, limit: 1 });
  return last?.endMs;
}

/** Series that one transaction looks at. */
export const SERIES_PER_TRANSACTION = 100;

/**
 * Deletes some of the segments that end before the instant of their series; a segment that ends later stays whole.
 * Nothing is logged, so that items do not treat it as a change: their results stay.
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

/** @returns how many were deleted. */
async function deleteOfSeries(
  tx: Transaction,
  {
    row: { organisation, timeseriesId, metric, seriesKey },
    beforeMs,
    copiedCommit = Number.POSITIVE_INFINITY,
  }: Deletable,
  room: number,
): Promise<number> {
  const row = await tx.get(series, { organisation, timeseriesId, metric });
  if (row === undefined || row.seriesKey !== seriesKey) return 0;
  // More may have been compacted since it was found.
  if (compactedOf(await readProgress(tx), seriesKey) > copiedCommit) return 0;
  const range = [
    ['seriesKey', '=', row.seriesKey],
    ['endMs', '<', beforeMs],
  ] as const;
  const orderBy = [{ column: 'endMs' }] as const;
  const old = await tx.find(segmentHeads, { where: range, orderBy, limit: room });
  const last = old.at(-1);
  if (last === undefined) return 0;
  await tx.delete(segments, [
    ['seriesKey', '=', row.seriesKey],
    ['endMs', '<=', last.endMs],
  ]);
  const [firstMs, lastMs] = await segmentRange(tx, row.seriesKey);
  await tx.update(series, equal({ organisation, timeseriesId, metric }), {
    sampleCount: row.sampleCount - old.reduce((sum, { sampleCount }) => sum + sampleCount, 0),
    firstMs,
    lastMs,
    forgottenMs: Math.max(row.forgottenMs ?? last.endMs, last.endMs),
  });
  return old.length;
}
