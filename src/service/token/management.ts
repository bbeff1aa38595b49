import { IDENTITY_SHARD } from '../../storage/shard.js';
import { equal, writeReserved } from '../../storage/storage.js';
import { type ClientRow, tokens } from '../../storage/tables/identity.js';
import type { ServiceContext } from '../context.js';
import { covers } from '../identity/principal.js';
import { hashSecret } from '../identity/secrets.js';
import { checkClaim, readClaim, type Sender } from './authentication.js';
import { OAuthError } from './errors.js';
import type { Form } from './form.js';
import type { Authenticator, TokenRow } from './tokens.js';

export type ManagementContext = Pick<ServiceContext, 'storage' | 'clock' | 'settings'>;

/**
 * RFC 7662: a client may introspect the tokens of its organisation. Of any other, it learns only that it is not
 * active.
 */
export async function introspect(context: ManagementContext, authenticator: Authenticator, sender: Sender, form: Form) {
  const { client, token } = await readTokenRequest(context, sender, form);
  const row = await authenticator.find(token);
  if (row === undefined || row.organisation !== client.organisation) return { active: false } as const;
  return {
    active: true,
    scope: row.scope,
    client_id: row.clientId,
    ...(row.username === null ? {} : { username: row.username }),
    sub: row.username ?? row.clientId,
    token_type: 'Bearer',
    iat: Math.floor(row.issuedMs / 1000),
    exp: Math.floor(row.expiresMs / 1000),
  };
}

/**
 * RFC 7009: a client may revoke its own tokens; one that may request core_admin, those of its organisation. A token
 * that is not valid is no error.
 *
 * @throws OAuthError unauthorized_client for the token of another client.
 */
export async function revoke(context: ManagementContext, sender: Sender, form: Form): Promise<void> {
  const { client, token } = await readTokenRequest(context, sender, form);
  const tokenHash = hashSecret(token);
  const isOwn = await writeReserved(context.storage, IDENTITY_SHARD, async (tx) => {
    const row = await tx.get(tokens, { tokenHash });
    if (row !== undefined && !mayRevoke(client, row)) return false;
    if (row !== undefined) await tx.delete(tokens, equal({ tokenHash }));
    return true;
  });
  if (!isOwn) throw new OAuthError('unauthorized_client', 'the token was issued to another client');
}

function mayRevoke(client: ClientRow, { clientId, organisation }: TokenRow): boolean {
  if (client.clientId === clientId) return true;
  return client.organisation === organisation && covers(client.scopes.split(' '), 'core_admin');
}

// `token_type_hint` is ignored: it speeds up a search among kinds of tokens, and there is only one kind.
async function readTokenRequest(
  { storage, clock, settings }: ManagementContext,
  sender: Sender,
  form: Form,
): Promise<{ readonly client: ClientRow; readonly token: string }> {
  const claimed = readClaim(sender, form);
  const client = await writeReserved(storage, IDENTITY_SHARD, (tx) =>
    checkClaim(tx, claimed, clock.nowMs(), settings.tokenFailuresPerMinuteMax),
  );
  if (client instanceof OAuthError) throw client;
  const token = form.get('token');
  if (token === undefined) throw new OAuthError('invalid_request', 'the parameter token is missing from the body');
  return { client, token };
}
