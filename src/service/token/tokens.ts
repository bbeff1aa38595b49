import type { Reader, Transaction } from '../../storage/storage.js';
import type { RowIn } from '../../storage/table.js';
import { tokens } from '../../storage/tables/identity.js';
import type { Clock } from '../context.js';

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
export async function findToken(tx: Reader, tokenHash: string, nowMs: number): Promise<TokenRow | undefined> {
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
export function createDeadlines(clock: Clock, countMax: number): Deadlines {
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
