import type { SeriesReference } from '../../core/series.js';
import type { Placement } from '../../storage/shard.js';
import { equal, type Transaction } from '../../storage/storage.js';
import { itemSources, replicas, replicationProgress } from '../../storage/tables/operations.js';
import type { ServiceContext } from '../context.js';

/**
 * Asks the worker of this shard to copy those of the series that lie in other shards.
 *
 * @returns whether there are any: items that read them wait until they are copied.
 */
export async function addReplicas(
  tx: Transaction,
  placement: Placement,
  organisation: string,
  sources: readonly SeriesReference[],
): Promise<boolean> {
  let isAny = false;
  for (const { timeseriesId, metric } of sources) {
    const sourceShard = placement.shardOf(timeseriesId);
    if (sourceShard === tx.shard) continue;
    isAny = true;
    const key = { organisation, timeseriesId, metric };
    if ((await tx.get(replicas, key)) !== undefined) continue;
    await tx.insert(replicas, { ...key, sourceShard, itemId: null, isFilled: false, filledMs: null });
    if ((await tx.get(replicationProgress, { sourceShard })) !== undefined) continue;
    await tx.insert(replicationProgress, { sourceShard, readCommit: null });
  }
  return isAny;
}

/** Deletes the replicas among these series that nothing reads any more. */
export async function dropReplicas(
  { samples }: Pick<ServiceContext, 'samples'>,
  tx: Transaction,
  organisation: string,
  sources: readonly SeriesReference[],
): Promise<void> {
  for (const { timeseriesId, metric } of sources) {
    const key = { organisation, timeseriesId, metric };
    if ((await tx.get(replicas, key)) === undefined) continue;
    const readers = await tx.find(itemSources, { where: equal(key), limit: 1 });
    if (readers.length > 0) continue;
    await tx.delete(replicas, equal(key));
    await samples.drop(tx, organisation, key);
  }
}
