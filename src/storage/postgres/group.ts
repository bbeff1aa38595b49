import { StaleClaimError } from '../errors.js';
import { QuietWatch, SqlTransaction } from '../sql/transaction.js';
import type { Claim, Transaction, TransactionOptions } from '../storage.js';
import type { Connection } from './connection.js';
import { checkVersion, OLDEST_VERSION } from './schema.js';

/** A shard as read and locked by an open transaction. */
export interface LockedShard {
  readonly shard: number;
  /** The last commit in the database. */
  readonly durableCommit: number;
  /** Including the commits of the group's own jobs. */
  lastCommit: number;
  readonly owner: string | null;
  readonly sequence: number;
  /** See `Reader`. */
  readonly soleWriter: object;
}

/** The same object for as long as a shard's commits are this writer's own. */
export type SoleWriterOf = (shard: number, durableCommit: number, timeline: number) => object;

/** A job of a group. The function that `run` returns is called once the group is committed. */
export interface Job {
  readonly enqueuedMs: number;
  run(connection: Connection, locked: readonly LockedShard[]): Promise<() => void>;
  reject(error: unknown): void;
}

/** Generous, since a statement crosses the network and may wait for one of another process. */
export const quietWatch = new QuietWatch(60_000);

/** A caller's work. It is rolled back alone if it throws, and answered when the group is committed. */
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
      'no longer holds; claim the shard again and start from what is stored',
  );
}

// Bounds the wait of the first work of a group while more come. Beyond 64 savepoints PostgreSQL spills them to disk.
const GROUP_MS_MAX = 25;
const GROUP_JOBS_MAX = 60;

export interface GroupParts {
  /** The version of stores that this process knows. */
  readonly version: number;
  readonly monotonicMs: () => number;
  readonly soleWriterOf: SoleWriterOf;
}

/** The jobs that wait, in the order of arrival. */
export interface JobQueue {
  isEmpty(): boolean;
  take(): Job;
}

/** A group before its commit. */
export interface GroupResult {
  readonly locked: readonly LockedShard[];
  readonly answers: readonly (() => void)[];
}

/**
 * Runs queued jobs, at least one, in one transaction until the queue is empty (jobs that are added meanwhile join the
 * group) or time is up. The lock on a shard's row serialises its writers, so each statement sees the last commit, and a
 * higher isolation level is not needed. What the last job posted need not be answered yet: unless that job was rolled
 * back, its failure is that of COMMIT.
 *
 * @throws PostgresFailure of any answered statement, even if the work swallowed it: nothing of the group is committed.
 */
export async function runGroup(
  connection: Connection,
  shards: readonly number[],
  { version, monotonicMs, soleWriterOf }: GroupParts,
  queue: JobQueue,
): Promise<GroupResult> {
  const untilMs = monotonicMs() + GROUP_MS_MAX;
  const locked = await lockShards(connection, shards, version, soleWriterOf);
  const answers: (() => void)[] = [];
  do {
    // First, so that a failure belongs to the last job taken.
    if (answers.length > 0) await connection.settle();
    answers.push(await queue.take().run(connection, locked));
    if (connection.failure !== undefined) throw connection.failure;
  } while (!queue.isEmpty() && answers.length < GROUP_JOBS_MAX && monotonicMs() < untilMs);
  return { locked, answers };
}

// All lock in ascending order, so there are no deadlocks.
async function lockShards(
  connection: Connection,
  shards: readonly number[],
  version: number,
  soleWriterOf: SoleWriterOf,
): Promise<readonly LockedShard[]> {
  const [, rows] = await connection.exec(
    `BEGIN; SELECT "shard", "commit", "owner", "sequence", ${OLDEST_VERSION} FROM "windrow_shard"
      WHERE "shard" IN (${shards.join(', ')}) ORDER BY "shard" FOR UPDATE`,
  );
  try {
    checkVersion(rows![0]!.oldestVersion, version);
  } catch (error) {
    connection.send('ROLLBACK');
    throw error;
  }
  const found = rows!.map(({ shard, commit, owner, sequence }) => {
    const durableCommit = Number(commit);
    const holder = typeof owner === 'string' ? owner : null;
    return {
      shard: Number(shard),
      durableCommit,
      lastCommit: durableCommit,
      owner: holder,
      sequence: Number(sequence),
      soleWriter: soleWriterOf(Number(shard), durableCommit, connection.timeline),
    };
  });
  return shards.map((shard) => found.find((one) => one.shard === shard)!);
}
