import { StorageError } from '../errors.js';
import type { CommitListeners } from '../listeners.js';
import type { StorageClock } from '../storage.js';
import { type CommitCounters, tellCommits } from './commit-counters.js';
import { type Database, SqliteFailure } from './database.js';
import { isTrimDue, type Reserve, trim } from './disk-space.js';
import { GroupDatabase, type Job, NO_VALUES, runGroup } from './group.js';
import type { Turns } from './turns.js';

interface WritersParts {
  readonly database: Database;
  readonly counters: CommitCounters;
  readonly turns: Turns;
  readonly listeners: CommitListeners;
  /** Why nothing may be written, if the store's files are no longer where they were opened. */
  readonly misplaced: () => StorageError | undefined;
  readonly reserve: Reserve;
  readonly clock: StorageClock;
}

/** The pause between attempts while another process writes, and how many to make: some ten seconds in all. */
const BUSY_PAUSE_MS = 10;
const BUSY_COUNT_MAX = 600;
/** How often to check whether the space is reserved, and to reserve it again. */
const ROOM_INTERVAL_MS = 1000;
const TRIM_PAUSE_MS = 20;

/** The writers of one connection. Those that wait together make a group, which is one transaction. */
export class Writers {
  readonly #parts: WritersParts;
  readonly #queue: Job[] = [];
  #isScheduled = false;
  #busyCount = 0;
  #roomAskedMs = Number.NEGATIVE_INFINITY;
  #trimTimer: NodeJS.Timeout | undefined;
  #isEnding = false;
  /** Why writes are refused from now on. */
  #stopped: StorageError | undefined;
  #onDrained = () => {};

  constructor(parts: WritersParts) {
    this.#parts = parts;
  }

  /** Whether a write has failed so that nobody knows what is on the disk: no more are made. */
  get haveStopped(): boolean {
    return this.#stopped !== undefined;
  }

  /** Why nothing may be written now, whatever room there is. */
  get refusal(): StorageError | undefined {
    return this.#stopped ?? this.#parts.misplaced();
  }

  /** @param isAlone whether no other writer is expected to share its group. */
  push(job: Job, isAlone = false): void {
    this.#queue.push(job);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    if (isAlone) queueMicrotask(() => this.#runQueue());
    // After all sockets were read in this turn of the event loop, so that their jobs share the commit.
    else setImmediate(() => this.#runQueue());
  }

  /** Resolves when all writers have been answered. */
  async end(): Promise<void> {
    this.#isEnding = true;
    clearTimeout(this.#trimTimer);
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve;
      if (!this.#isScheduled) resolve();
    });
  }

  /** Copies the write-ahead log into the database and truncates it. */
  emptyLog(): void {
    try {
      this.#parts.database.all('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // It copies as much as there is space for.
    }
  }

  async #runQueue(): Promise<void> {
    await this.#parts.turns.write(() => this.#runGroup());
    this.#isScheduled = this.#queue.length > 0;
    if (!this.#isScheduled) this.#onDrained();
    else if (this.#busyCount > 0) setTimeout(() => this.#runQueue(), BUSY_PAUSE_MS);
    else setImmediate(() => this.#runQueue());
  }

  async #runGroup(): Promise<void> {
    this.#refuseSome();
    if (this.#queue.length === 0 || !this.#begin()) return;
    const { database, counters, listeners, clock } = this.#parts;
    const group = new GroupDatabase(database);
    const taken: Job[] = [];
    const next = () => {
      const job = this.#queue.shift();
      if (job !== undefined) taken.push(job);
      return job;
    };
    try {
      tellCommits(listeners, counters.refresh(), false);
      const answers = await runGroup(group, counters, next, () => clock.monotonicMs());
      const commits = counters.settle();
      for (const answer of answers) answer();
      tellCommits(listeners, commits, true);
    } catch (error) {
      counters.reset();
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
    const { refusal } = this;
    if (refusal === undefined && this.#hasRoom()) return;
    const reason = refusal ?? new SqliteFailure('full', `there is no room for ${this.#parts.reserve.description}`);
    const jobs = this.#queue.splice(0);
    for (const job of jobs) {
      if (refusal === undefined && job.usesReserve) this.#queue.push(job);
      else job.reject(reason);
    }
  }

  #hasRoom(): boolean {
    const { reserve, clock } = this.#parts;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#roomAskedMs < ROOM_INTERVAL_MS) return reserve.isHeld;
    this.#roomAskedMs = nowMs;
    // A command that met a full disk may have emptied it.
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
      this.emptyLog();
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
    if (isFull) this.emptyLog();
    else if (!mayHaveFreed) return;
    if (this.#isEnding || this.#trimTimer !== undefined || !isTrimDue(database, isFull)) return;
    this.#trimTimer = setTimeout(() => {
      this.#trimTimer = undefined;
      if (!this.#isEnding) this.push(TRIMMING);
    }, TRIM_PAUSE_MS);
    this.#trimTimer.unref();
  }
}

const TRIMMING: Job = {
  usesReserve: true,
  run: async (database) => {
    trim(database);
    return () => {};
  },
  // It is tried again after the next commit.
  reject: () => {},
};

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
