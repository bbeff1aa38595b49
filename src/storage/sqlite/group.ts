import type { Statement } from '../sql/statements.js';
import { type QuietWatch, type SqlSession, SqlTransaction } from '../sql/transaction.js';
import type { Transaction, TransactionOptions } from '../storage.js';
import { checkClaim } from './claims.js';
import type { CommitCounters } from './commit-counters.js';
import { type Database, SqliteFailure, type SqlRow, type SqlValue } from './database.js';
import { sqlite } from './dialect.js';

/** A job of a group. The function that `run` returns is called once the group is on the disk. */
export interface Job {
  /** Whether it may run while the disk is full. */
  readonly usesReserve: boolean;
  run(database: GroupDatabase, counters: CommitCounters): Promise<() => void>;
  reject(error: unknown): void;
}

/** SQLite answers at once, so a job without statements for this long waits for something else. */
export const QUIET_MS_MAX = 10_000;

// For statements without values: `run` prepares them once, while `exec` parses them each time, which costs more than
// running them.
export const NO_VALUES: readonly SqlValue[] = [];

/** A caller's work. It is rolled back alone if it throws, and answered when the group is on the disk. */
export function createJob<Result>(
  shards: readonly number[],
  work: (txs: readonly Transaction[]) => Promise<Result>,
  { claim, usesReserve = false }: TransactionOptions,
  watch: QuietWatch,
  resolve: (result: Result) => void,
  reject: (error: unknown) => void,
): Job {
  const run = async (database: GroupDatabase, counters: CommitCounters) => {
    let hasSavepoint = false;
    const begin = (): void => {
      if (!hasSavepoint) database.run('SAVEPOINT "work"', NO_VALUES);
      hasSavepoint = true;
    };
    const session = sessionOf(database);
    const txs = shards.map((shard) => new SqlTransaction(session, shard, counters.numbersOf(shard), begin));
    try {
      if (claim !== undefined) checkClaim(database, shards[0]!, claim);
      const result = await watch.run(txs, () => work(txs));
      if (hasSavepoint) database.run('RELEASE "work"', NO_VALUES);
      for (const tx of txs) if (tx.hasWritten) counters.advance(tx);
      return () => resolve(result);
    } catch (error) {
      // A failed write to the disk fails the whole group.
      if (database.failure !== undefined) throw database.failure;
      if (hasSavepoint) database.exec('ROLLBACK TO "work"; RELEASE "work"');
      return () => reject(error);
    } finally {
      for (const tx of txs) tx.end();
    }
  };
  return { usesReserve, run, reject };
}

/** A session on the open transaction of a database. */
export function sessionOf(database: Database): SqlSession {
  return {
    dialect: sqlite,
    run: ({ sql, values }: Statement) => database.run(sql, values),
    all: ({ sql, values }: Statement) => database.all(sql, values),
  };
}

/** The database during a group: remembers a failure of the disk, even one that a job has swallowed. */
export class GroupDatabase implements Database {
  readonly #database: Database;
  #failure: SqliteFailure | undefined;
  #mayHaveFreed = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Whether pages may have become free. Rare, and asking SQLite for the number costs time. */
  get mayHaveFreed(): boolean {
    return this.#mayHaveFreed;
  }

  get failure(): SqliteFailure | undefined {
    return this.#failure;
  }

  get isInTransaction(): boolean {
    return this.#database.isInTransaction;
  }

  exec(sql: string): void {
    this.#watch(() => this.#database.exec(sql));
  }

  run(sql: string, values: readonly SqlValue[]): number {
    this.#mayHaveFreed ||= sql.startsWith('DELETE');
    return this.#watch(() => this.#database.run(sql, values));
  }

  // A page that cannot be read concerns only its reader, unless it ended the transaction.
  all(sql: string, values?: readonly SqlValue[]): SqlRow[] {
    if (this.#failure !== undefined) throw this.#failure;
    this.#mayHaveFreed ||= sql.startsWith('PRAGMA incremental_vacuum');
    try {
      return this.#database.all(sql, values);
    } catch (error) {
      if (!this.isInTransaction && error instanceof SqliteFailure) this.#failure = error;
      throw error;
    }
  }

  close(): void {
    throw new Error('assertion failed: a group does not close the database');
  }

  #watch<Result>(write: () => Result): Result {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return write();
    } catch (error) {
      const isOfGroup = error instanceof SqliteFailure && (error.kind === 'full' || error.kind === 'io');
      if (error instanceof SqliteFailure && (isOfGroup || !this.isInTransaction)) this.#failure = error;
      throw error;
    }
  }
}

// Bounds the wait of the first work of a group while more come.
const GROUP_MS_MAX = 25;
const GROUP_JOBS_MAX = 1000;

/**
 * Runs queued jobs in the open transaction until the queue is empty (jobs that are added meanwhile join the group) or
 * time is up, and commits.
 *
 * @returns the jobs' answers. If it throws, the caller must roll back.
 */
export async function runGroup(
  database: GroupDatabase,
  counters: CommitCounters,
  next: () => Job | undefined,
  monotonicMs: () => number,
): Promise<(() => void)[]> {
  const untilMs = monotonicMs() + GROUP_MS_MAX;
  const answers: (() => void)[] = [];
  for (let job = next(); job !== undefined; ) {
    answers.push(await job.run(database, counters));
    // The failure counts even if a job swallowed it.
    if (database.failure !== undefined) throw database.failure;
    job = answers.length < GROUP_JOBS_MAX && monotonicMs() < untilMs ? next() : undefined;
  }
  counters.write(database);
  commit(database);
  return answers;
}

function commit(database: Database): void {
  try {
    database.run('COMMIT', NO_VALUES);
  } catch (error) {
    const isFromDisk = error instanceof SqliteFailure && error.kind === 'io';
    if (!isFromDisk) throw error;
    // The commit may be in the log as a whole. Then the next process finds it there.
    throw new SqliteFailure('commit', error.message, { cause: error });
  }
}
