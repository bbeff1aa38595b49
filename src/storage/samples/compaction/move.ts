import { equal, type Reader, type Transaction } from '../../storage.js';
import { type SegmentRow, type SeriesRow, sampleLog, segments, series } from '../../tables/samples.js';
import { type Progress, readProgress, writeProgress } from '../progress.js';
import { segmentRange } from '../segments.js';

/**
 * What a call of compaction moves from the log into segments, ready to be stored: plain data, so that another thread
 * can prepare it.
 */
export interface Move {
  /** The progress at which it was prepared. */
  readonly begun: Progress;
  readonly ended: Progress;
  readonly series: readonly SeriesMove[];
}

/** The segments of a series that change. */
export interface SeriesMove {
  /** As it was when the segments were read. */
  readonly row: SeriesRow;
  /** The ends of the segments to delete. */
  readonly removed: readonly number[];
  readonly added: readonly SegmentRow[];
  /** The samples in its segments afterwards. */
  readonly sampleCount: number;
  /** Their first and last time; undefined if these are to be looked up. */
  readonly range: readonly [firstMs: number, lastMs: number] | undefined;
}

/**
 * Stores a move, unless what it was prepared from has changed: by another process that compacts, by retention, or as a
 * series was dropped. Then nothing is written, and it has to be prepared again.
 */
export async function storeMove(tx: Transaction, move: Move): Promise<void> {
  const { begun, ended } = move;
  const progress = await readProgress(tx);
  const isCurrent = MOVED.every((field) => progress[field] === begun[field]);
  if (!isCurrent || !(await areAsRead(tx, move.series))) return;
  const deleted = move.series.filter(({ removed }) => removed.length > 0).map((one) => deleteSegments(tx, one));
  const added = move.series.flatMap((one) => one.added);
  await allOf<unknown>([...deleted, tx.insertAll(segments, added)]);
  await allOf(move.series.map((one) => describe(tx, one)));
  if (ended.forgottenCommit > begun.forgottenCommit) {
    await tx.delete(sampleLog, [['commit', '<=', ended.forgottenCommit]]);
  }
  const moved = Object.fromEntries(MOVED.map((field) => [field, ended[field]]));
  await writeProgress(tx, { ...progress, ...moved });
}

/** What of the progress is compaction's own. */
const MOVED = ['compactedCommit', 'roundCommit', 'roundKey', 'roundMs', 'forgottenCommit'] as const;

/** Retention takes samples from a series, and nothing but compaction adds any. */
async function areAsRead(tx: Transaction, moves: readonly SeriesMove[]): Promise<boolean> {
  const rows = await findSeries(
    tx,
    moves.map(({ row }) => row.seriesKey),
  );
  return moves.every(({ row }) => rows.get(row.seriesKey)?.sampleCount === row.sampleCount);
}

function deleteSegments(tx: Transaction, { row, removed }: SeriesMove): Promise<number> {
  return tx.delete(segments, [
    ['seriesKey', '=', row.seriesKey],
    ['endMs', 'in', removed],
  ]);
}

async function describe(tx: Transaction, { row, sampleCount, range }: SeriesMove): Promise<void> {
  const { organisation, timeseriesId, metric, seriesKey } = row;
  const [firstMs, lastMs] = range ?? (await segmentRange(tx, seriesKey));
  await tx.update(series, equal({ organisation, timeseriesId, metric }), { sampleCount, firstMs, lastMs });
}

export async function findSeries(tx: Reader, keys: readonly number[]): Promise<Map<number, SeriesRow>> {
  const rows = await tx.find(series, { where: [['seriesKey', 'in', keys]], orderBy: [{ column: 'seriesKey' }] });
  return new Map(rows.map((row) => [row.seriesKey, row]));
}

/** Awaits all, even if one fails: none may continue after its transaction has ended. */
export async function allOf<Result>(jobs: readonly Promise<Result>[]): Promise<Result[]> {
  await Promise.allSettled(jobs);
  return Promise.all(jobs);
}
