import { StorageError } from '../errors.js';
import { SHARD_COUNT } from '../shard.js';
import type { Claim, Reader, Storage, Transaction } from '../storage.js';
import { giveBackClaim, takeClaim } from './claims.js';
import type { CommitLog } from './commit-log.js';
import type { Connection } from './connection.js';
import { type CommitCounters, createJob, type Job, runGroup } from './group.js';
import { inTime } from './in-time.js';
import type { DirectoryLock } from './lock.js';
import { SqliteReader } from './transaction.js';
import { Turns } from './turns.js';

/** Time, given in from outside. */
export interface StorageClock {
  /** Epoch milliseconds. */
  nowMs(): number;
  /** Milliseconds that never go back. */
  monotonicMs(): number;
}

export interface StorageParts {
  readonly connection: Connection;
  readonly log: CommitLog;
  readonly counters: CommitCounters;
  readonly clock: StorageClock;
  /** What a failure of SQLite means to a caller. */
  readonly explain: (error: unknown) => unknown;
  readonly lock: DirectoryLock;
}

/** One SQLite file under one connection: readers and groups of writers take turns. */
export class SqliteStorage implements Storage {
  readonly #parts: StorageParts;
  readonly #turns = new Turns();
  readonly #queue: Job[] = [];
  readonly #listeners = new Set<(shard: number, commit: number) => void>();
  #isScheduled = false;
  #closing: Promise<void> | undefined;
  #onDrained = () => {};

  constructor(parts: StorageParts) {
    this.#parts = parts;
  }

  async read<Result>(shard: number, work: (tx: Reader) => Promise<Result>): Promise<Result> {
    this.#assertUsable(shard);
    const { connection, counters, explain } = this.#parts;
    return this.#turns.read(async () => {
      let tx: SqliteReader | undefined;
      try {
        // Before the numbers are asked for: what is brought back may have others.
        this.#mend();
        const reader = new SqliteReader(connection, shard, counters.numbersOf(shard));
        tx = reader;
        return await inTime(() => work(reader));
      } catch (error) {
        throw explain(error);
      } finally {
        tx?.end();
      }
    });
  }

  async transaction<Result>(shard: number, work: (tx: Transaction) => Promise<Result>, claim?: Claim): Promise<Result> {
    this.#assertUsable(shard);
    return this.#enqueue<Result>((resolve, reject) => createJob(shard, work, claim, resolve, reject));
  }

  async claim(shard: number, owner: string, leaseMs: number): Promise<Claim | undefined> {
    this.#assertUsable(shard);
    return this.#inGroup((connection) => takeClaim(connection, shard, owner, leaseMs, this.#parts.clock.nowMs()));
  }

  async release(claim: Claim): Promise<void> {
    this.#assertUsable(claim.shard);
    await this.#inGroup((connection) => giveBackClaim(connection, claim));
  }

  onCommit(listener: (shard: number, commit: number) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async check(): Promise<void> {
    await this.read(0, async () => {
      this.#parts.connection.all('SELECT "commit" FROM "windrow_shard" WHERE "shard" = ?', [0]);
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve;
      if (!this.#isScheduled) resolve();
    });
    const { lock, explain } = this.#parts;
    try {
      await this.#turns.write(async () => {
        // A file that has become another process's is left as it is.
        if (!isLost(lock)) this.#closeFiles();
      });
    } catch (error) {
      throw explain(error);
    } finally {
      lock.release();
    }
  }

  #closeFiles(): void {
    const { connection, log } = this.#parts;
    try {
      if (connection.failure === undefined && !log.isBehind) log.endEpoch(connection);
    } catch {
      // What can not be committed now stands in the log, for the next process: nothing is lost.
    } finally {
      log.close();
      connection.close();
    }
  }

  #inGroup<Result>(work: (connection: Connection) => Result): Promise<Result> {
    return this.#enqueue<Result>((resolve, reject) => ({
      run: async (connection) => {
        const result = work(connection);
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
    await this.#turns.write(() => this.#runGroup());
    this.#isScheduled = this.#queue.length > 0;
    if (this.#isScheduled) setImmediate(() => this.#runQueue());
    else this.#onDrained();
  }

  async #runGroup(): Promise<void> {
    const { connection, log, counters, clock, lock } = this.#parts;
    const taken: Job[] = [];
    const next = () => {
      const job = this.#queue.shift();
      if (job !== undefined) taken.push(job);
      return job;
    };
    try {
      lock.assertHeld();
      this.#mend();
      const answers = await runGroup(connection, log, counters, next, () => clock.monotonicMs());
      const commits = counters.pending();
      counters.settle();
      for (const answer of answers) answer();
      for (const { shard, fromCommit, lastCommit } of commits) this.#tell(shard, fromCommit, lastCommit);
    } catch (error) {
      if (!lock.isLost) this.#restore();
      if (taken.length === 0) next();
      for (const job of taken) job.reject(error);
    }
  }

  /** Throws where a failure of before is not mended: what stands in the log would not be seen. */
  #mend(): void {
    const { connection, log } = this.#parts;
    if (connection.failure !== undefined || log.isBehind) this.#restore();
    if (log.isBehind) log.begin(connection);
  }

  #restore(): void {
    const { connection, log, counters } = this.#parts;
    try {
      log.restore(connection);
      counters.reset(connection);
    } catch {
      // The next reader or group is told what is wrong, and tries again.
    }
  }

  #tell(shard: number, fromCommit: number, lastCommit: number): void {
    for (let commit = fromCommit; commit <= lastCommit; commit++) {
      // In turns of their own: what a listener throws is no failure of the commit.
      for (const listener of this.#listeners) {
        queueMicrotask(() => this.#listeners.has(listener) && listener(shard, commit));
      }
    }
  }

  #assertUsable(shard: number): void {
    if (this.#closing !== undefined) throw new StorageError('storage.closed', 'the store is closed');
    this.#parts.lock.assertHeld();
    if (Number.isInteger(shard) && shard >= 0 && shard < SHARD_COUNT) return;
    throw new StorageError('storage.key', `expected a shard from 0 to ${SHARD_COUNT - 1}, received ${shard}`);
  }
}

/** Whether another process has the lock, as far as can be known at this very moment. */
function isLost(lock: DirectoryLock): boolean {
  try {
    lock.assertHeld();
    return false;
  } catch {
    return true;
  }
}
