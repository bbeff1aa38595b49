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

/** The token's row, unless it has expired by the wall clock. */
async function findToken(tx: Reader, tokenHash: string, nowMs: number): Promise<TokenRow | undefined> {
  const row = await tx.get(tokens, { tokenHash });
  return row === undefined || nowMs >= row.expiresMs ? undefined : row;
}

/** Expired tokens that one request deletes; the next ones delete more. */
const FORGOTTEN_PER_REQUEST = 200;

/** @returns whether there may be more. */
export async function forgetExpired(tx: Transaction, nowMs: number): Promise<boolean> {
  const where = [['expiresMs', '<', nowMs]] as const;
  const orderBy = [{ column: 'expiresMs' }] as const;
  const oldest = await tx.find(tokens, { where, orderBy, limit: FORGOTTEN_PER_REQUEST });
  const hashes = oldest.map(({ tokenHash }) => tokenHash);
  if (hashes.length > 0) await tx.delete(tokens, [['tokenHash', 'in', hashes]]);
  return hashes.length === FORGOTTEN_PER_REQUEST;
}

/**
 * Expiry by the monotonic clock: a token that this process has seen expires in time even if the wall clock is set
 * back. The number of tokens is bounded; one that was dropped expires by the wall clock alone.
 */
class Deadlines {
  readonly #clock: Clock;
  readonly #deadlinesMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether the token has expired by either clock. */
  hasPassed({ tokenHash, issuedMs, expiresMs }: TokenRow): boolean {
    const nowMs = this.#clock.nowMs();
    const monotonicMs = this.#clock.monotonicMs();
    const known = this.#deadlinesMs.get(tokenHash);
    // A wall clock before the time of issue was set back: no token outlives the span from issue to expiry.
    const deadlineMs = known ?? monotonicMs + Math.min(expiresMs - nowMs, expiresMs - issuedMs);
    if (known === undefined) {
      const [oldest] = this.#deadlinesMs.size < DEADLINE_COUNT_MAX ? [] : this.#deadlinesMs.keys();
      if (oldest !== undefined) this.#deadlinesMs.delete(oldest);
      this.#deadlinesMs.set(tokenHash, deadlineMs);
    }
    return nowMs >= expiresMs || monotonicMs >= deadlineMs;
  }

  forget(tokenHash: string): void {
    this.#deadlinesMs.delete(tokenHash);
  }
}

const DEADLINE_COUNT_MAX = 100_000;

/** Rows by token, in memory alone, as of one commit of their shard; a later commit makes them stale. */
interface TokenCache {
  readonly commit: number;
  readonly rows: Map<string, TokenRow>;
}

const CACHED_COUNT_MAX = 10_000;

/**
 * Compares the store's commit number on each request, so that a token that another process revoked is refused within
 * milliseconds, and one revoked by this process at once.
 */
export class Authenticator {
  readonly #context: Pick<ServiceContext, 'storage' | 'clock'>;
  readonly #deadlines: Deadlines;
  /** Concurrent requests with the same token share one read. */
  readonly #readings = new Map<string, Promise<TokenRow | undefined>>();
  #cache: TokenCache = { commit: -1, rows: new Map() };

  constructor(context: Pick<ServiceContext, 'storage' | 'clock'>) {
    this.#context = context;
    this.#deadlines = new Deadlines(context.clock);
  }

  /** The token's principal; undefined if it is unknown, revoked or expired. No promise where it is known at once. */
  authenticate(token: string): Principal | undefined | Promise<Principal | undefined> {
    const row = this.find(token);
    return row instanceof Promise ? row.then(principalOf) : principalOf(row);
  }

  /** The token's row; undefined if it is unknown, revoked or expired. No promise where it is known at once. */
  find(token: string): TokenRow | undefined | Promise<TokenRow | undefined> {
    const { commit, rows } = this.#cache;
    const known = rows.get(token);
    if (known === undefined) return this.#readValid(token);
    const choose = (last: number) => (last === commit ? this.#unlessExpired(known) : this.#readValid(token));
    const last = this.#context.storage.recentCommit(IDENTITY_SHARD);
    return typeof last === 'number' ? choose(last) : last.then(choose);
  }

  async #readValid(token: string): Promise<TokenRow | undefined> {
    return this.#unlessExpired(await this.#readRowOnce(token));
  }

  #unlessExpired(row: TokenRow | undefined): TokenRow | undefined {
    return row === undefined || this.#deadlines.hasPassed(row) ? undefined : row;
  }

  #readRowOnce(token: string): Promise<TokenRow | undefined> {
    let reading = this.#readings.get(token);
    if (reading === undefined) {
      reading = this.#readRow(token);
      this.#readings.set(token, reading);
    }
    return reading;
  }

  #readRow(token: string): Promise<TokenRow | undefined> {
    const { storage, clock } = this.#context;
    const tokenHash = hashSecret(token);
    return storage
      .read(IDENTITY_SHARD, async (tx) => {
        // A request from now on may follow a revocation that this reader does not see, so it must read again.
        this.#readings.delete(token);
        const row = await findToken(tx, tokenHash, clock.nowMs());
        if (this.#cache.commit < tx.lastCommit || this.#cache.rows.size >= CACHED_COUNT_MAX) {
          this.#cache = { commit: tx.lastCommit, rows: new Map() };
        }
        if (row === undefined) this.#deadlines.forget(tokenHash);
        else if (this.#cache.commit === tx.lastCommit) this.#cache.rows.set(token, row);
        return row;
      })
      .finally(() => this.#readings.delete(token));
  }
}

// A token comes with thousands of requests, and its row is the same until tokens change.
const principals = new WeakMap<TokenRow, Principal>();

function principalOf(row: TokenRow | undefined): Principal | undefined {
  if (row === undefined) return undefined;
  const known = principals.get(row);
  if (known !== undefined) return known;
  const { clientId, username, organisation, scope } = row;
  const principal = Object.freeze({ clientId, username, organisation, scopes: new Set(scope.split(' ')) });
  principals.set(row, principal);
  return principal;
}
