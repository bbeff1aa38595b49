import type { Connection } from './connection.js';
import { failureOf, PostgresFailure } from './failure.js';
import { type GroupResult, type Job, type LockedShard, runGroup } from './group.js';
import type { ConnectionPool } from './pool.js';

export interface WriterParts {
  readonly pool: ConnectionPool;
  /** What this process calls itself among those that write. */
  readonly name: string;
  readonly monotonicMs: () => number;
  /** Called when a group is committed, with the number of its last commit. */
  readonly onCommits: (shard: number, lastCommit: number) => void;
}

/** How long a work is tried again before its caller is told: longer than a standby takes to become the primary. */
export const TRIES_MS_MAX = 15_000;
const PAUSE_MS_MIN = 20;
const PAUSE_MS_MAX = 500;

/**
 * The works of one shard, or of the same few shards, done in the order in which they came, those that wait together in
 * one transaction.
 */
export class ShardWriter {
  readonly #parts: WriterParts;
  readonly #shards: readonly number[];
  /** Where its row in `windrow_writer` lies, and its name there: another writer may write of the same shard. */
  readonly #ownShard: number;
  readonly #name: string;
  readonly #queue: Job[] = [];
  #running: Promise<void> | undefined;
  #groupCount = 0;
  #failureCount = 0;

  constructor(parts: WriterParts, shards: readonly number[]) {
    this.#parts = parts;
    this.#shards = shards;
    this.#ownShard = shards[0]!;
    this.#name = shards.length === 1 ? parts.name : `${parts.name} ${shards.join(' ')}`;
  }

  push(job: Job): void {
    this.#queue.push(job);
    // After what the sockets have brought in this turn of the event loop, which so shares the commit.
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

  /** @returns how long to wait before the next one. */
  async #runGroup(): Promise<number> {
    const { onCommits } = this.#parts;
    const taken: Job[] = [];
    const next = () => {
      const job = this.#queue.shift();
      if (job !== undefined) taken.push(job);
      return job;
    };
    try {
      const { locked, answers } = await this.#takeThrough(next);
      this.#failureCount = 0;
      for (const answer of answers) answer();
      for (const { shard, lastCommit } of locked.filter(isWritten)) onCommits(shard, lastCommit);
      return 0;
    } catch (error) {
      return this.#undo(error, taken);
    }
  }

  async #takeThrough(next: () => Job | undefined): Promise<GroupResult> {
    const { pool, monotonicMs } = this.#parts;
    const { group, isKnown } = await pool.use(async (connection) => {
      const group = await runGroup(connection, this.#shards, next, monotonicMs);
      return { group, isKnown: await this.#commit(connection, group) };
    });
    // On another connection, so not while this one is held: all of them may be lost at once.
    if (isKnown || (await this.#ask())) return group;
    throw new PostgresFailure('conflict', 'the connection was lost before the commit took effect');
  }

  /** @returns false when the answer is lost. */
  async #commit(connection: Connection, { locked }: GroupResult): Promise<boolean> {
    const written = locked.filter(isWritten);
    if (written.length === 0) {
      connection.send('COMMIT');
      return true;
    }
    this.#groupCount++;
    try {
      await connection.commit(
        `${written.map(advance).join('; ')};
        INSERT INTO "windrow_writer" VALUES (${this.#ownShard}, '${this.#name}', ${this.#groupCount}, now())
          ON CONFLICT ("shard", "writer") DO UPDATE SET "group" = excluded."group", "atTime" = excluded."atTime"`,
      );
      return true;
    } catch (error) {
      if (failureOf(error).kind === 'lost') return false;
      throw error;
    }
  }

  /**
   * Asks whether the last group took effect, when the answer to its COMMIT was lost. The lock waits for a commit that
   * still goes on; and the question is a commit of its own, so where a standby has to have all that is committed, it
   * has that group too when the answer is given.
   */
  async #ask(): Promise<boolean> {
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
        if (failure.isPassing && monotonicMs() < untilMs) continue;
        throw new PostgresFailure('unknown', failure.message, { cause: error });
      }
    }
  }

  /** After a failure: the works are done again where that may help; else their callers are told. */
  #undo(error: unknown, taken: readonly Job[]): number {
    if (error instanceof PostgresFailure && error.isPassing) {
      const sinceMs = this.#parts.monotonicMs() - TRIES_MS_MAX;
      const waiting = [...taken, ...this.#queue.splice(0)];
      for (const job of waiting) {
        if (job.enqueuedMs > sinceMs) this.#queue.push(job);
        else job.reject(error);
      }
      this.#failureCount++;
      return pauseOf(this.#failureCount);
    }
    // A statement that is refused is of the work that ran last; the others may do without it. Where there was no work
    // yet, there is no way to the database for any.
    const isOfWork = error instanceof PostgresFailure && (error.kind === 'other' || error.kind === 'duplicate');
    const failed = taken.length === 0 ? this.#queue.splice(0) : isOfWork ? taken.slice(-1) : taken;
    for (const job of failed) job.reject(error);
    if (isOfWork) this.#queue.unshift(...taken.slice(0, -1));
    return 0;
  }
}

function isWritten({ lastCommit, durableCommit }: LockedShard): boolean {
  return lastCommit > durableCommit;
}

function advance({ shard, lastCommit }: LockedShard): string {
  return `UPDATE "windrow_shard" SET "commit" = ${lastCommit} WHERE "shard" = ${shard}`;
}

export function pauseOf(failureCount: number): number {
  return Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** (failureCount - 1));
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
