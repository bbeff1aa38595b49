import type { CommitListeners } from '../listeners.js';
import { quote } from '../sql/statements.js';
import type { CommitNumbers, SqlTransaction } from '../sql/transaction.js';
import type { StorageClock } from '../storage.js';
import type { Table } from '../table.js';
import type { Database } from './database.js';
import { checkStoreVersion } from './schema.js';

/** New commits of a shard, from one number to another, both included. */
export interface NewCommits {
  readonly shard: number;
  readonly fromCommit: number;
  readonly lastCommit: number;
}

export function tellCommits(listeners: CommitListeners, commits: readonly NewCommits[], isOwn: boolean): void {
  for (const { shard, fromCommit, lastCommit } of commits) listeners.tell(shard, fromCommit, lastCommit, () => isOwn);
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
