import { StorageError } from '../errors.js';
import { SHARD_COUNT } from '../shard.js';
import { inTime, SqlReader } from '../sql/transaction.js';
import type {
  Claim,
  CommitListener,
  Reader,
  Storage,
  StorageClock,
  Transaction,
  TransactionOptions,
} from '../storage.js';
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
  QUIET_MS_MAX,
  runGroup,
  sessionOf,
} from './group.js';
import { commitIn, type Readers, type Snapshot } from './readers.js';
import type { WriteAheadLog } from './write-ahead-log.js';

export interface StorageParts {
  readonly database: Database;
  readonly log: WriteAheadLog;
  readonly readers: Readers;
  readonly reserve: Reserve;
  readonly workerLock: WorkerLock;
  readonly clock: StorageClock;
  /** What a failure of SQLite means to a caller. */
  readonly explain: (error: unknown) => unknown;
}

/** While another process writes, and how often it is tried until the callers are told: some ten seconds. */
const BUSY_PAUSE_MS = 10;
const BUSY_COUNT_MAX = 600;
/** While the disk is full, how often is looked whether there is room. */
const ROOM_INTERVAL_MS = 1000;
const TRIM_PAUSE_MS = 20;

/**
 * An SQLite file: one connection that writes groups of commits, one after the other, and some for readers. The thread
 * goes on while a group is put on the disk, and the next one gathers. Other processes may have the file open too: what
 * they commit is seen by each reader and group that begins after it.
 */
export class SqliteStorage implements Storage {
  readonly #parts: StorageParts;
  readonly #counters: CommitCounters;
  readonly #queue: Job[] = [];
  readonly #listeners = new Set<CommitListener>();
  #readerCount = 0;
  #isScheduled = false;
  #busyCount = 0;
  #roomAskedMs = Number.NEGATIVE_INFINITY;
  #trimTimer: NodeJS.Timeout | undefined;
  /** Why no writes are taken any more. */
  #stopped: StorageError | undefined;
  #closing: Promise<void> | undefined;
  #isInGroup = false;
  /** Ends when readers see what was last heard of other processes. */
  #hearing: Promise<void> = Promise.resolve();
  #onQuiet = () => {};

  constructor(parts: StorageParts) {
    this.#parts = parts;
    this.#counters = new CommitCounters(parts.database);
  }

  async read<Result>(shard: number, work: (tx: Reader) => Promise<Result>): Promise<Result> {
    this.#assertUsable(shard);
    const { readers, explain } = this.#parts;
    this.#readerCount++;
    try {
      await this.#hearOthers();
      const snapshot = await readers.enter();
      try {
        return await readIn(snapshot.database, shard, work);
      } finally {
        readers.leave(snapshot);
      }
    } catch (error) {
      throw explain(error);
    } finally {
      this.#readerCount--;
      if (this.#readerCount === 0) this.#onQuiet();
    }
  }

  /** Has readers see what other processes have committed until now. */
  #hearOthers(): Promise<void> {
    // While a group is open nobody else commits; after a failed sync readers keep to what is on the disk.
    if (this.#isInGroup || this.#stopped !== undefined) return this.#hearing;
    const commits = this.#counters.refresh();
    if (commits.length > 0) {
      // They may rest on a commit of ours that is not on the disk yet.
      this.#hearing = this.#parts.log.onSynced().then(() => {
        if (this.#stopped === undefined) this.#parts.readers.renew();
        this.#tell(commits, false);
      });
    }
    return this.#hearing;
  }

  async transaction<Result>(
    shard: number,
    work: (tx: Transaction) => Promise<Result>,
    options: TransactionOptions = {},
  ): Promise<Result> {
    this.#assertUsable(shard);
    return this.#enqueue<Result>((resolve, reject) => createJob(shard, work, options, resolve, reject));
  }

