import { IDENTITY_SHARD } from '../../storage/shard.js';
import type { Reader, Transaction } from '../../storage/storage.js';
import type { RowIn } from '../../storage/table.js';
import { tokens } from '../../storage/tables/identity.js';
import type { Clock, ServiceContext } from '../context.js';
import type { Principal } from '../identity/principal.js';
import { hashSecret } from '../identity/secrets.js';

export type TokenRow = RowIn<typeof tokens>;

/** What a token is issued for. */
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

/** When tokens end by the clock that never goes back. */
export interface Deadlines {
  /** Whether the token has ended, by its row and by what this process has seen of it. */
  hasPassed(row: TokenRow): boolean;
  forget(tokenHash: string): void;
}

/**
 * A token that this process has once seen ends when so much time has really passed, even if the clock on the wall
 * is put back meanwhile. What is remembered is bounded; a token that was forgotten ends by the wall alone.
 */
function createDeadlines(clock: Clock, countMax: number): Deadlines {
  const deadlinesMs = new Map<string, number>();
  return {
    hasPassed: ({ tokenHash, issuedMs, expiresMs }) => {
      const nowMs = clock.nowMs();
      const monotonicMs = clock.monotonicMs();
      const known = deadlinesMs.get(tokenHash);
      // A clock that stands before the token's issue was put back: nothing lives longer than from issue to expiry.
      const deadlineMs = known ?? monotonicMs + Math.min(expiresMs - nowMs, expiresMs - issuedMs);
      if (known === undefined) {
        if (deadlinesMs.size >= countMax) forgetOldest(deadlinesMs);
        deadlinesMs.set(tokenHash, deadlineMs);
      }
      return nowMs >= expiresMs || monotonicMs >= deadlineMs;
    },
    forget: (tokenHash) => {
      deadlinesMs.delete(tokenHash);
    },
  };
}

function forgetOldest(entries: Map<string, unknown>): void {
  for (const key of entries.keys()) {
    entries.delete(key);
    return;
  }
}

// What the store said of a token is good for this long: so long may another process still take a revoked one.
const FRESH_MS = 1000;
const KNOWN_COUNT_MAX = 10_000;
const DEADLINE_COUNT_MAX = 100_000;

export interface Authenticator {
  /** Who the token stands for; undefined for one that is unknown, revoked or expired. */
  authenticate(token: string): Promise<Principal | undefined>;
  /** The token's row, where it still holds. */
  find(token: string): Promise<TokenRow | undefined>;
  /** Lets no answer of before be used again: tokens were revoked. */
  forgetAnswers(): void;
}

interface Known {
  readonly row: TokenRow;
  readonly principal: Principal;
  readonly askedMs: number;
}

export function createAuthenticator({ storage, clock }: Pick<ServiceContext, 'storage' | 'clock'>): Authenticator {
  const deadlines = createDeadlines(clock, DEADLINE_COUNT_MAX);
  const known = new Map<string, Known>();
  // Requests that come together with one token ask the store once.
  const asking = new Map<string, Promise<Known | undefined>>();

  const ask = async (tokenHash: string): Promise<Known | undefined> => {
    const askedMs = clock.monotonicMs();
    const row = await storage.read(IDENTITY_SHARD, (tx) => findToken(tx, tokenHash, clock.nowMs()));
    return row && { row, principal: principalFrom(row), askedMs };
  };

  const lookUp = async (tokenHash: string): Promise<Known | undefined> => {
    const fresh = known.get(tokenHash);
    if (fresh !== undefined && clock.monotonicMs() - fresh.askedMs < FRESH_MS) return fresh;
    known.delete(tokenHash);
    let answer = asking.get(tokenHash);
    if (answer === undefined) {
      answer = ask(tokenHash);
      asking.set(tokenHash, answer);
    }
    try {
      const found = await answer;
      // Not when tokens were revoked meanwhile: the answer may be from before.
      if (found !== undefined && asking.get(tokenHash) === answer) remember(known, tokenHash, found);
      return found;
    } finally {
      if (asking.get(tokenHash) === answer) asking.delete(tokenHash);
    }
  };

  const find = async (token: string): Promise<Known | undefined> => {
    const tokenHash = hashSecret(token);
    const found = await lookUp(tokenHash);
    if (found === undefined) {
      deadlines.forget(tokenHash);
      return undefined;
    }
    return deadlines.hasPassed(found.row) ? undefined : found;
  };

  return Object.freeze({
    authenticate: async (token: string) => (await find(token))?.principal,
    find: async (token: string) => (await find(token))?.row,
    forgetAnswers: () => {
      known.clear();
      asking.clear();
    },
  });
}

function remember(known: Map<string, Known>, tokenHash: string, found: Known): void {
  // Rarely so many in a second: then all are asked for anew.
  if (known.size >= KNOWN_COUNT_MAX) known.clear();
  known.set(tokenHash, found);
}

function principalFrom({ clientId, username, organisation, scope }: TokenRow): Principal {
  return Object.freeze({ clientId, username, organisation, scopes: new Set(scope.split(' ')) });
}
