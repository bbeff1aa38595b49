import { IDENTITY_SHARD } from '../../storage/shard.js';
import type { Reader, Transaction } from '../../storage/storage.js';
import type { RowIn } from '../../storage/table.js';
import { tokens } from '../../storage/tables/identity.js';
import type { Clock, ServiceContext } from '../context.js';
import type { Principal } from '../identity/principal.js';
import { hashSecret } from '../identity/secrets.js';

export type TokenRow = RowIn<typeof tokens>;

export interface Grant {
  readonly clientId: string;
  readonly organisation: string;
  readonly username: string | null;
  readonly scope: string;
}

export async function insertToken(
  tx: Transaction,
  tokenHash: string,
  grant: Grant,
  nowMs: number,
  lifetimeS: number,
): Promise<void> {
  const issuedMs = Math.floor(nowMs);
  await tx.insert(tokens, { tokenHash, ...grant, issuedMs, expiresMs: issuedMs + lifetimeS * 1000 });
}

/** The token's row, unless it has expired by the clock on the wall. */
async function findToken(tx: Reader, tokenHash: string, nowMs: number): Promise<TokenRow | undefined> {
  const row = await tx.get(tokens, { tokenHash });
  return row === undefined || nowMs >= row.expiresMs ? undefined : row;
}

export async function forgetExpired(tx: Transaction, nowMs: number): Promise<void> {
  await tx.delete(tokens, [['expiresMs', '<', nowMs]]);
}

/**
 * A token that this process has once seen ends when so much time has really passed, even if the clock on the wall
 * is put back meanwhile. What is remembered is bounded; a token that was forgotten ends by the wall alone.
 */
function createDeadlines(clock: Clock, countMax: number) {
  const deadlinesMs = new Map<string, number>();
  return {
    /** Whether the token has ended, by its row and by what this process has seen of it. */
    hasPassed: ({ tokenHash, issuedMs, expiresMs }: TokenRow) => {
      const nowMs = clock.nowMs();
      const monotonicMs = clock.monotonicMs();
      const known = deadlinesMs.get(tokenHash);
      // A clock that stands before the token's issue was put back: nothing lives longer than from issue to expiry.
      const deadlineMs = known ?? monotonicMs + Math.min(expiresMs - nowMs, expiresMs - issuedMs);
      if (known === undefined) {
        const [oldest] = deadlinesMs.size < countMax ? [] : deadlinesMs.keys();
        if (oldest !== undefined) deadlinesMs.delete(oldest);
        deadlinesMs.set(tokenHash, deadlineMs);
      }
      return nowMs >= expiresMs || monotonicMs >= deadlineMs;
    },
    forget: (tokenHash: string) => void deadlinesMs.delete(tokenHash),
  };
}

const DEADLINE_COUNT_MAX = 100_000;

export type Authenticator = ReturnType<typeof createAuthenticator>;

/** Tokens as of a commit of their shard: those of a later one are asked for anew. */
interface Seen {
  readonly commit: number;
  readonly rows: Map<string, TokenRow>;
}

const SEEN_COUNT_MAX = 10_000;

/** Asks the store with each token whether any has changed: one that another process has revoked holds no longer. */
export function createAuthenticator({ storage, clock }: Pick<ServiceContext, 'storage' | 'clock'>) {
  const deadlines = createDeadlines(clock, DEADLINE_COUNT_MAX);
  // Requests that wait together with one token ask once.
  const waiting = new Map<string, Promise<TokenRow | undefined>>();

  let seen: Seen = { commit: -1, rows: new Map() };

  const ask = (tokenHash: string): Promise<TokenRow | undefined> =>
    storage
      .read(IDENTITY_SHARD, async (tx) => {
        // Who comes from now on may know of a revocation that this reader does not see.
        waiting.delete(tokenHash);
        const row = await findToken(tx, tokenHash, clock.nowMs());
        if (seen.commit < tx.lastCommit || seen.rows.size >= SEEN_COUNT_MAX) {
          seen = { commit: tx.lastCommit, rows: new Map() };
        }
        if (row !== undefined && seen.commit === tx.lastCommit) seen.rows.set(tokenHash, row);
        return row;
      })
      .finally(() => waiting.delete(tokenHash));

  const seenRow = async (tokenHash: string): Promise<TokenRow | undefined> => {
    const row = seen.rows.get(tokenHash);
    const { commit } = seen;
    return row !== undefined && (await storage.lastCommit(IDENTITY_SHARD)) === commit ? row : undefined;
  };

  const askOnce = (tokenHash: string): Promise<TokenRow | undefined> => {
    let asked = waiting.get(tokenHash);
    if (asked === undefined) {
      asked = ask(tokenHash);
      waiting.set(tokenHash, asked);
    }
    return asked;
  };

  const find = async (token: string): Promise<TokenRow | undefined> => {
    const tokenHash = hashSecret(token);
    const row = (await seenRow(tokenHash)) ?? (await askOnce(tokenHash));
    if (row === undefined) deadlines.forget(tokenHash);
    return row === undefined || deadlines.hasPassed(row) ? undefined : row;
  };

  return Object.freeze({
    /** Who the token stands for; undefined for one that is unknown, revoked or expired. */
    authenticate: async (token: string) => {
      const row = await find(token);
      return row && principalFrom(row);
    },
    /** The token's row, where it still holds. */
    find,
  });
}

// A token comes with thousands of requests, and its row is the same until tokens change.
const principals = new WeakMap<TokenRow, Principal>();

function principalFrom(row: TokenRow): Principal {
  const known = principals.get(row);
  if (known !== undefined) return known;
  const { clientId, username, organisation, scope } = row;
  const principal = Object.freeze({ clientId, username, organisation, scopes: new Set(scope.split(' ')) });
  principals.set(row, principal);
  return principal;
}