  async claim(shard: number, owner: string, leaseMs: number): Promise<Claim | undefined> {
    this.#assertUsable(shard);
    const { workerLock, clock } = this.#parts;
    return this.#inGroup((database) => {
      if (workerLock.take()) endClaims(database);
      return takeClaim(database, shard, owner, leaseMs, clock.nowMs());
    });
  }

  async release(claim: Claim): Promise<void> {
    this.#assertUsable(claim.shard);
    await this.#inGroup((database) => giveBackClaim(database, claim));
  }

  /** Processes over one file are few, and mostly short. */
  async keeps(): Promise<boolean> {
    return true;
  }

  onCommit(listener: CommitListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async check(): Promise<void> {
    if (this.#stopped !== undefined) throw this.#stopped;
    // A reader asks for the shard's commit.
    await this.read(0, async () => {});
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    clearTimeout(this.#trimTimer);
    await new Promise<void>((resolve) => {
      const look = () => {
        if (!this.#isScheduled && this.#readerCount === 0) resolve();
      };
      this.#onQuiet = look;
      look();
    });
    const { database, readers, workerLock, explain } = this.#parts;
    try {
      readers.close();
      // So that all of a store that was closed is in one file.
      if (this.#stopped === undefined) this.#parts.log.empty();
      database.close();
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
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#push(create(resolve, (error) => reject(this.#parts.explain(error))));
    });
  }

  #push(job: Job): void {
    this.#queue.push(job);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // After what the sockets have brought in this turn of the event loop, which so shares the commit.
    setImmediate(() => this.#runQueue());
  }

  async #runQueue(): Promise<void> {
    await this.#runGroup();
    this.#isScheduled = this.#queue.length > 0;
    if (!this.#isScheduled) this.#onQuiet();
    else if (this.#busyCount > 0) setTimeout(() => this.#runQueue(), BUSY_PAUSE_MS);
    else setImmediate(() => this.#runQueue());
  }

  async #runGroup(): Promise<void> {
    this.#refuseSome();
    if (this.#queue.length === 0 || !this.#begin()) return;
    const taken: Job[] = [];
    const next = () => {
      const job = this.#queue.shift();
      if (job !== undefined) taken.push(job);
      return job;
    };
    try {
      const { answers, commits } = await this.#commitGroup(next);
      for (const answer of answers) answer();
      this.#tell(commits, true);
      this.#tidyUp();
    } catch (error) {
      this.#counters.reset();
      if (taken.length === 0) next();
      this.#undo(error, taken);
    }
  }

  /** Commits a group, and has it put on the disk; until it is there readers see what was before it. */
  async #commitGroup(next: () => Job | undefined) {
    const { database, log, readers, clock } = this.#parts;
    const counters = this.#counters;
    let before: Snapshot | undefined;
    let isKept = false;
    this.#isInGroup = true;
    try {
      const others = counters.refresh();
      if (others.length > 0) readers.renew();
      this.#tell(others, false);
      const group = new GroupDatabase(database);
      const monotonicMs = () => clock.monotonicMs();
      const answers = await runGroup(group, counters, next, monotonicMs, () => {
        if (group.hasWritten) before = readers.hold();
      });
      this.#isInGroup = false;
      const commits = counters.settle();
      if (group.hasWritten) {
        // Where it fails nobody knows what the disk has: readers stay with what it certainly has.
        isKept = true;
        await log.sync().catch((error: unknown) => {
          this.#stopped = stopped(error);
          throw error;
        });
        isKept = false;
      }
      return { answers, commits };
    } finally {
      this.#isInGroup = false;
      if (before !== undefined && !isKept) {
        readers.renew();
        readers.leave(before);
      }
    }
  }

  /** Takes out of the queue what can not be done now: all when writes have ended, most while the disk is full. */
  #refuseSome(): void {
    const isStopped = this.#stopped !== undefined;
    if (!isStopped && this.#hasRoom()) return;
    const reason = this.#stopped ?? new SqliteFailure('full', 'no room is left');
    const jobs = this.#queue.splice(0);
    for (const job of jobs) {
      if (!isStopped && job.usesReserve) this.#queue.push(job);
      else job.reject(reason);
    }
  }

  #hasRoom(): boolean {
    const { reserve, clock } = this.#parts;
    if (reserve.isHeld) return true;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#roomAskedMs < ROOM_INTERVAL_MS) return false;
    this.#roomAskedMs = nowMs;
    return reserve.take();
  }

  /** @returns false while another process writes, and when no transaction could be begun. */
  #begin(): boolean {
    try {
      this.#parts.database.exec('BEGIN IMMEDIATE');
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

  #undo(error: unknown, taken: readonly Job[]): void {
    const { database, reserve } = this.#parts;
    if (database.isInTransaction) database.exec('ROLLBACK');
    const kind = error instanceof SqliteFailure ? error.kind : undefined;
    if (kind === 'io') this.#stopped ??= stopped(error);
    if (kind === 'full' && reserve.isHeld && reserve.release()) {
      this.#roomAskedMs = this.#parts.clock.monotonicMs();
      this.#parts.log.empty();
      // There is room for these now; a work may be run again as a whole.
      this.#queue.unshift(...taken.filter(({ usesReserve }) => usesReserve));
      for (const job of taken) if (!job.usesReserve) job.reject(error);
    } else {
      for (const job of taken) job.reject(this.#stopped ?? error);
    }
  }

  /** After a group: room that much was deleted of goes back to the disk, a little at a time. */
  #tidyUp(): void {
    const { database, reserve } = this.#parts;
    const isFull = !reserve.isHeld;
    if (isFull) this.#parts.log.empty();
    else this.#parts.log.copy();
    if (this.#closing !== undefined || this.#trimTimer !== undefined || !isTrimDue(database, isFull)) return;
    this.#trimTimer = setTimeout(() => {
      this.#trimTimer = undefined;
      if (this.#closing !== undefined) return;
      // What fails is tried again after the next commit.
      this.#inGroup((group) => trim(group)).catch(() => {});
    }, TRIM_PAUSE_MS);
    this.#trimTimer.unref();
  }

  #tell(commits: readonly NewCommits[], isOwn: boolean): void {
    for (const { shard, fromCommit, lastCommit } of commits) {
      for (let commit = fromCommit; commit <= lastCommit; commit++) {
        // In turns of their own: what a listener throws is no failure of the commit.
        for (const listener of this.#listeners) {
          queueMicrotask(() => this.#listeners.has(listener) && listener(shard, commit, isOwn));
        }
      }
    }
  }

  #assertUsable(shard: number): void {
    if (this.#closing !== undefined) throw new StorageError('storage.closed', 'the store is closed');
    if (Number.isInteger(shard) && shard >= 0 && shard < SHARD_COUNT) return;
    throw new StorageError('storage.key', `expected a shard from 0 to ${SHARD_COUNT - 1}, received ${shard}`);
  }
}

/**
 * After a failed write of the log nobody knows what the disk has, and what the system says it has may be wrong (Rebello
 * et al., "Can Applications Recover from fsync Failures?", 2020): a new process begins with what is really there.
 */
function stopped(cause: unknown): StorageError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new StorageError(
    'storage.failed',
    `the disk failed while the store was written (${message}): this process takes no writes any more, and reading ` +
      'goes on; look at the disk and the system log, then restart it',
    { cause },
  );
}

async function readIn<Result>(
  database: Database,
  shard: number,
  work: (tx: Reader) => Promise<Result>,
): Promise<Result> {
  const lastCommit = commitIn(database, shard);
  const reader = new SqlReader(sessionOf(database), shard, { lastCommit, durableCommit: lastCommit });
  try {
    return await inTime(reader, QUIET_MS_MAX, () => work(reader));
  } finally {
    reader.end();
  }
}
