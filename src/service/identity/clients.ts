import { WindrowError } from '../../core/errors.js';
import { IDENTITY_SHARD, shardOf } from '../../storage/shard.js';
import { clients, collectionGrants, tokens } from '../../storage/tables/identity.js';
import { createId } from '../context.js';
import { grantTypes } from '../token/grant-request.js';
import { createSecret, hashSecret } from '../token/hash.js';
import { allScopes } from '../token/scope.js';
import type {
  AdministrationContext,
  ClientCredentials,
  ClientEntry,
  NewClient,
  OfOrganisation,
} from './administration.js';
import { checkChoices, checkName } from './names.js';

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
  await storage.transaction(IDENTITY_SHARD, (tx) => tx.insert(clients, row));
  return { clientId, clientSecret };
}

export async function listClients(
  { storage }: AdministrationContext,
  { organisation }: OfOrganisation,
): Promise<readonly ClientEntry[]> {
  const rows = await storage.read(IDENTITY_SHARD, (tx) =>
    tx.find(clients, {
      where: organisation === undefined ? [] : [['organisation', '=', organisation]],
      orderBy: [{ column: 'organisation' }, { column: 'clientId' }],
    }),
  );
  return rows.map(({ clientId, organisation, name, scopes, grants, createdMs }) => {
    return { clientId, organisation, name, scopes: scopes.split(' '), grants: grants.split(' '), createdMs };
  });
}

export async function removeClient(
  { storage }: AdministrationContext,
  { clientId }: { readonly clientId: string },
): Promise<void> {
  const organisation = await storage.transaction(IDENTITY_SHARD, async (tx) => {
    const client = await tx.get(clients, { clientId });
    if (client === undefined) {
      const mend = '`windrow client list` tells their ids';
      throw new WindrowError('identity.missing', `there is no client of the id ${clientId}; ${mend}`);
    }
    await tx.delete(clients, [['clientId', '=', clientId]]);
    await tx.delete(tokens, [['clientId', '=', clientId]]);
    return client.organisation;
  });
  // Ids are never given twice, so that a grant that stays behind, should this be as far as it comes, opens nothing.
  await storage.transaction(shardOf(organisation), (tx) =>
    tx.delete(collectionGrants, [
      ['organisation', '=', organisation],
      ['clientId', '=', clientId],
    ]),
  );
}
