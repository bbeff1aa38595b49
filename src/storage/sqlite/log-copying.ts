import type { Database } from './database.js';

/** How often to ask SQLite how long the log is: that takes some microseconds. */
const LOOK_MS = 25;

/** Copies the write-ahead log into the database, from wherever requests do not wait for it. */
export type CopyLog = () => Promise<unknown>;

/**
 * Has the write-ahead log copied into the database by a thread once it is long. COMMIT does that too, but whoever writes
 * then waits until some thousand pages are written and synced.
 */
export class LogCopying {
  readonly #database: Database;
  readonly #pages: number;
  readonly #copy: CopyLog;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #isCopying = false;
  #isFinishDue = false;

  /** @param pages how many pages of the log to copy at a time. */
  constructor(database: Database, pages: number, copy: CopyLog) {
    this.#database = database;
    this.#pages = pages;
    this.#copy = copy;
  }

  /** Called after a commit, outside of a transaction. */
  look(nowMs: number): void {
    if (this.#isCopying || (nowMs - this.#lookedMs < LOOK_MS && !this.#isFinishDue)) return;
    this.#lookedMs = nowMs;
    const isLong = this.#pagesLeft('NOOP') >= this.#pages;
    if (isLong) this.#begin();
    // SQLite starts the log anew once all of it is copied. Only a writer can see to that, as more is written meanwhile.
    else if (this.#isFinishDue) this.#pagesLeft('PASSIVE');
    this.#isFinishDue = false;
  }

  #begin(): void {
    this.#isCopying = true;
    const end = (isFinishDue: boolean) => () => {
      this.#isCopying = false;
      this.#isFinishDue = isFinishDue;
    };
    // If it fails, COMMIT copies the log before it is much longer.
    this.#copy().then(end(true), end(false));
  }

  /** @returns how many pages of the log are not in the database. */
  #pagesLeft(mode: 'NOOP' | 'PASSIVE'): number {
    const [row] = this.#database.all(`PRAGMA wal_checkpoint(${mode})`);
    return Number(row?.log) - Number(row?.checkpointed);
  }
}
