import { StorageError } from '../errors.js';
import { COMMITS_TOLD_MAX, tellListeners } from '../listeners.js';
import { checkShard } from '../shard.js';
import { QuietWatch, SqlReader } from '../sql/transaction.js';
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
import { type Database, SqliteFailure } from './database.js';
import type { Reserve } from './disk-space.js';
import { isTrimDue, trim } from './disk-space.js';
import {
  CommitCounters,
  createJob,
  GroupDatabase,
  type Job,
  type NewCommits,
  NO_VALUES,
  QUIET_MS_MAX,
  runGroup,
  sessionOf,
  versionOf,
} from './group.js';
import { Turns } from './turns.js';

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

/** The pause between attempts while another process writes, and how many to make: some ten seconds in all. */
const BUSY_PAUSE_MS = 10;
const BUSY_COUNT_MAX = 600;
/** How often to check for free space while the disk is full. */
const ROOM_INTERVAL_MS = 1000;
const TRIM_PAUSE_MS = 20;

/**
 * One connection to an SQLite file, whose readers and groups of writers take turns. Other processes may have the file
 * open too: each reader and group that starts after their commits sees them.
 */
export class SqliteStorage implements Storage {
  readonly #parts: StorageParts;
  readonly #counters: CommitCounters;
  readonly #turns = new Turns();
  readonly #quietWatch = new QuietWatch(QUIET_MS_MAX);
  readonly #queue: Job[] = [];
  readonly #listeners = new Set<CommitListener>();
  #readerCount = 0;
  /** Opened when readers first overlap. */
  #watch: Database | undefined;
  /** The data version at which the current readers began, as `#watch` counts. */
  #readersVersion = Number.NaN;
  #isScheduled = false;
  #busyCount = 0;
  /** Whether claims of dead processes are still to be ended. */
  #hasDeadClaims = false;
  #roomAskedMs = Number.NEGATIVE_INFINITY;
  #trimTimer: NodeJS.Timeout | undefined;
  /** Why writes are refused from now on. */
  #stopped: StorageError | undefined;
  #closing: Promise<void> | undefined;
  #onDrained = () => {};

  constructor(parts: StorageParts) {
    this.#parts = parts;
    this.#counters = new CommitCounters(parts);
  }

  async read<Result>(shard: number, work: (tx: Reader) => Promise<Result>): Promise<Result> {
    this.#assertUsable(shard);
    return this.#turns.read(
      async () => {
        let tx: SqlReader | undefined;
        try {
          this.#beginReading(shard);
          const reader = new SqlReader(sessionOf(this.#parts.database), shard, this.#counters.numbersOf(shard));
          tx = reader;
          return await this.#quietWatch.run([reader], () => work(reader));
        } catch (error) {
          throw this.#explain(error);
        } finally {
          tx?.end();
          if (tx !== undefined) this.#endReading();
        }
      },
      () => this.#isUpToDate(),
    );
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

  /** Whether the current readers see all commits, even those of other processes. */
  #isUpToDate(): boolean {
    try {
      this.#watch ??= this.#parts.openWatch();
      return this.#watch !== undefined && versionOf(this.#watch) === this.#readersVersion;
    } catch (error) {
      throw this.#explain(error);
    }
  }

  // Concurrent readers see one state; a reader that comes after a commit of another process waits for them to end.
  #beginReading(shard: number): void {
    const { database } = this.#parts;
    if (this.#readerCount === 0) {
      try {
        if (this.#watch !== undefined) this.#readersVersion = versionOf(this.#watch);
        database.run('BEGIN', NO_VALUES);
        this.#refresh(shard);
      } catch (error) {
        if (database.isInTransaction) database.exec('ROLLBACK');
        throw error;
      }
    } else if (!this.#counters.hasRead(shard)) this.#refresh(shard);
    this.#readerCount++;
  }

  // Who listens, does so to all shards.
  #refresh(shard: number): void {
    this.#announce(this.#counters.refresh(this.#listeners.size === 0 ? shard : undefined), false);
  }

  #endReading(): void {
    const { database } = this.#parts;
    this.#readerCount--;
    if (this.#readerCount === 0 && database.isInTransaction) database.run('END', NO_VALUES);
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
    return this.#enqueue<Result>(
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
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async check(): Promise<void> {
    const refusal = this.#refusal;
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
    clearTimeout(this.#trimTimer);
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve;
      if (!this.#isScheduled) resolve();
    });
    // After the readers that wait for their turn.
    await this.#turns.read(
      async () => {},
      () => false,
    );
    const { database, workerLock, explain } = this.#parts;
    try {
      await this.#turns.write(async () => {
        // So that a closed store is in one file.
        if (this.#stopped === undefined) this.#emptyLog();
        this.#watch?.close();
        database.close();
      });
    } catch (error) {
      throw explain(error);
    } finally {
      workerLock.release();
    }
  }

