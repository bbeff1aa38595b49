import { groupBy } from '../core/group.js';
import { nextDouble } from '../core/next-double.js';
import { seriesKey } from '../core/series.js';
import { absorbedCommit, type Compactor } from '../storage/samples/compaction/compactor.js';
import {
  createExpiries,
  type Deletable,
  deleteExpired,
  type Expired,
  type Expiries,
  findExpired,
} from '../storage/samples/compaction/retention.js';
import { equal, type Reader, type Storage, type Transaction, writeReserved } from '../storage/storage.js';
import { itemCatalog } from '../storage/tables/operations.js';
import { type SeriesRow, series } from '../storage/tables/samples.js';
import { forLog, repeat, type StopWork } from './background.js';
import type { ServiceContext } from './context.js';
import { listRetention } from './identity/retention.js';
import { type CopiedCommit, readCopied } from './operations/replicas.js';
import type { Kept } from './operations/worker/retention.js';
import type { Worker } from './operations/worker/worker.js';

const FAILURE = 'old samples were not deleted';

/** Whoever knows when items no longer need samples. */
export type ItemWorker = Pick<Worker, 'deleteExpired' | 'notePositions'>;

/** Whoever moves the log into segments. */
export type LogMover = Pick<Compactor, 'moveAll'>;

/** What a round of retention works with. */
export interface RoundParts {
  readonly context: ServiceContext;
  readonly worker: ItemWorker;
  readonly compactor: LogMover;
  readonly isStopped: () => boolean;
}

/** Deletes samples that have outlived their retention rule, now and then. */
export function startRetention(context: ServiceContext, worker: ItemWorker, compactor: LogMover): StopWork {
  return repeat(context, context.settings.retentionIntervalMs, FAILURE, (isStopped) =>
    deleteOldSamples({ context, worker, compactor, isStopped }),
  );
}

/** Deletes samples that have outlived their retention rule, in short transactions. */
export async function deleteOldSamples(parts: RoundParts): Promise<void> {
  const { context, worker } = parts;
  const { storage, placements, clock, settings } = context;
  // Rules lie in the home shard of their organisation, whose series may lie in any shard.
  for (const [organisation, rules] of groupBy(await listRetention(context, {}), (rule) => rule.organisation)) {
    const { shards } = await placements.of(organisation);
    const expiries = createExpiries(rules, clock.nowMs(), settings.retentionSlackShare);
    const round = { ...parts, organisation, expiries };
    await forEachShard(round, shards, (shard) => compactLate(round, shard));
    await worker.notePositions(shards);
    const copied = await readCopied(storage, organisation, shards);
    await forEachShard(round, shards, (shard) => deleteOldOfShard(round, shard, copied));
  }
}

/** What the steps of a round of one organisation share. */
interface Round extends RoundParts {
  readonly organisation: string;
  readonly expiries: Expiries;
}

/** Works on each shard, even if that fails for others. */
async function forEachShard(
  { context, isStopped, organisation }: Round,
  shards: readonly number[],
  work: (shard: number) => Promise<void>,
): Promise<void> {
  for (const shard of shards) {
    if (isStopped()) return;
    try {
      await work(shard);
    } catch (error) {
      // If the whole store is away, the others need not be tried.
      await context.storage.check();
      context.log.warn({ ...forLog(error), organisation, shard }, FAILURE);
    }
  }
}

/** Moves the log into segments if it has samples that should be gone by now, as only segments are deleted. */
async function compactLate(round: Round, shard: number): Promise<void> {
  const { context, compactor, isStopped, organisation, expiries } = round;
  const { storage, samples } = context;
  if (!(await storage.maintains(shard))) return;
  await samples.log.loadAll(storage, shard, () => !isStopped());
  const untilCommit = await storage.read(shard, async (tx) =>
    (await samples.log.hasLate(tx, organisation, expiries)) ? absorbedCommit(tx) : undefined,
  );
  if (untilCommit !== undefined && !isStopped()) await compactor.moveAll(shard, untilCommit);
}

async function deleteOldOfShard(
  { context, worker, isStopped, organisation, expiries }: Round,
  shard: number,
  copied: CopiedCommit,
): Promise<void> {
  const { storage, log } = context;
  const kept: Kept = { seriesKeys: new Set(), itemIds: new Set() };
  let uncopiedCount = 0;
  let after: SeriesRow | undefined;
  do {
    if (isStopped()) return;
    const found = await storage.read(shard, async (tx) => ({
      ...(await findExpired(tx, organisation, expiries, after)),
      hasItems: await hasItems(tx),
    }));
    const deletable = await asOriginals(context, organisation, shard, found.expired);
    const each = deletable.map((one) => ({ ...one, copiedCommit: copied(shard, one.row) }));
    const expired = each.filter(({ copiedCommit, compactedCommit }) => copiedCommit >= compactedCommit);
    uncopiedCount += each.length - expired.length;
    if (found.hasItems) await worker.deleteExpired(shard, organisation, expired, kept);
    else await deleteWhereNoItems(storage, shard, expired, isStopped);
    after = found.last;
  } while (after !== undefined);
  const tell = (seriesCount: number, why: string) => {
    if (seriesCount === 0) return;
    log.info({ organisation, shard, seriesCount }, `samples are kept longer than their rule: ${why}`);
  };
  tell(uncopiedCount, 'items of other shards have still to copy them');
  tell(kept.seriesKeys.size, 'items have still to take them');
}

/**
 * Of copies of series in other shards, no more expires than was deleted of these, to the sample: a new item computes
 * over the copy, and so over what is stored, also where items hold samples of the one and not of the other.
 */
async function asOriginals(
  { storage, placements }: ServiceContext,
  organisation: string,
  shard: number,
  expired: readonly Expired[],
): Promise<readonly Expired[]> {
  const { shardOf } = await placements.of(organisation);
  const byShard = groupBy(expired, ({ row }) => shardOf(row.timeseriesId));
  const own = byShard.get(shard) ?? [];
  byShard.delete(shard);
  const ofCopies: Expired[] = [];
  for (const [sourceShard, copies] of byShard) {
    const anyOf = copies.map(({ row: { timeseriesId, metric } }) => ({ timeseriesId, metric }));
    const originals = await storage.read(sourceShard, (tx) =>
      tx.find(series, { where: equal({ organisation }), anyOf }),
    );
    const forgottenMs = new Map(originals.map((row) => [seriesKey(row), row.forgottenMs]));
    for (const one of copies) {
      const untilMs = forgottenMs.get(seriesKey(one.row)) ?? null;
      const beforeMs = untilMs === null ? Number.NEGATIVE_INFINITY : Math.min(one.beforeMs, nextDouble(untilMs));
      // Cut within a segment, as the borders of those of the copy are others.
      if (one.row.firstMs! < beforeMs) ofCopies.push({ ...one, beforeMs, lateMs: beforeMs });
    }
  }
  return [...own, ...ofCopies];
}

/** Whether a shard has ever had items: then its worker knows when they no longer need samples. */
async function hasItems(tx: Reader): Promise<boolean> {
  return (await tx.get(itemCatalog, { name: 'items' })) !== undefined;
}

async function deleteWhereNoItems(
  storage: Storage,
  shard: number,
  expired: readonly Deletable[],
  isStopped: () => boolean,
): Promise<void> {
  for (let left = expired; left.length > 0 && !isStopped(); ) {
    const current = left;
    // The first item may have been registered meanwhile.
    const inTransaction = async (tx: Transaction) => ((await hasItems(tx)) ? left.length : deleteExpired(tx, current));
    left = left.slice(await writeReserved(storage, shard, inTransaction));
  }
}
