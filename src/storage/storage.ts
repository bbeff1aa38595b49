import type { Table, Value } from './table.js';

/**
 * What the service keeps its data in. There are two drivers: SQLite, an embedded database in a file, and PostgreSQL,
 * which any number of stateless processes share. Therefore:
 *
 * - Every statement belongs to one shard, and the shard leads every key (`shardOf`).
 * - Work on a shard is a function of a transaction. It may be rerun as a whole, so it changes only the transaction and
 * awaits only the transaction.
 * - Writes to a shard are serialised: each commit that writes has the number after the one before.
 * - A `transaction` returns only when its commit is on the disk.
 */
export interface Storage {
  /** Reads a consistent state of the shard. */
  read<Result>(shard: number, work: (tx: Reader) => Promise<Result>): Promise<Result>;
  /**
   * The number of the shard's last commit: what was read at that commit is still true. No promise where it is known, as
   * each request asks.
   */
  lastCommit(shard: number): number | Promise<number>;
  /**
   * Like `lastCommit`, but may not know of what other processes have committed in the last few milliseconds, or since
   * the turn of the event loop began.
   */
  recentCommit(shard: number): number | Promise<number>;
  /**
   * Runs `work` and commits what it wrote, or nothing. What `work` throws is rethrown, with nothing written. Commits
   * that wait for the disk at the same time share one write (group commit).
   *
   * @throws StaleClaimError when another owner has the claim: nothing was written.
   * @throws StorageFullError when the disk is full: nothing was written. Reads still work.
   */
  transaction<Result>(
    shard: number,
    work: (tx: Transaction) => Promise<Result>,
    options?: TransactionOptions,
  ): Promise<Result>;
  /**
   * Like `transaction`, with a transaction for each of these shards, in their order; takes effect in all or none. It
   * blocks the writers of all of them, so it is for rare changes.
   */
  transactionOver<Result>(
    shards: readonly number[],
    work: (txs: readonly Transaction[]) => Promise<Result>,
    options?: Omit<TransactionOptions, 'claim'>,
  ): Promise<Result>;
  /**
   * Makes `owner` the only worker of the shard until `leaseMs` from now. The owner claims again to renew the lease,
   * and keeps its sequence.
   *
   * @returns undefined while another owner holds a lease.
   */
  claim(shard: number, owner: string, leaseMs: number): Promise<Claim | undefined>;
  /** Releases a claim before its lease ends. */
  release(claim: Claim): Promise<void>;
  /**
   * Whether this process is to maintain (compact) a shard: live processes share the shards. Only a hint: while
   * processes come and go, a shard may have none or two for a while.
   */
  maintains(shard: number): Promise<boolean>;
  /** Calls `listener` after each commit that wrote. Only a hint: nothing may depend on the call. */
  onCommit(listener: CommitListener): () => void;
  /** Throws when the store cannot be read or written. */
  check(): Promise<void>;
  /** Finishes running work, then closes the store. */
  close(): Promise<void>;
}

/** An injected source of time. */
export interface StorageClock {
  /** Epoch milliseconds. */
  nowMs(): number;
  /** A monotonic clock, in milliseconds. */
  monotonicMs(): number;
}

/** @param isOwn whether this process wrote it. */
export type CommitListener = (shard: number, commit: number, isOwn: boolean) => void;

export interface TransactionOptions {
  /** The commit succeeds only while this claim holds. */
  readonly claim?: Claim;
  /**
   * For small writes that must go on (tokens), and for those that free space (deletions, compaction): they may use the
   * space reserved for a full disk.
   */
  readonly usesReserve?: boolean;
  /**
   * A hint that nothing else comes in this turn of the event loop that could share the commit, so that it need not wait
   * for the end of the turn.
   */
  readonly isAlone?: boolean;
}

/** The exclusive right to work on a shard. */
export interface Claim {
  readonly shard: number;
  readonly owner: string;
  /** Increases by one whenever another owner takes the shard. */
  readonly sequence: number;
}

export interface Reader {
  readonly shard: number;
  /** The shard's last commit whose rows this transaction sees, not counting its own. */
  readonly lastCommit: number;
  /** The shard's last commit that is on the disk: caches may keep what was read at it. */
  readonly durableCommit: number;
  /**
   * The same object as long as this process alone has committed and no commit has failed, so that what is kept by it is
   * what is stored; undefined where the driver does not know.
   */
  readonly soleWriter?: object | undefined;
  /** The row with this primary key, which must be complete. */
  get<Row>(table: Table<Row>, key: Partial<Row>): Promise<Row | undefined>;
  find<Row>(table: Table<Row>, query?: Query<Row>): Promise<Row[]>;
  count<Row>(table: Table<Row>, where?: readonly Condition<Row>[]): Promise<number>;
}

/** The bytes of a row passed to it must not change before the transaction is answered: a driver may read them again. */
export interface Transaction extends Reader {
  /** The number of this transaction's commit: `lastCommit + 1`. */
  readonly commit: number;
  /**
   * @throws DuplicateKeyError if a row with this key exists; for a log's row of this very commit, perhaps only at the
   * end of the transaction, which fails then.
   */
  insert<Row>(table: Table<Row>, row: Row): Promise<void>;
  /**
   * Inserts rows, faster than one by one.
   *
   * @throws DuplicateKeyError if a row with one of their keys exists; the transaction cannot go on after that.
   */
  insertAll<Row>(table: Table<Row>, rows: readonly Row[]): Promise<void>;
  /** Inserts the row, or replaces the one with its key. */
  put<Row>(table: Table<Row>, row: Row): Promise<void>;
  /** @returns the number of rows changed. */
  update<Row>(table: Table<Row>, where: readonly Condition<Row>[], changes: Partial<Row>): Promise<number>;
  /** @returns the number of rows deleted. */
  delete<Row>(table: Table<Row>, where: readonly Condition<Row>[]): Promise<number>;
}

/** A transaction that may use the disk's reserve, so that it works on a full disk: it writes little, or frees space. */
export function writeReserved<Result>(
  storage: Storage,
  shard: number,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return storage.transaction(shard, work, { usesReserve: true });
}

/**
 * All conditions must hold. `=` and `!=` treat null as a value like any other; `<`, `<=`, `>`, `>=` are never true of
 * null. Text is compared by its UTF-8 bytes.
 */
export type Condition<Row> =
  | readonly [column: keyof Row & string, operator: '=' | '!=' | '<' | '<=' | '>' | '>=', value: Value]
  | readonly [column: keyof Row & string, operator: 'in', values: readonly Value[]];

/** The conditions that a row has these values. */
export function equal<Column extends string>(values: Readonly<Record<Column, Value>>) {
  // `as`: each entry is a column and its value.
  return Object.entries(values).map(([column, value]) => [column, '=', value]) as [Column, '=', Value][];
}

export interface Order<Row> {
  readonly column: keyof Row & string;
  /** Null sorts before every value: first when ascending, last when descending. */
  readonly isDescending?: boolean;
}

export interface Query<Row> {
  readonly where?: readonly Condition<Row>[];
  /**
   * Only rows that have all the values of one of these, which name the same columns and have no nulls, real numbers or
   * bytes. Each is looked up separately, so with `where` they should give the first columns of an index.
   */
  readonly anyOf?: readonly Partial<Row>[];
  /** The primary key by default. Must be a total order (end it with the key) if `after` is used. */
  readonly orderBy?: readonly Order<Row>[];
  /** Only rows after this place in `orderBy`: a value for each of its columns (keyset paging). */
  readonly after?: readonly Value[];
  readonly limit?: number;
}