  #inGroup<Result>(work: (database: Database) => Result): Promise<Result> {
    return this.#enqueue<Result>((resolve, reject) => ({
      usesReserve: true,
      run: async (database) => {
        const result = work(database);
        return () => resolve(result);
      },
      reject,
    }));
  }

  #enqueue<Result>(
    create: (resolve: (result: Result) => void, reject: (error: unknown) => void) => Job,
    isAlone = false,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#push(
        create(resolve, (error) => reject(this.#explain(error))),
        isAlone,
      );
    });
  }

  #push(job: Job, isAlone: boolean): void {
    this.#queue.push(job);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    if (isAlone) queueMicrotask(() => this.#runQueue());
    // After all sockets were read in this turn of the event loop, so that their jobs share the commit.
    else setImmediate(() => this.#runQueue());
  }

  async #runQueue(): Promise<void> {
    await this.#turns.write(() => this.#runGroup());
    this.#isScheduled = this.#queue.length > 0;
    if (!this.#isScheduled) this.#onDrained();
    else if (this.#busyCount > 0) setTimeout(() => this.#runQueue(), BUSY_PAUSE_MS);
    else setImmediate(() => this.#runQueue());
  }

  async #runGroup(): Promise<void> {
    this.#refuseSome();
    if (this.#queue.length === 0 || !this.#begin()) return;
    const { database, clock } = this.#parts;
    const group = new GroupDatabase(database);
    const taken: Job[] = [];
    const next = () => {
      const job = this.#queue.shift();
      if (job !== undefined) taken.push(job);
      return job;
    };
    try {
      this.#announce(this.#counters.refresh(), false);
      const answers = await runGroup(group, this.#counters, next, () => clock.monotonicMs());
      const commits = this.#counters.settle();
      for (const answer of answers) answer();
      this.#announce(commits, true);
    } catch (error) {
      this.#counters.reset();
      if (taken.length === 0) next();
      this.#recover(error, taken);
      return;
    }
    try {
      this.#tidyUp(group.mayHaveFreed);
    } catch {
      // The commit is on the disk. What could not be read now is read after the next one.
    }
  }

  /** Rejects what cannot be done now: everything once writes are refused, most jobs while the disk is full. */
  #refuseSome(): void {
    const refusal = this.#refusal;
    if (refusal === undefined && this.#hasRoom()) return;
    const reason = refusal ?? new SqliteFailure('full', `there is no room for ${this.#parts.reserve.description}`);
    const jobs = this.#queue.splice(0);
    for (const job of jobs) {
      if (refusal === undefined && job.usesReserve) this.#queue.push(job);
      else job.reject(reason);
    }
  }

  /** Why nothing may be written now, whatever room there is. */
  get #refusal(): StorageError | undefined {
    return this.#stopped ?? this.#parts.misplaced();
  }

  #hasRoom(): boolean {
    const { reserve, clock } = this.#parts;
    if (reserve.isHeld) return true;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#roomAskedMs < ROOM_INTERVAL_MS) return false;
    this.#roomAskedMs = nowMs;
    return reserve.take();
  }

  /** @returns false while another process writes, and if no transaction could be started. */
  #begin(): boolean {
    try {
      this.#parts.database.run('BEGIN IMMEDIATE', NO_VALUES);
      this.#busyCount = 0;
      return true;
    } catch (error) {
      const isBusy = error instanceof SqliteFailure && error.kind === 'busy';
      if (isBusy && ++this.#busyCount < BUSY_COUNT_MAX) return false;
      this.#busyCount = 0;
      for (const job of this.#queue.splice(0)) job.reject(error);
      return false;
    }
  }

  #recover(error: unknown, taken: readonly Job[]): void {
    const { database, reserve } = this.#parts;
    const kind = error instanceof SqliteFailure ? error.kind : undefined;
    if (kind === 'io' || kind === 'commit') this.#stopped = stopped(error);
    try {
      if (database.isInTransaction) database.exec('ROLLBACK');
    } catch (failure) {
      this.#stopped ??= stopped(failure);
    }
    if (this.#stopped === undefined && kind === 'full' && reserve.isHeld && reserve.release()) {
      this.#roomAskedMs = this.#parts.clock.monotonicMs();
      this.#emptyLog();
      // There is space for these now, and a job may be rerun as a whole.
      this.#queue.unshift(...taken.filter(({ usesReserve }) => usesReserve));
      for (const job of taken) if (!job.usesReserve) job.reject(error);
    } else {
      for (const job of taken) job.reject(kind === 'commit' ? error : (this.#stopped ?? error));
    }
  }

  /** After a group: returns free space to the file system, a little at a time. */
  #tidyUp(mayHaveFreed: boolean): void {
    const { database, reserve } = this.#parts;
    const isFull = !reserve.isHeld;
    if (isFull) this.#emptyLog();
    else if (!mayHaveFreed) return;
    if (this.#closing !== undefined || this.#trimTimer !== undefined || !isTrimDue(database, isFull)) return;
    this.#trimTimer = setTimeout(() => {
      this.#trimTimer = undefined;
      if (this.#closing !== undefined) return;
      // If it fails, it is tried again after the next commit.
      this.#inGroup((group) => trim(group)).catch(() => {});
    }, TRIM_PAUSE_MS);
    this.#trimTimer.unref();
  }

  /** Copies the write-ahead log into the database and truncates it. */
  #emptyLog(): void {
    try {
      this.#parts.database.all('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // It copies as much as there is space for.
    }
  }

  #announce(commits: readonly NewCommits[], isOwn: boolean): void {
    // In a microtask: an error of a listener is no failure of the commit.
    if (commits.length > 0 && this.#listeners.size > 0) queueMicrotask(() => this.#tell(commits, isOwn));
  }

  #tell(commits: readonly NewCommits[], isOwn: boolean): void {
    for (const { shard, fromCommit, lastCommit } of commits) {
      for (let commit = Math.max(fromCommit, lastCommit - COMMITS_TOLD_MAX + 1); commit <= lastCommit; commit++) {
        tellListeners(this.#listeners, shard, commit, isOwn);
      }
    }
  }

  #explain(error: unknown): unknown {
    const isOfFile = error instanceof SqliteFailure && (error.kind === 'damaged' || error.kind === 'io');
    return isOfFile && this.#stopped !== undefined ? unreadable(error) : this.#parts.explain(error);
  }

  #assertUsable(shard: number): void {
    if (this.#closing !== undefined) throw new StorageError('storage.closed', 'the store is closed');
    checkShard(shard);
  }
}

/**
 * After a failed write of the log nobody knows what is on the disk, and what the system reports may be wrong (Rebello
 * et al., "Can Applications Recover from fsync Failures?", 2020). A new process starts from what is really there.
 */
function stopped(cause: unknown): StorageError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new StorageError(
    'storage.failed',
    `the disk failed while the store was written (${message}): this process refuses further writes but still ` +
      'reads; check the disk and the system log, then restart it',
    { cause },
  );
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
