import { groupBy } from '../core/group.js';
import {
  createRuleFinder,
  type Deletable,
  deleteExpired,
  findExpired,
  type RuleFinder,
} from '../storage/samples/compaction/retention.js';
import { type Reader, type Storage, type Transaction, writeReserved } from '../storage/storage.js';
import { itemCatalog } from '../storage/tables/operations.js';
import type { SeriesRow } from '../storage/tables/samples.js';
import { forLog, repeat, type StopWork } from './background.js';
import type { ServiceContext } from './context.js';
import { listRetention } from './identity/retention.js';
import { type CopiedCommit, readCopied } from './operations/replicas.js';
import type { Kept } from './operations/worker/retention.js';
import type { Worker } from './operations/worker/worker.js';

const PERIOD_MS = 600_000;
const FAILURE = 'old samples were not deleted';

/** Whoever knows when items no longer need samples. */
export type ItemWorker = Pick<Worker, 'deleteExpired' | 'notePositions'>;

/** Deletes samples that have outlived their retention rule, now and then. */
export function startRetention(context: ServiceContext, worker: ItemWorker): StopWork {
  return repeat(context, PERIOD_MS, FAILURE, (isStopped) => deleteOldSamples(context, worker, isStopped));
}

/** Deletes samples that have outlived their retention rule, in short transactions. */
export async function deleteOldSamples(
  context: ServiceContext,
  worker: ItemWorker,
  isStopped: () => boolean,
): Promise<void> {
  // Rules lie in the home shard of their organisation, whose series may lie in any shard.
  for (const [organisation, rules] of groupBy(await listRetention(context, {}), (rule) => rule.organisation)) {
    const { shards } = await context.placements.of(organisation);
    await worker.notePositions(shards);
    const copied = await readCopied(context.storage, organisation, shards);
    const ruleFor = createRuleFinder(rules);
    for (const shard of shards) {
      try {
        await deleteOldOfShard({ context, worker, isStopped, copied }, shard, organisation, ruleFor);
      } catch (error) {
        // If the whole store is away, the others need not be tried.
        await context.storage.check();
        context.log.warn({ ...forLog(error), organisation, shard }, FAILURE);
      }
    }
  }
}

interface RetentionRound {
  readonly context: ServiceContext;
  readonly worker: ItemWorker;
  readonly isStopped: () => boolean;
  readonly copied: CopiedCommit;
}

async function deleteOldOfShard(
  { context, worker, isStopped, copied }: RetentionRound,
  shard: number,
  organisation: string,
  ruleFor: RuleFinder,
): Promise<void> {
  const { storage, clock } = context;
  const kept: Kept = { seriesKeys: new Set(), itemIds: new Set() };
  let uncopiedCount = 0;
  let after: SeriesRow | undefined;
  do {
    if (isStopped()) return;
    const found = await storage.read(shard, async (tx) => ({
      ...(await findExpired(tx, organisation, ruleFor, clock.nowMs(), after)),
      hasItems: await hasItems(tx),
    }));
    const each = found.expired.map((one) => ({ ...one, copiedCommit: copied(shard, one.row) }));
    const expired = each.filter(({ copiedCommit, compactedCommit }) => copiedCommit >= compactedCommit);
    uncopiedCount += each.length - expired.length;
    if (found.hasItems) await worker.deleteExpired(shard, organisation, expired, kept);
    else await deleteWhereNoItems(storage, shard, expired, isStopped);
    after = found.last;
  } while (after !== undefined);
  const tell = (seriesCount: number, why: string) => {
    if (seriesCount === 0) return;
    context.log.info({ organisation, shard, seriesCount }, `samples are kept longer than their rule: ${why}`);
  };
  tell(uncopiedCount, 'items of other shards have still to copy them');
  tell(kept.seriesKeys.size, 'items have still to take them');
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
