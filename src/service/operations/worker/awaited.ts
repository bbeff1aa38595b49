import { groupBy } from '../../../core/group.js';
import { equal } from '../../../storage/storage.js';
import { AFTER_REPLICATION_MS, itemWork, replicas } from '../../../storage/tables/operations.js';
import type { ServiceContext } from '../../context.js';
import type { Item } from './item.js';
import type { Session } from './session.js';

/** In one statement, which others wait for. */
const IDS_LOOKED_UP = 250;

/**
 * Whether results that an item reads, or that those rest on, are still to be computed: they may change from any instant
 * on. Those that failed stay as they are.
 *
 * @param elsewhere the items of other shards with work to do.
 */
export async function awaitsResults(session: Session, item: Item, elsewhere: ReadonlySet<string>): Promise<boolean> {
  const { samples, clock } = session.context;
  const nowMs = clock.nowMs();
  const found = new Set([item]);
  // A loop over a set also visits what is added during the loop.
  for (const { results, sources } of found) {
    const read = sources.producers.resultSources.map((index) => sources.series[index]!);
    if (read.length === 0) continue;
    const ids = await samples.itemIdsOf(session.tx, results.organisation, read);
    const producers = ids.filter((itemId) => typeof itemId === 'string');
    if (producers.some((itemId) => elsewhere.has(itemId))) return true;
    for (const producer of await session.itemsOf(results.organisation, producers)) {
      if (!producer.base.isSettled(nowMs)) return true;
      found.add(producer);
    }
  }
  return false;
}

/** The items of other shards whose results this one copies, and which have work to do now or try again later. */
export async function findBusyElsewhere(
  { storage, clock }: ServiceContext,
  shard: number,
  organisation: string,
): Promise<ReadonlySet<string>> {
  const nowMs = clock.nowMs();
  const busy = new Set<string>();
  const copies = await storage.read(shard, (tx) => tx.find(replicas, { where: equal({ organisation }) }));
  for (const [sourceShard, own] of groupBy(copies, (one) => one.sourceShard)) {
    const itemIds = [...new Set(own.flatMap(({ itemId }) => itemId ?? []))];
    for (let from = 0; from < itemIds.length; from += IDS_LOOKED_UP) {
      const some = itemIds.slice(from, from + IDS_LOOKED_UP);
      const where = [...equal({ organisation }), ['itemId', 'in', some] as const];
      for (const { itemId, dueMs, attemptCount } of await storage.read(sourceShard, (tx) =>
        tx.find(itemWork, { where }),
      )) {
        if (dueMs <= nowMs || dueMs === AFTER_REPLICATION_MS || attemptCount > 0) busy.add(itemId);
      }
    }
  }
  return busy;
}
