import { WindrowError } from '../../core/errors.js';
import { IDENTITY_SHARD, shardOf } from '../../storage/shard.js';
import { equal, type Reader, writeReserved } from '../../storage/storage.js';
import { type ClientRow, clients, collectionGrants, tokens } from '../../storage/tables/identity.js';
import { createId } from '../context.js';
import { type AdministrationContext, checkChoices, checkName, type OfOrganisation } from './names.js';
import { fixGroupCount } from './organisations.js';
import { allScopes, grantTypes } from './principal.js';
import { createSecret, equalHashes, hashSecret } from './secrets.js';
import { clientSubject, unlock } from './throttle.js';

export interface NewClient {
  readonly organisation: string;
  /** A label for people; the id is generated. */
  readonly name: string;
  readonly scopes: readonly string[];
  /** `client_credentials`, `password`. */
  readonly grants: readonly string[];
  /** How many groups the organisation's series are spread over; fixed when its first client or user is added. */
  readonly groups?: number;
}

export interface ClientCredentials {
  readonly clientId: string;
  /** Shown only once: the store keeps only its hash. */
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
  await fixGroupCount(context, row.organisation, client.groups);
  await writeReserved(storage, IDENTITY_SHARD, (tx) => tx.insert(clients, row));
  return { clientId, clientSecret };
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

/** Also revokes the client's tokens and its access to collections. */
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
  // A crash before this leaves grants behind. They are harmless: ids are never reused.
  await writeReserved(storage, shardOf(organisation), (tx) =>
    tx.delete(collectionGrants, equal({ organisation, clientId })),
  );
}

/** Clears the failures counted for the client, and for the address if given, so that it may request tokens at once. */
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
    `there is no client with the id ${clientId}; \`windrow client list\` shows the ids`,
  );
}

export interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

// Compared with when there is no such client, so that both cases take the same time. No secret has this hash.
const UNMATCHABLE_HASH = 'A'.repeat(43);

/** The client whose id and secret match one of the readings. */
export async function authenticateClient(tx: Reader, readings: readonly Credentials[]): Promise<ClientRow | undefined> {
  let found: ClientRow | undefined;
  for (const { clientId, clientSecret } of readings) {
    const client = await tx.get(clients, { clientId });
    const isRight = equalHashes(hashSecret(clientSecret), client?.secretHash ?? UNMATCHABLE_HASH);
    if (client !== undefined && isRight) found = client;
  }
  return found;
}
