import { WindrowError } from '../../core/errors.js';
import { IDENTITY_SHARD, SHARD_COUNT, shardOf } from '../../storage/shard.js';
import { equal, type Reader, type Transaction, writeReserved } from '../../storage/storage.js';
import { eventCounts } from '../../storage/tables/events.js';
import { clients, collectionGrants, collections } from '../../storage/tables/identity.js';
import { deleteSomeEvents } from '../events/store.js';
import { ServiceError } from '../http/errors.js';
import { type AdministrationContext, checkHeaderText, checkName, type OfOrganisation } from './names.js';
import { checkOrganisation } from './organisations.js';
import type { Principal } from './principal.js';

export interface CollectionAccess {
  readonly organisation: string;
  readonly collectionId: string;
  readonly clientIds: readonly string[];
}

export interface CollectionEntry extends CollectionAccess {
  readonly createdMs: number;
}

/** Adds the collection if it is new and grants the clients access to it; other clients keep theirs. */
export async function addCollection(
  context: AdministrationContext,
  access: CollectionAccess,
): Promise<CollectionEntry> {
  const { storage, clock } = context;
  const organisation = checkName('organisation', access.organisation);
  const collectionId = checkHeaderText('collection', access.collectionId);
  if (access.clientIds.length === 0) await checkOrganisation(context, organisation);
  await checkClients(context, organisation, access.clientIds);
  return writeReserved(storage, shardOf(organisation), async (tx) => {
    const known = await tx.get(collections, { organisation, collectionId });
    const row = known ?? { organisation, collectionId, createdMs: Math.floor(clock.nowMs()) };
    if (known === undefined) await tx.insert(collections, row);
    for (const clientId of access.clientIds) {
      await tx.put(collectionGrants, { organisation, collectionId, clientId, isAllowed: true });
    }
    return { ...row, clientIds: await readClientIds(tx, row) };
  });
}

export async function listCollections(
  { storage }: AdministrationContext,
  { organisation }: OfOrganisation,
): Promise<readonly CollectionEntry[]> {
  const shards =
    organisation === undefined ? Array.from({ length: SHARD_COUNT }, (_, shard) => shard) : [shardOf(organisation)];
  const entries: CollectionEntry[] = [];
  for (const shard of shards) {
    await storage.read(shard, async (tx) => {
      const rows = await tx.find(collections, {
        where: organisation === undefined ? [] : equal({ organisation }),
      });
      for (const row of rows) entries.push({ ...row, clientIds: await readClientIds(tx, row) });
    });
  }
  return entries.sort((a, b) => order(a.organisation, b.organisation) || order(a.collectionId, b.collectionId));
}

/** Revokes the clients' access. If no client is named, removes the collection and its events. */
export async function removeCollection(context: AdministrationContext, access: CollectionAccess): Promise<void> {
  const { organisation, collectionId, clientIds } = access;
  await writeReserved(context.storage, shardOf(organisation), async (tx) => {
    if ((await tx.get(collections, { organisation, collectionId })) === undefined) {
      const mend = '`windrow collection list` shows the ids';
      throw new WindrowError('identity.missing', `${organisation} has no collection ${collectionId}; ${mend}`);
    }
    if (clientIds.length > 0) await removeGrants(tx, access);
    // Nobody can read or write it any more.
    else await tx.delete(collectionGrants, equal({ organisation, collectionId }));
  });
  if (clientIds.length === 0) await removeWhole(context, access);
}

async function removeGrants(tx: Transaction, access: CollectionAccess): Promise<void> {
  const { organisation, collectionId } = access;
  for (const clientId of access.clientIds) {
    const removedCount = await tx.delete(collectionGrants, equal({ organisation, collectionId, clientId }));
    if (removedCount === 0) {
      throw new WindrowError('identity.missing', `the client ${clientId} has no access to ${collectionId}`);
    }
  }
}

/**
 * Removes a collection that is closed to all. Its events end some at a time, so that other requests need not wait for
 * all of them; the collection goes last, so that after a failure it can be removed again. Versions of events are ended
 * instead of deleted, so that snapshots stay whole until they expire.
 *
 * @throws WindrowError `identity.exists` if somebody gets access to it meanwhile: what is written then must stay.
 */
async function removeWhole(
  { storage, clock }: AdministrationContext,
  { organisation, collectionId }: CollectionAccess,
): Promise<void> {
  const nowMs = Math.floor(clock.nowMs());
  const ofEvents = { organisation, ercollectionid: collectionId };
  const whileClosed = <Result>(work: (tx: Transaction) => Promise<Result>) =>
    writeReserved(storage, shardOf(organisation), async (tx) => {
      const granted = await tx.find(collectionGrants, { where: equal({ organisation, collectionId }), limit: 1 });
      if (granted.length > 0) {
        throw new WindrowError(
          'identity.exists',
          `the collection ${collectionId} of ${organisation} was added again while it was removed, and may have some ` +
            'of its old events; remove it once more, or keep it',
        );
      }
      return work(tx);
    });
  for (let lastId: string | undefined = ''; lastId !== undefined; ) {
    const afterId: string = lastId;
    lastId = await whileClosed((tx) => deleteSomeEvents(tx, ofEvents, afterId, nowMs));
  }
  await whileClosed(async (tx) => {
    await tx.delete(collections, equal({ organisation, collectionId }));
    await tx.delete(eventCounts, equal(ofEvents));
  });
}

async function readClientIds(tx: Reader, entry: Omit<CollectionAccess, 'clientIds'>): Promise<readonly string[]> {
  const grants = await tx.find(collectionGrants, {
    where: equal({ organisation: entry.organisation, collectionId: entry.collectionId, isAllowed: true }),
  });
  return grants.map(({ clientId }) => clientId);
}

async function checkClients(
  { storage }: AdministrationContext,
  organisation: string,
  clientIds: readonly string[],
): Promise<void> {
  await storage.read(IDENTITY_SHARD, async (tx) => {
    for (const clientId of clientIds) {
      const client = await tx.get(clients, { clientId });
      if (client?.organisation === organisation) continue;
      const mend = `\`windrow client list --org ${organisation}\` shows the ids`;
      throw new WindrowError('identity.missing', `${organisation} has no client with the id ${clientId}; ${mend}`);
    }
  });
}

// By code units, so that the locale of the machine does not matter.
function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const REFUSAL = 'there is no such event collection, or you have no access to it';

/**
 * Refuses clients without access to the collection. One look-up decides, so that a collection that does not exist and
 * one that is closed to the client get the same answer in the same time.
 *
 * @throws ServiceError 403.
 */
export async function checkAccess(tx: Reader, principal: Principal, collectionId: string): Promise<void> {
  const { organisation, clientId } = principal;
  const grant = await tx.get(collectionGrants, { organisation, collectionId, clientId });
  if (grant?.isAllowed === true) return;
  throw new ServiceError(403, REFUSAL, {
    headers: {
      'www-authenticate': `Bearer realm="windrow", error="insufficient_scope", error_description="${REFUSAL}"`,
    },
  });
}
