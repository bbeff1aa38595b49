import type { Announcer, OwnCommits } from './announcer.js';
import type { Connection } from './connection.js';
import { type FailureKind, failureOf, PostgresFailure } from './failure.js';
import { type GroupResult, type Job, type JobQueue, type LockedShard, runGroup, type SoleWriterOf } from './group.js';
import type { ConnectionPool } from './pool.js';

export interface WriterParts {
  readonly pool: ConnectionPool;
  /** This process's name in `windrow_writer`. */
  readonly name: string;
  /** The version of stores that this process knows. */
  readonly version: number;
  readonly monotonicMs: () => number;
  readonly announcer: Announcer;
  /** Notifies other processes of this one's commits. */
  readonly notify: (shard: number, lastCommit: number) => void;
}

/** How long a job is retried before its caller gets the error: longer than a standby takes to become the primary. */
export const TRIES_MS_MAX = 15_000;
const PAUSE_MS_MIN = 20;
const PAUSE_MS_MAX = 500;

/**
 * The queue of jobs on one shard, or on the same few shards. They run in the order of arrival; those that wait
 * together share a transaction.
 */
export class ShardWriter {
  readonly #parts: WriterParts;
  readonly #shards: readonly number[];
  /**
   * The shard and name of its row in `windrow_writer`; the name is unique, as another writer may write to the same
   * shard.
   */
  readonly #ownShard: number;
  readonly #name: string;
  readonly #queue: Job[] = [];
  /** How this writer's last group left each shard. */
  readonly #left = new Map<number, LeftShard>();
  #running: Promise<void> | undefined;
  #groupCount = 0;
  #failureCount = 0;
  /** How many jobs the next group takes at most: those that a group had taken before one that was refused. */
  #jobsMax = Number.POSITIVE_INFINITY;

  constructor(parts: WriterParts, shards: readonly number[]) {
    this.#parts = parts;
    this.#shards = shards;
    this.#ownShard = shards[0]!;
    this.#name = shards.length === 1 ? parts.name : `${parts.name} ${shards.join(' ')}`;
  }

  push(job: Job): void {
    this.#queue.push(job);
    // After all sockets were read in this turn of the event loop, so that their jobs share the commit.
    this.#running ??= new Promise((resolve) => setImmediate(() => resolve(this.#run())));
  }

