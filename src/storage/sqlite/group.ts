import type { Statement } from '../sql/statements.js';
import { quote } from '../sql/statements.js';
import { type CommitNumbers, type QuietWatch, type SqlSession, SqlTransaction } from '../sql/transaction.js';
import type { StorageClock, Transaction, TransactionOptions } from '../storage.js';
import type { Table } from '../table.js';
import { checkClaim } from './claims.js';
import { type Database, SqliteFailure, type SqlRow, type SqlValue } from './database.js';
import { sqlite } from './dialect.js';
import { checkStoreVersion } from './schema.js';

/** New commits of a shard, from one number to another, both included. */
export interface NewCommits {
  readonly shard: number;
  readonly fromCommit: number;
  readonly lastCommit: number;
}

interface CountersParts {
  readonly database: Database;
  readonly tables: readonly Table<never>[];
  /** The version of stores that this process knows. */
  readonly version: number;
  readonly clock: Pick<StorageClock, 'monotonicMs'>;
}

/**
 * The last commit of each shard: on the disk, and including the group that is being written. It is the greater of the
 * shard's row and the last row of its log, so a commit that only appends to the log changes one page.
 */
export class CommitCounters {
  readonly #database: Database;
  readonly #select: string;
  readonly #storeVersion: number;
  readonly #clock: Pick<StorageClock, 'monotonicMs'>;
  #version = Number.NaN;
  /** The shards that were read at this version; undefined once all were. */
  #read: Set<number> | undefined = new Set();
  #soleWriter = {};
  /** When it was last seen that no other process had committed, in milliseconds of the monotonic clock. */
  #seenMs = Number.NEGATIVE_INFINITY;
  #durable: readonly number[] = [];
  #last: number[] = [];
  /** The last commit of each shard that a log row records. */
  readonly #logged: number[];

  constructor({ database, tables, version, clock }: CountersParts) {
    this.#database = database;
    this.#storeVersion = version;
    this.#clock = clock;
    const ofLogs = tables
      .filter(({ isLog }) => isLog)
      .map(({ name }) => `(SELECT max("commit") FROM ${quote(name)} WHERE "shard" = "s"."shard")`);
    const last = ['"s"."commit"', ...ofLogs.map((ofLog) => `coalesce(${ofLog}, 0)`)];
    const most = last.length === 1 ? last[0] : `max(${last.join(', ')})`;
    this.#select = `SELECT ${most} AS "commit" FROM "windrow_shard" AS "s"`;
    this.#durable = this.#commitsOf(`${this.#select} ORDER BY "s"."shard"`);
    this.#logged = this.#durable.map(() => 0);
    this.refresh();
  }

  /**
   * Within an SQLite transaction: reads what other processes have committed since.
   *
   * @param only the shard that is asked for, if nobody asks for the others: each is a search in the log, which takes
   *   some 50 µs where rows are large, as SQLite compares whole rows.
   * @returns their commits.
   * @throws SqliteFailure 'newer' if one of them was an upgrade of the store.
   */
  refresh(only?: number): readonly NewCommits[] {
    this.#seenMs = this.#clock.monotonicMs();
    const version = versionOf(this.#database);
    if (version !== this.#version) {
      checkStoreVersion(this.#database, this.#storeVersion);
      this.#read = new Set();
      this.#version = version;
      this.#soleWriter = {};
    }
    if (this.#read === undefined || (only !== undefined && this.#read.has(only))) return NONE;
    if (only === undefined) {
      this.#last = this.#commitsOf(`${this.#select} ORDER BY "s"."shard"`);
      this.#read = undefined;
    } else {
      this.#last[only] = this.#commitsOf(`${this.#select} WHERE "s"."shard" = ?`, only)[0]!;
      this.#read.add(only);
    }
    return this.settle();
  }

  /** Whether the numbers of a shard were read, at the version that was current at the last `refresh`. */
  hasRead(shard: number): boolean {
    return this.#read === undefined || this.#read.has(shard);
  }

  /**
   * Whether no other process has committed since; asked outside of a transaction, as within one SQLite reports the
   * version from its start.
   */
  isCurrent(shard: number): boolean {
    return this.hasRead(shard) && versionOf(this.#database) === this.#version;
  }

  /** The same as of some milliseconds ago: to ask SQLite takes a lock of the file and its release. */
  wasCurrent(shard: number, isInTransaction: boolean): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#seenMs < RECENT_MS) return this.hasRead(shard);
    if (isInTransaction || !this.isCurrent(shard)) return false;
    this.#seenMs = nowMs;
    return true;
  }

  numbersOf(shard: number): CommitNumbers & { readonly soleWriter: object } {
    return { lastCommit: this.#last[shard]!, durableCommit: this.#durable[shard]!, soleWriter: this.#soleWriter };
  }

  /** Counts the commit of a transaction that has written. */
  advance({ shard, isLogged }: SqlTransaction): void {
    const commit = ++this.#last[shard]!;
    if (isLogged) this.#logged[shard] = commit;
  }

  /** Writes the last commits that no log row records. */
  write(database: Database): void {
    for (const { shard, lastCommit } of this.#pending()) {
      if (this.#logged[shard] === lastCommit) continue;
      database.run('UPDATE "windrow_shard" SET "commit" = ? WHERE "shard" = ?', [lastCommit, shard]);
    }
  }

  /** Called when the group is on the disk; returns its new commits. */
  settle(): readonly NewCommits[] {
    const commits = this.#pending();
    if (commits.length > 0) this.#durable = [...this.#last];
    return commits;
  }

  #pending(): readonly NewCommits[] {
    const pending: NewCommits[] = [];
    for (let shard = 0; shard < this.#last.length; shard++) {
      const fromCommit = this.#durable[shard]! + 1;
      const lastCommit = this.#last[shard]!;
      if (fromCommit <= lastCommit) pending.push({ shard, fromCommit, lastCommit });
    }
    return pending;
  }

  /**
   * Called when the group failed. The next `refresh` reads the database: a COMMIT may report a failure after it took
   * effect.
   */
  reset(): void {
    this.#last = [...this.#durable];
    this.#logged.fill(0);
    this.#version = Number.NaN;
    this.#seenMs = Number.NEGATIVE_INFINITY;
  }

  #commitsOf(sql: string, ...values: readonly number[]): number[] {
    return this.#database.all(sql, values).map((row) => Number(row.commit));
  }
}

const NONE: readonly NewCommits[] = [];
/** For how long a commit of another process may stay unseen by `wasCurrent`. */
const RECENT_MS = 5;

/** Changes whenever another connection commits. */
export function versionOf(database: Database): number {
  return Number(database.all('PRAGMA data_version')[0]?.data_version);
}

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
