import { DuplicateKeyError, StorageError } from '../errors.js';
import type { Condition, Query, Reader, Transaction } from '../storage.js';
import type { Table } from '../table.js';
import type { Database } from './database.js';
import * as statements from './statements.js';
import { decodeRows } from './values.js';

/** What a reader and a transaction see of the commits of their shard. */
export interface CommitNumbers {
  readonly lastCommit: number;
  readonly durableCommit: number;
}

// The methods are asynchronous by their interface alone: each has done its work when it returns its promise.

export class SqliteReader implements Reader {
  readonly shard: number;
  readonly lastCommit: number;
  readonly durableCommit: number;
  protected readonly database: Database;
  #hasEnded = false;
  #statementCount = 0;

  constructor(database: Database, shard: number, { lastCommit, durableCommit }: CommitNumbers) {
    this.database = database;
    this.shard = shard;
    this.lastCommit = lastCommit;
    this.durableCommit = durableCommit;
  }

  async get<Row>(table: Table<Row>, key: Partial<Row>): Promise<Row | undefined> {
    return this.#rows(table, statements.get(table, this.shard, key))[0];
  }

  async find<Row>(table: Table<Row>, query: Query<Row> = {}): Promise<Row[]> {
    return this.#rows(table, statements.find(table, this.shard, query));
  }

  async count<Row>(table: Table<Row>, where: readonly Condition<Row>[] = []): Promise<number> {
    this.assertRunning();
    const { sql, values } = statements.count(table, this.shard, where);
    return Number(this.database.all(sql, values)[0]!.count);
  }

  /** Called when the work has ended: what it left running may not touch what comes after it. */
  end(): void {
    this.#hasEnded = true;
  }

  /** Rises with each statement. */
  get statementCount(): number {
    return this.#statementCount;
  }

  protected assertRunning(): void {
    this.#statementCount++;
    if (!this.#hasEnded) return;
    throw new StorageError('storage.ended', 'the work of this transaction has ended; await all that it does');
  }

  #rows<Row>(table: Table<Row>, { sql, values }: statements.Statement): Row[] {
    this.assertRunning();
    return decodeRows(table, this.database.all(sql, values));
  }
}

export class SqliteTransaction extends SqliteReader implements Transaction {
  readonly commit: number;
  #hasWritten = false;
  readonly #beforeFirstWrite: () => void;

  constructor(database: Database, shard: number, numbers: CommitNumbers, beforeFirstWrite: () => void) {
    super(database, shard, numbers);
    this.commit = numbers.lastCommit + 1;
    this.#beforeFirstWrite = beforeFirstWrite;
  }

  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  async insert<Row>(table: Table<Row>, row: Row): Promise<void> {
    if (this.#write(statements.insert(table, this.shard, row)) === 1) return;
    const key = JSON.stringify(table.key.map((name) => row[name]));
    throw new DuplicateKeyError(table.name, `${table.name}: there is a row of the key ${key}`);
  }

  async put<Row>(table: Table<Row>, row: Row): Promise<void> {
    this.#write(statements.put(table, this.shard, row));
    this.#hasWritten = true;
  }

  async update<Row>(table: Table<Row>, where: readonly Condition<Row>[], changes: Partial<Row>): Promise<number> {
    const statement = statements.update(table, this.shard, where, changes);
    return statement === undefined ? this.count(table, where) : this.#write(statement);
  }

  async delete<Row>(table: Table<Row>, where: readonly Condition<Row>[]): Promise<number> {
    return this.#write(statements.remove(table, this.shard, where));
  }

  #write({ sql, values }: statements.Statement): number {
    this.assertRunning();
    this.#beforeFirstWrite();
    const rowCount = this.database.run(sql, values);
    this.#hasWritten ||= rowCount > 0;
    return rowCount;
  }
}

// What a transaction answers, it answers at once; a work that asks nothing for so long waits for something else.
const QUIET_MS_MAX = 10_000;

/** Ends a work that awaits something else than its transaction (another one, say), for all others wait for it. */
export async function inTime<Result>(tx: SqliteReader, work: () => Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const watch = (countBefore: number): void => {
      timer = setTimeout(() => {
        if (tx.statementCount === countBefore) reject(tooQuiet());
        else watch(tx.statementCount);
      }, QUIET_MS_MAX);
    };
    watch(tx.statementCount);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}

function tooQuiet(): StorageError {
  return new StorageError(
    'storage.ended',
    `the work of a transaction has asked nothing of it for ${QUIET_MS_MAX / 1000} s: it may await nothing else`,
  );
}
