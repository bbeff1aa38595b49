import type { Claim, Transaction } from '../storage.js';
import { checkClaim } from './claims.js';
import type { CommitLog } from './commit-log.js';
import type { Connection } from './connection.js';
import type { Database } from './database.js';
import { inTime } from './in-time.js';
import { SqliteTransaction } from './transaction.js';
import { trim } from './trim.js';

/** The last commit of each shard: on the disk, and with those that this group is about to put there. */
export class CommitCounters {
  #durable: readonly number[];
  #last: number[];

  constructor(database: Database) {
    this.#durable = readCounters(database);
    this.#last = [...this.#durable];
  }

  numbersOf(shard: number): { readonly lastCommit: number; readonly durableCommit: number } {
    return { lastCommit: this.#last[shard]!, durableCommit: this.#durable[shard]! };
  }

  advance(shard: number): void {
    this.#last[shard]!++;
  }

  /** The shards with new commits, and the numbers of these. */
  pending(): { readonly shard: number; readonly fromCommit: number; readonly lastCommit: number }[] {
    return this.#last
      .map((lastCommit, shard) => ({ shard, fromCommit: this.#durable[shard]! + 1, lastCommit }))
      .filter(({ fromCommit, lastCommit }) => fromCommit <= lastCommit);
  }

  /** The group is on the disk. */
  settle(): void {
    this.#durable = [...this.#last];
  }

  /** The group failed. What it left is asked of the database: a COMMIT may tell of a failure after it took effect. */
  reset(database: Database): void {
    this.#last = [...this.#durable];
    this.#durable = readCounters(database);
    this.#last = [...this.#durable];
  }
}

function readCounters(database: Database): number[] {
  return database.all('SELECT "commit" FROM "windrow_shard" ORDER BY "shard"').map((row) => Number(row.commit));
}

/** A piece of work of a group. What it gives back is called when the group is on the disk. */
export interface Job {
  run(connection: Connection, counters: CommitCounters): Promise<() => void>;
  reject(error: unknown): void;
}

/** The work of a caller: alone undone when it throws, and answered when the group is on the disk. */
export function createJob<Result>(
  shard: number,
  work: (tx: Transaction) => Promise<Result>,
  claim: Claim | undefined,
  resolve: (result: Result) => void,
  reject: (error: unknown) => void,
): Job {
  const run = async (connection: Connection, counters: CommitCounters) => {
    let hasSavepoint = false;
    const recordCount = connection.recordCount;
    const tx = new SqliteTransaction(connection, shard, counters.numbersOf(shard), () => {
      if (!hasSavepoint) connection.exec('SAVEPOINT "work"');
      hasSavepoint = true;
    });
    try {
      if (claim !== undefined) checkClaim(connection, shard, claim);
      const result = await inTime(() => work(tx));
      if (hasSavepoint) connection.exec('RELEASE "work"');
      if (tx.hasWritten) counters.advance(shard);
      return () => resolve(result);
    } catch (error) {
      // A failure of the disk is one of the whole group.
      if (connection.failure !== undefined) throw connection.failure;
      if (hasSavepoint) connection.exec('ROLLBACK TO "work"; RELEASE "work"');
      connection.dropRecords(recordCount);
      return () => reject(error);
    } finally {
      tx.end();
    }
  };
  return { run, reject };
}

// So that the first of a group does not wait for ever while more come.
const GROUP_MS_MAX = 25;
const GROUP_JOBS_MAX = 1000;

/**
 * Runs jobs of the queue in one SQL transaction until it is empty (what a job adds to it meanwhile is of the group)
 * or time is up, and commits.
 *
 * @returns the jobs' answers. Throws, the database as it was before, when nothing could be written.
 */
export async function runGroup(
  connection: Connection,
  log: CommitLog,
  counters: CommitCounters,
  next: () => Job | undefined,
  monotonicMs: () => number,
): Promise<(() => void)[]> {
  const untilMs = monotonicMs() + GROUP_MS_MAX;
  const answers: (() => void)[] = [];
  log.begin(connection);
  for (let job = next(); job !== undefined; ) {
    answers.push(await job.run(connection, counters));
    // A job that swallowed a failure of the disk has not mended it.
    if (connection.failure !== undefined) throw connection.failure;
    job = answers.length < GROUP_JOBS_MAX && monotonicMs() < untilMs ? next() : undefined;
  }
  const commits = counters.pending();
  for (const { shard, lastCommit } of commits) {
    connection.run('UPDATE "windrow_shard" SET "commit" = ? WHERE "shard" = ?', [lastCommit, shard]);
  }
  if (commits.length > 0) trim(connection);
  await log.commit(connection, connection.takeRecords());
  return answers;
}
