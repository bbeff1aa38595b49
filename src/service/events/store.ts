import { groupBy } from '../../core/group.js';
import { countWork } from '../../storage/next-turn.js';
import { type Condition, equal, type Reader, type Transaction } from '../../storage/storage.js';
import { type EventRow, eventCounts, events, NEVER } from '../../storage/tables/events.js';
import { type EventRecord, isSameEvent, TURN_CHARS, workOf } from './record.js';

/** A collection's key in the rows of its events. */
export interface CollectionKey {
  readonly organisation: string;
  readonly ercollectionid: string;
}

/** Events that one query looks up: those that are stored may be large, whatever the ones to store are. */
const LOOKED_UP = 32;

/**
 * Stores events under (collection, id), which must be unique among them. A replaced version is kept for later pages of
 * queries that began before.
 */
export async function storeEvents(
  tx: Transaction,
  organisation: string,
  records: readonly EventRecord[],
  nowMs: number,
) {
  let created = 0;
  let replaced = 0;
  const afterWork = countWork(TURN_CHARS);
  for (const [ercollectionid, ofCollection] of groupBy(records, (record) => record.ercollectionid)) {
    const collection = { organisation, ercollectionid };
    const createdBefore = created;
    for (const part of partsOf(ofCollection)) {
      const current = await currentVersions(tx, collection, part, afterWork);
      // Awaited together, so that they travel together to a database elsewhere.
      const ended: Promise<unknown>[] = [];
      const added: EventRow[] = [];
      for (const record of part) {
        const before = current.get(record.id);
        if (before !== undefined && isSameEvent(before, record)) continue;
        if (before === undefined) created++;
        else {
          replaced++;
          ended.push(endVersions(tx, collection, record.id, nowMs));
          const turn = afterWork(workOf(before));
          if (turn !== undefined) await Promise.all([turn, ...ended.splice(0)]);
        }
        const version = { organisation, firstCommit: tx.commit, endCommit: NEVER, endedMs: null };
        added.push({ ...record, ...version });
      }
      await Promise.all([...ended, tx.insertAll(events, added)]);
      await afterWork(TURN_CHARS);
    }
    await addToCount(tx, collection, created - createdBefore);
  }
  return { created, replaced, unchanged: records.length - created - replaced };
}

/** @returns whether there was such an event. */
export async function deleteEvent(
  tx: Transaction,
  collection: CollectionKey,
  id: string,
  nowMs: number,
): Promise<boolean> {
  const wasThere = (await endVersions(tx, collection, id, nowMs)) > 0;
  if (wasThere) await addToCount(tx, collection, -1);
  return wasThere;
}

/** Events that one commit deletes with their collection; other requests of the shard wait for no longer than that. */
const EVENTS_PER_COMMIT = 500;

/**
 * Deletes some of the events of a collection, in the order of their ids, as `deleteEvent` deletes one.
 *
 * @returns the last id, after which there may be more; undefined if there are none.
 */
export async function deleteSomeEvents(
  tx: Transaction,
  collection: CollectionKey,
  afterId: string,
  nowMs: number,
): Promise<string | undefined> {
  const current: Condition<EventRow>[] = equal({ ...collection, endCommit: NEVER });
  const where: Condition<EventRow>[] = [...current, ['id', '>', afterId]];
  const found = await tx.find(events, { where, orderBy: [{ column: 'id' }], limit: EVENTS_PER_COMMIT });
  const last = found.at(-1)?.id;
  if (last === undefined) return undefined;
  await tx.update(events, [...where, ['id', '<=', last]], { endCommit: tx.commit, endedMs: nowMs });
  await addToCount(tx, collection, -found.length);
  return found.length === EVENTS_PER_COMMIT ? last : undefined;
}

export async function countEvents(tx: Reader, collection: CollectionKey): Promise<number> {
  return (await tx.get(eventCounts, { ...collection }))?.eventCount ?? 0;
}

async function addToCount(tx: Transaction, collection: CollectionKey, added: number): Promise<void> {
  if (added === 0) return;
  await tx.put(eventCounts, { ...collection, eventCount: (await countEvents(tx, collection)) + added });
}

function endVersions(tx: Transaction, collection: CollectionKey, id: string, nowMs: number): Promise<number> {
  const where: Condition<EventRow>[] = equal({ ...collection, id, endCommit: NEVER });
  return tx.update(events, where, { endCommit: tx.commit, endedMs: nowMs });
}

async function currentVersions(
  tx: Transaction,
  collection: CollectionKey,
  records: readonly EventRecord[],
  afterWork: ReturnType<typeof countWork>,
): Promise<Map<string, EventRow>> {
  const current = new Map<string, EventRow>();
  for (let start = 0; start < records.length; start += LOOKED_UP) {
    const ids = records.slice(start, start + LOOKED_UP).map(({ id }) => id);
    const where: Condition<EventRow>[] = [...equal({ ...collection, endCommit: NEVER }), ['id', 'in', ids]];
    let work = 0;
    for (const row of await tx.find(events, { where })) {
      current.set(row.id, row);
      work += workOf(row);
    }
    await afterWork(work);
  }
  return current;
}

// Slices that are stored in one turn.
function* partsOf(records: readonly EventRecord[]): Generator<readonly EventRecord[]> {
  let start = 0;
  let work = 0;
  for (const [index, record] of records.entries()) {
    work += workOf(record);
    if (work < TURN_CHARS) continue;
    yield records.slice(start, index + 1);
    start = index + 1;
    work = 0;
  }
  if (start < records.length) yield records.slice(start);
}
