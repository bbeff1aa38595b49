import { equal, type Reader, type Transaction } from '../../storage.js';
import { type RetentionRow, type SeriesRow, segments, series } from '../../tables/samples.js';
import { segmentRange } from '../segments.js';

/** The most segments that a transaction deletes, so that others do not wait long. */
const SEGMENTS_PER_TRANSACTION = 256;

/** The most specific rule that fits a series. */
function ruleFor(rules: readonly RetentionRow[], row: SeriesRow): RetentionRow | undefined {
  const { organisation, timeseriesId, metric, itemId } = row;
  const kind = itemId === null ? 'samples' : 'results';
  for (const scope of [{ timeseriesId, metric }, { timeseriesId, metric: '' }, { timeseriesId: '', metric }, ALL]) {
    const key = { organisation, kind, ...scope };
    const found = rules.find((rule) => COLUMNS.every((column) => rule[column] === key[column]));
    if (found !== undefined) return found;
  }
  return undefined;
}

const ALL = { timeseriesId: '', metric: '' };
const COLUMNS = ['organisation', 'kind', 'timeseriesId', 'metric'] as const;

/**
 * Finds the series of a shard with a segment that is older than their rule allows.
 *
 * @returns each with the time before which segments are to be deleted.
 */
export async function findExpired(
  tx: Reader,
  rules: readonly RetentionRow[],
  nowMs: number,
): Promise<{ readonly row: SeriesRow; readonly beforeMs: number }[]> {
  const expired: { row: SeriesRow; beforeMs: number }[] = [];
  for (const organisation of new Set(rules.map((rule) => rule.organisation))) {
    const oldestKeepMs = Math.min(
      ...rules.filter((rule) => rule.organisation === organisation).map(({ keepMs }) => keepMs),
    );
    const where = [
      ['organisation', '=', organisation],
      ['firstMs', '<', nowMs - oldestKeepMs],
    ] as const;
    for (const row of await tx.find(series, { where })) {
      const rule = ruleFor(rules, row);
      if (rule !== undefined && row.firstMs! < nowMs - rule.keepMs)
        expired.push({ row, beforeMs: nowMs - rule.keepMs });
    }
  }
  return expired;
}

/**
 * Deletes some of the segments of a series that end before an instant; a segment that ends later stays whole. Nothing
 * is logged, so that items do not treat it as a change: their results stay.
 *
 * @returns whether more are left.
 */
export async function deleteExpired(tx: Transaction, of: SeriesRow, beforeMs: number): Promise<boolean> {
  const { organisation, timeseriesId, metric } = of;
  const row = await tx.get(series, { organisation, timeseriesId, metric });
  if (row === undefined || row.seriesKey !== of.seriesKey) return false;
  const range = [
    ['seriesKey', '=', row.seriesKey],
    ['endMs', '<', beforeMs],
  ] as const;
  const orderBy = [{ column: 'endMs' }] as const;
  const old = await tx.find(segments, { where: range, orderBy, limit: SEGMENTS_PER_TRANSACTION });
  const last = old.at(-1);
  if (last === undefined) return false;
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
  return old.length === SEGMENTS_PER_TRANSACTION;
}
