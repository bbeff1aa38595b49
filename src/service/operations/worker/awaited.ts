import { groupBy } from '../../../core/group.js';
import { equal, type Reader } from '../../../storage/storage.js';
import type { RowIn } from '../../../storage/table.js';
import { AFTER_REPLICATION_MS, itemWork, replicas } from '../../../storage/tables/operations.js';
import type { ServiceContext } from '../../context.js';
import { sourcesOf } from '../sources.js';
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

/**
 * The items of other shards whose results this one copies, if these may change: as an item has work to do now or tries
 * again later, be it this one or another whose results it rests on, in any shard.
 */
export async function findBusyElsewhere(
  { storage, samples, placements, clock }: ServiceContext,
  shard: number,
  organisation: string,
): Promise<ReadonlySet<string>> {
  const nowMs = clock.nowMs();
  const placement = await placements.of(organisation);
  const copies = await storage.read(shard, (tx) => tx.find(replicas, { where: equal({ organisation }) }));
  const found = new Map<string, number>();
  for (const { itemId, sourceShard } of copies) if (itemId !== null) found.set(itemId, sourceShard);
  const busy = new Set<string>();
  const readersOf = new Map<string, string[]>();
  const look = async (tx: Reader, itemIds: readonly string[]): Promise<void> => {
    const work = await tx.find(itemWork, { where: [...equal({ organisation }), ['itemId', 'in', itemIds]] });
    for (const one of work) if (isBusy(one, nowMs)) busy.add(one.itemId);
    const read = await sourcesOf(tx, organisation, itemIds);
    const producers = await samples.itemIdsOf(tx, organisation, read);
    for (const [index, { itemId, timeseriesId }] of read.entries()) {
      const producer = producers[index];
      if (producer == null) continue;
      if (!found.has(producer)) found.set(producer, placement.shardOf(timeseriesId));
      const readers = readersOf.get(producer);
      if (readers === undefined) readersOf.set(producer, [itemId]);
      else readers.push(itemId);
    }
  };
  // Each look may find items for the next one.
  for (let seenCount = 0; seenCount < found.size; ) {
    const unseen = [...found].slice(seenCount);
    seenCount = found.size;
    for (const [at, own] of groupBy(unseen, ([, ofItem]) => ofItem)) {
      for (let from = 0; from < own.length; from += IDS_LOOKED_UP) {
        const some = own.slice(from, from + IDS_LOOKED_UP).map(([itemId]) => itemId);
        await storage.read(at, (tx) => look(tx, some));
      }
    }
  }
  // A loop over a set also visits what is added during the loop.
  for (const itemId of busy) for (const reader of readersOf.get(itemId) ?? []) busy.add(reader);
  return busy;
}

function isBusy({ dueMs, attemptCount }: RowIn<typeof itemWork>, nowMs: number): boolean {
  return dueMs <= nowMs || dueMs === AFTER_REPLICATION_MS || attemptCount > 0;
}
