import { WindrowError } from '../../core/errors.js';
import { GROUP_COUNTS, IDENTITY_SHARD, placementOf, shardOf } from '../../storage/shard.js';
import type { Reader } from '../../storage/storage.js';
import { type ClientRow, clients, collectionGrants, organisations, tokens } from '../../storage/tables/identity.js';
import { series } from '../../storage/tables/samples.js';
import { createId } from '../context.js';
import { equal, writeReserved } from '../store.js';
import { type AdministrationContext, checkChoices, checkName, expected, type OfOrganisation } from './names.js';
import { allScopes, grantTypes } from './principal.js';
import { createSecret, equalHashes, hashSecret } from './secrets.js';
import { clientSubject, unlock } from './throttle.js';

export interface NewClient {
  readonly organisation: string;
  /** For people to know it by; the id is made. */
  readonly name: string;
  readonly scopes: readonly string[];
  /** `client_credentials`, `password`. */
  readonly grants: readonly string[];
  /** Over how many groups the series of the organisation are spread, which is said with its first client. */
  readonly groups?: number;
}

export interface ClientCredentials {
  readonly clientId: string;
  /** Nobody can tell it again: the store has its hash alone. */
  readonly clientSecret: string;
}

export async function addClient(context: AdministrationContext, client: NewClient): Promise<ClientCredentials> {
  const { storage, clock, random } = context;
  const clientId = createId(context);
  const clientSecret = createSecret(random);
  const row = {
    clientId,
    organisation: checkName('organisation', client.organisation),
    name: checkName('name', client.name),
    secretHash: hashSecret(clientSecret),
    scopes: checkChoices('scope', client.scopes, allScopes).join(' '),
    grants: checkChoices('grant', client.grants, grantTypes).join(' '),
    createdMs: Math.floor(clock.nowMs()),
  };
  if (client.groups !== undefined) await spread(context, row.organisation, client.groups);
  await writeReserved(storage, IDENTITY_SHARD, (tx) => tx.insert(clients, row));
  return { clientId, clientSecret };
}

/** Says over how many groups the series of an organisation are spread: before there is anything of it. */
async function spread({ storage, clock }: AdministrationContext, organisation: string, groups: number): Promise<void> {
  if (!GROUP_COUNTS.includes(groups)) throw expected('groups', `one of ${GROUP_COUNTS.join(', ')}`, groups);
  const others = await storage.read(IDENTITY_SHARD, (tx) =>
    tx.find(clients, { where: equal({ organisation }), limit: 1 }),
  );
  const { home, shards } = placementOf(organisation, groups);
  await storage.transactionOver(shards, async (txs) => {
    const ofHome = txs.find(({ shard }) => shard === home)!;
    const known = await ofHome.get(organisations, { organisation });
    const written = await ofHome.find(series, { where: equal({ organisation }), limit: 1 });
    const isNew = known === undefined && others.length === 0 && written.length === 0;
    const groupCount = known?.groupCount ?? (isNew ? groups : 1);
    if (groupCount !== groups) {
      const mend = 'leave groups out, or use an organisation of another name';
      const some = groupCount === 1 ? 'one group' : `${groupCount} groups`;
      throw new WindrowError('identity.exists', `the series of ${organisation} lie in ${some} for good; ${mend}`);
    }
    if (!isNew) return;
    const row = { organisation, groupCount, createdMs: Math.floor(clock.nowMs()) };
    for (const tx of txs) await tx.insert(organisations, row);
  });
}

export async function listClients({ storage }: AdministrationContext, { organisation }: OfOrganisation) {
  const rows = await storage.read(IDENTITY_SHARD, (tx) =>
    tx.find(clients, {
      where: organisation === undefined ? [] : equal({ organisation }),
      orderBy: [{ column: 'organisation' }, { column: 'clientId' }],
    }),
  );
  return rows.map(({ clientId, organisation, name, scopes, grants, createdMs }) => {
    return { clientId, organisation, name, scopes: scopes.split(' '), grants: grants.split(' '), createdMs };
  });
}

/** Revokes its tokens, and takes its grants of collections. */
export async function removeClient(
  { storage }: AdministrationContext,
  { clientId }: { readonly clientId: string },
): Promise<void> {
  const organisation = await writeReserved(storage, IDENTITY_SHARD, async (tx) => {
    const client = await tx.get(clients, { clientId });
    if (client === undefined) throw noClient(clientId);
    await tx.delete(clients, equal({ clientId }));
    await tx.delete(tokens, equal({ clientId }));
    return client.organisation;
  });
  // Ids are never given twice, so that a grant that stays behind, should this be as far as it comes, opens nothing.
  await writeReserved(storage, shardOf(organisation), (tx) =>
    tx.delete(collectionGrants, equal({ organisation, clientId })),
  );
}

/** Forgets its failures, and those of an address where one is given: it may ask for tokens again at once. */
export async function unlockClient(
  { storage }: AdministrationContext,
  { clientId, address }: { readonly clientId: string; readonly address?: string },
): Promise<void> {
  await writeReserved(storage, IDENTITY_SHARD, async (tx) => {
    if ((await tx.get(clients, { clientId })) === undefined) throw noClient(clientId);
    await unlock(tx, clientSubject(clientId), address);
  });
}

function noClient(clientId: string): WindrowError {
  return new WindrowError(
    'identity.missing',
    `there is no client of the id ${clientId}; \`windrow client list\` tells their ids`,
  );
}

export interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

// No text has this hash: a client that is not there is compared with it, at the same cost as one that is.
const HASH_OF_NOTHING = 'A'.repeat(43);

/** The client whose id and secret these are, by any of their readings. */
export async function authenticateClient(tx: Reader, readings: readonly Credentials[]): Promise<ClientRow | undefined> {
  let found: ClientRow | undefined;
  for (const { clientId, clientSecret } of readings) {
    const client = await tx.get(clients, { clientId });
    const isRight = equalHashes(hashSecret(clientSecret), client?.secretHash ?? HASH_OF_NOTHING);
    if (client !== undefined && isRight) found = client;
  }
  return found;
}
