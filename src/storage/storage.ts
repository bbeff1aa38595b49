import type { Table, Value } from './table.js';

/**
 * What the service keeps its data in. One driver is an embedded database in a file, SQLite; the other is
 * PostgreSQL, under any number of processes without state. So:
 *
 * - Every statement belongs to one shard, and the shard leads every key (`shardOf`).
 * - Work on a shard is a function of a transaction. It may be run again as a whole, so it changes nothing but the
 *   transaction, and it awaits nothing but the transaction.
 * - Writers of one shard follow one another: each commit that writes has the number after the one before it.
 * - A `transaction` has returned only when its commit is on the disk.
 */
export interface Storage {
  /** Reads a state of the shard in which no commit is half done. */
  read<Result>(shard: number, work: (tx: Reader) => Promise<Result>): Promise<Result>;
  /** The number of the shard's last commit: what was read of that one still holds. */
  lastCommit(shard: number): Promise<number>;
  /**
   * Runs `work` and commits what it wrote, whole or not at all; what `work` throws is thrown on, nothing written.
   * Commits that wait for the disk together are put there together (group commit).
   *
   * @throws StaleClaimError when the claim has passed on to another: nothing was written.
   * @throws StorageFullError when the disk is full: nothing was written, and reading goes on.
   */
  transaction<Result>(
    shard: number,
    work: (tx: Transaction) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>;
  /**
   * As `transaction`, with one for each of these shards, in their order: takes effect in all of them or in none. It
   * holds up the writers of all of them, so it is for what is rare.
   */
  transactionOver<Result>(
    shards: readonly number[],
    work: (txs: readonly Transaction[]) => Promise<Result>,
    options?: Omit<TransactionOptions, 'claim'>,
  ): Promise<Result>;
  /**
   * Makes `owner` the one worker of the shard until `leaseMs` from now; the same owner claims anew to stay it,
   * and keeps the sequence.
   *
   * @returns undefined while the lease of another owner runs.
   */
  claim(shard: number, owner: string, leaseMs: number): Promise<Claim | undefined>;
  /** Gives a claim back before its time. */
  release(claim: Claim): Promise<void>;
  /**
   * Whether the upkeep of a shard (compaction) falls to this process: those that live share the shards. A hint, for
   * while processes come and go there may be none for a while, or two.
   */
  keeps(shard: number): Promise<boolean>;
  /** Calls `listener` after each commit that wrote: a hint, for nothing may depend on its coming. */
  onCommit(listener: CommitListener): () => void;
  /** Throws when the store can not be read, or takes no writes any more. */
  check(): Promise<void>;
  /** Ends running work, then lets go of the store. */
  close(): Promise<void>;
}

/** Time, given in from outside. */
export interface StorageClock {
  /** Epoch milliseconds. */
  nowMs(): number;
  /** Milliseconds that never go back. */
  monotonicMs(): number;
}

/** @param isOwn whether this process wrote it. */
export type CommitListener = (shard: number, commit: number, isOwn: boolean) => void;

export interface TransactionOptions {
  /** Makes the commit the work of this claim's holder. */
  readonly claim?: Claim;
  /**
   * For what is small and must go on (tokens), and for what frees room (deletions, compaction): it may use the room
   * that is kept back for when the disk is full.
   */
  readonly usesReserve?: boolean;
}

/** The right to work on a shard. */
export interface Claim {
  readonly shard: number;
  readonly owner: string;
  /** Rises by one each time the shard passes to another owner. */
  readonly sequence: number;
}

export interface Reader {
  readonly shard: number;
  /** The number of the shard's last commit whose rows this transaction sees, itself not counted. */
  readonly lastCommit: number;
  /** The number of the shard's last commit that is on the disk: what caches may keep. */
  readonly durableCommit: number;
  /** The row of a whole primary key. */
  get<Row>(table: Table<Row>, key: Partial<Row>): Promise<Row | undefined>;
  find<Row>(table: Table<Row>, query?: Query<Row>): Promise<Row[]>;
  count<Row>(table: Table<Row>, where?: readonly Condition<Row>[]): Promise<number>;
}

/** Bytes of a row given to it may not change before the transaction is answered: a driver may read them anew. */
export interface Transaction extends Reader {
  /** The number that this transaction's commit will have: `lastCommit + 1`. */
  readonly commit: number;
  /** @throws DuplicateKeyError when there is a row of this key. */
  insert<Row>(table: Table<Row>, row: Row): Promise<void>;
  /**
   * Inserts rows, in less time than one after the other.
   *
   * @throws DuplicateKeyError when there is a row of one of their keys; the transaction cannot go on after that.
   */
  insertAll<Row>(table: Table<Row>, rows: readonly Row[]): Promise<void>;
  /** Inserts the row, or replaces the one of its key. */
  put<Row>(table: Table<Row>, row: Row): Promise<void>;
  /** @returns the number of rows changed. */
  update<Row>(table: Table<Row>, where: readonly Condition<Row>[], changes: Partial<Row>): Promise<number>;
  /** @returns the number of rows deleted. */
  delete<Row>(table: Table<Row>, where: readonly Condition<Row>[]): Promise<number>;
}

/**
 * All conditions hold. `=` and `!=` take null as a value like any other; the orders `<`, `<=`, `>`, `>=` are never
 * true of null. Text is compared by its UTF-8 bytes. `in` takes a list.
 */
export type Condition<Row> =
  | readonly [column: keyof Row & string, operator: '=' | '!=' | '<' | '<=' | '>' | '>=', value: Value]
  | readonly [column: keyof Row & string, operator: 'in', values: readonly Value[]];

/** The conditions of a row to have these values. */
export function equal<Column extends string>(values: Readonly<Record<Column, Value>>) {
  // Each entry is a column and its value.
  return Object.entries(values).map(([column, value]) => [column, '=', value]) as [Column, '=', Value][];
}

export interface Order<Row> {
  readonly column: keyof Row & string;
  /** Null comes before every value, and last when descending. */
  readonly isDescending?: boolean;
}

export interface Query<Row> {
  readonly where?: readonly Condition<Row>[];
  /** By the primary key where absent. Give a total order (end it with the key) where `after` is used. */
  readonly orderBy?: readonly Order<Row>[];
  /** Only rows that come after this place of `orderBy`: a value for each of its columns (keyset paging). */
  readonly after?: readonly Value[];
  readonly limit?: number;
}
