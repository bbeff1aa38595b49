import { equal, type Reader, type Transaction } from '../../storage.js';
import { type RetentionRow, type SeriesRow, segments, series } from '../../tables/samples.js';
import { segmentRange } from '../segments.js';

/** What a transaction deletes at most, so that nobody waits for it long. */
const SEGMENTS_A_TRANSACTION = 256;

/** The rule that holds for a series: the most special of those that fit. */
function ruleFor(rules: readonly RetentionRow[], row: SeriesRow): RetentionRow | undefined {
  const { organisation, timeseriesId, metric, itemId } = row;
  const kind = itemId === null ? 'samples' : 'results';
  for (const special of [{ timeseriesId, metric }, { timeseriesId, metric: '' }, { timeseriesId: '', metric }, ALL]) {
    const wanted = { organisation, kind, ...special };
    const found = rules.find((rule) => COLUMNS.every((column) => rule[column] === wanted[column]));
    if (found !== undefined) return found;
  }
  return undefined;
}

const ALL = { timeseriesId: '', metric: '' };
const COLUMNS = ['organisation', 'kind', 'timeseriesId', 'metric'] as const;

/**
 * Series of a shard that have a segment which is older than their rule keeps it.
 *
 * @returns for each the instant before which segments go.
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
 * Deletes the segments of a series that end before an instant, some of them; a segment that reaches beyond it stays
 * whole. The log is left as it is, for items are not to take it for a change: what was computed of it stays.
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
  const old = await tx.find(segments, { where: range, orderBy, limit: SEGMENTS_A_TRANSACTION });
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
  return old.length === SEGMENTS_A_TRANSACTION;
}