  /** Resolves when the queue is empty. */
  async end(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      const pauseMs = await this.#runGroup();
      if (pauseMs > 0) await pause(pauseMs);
    }
    this.#running = undefined;
  }

  /** @returns how long to wait before the next group. */
  async #runGroup(): Promise<number> {
    const { announcer, notify } = this.#parts;
    const taken: Job[] = [];
    const sent: OwnCommits[] = [];
    const jobsMax = this.#jobsMax;
    this.#jobsMax = Number.POSITIVE_INFINITY;
    const queue: JobQueue = {
      isEmpty: () => this.#queue.length === 0 || taken.length >= jobsMax,
      take: () => {
        const job = this.#queue.shift()!;
        taken.push(job);
        return job;
      },
    };
    try {
      const { locked, answers } = await this.#commitGroup(queue, sent);
      this.#failureCount = 0;
      for (const { shard, lastCommit } of locked) this.#left.get(shard)!.lastCommit = lastCommit;
      for (const answer of answers) answer();
      for (const own of sent) {
        announcer.committed(own);
        notify(own.shard, own.lastCommit);
      }
      return 0;
    } catch (error) {
      for (const own of sent) announcer.notCommitted(own);
      this.#left.clear();
      return this.#recover(error, taken);
    }
  }

  /** @param sent gets the commits for which COMMIT is sent. */
  async #commitGroup(queue: JobQueue, sent: OwnCommits[]): Promise<GroupResult> {
    const { pool, version, monotonicMs } = this.#parts;
    const soleWriterOf = this.#soleWriterOf;
    const { group, isKnown } = await pool.use(async (connection) => {
      const group = await runGroup(connection, this.#shards, { version, monotonicMs, soleWriterOf }, queue);
      return { group, isKnown: await this.#commit(connection, group, sent) };
    });
    // After this connection is returned: the check needs another one, and all of them may be lost at once.
    if (isKnown || (await this.#checkCommitted())) return group;
    throw new PostgresFailure('conflict', 'the connection was lost before the commit took effect');
  }

  readonly #soleWriterOf: SoleWriterOf = (shard, durableCommit, timeline) => {
    let left = this.#left.get(shard);
    // A standby that took over without the last commits may reach the same number by others.
    if (left === undefined || left.lastCommit !== durableCommit || left.timeline !== timeline) {
      left = { lastCommit: durableCommit, timeline, soleWriter: {} };
      this.#left.set(shard, left);
    }
    return left.soleWriter;
  };

  /** @returns false if the answer is lost. */
  async #commit(connection: Connection, { locked }: GroupResult, sent: OwnCommits[]): Promise<boolean> {
    const written = locked.filter(isWritten);
    if (written.length === 0) {
      // What was posted by work that threw: the next user of the connection must not get its failure.
      await connection.settle();
      connection.send('COMMIT');
      return true;
    }
    this.#groupCount++;
    for (const { shard, durableCommit, lastCommit } of written) {
      sent.push(this.#parts.announcer.sending(shard, durableCommit, lastCommit));
    }
    try {
      await connection.commit(
        `${written.map(advance).join('; ')};
        INSERT INTO "windrow_writer" VALUES (${this.#ownShard}, '${this.#name}', ${this.#groupCount}, now())
          ON CONFLICT ("shard", "writer") DO UPDATE SET "group" = excluded."group", "atTime" = excluded."atTime"`,
      );
      return true;
    } catch (error) {
      if (failureOf(error).kind === 'lost') return false;
      // A server that ends over a COMMIT says why before (PANIC: no space for its log), and may have written it. One
      // that refused it goes on.
      const goesOn = await connection.exec('ROLLBACK').then(
        () => true,
        () => false,
      );
      if (!goesOn) return false;
      // If a posted statement failed, the answer to COMMIT says only that the transaction had failed.
      throw connection.failure ?? error;
    }
  }

  /**
   * Checks whether the last group took effect, when the answer to its COMMIT was lost. The row lock waits for a commit
   * that is still running. The check is itself a commit, so where a standby must confirm commits, it has that group
   * too once the check is answered.
   */
  async #checkCommitted(): Promise<boolean> {
    const { pool, monotonicMs } = this.#parts;
    const untilMs = monotonicMs() + TRIES_MS_MAX;
    for (let failureCount = 1; ; failureCount++) {
      await pause(pauseOf(failureCount));
      try {
        return await pool.use(async (connection) => {
          await connection.exec(
            `BEGIN; SELECT 1 FROM "windrow_shard" WHERE "shard" = ${this.#ownShard} FOR UPDATE;
            UPDATE "windrow_shard" SET "commit" = "commit" WHERE "shard" = ${this.#ownShard}`,
          );
          const [rows = []] = await connection.exec(
            `SELECT "group" FROM "windrow_writer" WHERE "shard" = ${this.#ownShard} AND "writer" = '${this.#name}'`,
          );
          await connection.commit('SELECT 1');
          return Number(rows[0]?.group ?? 0) === this.#groupCount;
        });
      } catch (error) {
        const failure = failureOf(error);
        if (failure.isTransient && monotonicMs() < untilMs) continue;
        throw new PostgresFailure('unknown', failure.message, { cause: error });
      }
    }
  }

  /** Handles a failure: retries the jobs if that may help, else rejects them. */
  #recover(error: unknown, taken: readonly Job[]): number {
    if (error instanceof PostgresFailure && error.isTransient) {
      const sinceMs = this.#parts.monotonicMs() - TRIES_MS_MAX;
      const waiting = [...taken, ...this.#queue.splice(0)];
      for (const job of waiting) {
        if (job.enqueuedMs > sinceMs) this.#queue.push(job);
        else job.reject(error);
      }
      this.#failureCount++;
      return pauseOf(this.#failureCount);
    }
    // A refused statement belongs to the job that ran last; the others may succeed without it. If no job ran yet,
    // the database cannot be reached, so all fail.
    const isFaultOfLast = error instanceof PostgresFailure && FAULTS_OF_JOBS.has(error.kind);
    const failed = taken.length === 0 ? this.#queue.splice(0) : isFaultOfLast ? taken.slice(-1) : taken;
    for (const job of failed) job.reject(error);
    const others = isFaultOfLast ? taken.slice(0, -1) : [];
    this.#queue.unshift(...others);
    // Alone: with those that came since, one more that is refused would undo them again, and so on for ever.
    if (others.length > 0) this.#jobsMax = others.length;
    return 0;
  }
}

const FAULTS_OF_JOBS: ReadonlySet<FailureKind> = new Set(['other', 'duplicate', 'tooLong']);

interface LeftShard {
  lastCommit: number;
  readonly timeline: number;
  readonly soleWriter: object;
}

function isWritten({ lastCommit, durableCommit }: LockedShard): boolean {
  return lastCommit > durableCommit;
}

function advance({ shard, lastCommit }: LockedShard): string {
  return `UPDATE "windrow_shard" SET "commit" = ${lastCommit} WHERE "shard" = ${shard}`;
}

/** Deletes the rows of processes that ended long ago: nobody asks for their last groups any more. */
export async function forgetWriters(connection: Connection): Promise<void> {
  await connection.exec(`DELETE FROM "windrow_writer" WHERE "atTime" < now() - interval '${WRITER_DAYS} days'`);
}

const WRITER_DAYS = 7;

export function pauseOf(failureCount: number): number {
  return Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** (failureCount - 1));
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
