import { equal, type Reader, type Transaction } from '../../storage.js';
import { type SegmentRow, type SeriesRow, sampleLog, segments, series } from '../../tables/samples.js';
import { type Progress, readProgress, writeProgress } from '../progress.js';
import { deleteSegment, segmentRange } from '../segments.js';
import type { Rewrite } from './rewrite.js';

/** A rewrite whose new segments are packed. */
export interface PackedRewrite extends Omit<Rewrite, 'added'> {
  readonly added: readonly SegmentRow[];
}

/** What a step of compaction writes, computed from a state of the store that may have passed meanwhile. */
export interface CompactionStep {
  /** The progress in that state, and what it is after the step. */
  readonly from: Progress;
  readonly to: Progress;
  readonly isEndOfRound: boolean;
  /** Whether the rows of an ended round are deleted from the log at once. */
  readonly isEager: boolean;
  readonly rewrites: readonly PackedRewrite[];
}

/**
 * Writes a step.
 *
 * @returns false if the state that it was computed from has passed: nothing was written.
 */
export async function storeStep(tx: Transaction, step: CompactionStep): Promise<boolean> {
  const { from, to, rewrites } = step;
  const progress = await readProgress(tx);
  if (!isSamePlace(progress, from) || !(await areAsFound(tx, rewrites))) return false;
  await storeRewrites(tx, rewrites);
  const { roundCommit, roundKey, roundMs } = to;
  const moved = { ...progress, roundCommit, roundKey, roundMs };
  await writeProgress(tx, step.isEndOfRound ? await endRound(tx, moved, step.isEager) : moved);
  return true;
}

/** Whether compaction has not moved on, and no series was dropped. */
export function isSamePlace(a: Progress, b: Progress): boolean {
  return (['compactedCommit', 'roundCommit', 'roundKey', 'roundMs', 'droppedCommit'] as const).every(
    (field) => a[field] === b[field],
  );
}

/** Whether retention has deleted nothing of these series meanwhile; nobody else changes segments between two steps. */
async function areAsFound(tx: Reader, rewrites: readonly PackedRewrite[]): Promise<boolean> {
  const rows = await findSeries(
    tx,
    rewrites.map(({ row }) => row.seriesKey),
  );
  return rewrites.every(({ row }) => {
    const now = rows.get(row.seriesKey);
    return now?.sampleCount === row.sampleCount && now.firstMs === row.firstMs && now.lastMs === row.lastMs;
  });
}

export async function findSeries(tx: Reader, keys: readonly number[]): Promise<Map<number, SeriesRow>> {
  if (keys.length === 0) return new Map();
  const rows = await tx.find(series, { where: [['seriesKey', 'in', keys]], orderBy: [{ column: 'seriesKey' }] });
  return new Map(rows.map((row) => [row.seriesKey, row]));
}

/** Statements go to the database together where they can, so that a remote one costs few round trips. */
async function storeRewrites(tx: Transaction, rewrites: readonly PackedRewrite[]): Promise<void> {
  await allOf(rewrites.flatMap(({ removed }) => removed.map((segment) => deleteSegment(tx, segment))));
  const added = rewrites.flatMap((rewrite) => rewrite.added);
  const appends = rewrites.filter(({ isAppend }) => isAppend);
  const updates = appends.map((rewrite) => {
    const firstMs = rewrite.row.firstMs ?? rewrite.added[0]!.startMs;
    return updateSeries(tx, rewrite, [firstMs, rewrite.added.at(-1)!.endMs]);
  });
  await allOf<unknown>([tx.insertAll(segments, added), ...updates]);
  const others = rewrites.filter(({ isAppend }) => !isAppend);
  await allOf(others.map(async (rewrite) => updateSeries(tx, rewrite, await segmentRange(tx, rewrite.row.seriesKey))));
}

async function updateSeries(
  tx: Transaction,
  { row, removed, added }: PackedRewrite,
  [firstMs, lastMs]: readonly [number | null, number | null],
): Promise<void> {
  const { organisation, timeseriesId, metric } = row;
  const countOf = (rows: readonly SegmentRow[]) => rows.reduce((sum, { sampleCount }) => sum + sampleCount, 0);
  const sampleCount = row.sampleCount + countOf(added) - countOf(removed);
  await tx.update(series, equal({ organisation, timeseriesId, metric }), { sampleCount, firstMs, lastMs });
}

/** Awaits all, even if one fails: none may continue after its transaction has ended. */
export async function allOf<Result>(works: readonly Promise<Result>[]): Promise<Result[]> {
  await Promise.allSettled(works);
  return Promise.all(works);
}

/** Keeps the rows of this round until the next one ends, for followers of the log that lag a little. */
async function endRound(tx: Transaction, progress: Progress, isEager: boolean): Promise<Progress> {
  const { compactedCommit, roundCommit } = progress;
  const forgottenCommit = isEager ? roundCommit : compactedCommit;
  await tx.delete(sampleLog, [['commit', '<=', forgottenCommit]]);
  return { ...progress, compactedCommit: roundCommit, roundKey: 0, roundMs: null, forgottenCommit };
}
