import { StorageError } from '../errors.js';
import { CommitListeners } from '../listeners.js';
import { checkShard } from '../shard.js';
import { QuietWatch } from '../sql/transaction.js';
import type {
  Claim,
  CommitListener,
  Reader,
  Storage,
  StorageClock,
  Transaction,
  TransactionOptions,
} from '../storage.js';
import type { Table } from '../table.js';
import type { WorkerLock } from './claims.js';
import { endClaims, giveBackClaim, takeClaim } from './claims.js';
import { CommitCounters, tellCommits } from './commit-counters.js';
import { type Database, SqliteFailure } from './database.js';
import type { Reserve } from './disk-space.js';
import { createJob, type Job, QUIET_MS_MAX } from './group.js';
import { Readers } from './readers.js';
import { Turns } from './turns.js';
import { Writers } from './writers.js';

export interface StorageParts {
  readonly database: Database;
  /** Why nothing may be written, if the store's files are no longer where they were opened. */
  readonly misplaced: () => StorageError | undefined;
  readonly tables: readonly Table<never>[];
  /** The version of stores that this process knows. */
  readonly version: number;
  /** Opens another connection, which never keeps a read transaction open; undefined if the files have gone. */
  readonly openWatch: () => Database | undefined;
  readonly reserve: Reserve;
  readonly workerLock: WorkerLock;
  readonly clock: StorageClock;
  /** Turns a failure of SQLite into an error for the caller. */
  readonly explain: (error: unknown) => unknown;
}

/**
 * One connection to an SQLite file, whose readers and groups of writers take turns. Other processes may have the file
 * open too: each reader and group that starts after their commits sees them.
 */
export class SqliteStorage implements Storage {
  readonly #parts: StorageParts;
  readonly #counters: CommitCounters;
  readonly #turns = new Turns();
  readonly #quietWatch = new QuietWatch(QUIET_MS_MAX);
  readonly #listeners = new CommitListeners();
  readonly #readers: Readers;
  readonly #writers: Writers;
  /** Whether claims of dead processes are still to be ended. */
  #hasDeadClaims = false;
  #closing: Promise<void> | undefined;

  constructor(parts: StorageParts) {
    this.#parts = parts;
    const counters = new CommitCounters(parts);
    this.#counters = counters;
    // Who listens, does so to all shards.
    const refresh = (shard: number) =>
      tellCommits(this.#listeners, counters.refresh(this.#listeners.areNone ? shard : undefined), false);
    this.#readers = new Readers({ ...parts, counters, refresh });
    this.#writers = new Writers({ ...parts, counters, turns: this.#turns, listeners: this.#listeners });
  }

  async read<Result>(shard: number, work: (tx: Reader) => Promise<Result>): Promise<Result> {
    this.#assertUsable(shard);
    try {
      return await this.#turns.read(
        () => this.#readers.read(shard, (reader) => this.#quietWatch.run([reader], () => work(reader))),
        () => this.#readers.areUpToDate,
      );
    } catch (error) {
      throw this.#explain(error);
    }
  }

  lastCommit(shard: number): number | Promise<number> {
    return this.#lastCommit(shard, () => !this.#turns.areTaken && this.#counters.isCurrent(shard));
  }

  recentCommit(shard: number): number | Promise<number> {
    return this.#lastCommit(shard, () => this.#counters.wasCurrent(shard, this.#turns.areTaken));
  }

  #lastCommit(shard: number, isKnown: () => boolean): number | Promise<number> {
    this.#assertUsable(shard);
    try {
      if (isKnown()) return this.#counters.numbersOf(shard).durableCommit;
    } catch (error) {
      throw this.#explain(error);
    }
    return this.read(shard, async (tx) => tx.lastCommit);
  }

  async transaction<Result>(
    shard: number,
    work: (tx: Transaction) => Promise<Result>,
    options: TransactionOptions = {},
  ): Promise<Result> {
    return this.transactionOver([shard], ([tx]) => work(tx!), options);
  }

  async transactionOver<Result>(
    shards: readonly number[],
    work: (txs: readonly Transaction[]) => Promise<Result>,
    options: TransactionOptions = {},
  ): Promise<Result> {
    for (const shard of shards) this.#assertUsable(shard);
    return this.#write<Result>(
      (resolve, reject) => createJob(shards, work, options, this.#quietWatch, resolve, reject),
      options.isAlone,
    );
  }

  async claim(shard: number, owner: string, leaseMs: number): Promise<Claim | undefined> {
    this.#assertUsable(shard);
    // Not within the group, which would fail as a whole.
    const endsOthers = this.#findDeadClaims();
    try {
      return await this.#inGroup((database) => {
        if (endsOthers) endClaims(database);
        return takeClaim(database, shard, owner, leaseMs, this.#parts.clock.nowMs());
      });
    } catch (error) {
      if (endsOthers) this.#hasDeadClaims = true;
      throw error;
    }
  }

  /** Whether the claims that there are belong to dead processes, and are not ended yet. */
  #findDeadClaims(): boolean {
    try {
      const haveDied = this.#parts.workerLock.take() || this.#hasDeadClaims;
      this.#hasDeadClaims = false;
      return haveDied;
    } catch (error) {
      throw this.#parts.explain(error);
    }
  }

  async release(claim: Claim): Promise<void> {
    this.#assertUsable(claim.shard);
    await this.#inGroup((database) => giveBackClaim(database, claim));
  }

  /** Few processes share a file, and most of them are short. */
  async maintains(): Promise<boolean> {
    return true;
  }

  onCommit(listener: CommitListener): () => void {
    return this.#listeners.add(listener);
  }

  async check(): Promise<void> {
    const { refusal } = this.#writers;
    if (refusal !== undefined) throw refusal;
    await this.read(0, async () => {
      this.#parts.database.all('SELECT "commit" FROM "windrow_shard" WHERE "shard" = ?', [0]);
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    await this.#writers.end();
    // After the readers that wait for their turn.
    await this.#turns.read(
      async () => {},
      () => false,
    );
    const { database, workerLock, explain } = this.#parts;
    try {
      await this.#turns.write(async () => {
        // So that a closed store is in one file.
        if (!this.#writers.haveStopped) this.#writers.emptyLog();
        this.#readers.close();
        database.close();
      });
    } catch (error) {
      throw explain(error);
    } finally {
      workerLock.release();
    }
  }

  #inGroup<Result>(work: (database: Database) => Result): Promise<Result> {
    return this.#write<Result>((resolve, reject) => ({
      usesReserve: true,
      run: async (database) => {
        const result = work(database);
        return () => resolve(result);
      },
      reject,
    }));
  }

  #write<Result>(
    create: (resolve: (result: Result) => void, reject: (error: unknown) => void) => Job,
    isAlone?: boolean,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      const job = create(resolve, (error) => reject(this.#explain(error)));
      this.#writers.push(job, isAlone);
    });
  }

  #explain(error: unknown): unknown {
    const isOfFile = error instanceof SqliteFailure && (error.kind === 'damaged' || error.kind === 'io');
    return isOfFile && this.#writers.haveStopped ? unreadable(error) : this.#parts.explain(error);
  }

  #assertUsable(shard: number): void {
    if (this.#closing !== undefined) throw new StorageError('storage.closed', 'the store is closed');
    checkShard(shard);
  }
}

/** After a failed write, what SQLite calls damaged is most likely a page that the disk cannot read. */
function unreadable(cause: SqliteFailure): StorageError {
  return new StorageError(
    'storage.failed',
    `the disk failed while the store was written, and cannot be read now (${cause.message}): ` +
      'check the disk and the system log, then restart this process',
    { cause },
  );
}
