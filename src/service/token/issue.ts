import { IDENTITY_SHARD } from '../../storage/shard.js';
import { equal, type Reader, type Transaction, writeReserved } from '../../storage/storage.js';
import { type ClientRow, clients, users } from '../../storage/tables/identity.js';
import type { ServiceContext } from '../context.js';
import type { Passwords } from '../identity/passwords.js';
import { createSecret, hashSecret } from '../identity/secrets.js';
import { forgetFailures, type Subject, subjectsAt, userSubject, writeFailure } from '../identity/throttle.js';
import { type Claimed, checkClaim, readClaim, refuseThrottled, type Sender } from './authentication.js';
import { invalidClient, OAuthError } from './errors.js';
import type { Form } from './form.js';
import { type GrantRequest, readGrantRequest } from './grant.js';
import { forgetExpired, insertToken } from './tokens.js';

export type IssueContext = Pick<ServiceContext, 'storage' | 'clock' | 'random' | 'settings'>;

export type Issuer = ReturnType<typeof createIssuer>;

const SWEEP_INTERVAL_MS = 60_000;

export function createIssuer(context: IssueContext, passwords: Passwords) {
  let sweptMs = Number.NEGATIVE_INFINITY;
  /** Deletes what has expired, some of it now and then. */
  const sweep = async (tx: Transaction, nowMs: number): Promise<void> => {
    const startMs = context.clock.monotonicMs();
    if (startMs - sweptMs < SWEEP_INTERVAL_MS) return;
    const isMore = [await forgetFailures(tx, nowMs), await forgetExpired(tx, nowMs)].includes(true);
    if (!isMore) sweptMs = startMs;
  };
  return Object.freeze({
    /** The answer to a token request (interface 2.1). @throws OAuthError. */
    issue: async (sender: Sender, form: Form) => {
      const claimed = readClaim(sender, form);
      const token = createSecret(context.random);
      // One commit checks the client, counts a failure and stores the token; only passwords need a second one.
      const issued = await issueAtOnce(context, claimed, form, hashSecret(token), sweep);
      if (issued instanceof OAuthError) throw issued;
      const { request } = issued;
      if (request.grantType === 'password')
        await issueToUser(context, passwords, claimed, { ...issued, request, token });
      const { scopes, isDifferent } = request.granted;
      return Object.freeze({
        access_token: token,
        token_type: 'Bearer',
        expires_in: context.settings.tokenLifetimeS,
        ...(isDifferent ? { scope: scopes.join(' ') } : {}),
      });
    },
  });
}

interface Issued {
  readonly client: ClientRow;
  readonly request: GrantRequest;
  /** Of the user named in the request; undefined if there is none. */
  readonly passwordHash: string | undefined;
}

// All but the password check, which takes too long for a transaction.
function issueAtOnce(
  { storage, clock, settings }: IssueContext,
  claimed: Claimed,
  form: Form,
  tokenHash: string,
  sweep: (tx: Transaction, nowMs: number) => Promise<void>,
): Promise<Issued | OAuthError> {
  return writeReserved(storage, IDENTITY_SHARD, async (tx) => {
    const nowMs = clock.nowMs();
    await sweep(tx, nowMs);
    const client = await checkClaim(tx, claimed, nowMs, settings.tokenFailuresPerMinuteMax);
    if (client instanceof OAuthError) return client;
    const request = readGrantRequest(form, client, settings.strictRfc);
    const { clientId, organisation } = client;
    if (request.grantType === 'client_credentials') {
      const grant = { clientId, organisation, username: null, scope: request.granted.scopes.join(' ') };
      await insertToken(tx, tokenHash, grant, nowMs, settings.tokenLifetimeS);
      return { client, request, passwordHash: undefined };
    }
    const refusal = await refuseThrottled(tx, userSubjects(claimed, organisation, request.username), nowMs);
    if (refusal !== undefined) return refusal;
    const user = await findUser(tx, organisation, request.username);
    return { client, request, passwordHash: user?.passwordHash };
  });
}

function userSubjects({ address }: Claimed, organisation: string, username: string): readonly Subject[] {
  return subjectsAt(userSubject(organisation, username), address);
}

async function findUser(tx: Reader, organisation: string, username: string) {
  // PostgreSQL does not accept this character in text, and no user's name contains it.
  if (username.includes('\0')) return undefined;
  return tx.get(users, { organisation, username: username.normalize('NFC') });
}

interface UserGrant extends Issued {
  readonly request: Extract<GrantRequest, { grantType: 'password' }>;
  readonly token: string;
}

async function issueToUser(
  context: IssueContext,
  passwords: Passwords,
  claimed: Claimed,
  grant: UserGrant,
): Promise<void> {
  const { storage, clock, settings } = context;
  const { request, passwordHash } = grant;
  const isSame = await passwords.verify(passwordHash ?? passwords.decoy, request.password);
  const isRight = isSame && passwordHash !== undefined;
  const newHash = isRight ? await rehash(passwords, passwordHash, request.password) : undefined;
  const subjects = userSubjects(claimed, grant.client.organisation, request.username);
  const outcome = await writeReserved(storage, IDENTITY_SHARD, async (tx) => {
    const nowMs = clock.nowMs();
    // Checked again: of many guesses at the same time, no more than the limit may get an answer.
    const refusal = await refuseThrottled(tx, subjects, nowMs);
    if (refusal !== undefined) return refusal;
    if (!isRight) {
      await writeFailure(tx, subjects, nowMs, settings.tokenFailuresPerMinuteMax);
      return wrongUser();
    }
    return insertUserToken(tx, grant, newHash, nowMs, settings.tokenLifetimeS);
  });
  if (outcome instanceof OAuthError) throw outcome;
  // The stored hash changed meanwhile, as by another login that raised its cost: check against the new one.
  if (outcome !== undefined) await issueToUser(context, passwords, claimed, { ...grant, passwordHash: outcome });
}

/**
 * Client and user may have been removed while the password was checked.
 *
 * @returns an error; or the user's hash if it has changed, to check again; undefined if the token was stored.
 */
async function insertUserToken(
  tx: Transaction,
  { client, request, passwordHash, token }: UserGrant,
  newHash: string | undefined,
  nowMs: number,
  lifetimeS: number,
): Promise<OAuthError | string | undefined> {
  const { clientId, organisation } = client;
  const username = request.username.normalize('NFC');
  if ((await tx.get(clients, { clientId })) === undefined) return invalidClient('the client was removed');
  const user = await findUser(tx, organisation, username);
  if (user === undefined) return wrongUser();
  if (user.passwordHash !== passwordHash) return user.passwordHash;
  if (newHash !== undefined) {
    const where = equal({ organisation, username });
    await tx.update(users, where, { passwordHash: newHash });
  }
  const scope = request.granted.scopes.join(' ');
  await insertToken(tx, hashSecret(token), { clientId, organisation, username, scope }, nowMs, lifetimeS);
  return undefined;
}

/**
 * The password hashed at the current cost, if the stored hash has another. Not while too many wait: the next login
 * tries again.
 */
async function rehash(passwords: Passwords, passwordHash: string, password: string): Promise<string | undefined> {
  if (!passwords.isOutdated(passwordHash)) return undefined;
  try {
    return await passwords.hash(password);
  } catch (error) {
    if (error instanceof OAuthError) return undefined;
    throw error;
  }
}

function wrongUser(): OAuthError {
  return new OAuthError('invalid_grant', 'the username or password is wrong');
}
