import { IDENTITY_SHARD } from '../../storage/shard.js';
import type { ServiceContext } from '../context.js';
import type { Principal } from '../principal.js';
import { hashSecret } from './hash.js';
import { createDeadlines, findToken, type TokenRow } from './tokens.js';

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
