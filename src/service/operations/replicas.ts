import { type SeriesReference, seriesKey } from '../../core/series.js';
import type { Placement } from '../../storage/shard.js';
import { equal, type Storage, type Transaction } from '../../storage/storage.js';
import type { RowIn } from '../../storage/table.js';
import { itemSources, replicas, replicationProgress } from '../../storage/tables/operations.js';
import type { ServiceContext } from '../context.js';

/** Asks the worker of this shard to copy those of the series that lie in other shards: items that read them wait. */
export async function addReplicas(
  tx: Transaction,
  placement: Placement,
  organisation: string,
  sources: readonly SeriesReference[],
): Promise<void> {
  const elsewhere = new Map<string, RowIn<typeof replicas>>();
  for (const { timeseriesId, metric } of sources) {
    const sourceShard = placement.shardOf(timeseriesId);
    if (sourceShard === tx.shard) continue;
    const row = { organisation, timeseriesId, metric, sourceShard, itemId: null, isFilled: false, filledMs: null };
    elsewhere.set(seriesKey(row), row);
  }
  for (const { timeseriesId, metric } of await replicasOf(tx, organisation, [...elsewhere.values()])) {
    elsewhere.delete(seriesKey({ timeseriesId, metric }));
  }
  if (elsewhere.size === 0) return;
  const added = [...elsewhere.values()];
  await tx.insertAll(replicas, added);
  const shards = new Set(added.map(({ sourceShard }) => sourceShard));
  for (const { sourceShard } of await tx.find(replicationProgress)) shards.delete(sourceShard);
  await tx.insertAll(
    replicationProgress,
    [...shards].map((sourceShard) => ({ sourceShard, readCommit: null })),
  );
}

/** The commit up to which all replicas of a series have its changes; Infinity if there are none. */
export type CopiedCommit = (sourceShard: number, series: SeriesReference) => number;

/** Looks up how far the series of an organisation are copied into its other shards. */
export async function readCopied(
  storage: Storage,
  organisation: string,
  shards: readonly number[],
): Promise<CopiedCommit> {
  const commits = new Map<string, number>();
  const keyOf = (sourceShard: number, series: SeriesReference) => `${sourceShard}:${seriesKey(series)}`;
  for (const shard of shards) {
    const { copies, progress } = await storage.read(shard, async (tx) => ({
      copies: await tx.find(replicas, { where: equal({ organisation }) }),
      progress: new Map((await tx.find(replicationProgress)).map((row) => [row.sourceShard, row.readCommit])),
    }));
    for (const { sourceShard, isFilled, timeseriesId, metric } of copies) {
      const key = keyOf(sourceShard, { timeseriesId, metric });
      const commit = isFilled ? (progress.get(sourceShard) ?? 0) : 0;
      commits.set(key, Math.min(commits.get(key) ?? commit, commit));
    }
  }
  return (sourceShard, series) => commits.get(keyOf(sourceShard, series)) ?? Number.POSITIVE_INFINITY;
}

async function replicasOf(tx: Transaction, organisation: string, series: readonly SeriesReference[]) {
  if (series.length === 0) return [];
  const anyOf = series.map(({ timeseriesId, metric }) => ({ timeseriesId, metric }));
  return tx.find(replicas, { where: equal({ organisation }), anyOf });
}

/** Deletes the replicas among these series that nothing reads any more. */
export async function dropReplicas(
  { samples }: Pick<ServiceContext, 'samples'>,
  tx: Transaction,
  organisation: string,
  sources: readonly SeriesReference[],
): Promise<void> {
  for (const { timeseriesId, metric } of await replicasOf(tx, organisation, sources)) {
    const key = { organisation, timeseriesId, metric };
    const readers = await tx.find(itemSources, { where: equal(key), limit: 1 });
    if (readers.length > 0) continue;
    await tx.delete(replicas, equal(key));
    await samples.drop(tx, organisation, key);
  }
}
