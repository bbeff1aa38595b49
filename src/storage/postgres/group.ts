import { StaleClaimError } from '../errors.js';
import { QuietWatch, SqlTransaction } from '../sql/transaction.js';
import type { Claim, Transaction, TransactionOptions } from '../storage.js';
import type { Connection } from './connection.js';

/** A shard as an open transaction has found and locked it. */
export interface LockedShard {
  readonly shard: number;
  /** The last commit in the database. */
  readonly durableCommit: number;
  /** With those of the group's own works that have written. */
  lastCommit: number;
  readonly owner: string | null;
  readonly sequence: number;
}

/** A piece of work of a group. What it gives back is called when the group is committed. */
export interface Job {
  readonly enqueuedMs: number;
  run(connection: Connection, locked: readonly LockedShard[]): Promise<() => void>;
  reject(error: unknown): void;
}

/** A statement goes over the network and back, and may wait for one of another process. */
export const quietWatch = new QuietWatch(60_000);

/** The work of a caller: alone undone when it throws, and answered when the group is committed. */
export function createJob<Result>(
  enqueuedMs: number,
  work: (txs: readonly Transaction[]) => Promise<Result>,
  { claim }: TransactionOptions,
  resolve: (result: Result) => void,
  reject: (error: unknown) => void,
): Job {
  const run = async (connection: Connection, locked: readonly LockedShard[]) => {
    let hasSavepoint = false;
    const begin = (): void => {
      if (!hasSavepoint) connection.send('SAVEPOINT "work"');
      hasSavepoint = true;
    };
    const txs = locked.map((one) => new SqlTransaction(connection, one.shard, one, begin));
    try {
      if (claim !== undefined) checkClaim(locked[0]!, claim);
      const result = await quietWatch.run(txs, () => work(txs));
      if (hasSavepoint) connection.send('RELEASE "work"');
      for (const [index, { hasWritten }] of txs.entries()) if (hasWritten) locked[index]!.lastCommit++;
      return () => resolve(result);
    } catch (error) {
      if (hasSavepoint) connection.send('ROLLBACK TO "work"; RELEASE "work"');
      return () => reject(error);
    } finally {
      for (const tx of txs) tx.end();
    }
  };
  return { enqueuedMs, run, reject };
}

function checkClaim({ shard, owner, sequence }: LockedShard, claim: Claim): void {
  if (claim.shard === shard && claim.owner === owner && claim.sequence === sequence) return;
  throw new StaleClaimError(
    `shard ${shard}: the claim of ${claim.owner} with the sequence ${claim.sequence} on shard ${claim.shard} ` +
      'is not the one that holds; claim the shard anew and begin again from what is stored',
  );
}

// So that the first of a group does not wait for ever while more come. Beyond 64 savepoints PostgreSQL keeps them on
// disk.
const GROUP_MS_MAX = 25;
const GROUP_JOBS_MAX = 60;

/** What a group has come to before its commit. */
export interface GroupResult {
  readonly locked: readonly LockedShard[];
  readonly answers: readonly (() => void)[];
}

/**
 * Runs jobs of a queue in a transaction until there are none (what a job adds meanwhile is of the group) or
 * time is up. Writers of a shard follow one another by the lock on its row, so each statement sees what the last one
 * has committed, and no isolation beyond that is needed.
 *
 * @throws PostgresFailure that a job met, also one that its work has swallowed: nothing of the group is committed.
 */
export async function runGroup(
  connection: Connection,
  shards: readonly number[],
  next: () => Job | undefined,
  monotonicMs: () => number,
): Promise<GroupResult> {
  const untilMs = monotonicMs() + GROUP_MS_MAX;
  const locked = await lockShards(connection, shards);
  const answers: (() => void)[] = [];
  for (let job = next(); job !== undefined; ) {
    answers.push(await job.run(connection, locked));
    if (connection.failure !== undefined) throw connection.failure;
    job = answers.length < GROUP_JOBS_MAX && monotonicMs() < untilMs ? next() : undefined;
  }
  return { locked, answers };
}

// All lock in the order of their numbers, so none waits for another in a circle.
async function lockShards(connection: Connection, shards: readonly number[]): Promise<readonly LockedShard[]> {
  const [, rows] = await connection.exec(
    `BEGIN; SELECT "shard", "commit", "owner", "sequence" FROM "windrow_shard" WHERE "shard" IN (${shards.join(', ')})
      ORDER BY "shard" FOR UPDATE`,
  );
  const found = rows!.map(({ shard, commit, owner, sequence }) => {
    const durableCommit = Number(commit);
    const holder = typeof owner === 'string' ? owner : null;
    return {
      shard: Number(shard),
      durableCommit,
      lastCommit: durableCommit,
      owner: holder,
      sequence: Number(sequence),
    };
  });
  return shards.map((shard) => found.find((one) => one.shard === shard)!);
}
