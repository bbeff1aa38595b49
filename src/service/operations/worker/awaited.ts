import { groupBy } from '../../../core/group.js';
import { equal, type Reader } from '../../../storage/storage.js';
import type { RowIn } from '../../../storage/table.js';
import { AFTER_REPLICATION_MS, itemHeads, itemWork, replicas } from '../../../storage/tables/operations.js';
import type { ServiceContext } from '../../context.js';
import { sourcesOf } from '../sources.js';
import { checkpointHeads } from './checkpoints.js';
import type { Item } from './item.js';
import type { Session } from './session.js';

/** In one statement, which others wait for. */
const IDS_LOOKED_UP = 250;

/** The items of other shards whose results may change, each with the instant up to which they are settled. */
export type Elsewhere = ReadonlyMap<string, number>;

/**
 * Whether results up to an instant that an item reads, or that those rest on, are still to be computed. Those of items
 * that failed stay as they are.
 */
export async function awaitsResults(
  session: Session,
  item: Item,
  lastMs: number,
  elsewhere: Elsewhere,
): Promise<boolean> {
  const settled = await sourcesSettledMs({ session, elsewhere, known: new Map() }, item);
  return settled.some((untilMs) => untilMs < lastMs);
}

interface Search {
  readonly session: Session;
  readonly elsewhere: Elsewhere;
  /** What was found of items. */
  readonly known: Map<string, number>;
}

/** The instants up to which the sources of an item are settled: +∞ for those that clients write. */
async function sourcesSettledMs(search: Search, { results, sources }: Item): Promise<readonly number[]> {
  const { session, elsewhere } = search;
  const settled = sources.series.map(() => Number.POSITIVE_INFINITY);
  const { resultSources } = sources.producers;
  if (resultSources.length === 0) return settled;
  const read = resultSources.map((index) => sources.series[index]!);
  const ids = await session.context.samples.itemIdsOf(session.tx, results.organisation, read);
  const found = await session.itemsOf(
    results.organisation,
    ids.filter((itemId) => typeof itemId === 'string'),
  );
  const producers = new Map(found.map((producer) => [producer.results.itemId, producer]));
  for (const [at, index] of resultSources.entries()) {
    const itemId = ids[at];
    if (itemId == null) continue;
    const producer = producers.get(itemId);
    const ofOther = elsewhere.get(itemId);
    if (ofOther !== undefined) settled[index] = ofOther;
    else if (producer !== undefined) settled[index] = await settledMs(search, producer);
  }
  return settled;
}

/** The instant up to which the results of an item are settled, and those that they rest on. */
async function settledMs(search: Search, item: Item): Promise<number> {
  const { itemId } = item.results;
  const known = search.known.get(itemId);
  if (known !== undefined) return known;
  const own = item.base.settledUntilMs(search.session.context.clock.nowMs());
  const ofSources = await sourcesSettledMs(search, item);
  // Up to there, its results rest on nothing that is not settled.
  const resting = ofSources.every((ms) => ms === Number.POSITIVE_INFINITY)
    ? Number.POSITIVE_INFINITY
    : (item.checkpoints.lastUntil(ofSources)?.emittedMs ?? Number.NEGATIVE_INFINITY);
  const settled = Math.min(own, resting);
  search.known.set(itemId, settled);
  return settled;
}

/**
 * The items of other shards whose results this one copies, if these may change: as an item has work to do now or tries
 * again later, be it this one or another whose results it rests on, in any shard. What such a stream computes next
 * follows its newest checkpoint, unless it rests on another.
 */
export async function findBusyElsewhere(
  { storage, samples, placements, clock }: ServiceContext,
  shard: number,
  organisation: string,
): Promise<Elsewhere> {
  const nowMs = clock.nowMs();
  const placement = await placements.of(organisation);
  const copies = await storage.read(shard, (tx) => tx.find(replicas, { where: equal({ organisation }) }));
  const found = new Map<string, number>();
  for (const { itemId, sourceShard } of copies) if (itemId !== null) found.set(itemId, sourceShard);
  const busy = new Map<string, number>();
  const readersOf = new Map<string, string[]>();
  const look = async (tx: Reader, itemIds: readonly string[]): Promise<void> => {
    const work = await tx.find(itemWork, { where: [...equal({ organisation }), ['itemId', 'in', itemIds]] });
    const busyIds = work.filter((one) => isBusy(one, nowMs)).map(({ itemId }) => itemId);
    for (const [itemId, settledMs] of await settledOf(tx, organisation, busyIds)) busy.set(itemId, settledMs);
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
  const resting = new Set([...busy.keys()].flatMap((itemId) => readersOf.get(itemId) ?? []));
  for (const itemId of resting) {
    busy.set(itemId, Number.NEGATIVE_INFINITY);
    for (const reader of readersOf.get(itemId) ?? []) resting.add(reader);
  }
  return busy;
}

function isBusy({ dueMs, attemptCount }: RowIn<typeof itemWork>, nowMs: number): boolean {
  return dueMs <= nowMs || dueMs === AFTER_REPLICATION_MS || attemptCount > 0;
}

/** The instants up to which the results of busy items are settled, by themselves. */
async function settledOf(tx: Reader, organisation: string, itemIds: readonly string[]): Promise<Map<string, number>> {
  const ofIds = [...equal({ organisation }), ['itemId', 'in', itemIds]] as const;
  const settled = new Map(itemIds.map((itemId) => [itemId, Number.NEGATIVE_INFINITY]));
  const streams = await tx.find(itemHeads, { where: [...ofIds, ['processingType', '=', 'stream']] });
  const ids = streams.map(({ itemId }) => itemId);
  const orderBy = [{ column: 'itemId' }, { column: 'ordinal' }] as const;
  const heads = await tx.find(checkpointHeads, { where: [...equal({ organisation }), ['itemId', 'in', ids]], orderBy });
  for (const { itemId, emittedMs } of heads) settled.set(itemId, emittedMs ?? Number.NEGATIVE_INFINITY);
  return settled;
}
