import { DuplicateKeyError, StorageError } from '../errors.js';
import type { Condition, Query, Reader, Transaction } from '../storage.js';
import type { Table } from '../table.js';
import type { Dialect, Statement, Target } from './statements.js';
import * as statements from './statements.js';

/** An open transaction of a database. A driver whose calls are synchronous has done the work when they return. */
export interface SqlSession {
  readonly dialect: Dialect;
  /** @returns the number of rows inserted, changed or deleted. */
  run(statement: Statement): number | Promise<number>;
  all(statement: Statement): Record<string, unknown>[] | Promise<Record<string, unknown>[]>;
  /** Inserts many rows at once, where that takes less time than a statement for each. */
  readonly bulk?: {
    readonly rowsMin: number;
    insert<Row>(target: Target<Row>, rows: readonly Row[]): Promise<void>;
  };
}

/** What a reader and a transaction see of the commits of their shard. */
export interface CommitNumbers {
  readonly lastCommit: number;
  readonly durableCommit: number;
}

/** A reader over statements made of tables. */
export class SqlReader implements Reader {
  readonly shard: number;
  readonly lastCommit: number;
  readonly durableCommit: number;
  protected readonly session: SqlSession;
  #hasEnded = false;
  #statementCount = 0;

  constructor(session: SqlSession, shard: number, { lastCommit, durableCommit }: CommitNumbers) {
    this.session = session;
    this.shard = shard;
    this.lastCommit = lastCommit;
    this.durableCommit = durableCommit;
  }

  async get<Row>(table: Table<Row>, key: Partial<Row>): Promise<Row | undefined> {
    return (await this.#rows(table, statements.get(this.target(table), key)))[0];
  }

  async find<Row>(table: Table<Row>, query: Query<Row> = {}): Promise<Row[]> {
    return this.#rows(table, statements.find(this.target(table), query));
  }

  async count<Row>(table: Table<Row>, where: readonly Condition<Row>[] = []): Promise<number> {
    this.assertRunning();
    const [row] = await this.session.all(statements.count(this.target(table), where));
    return Number(row?.count);
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

  protected target<Row>(table: Table<Row>): Target<Row> {
    return { dialect: this.session.dialect, table, shard: this.shard };
  }

  async #rows<Row>(table: Table<Row>, statement: Statement): Promise<Row[]> {
    this.assertRunning();
    return this.session.dialect.decodeRows(table, await this.session.all(statement));
  }
}

export class SqlTransaction extends SqlReader implements Transaction {
  readonly commit: number;
  #hasBegun = false;
  #hasWritten = false;
  #isLogged = false;
  readonly #beforeFirstWrite: () => void;

  constructor(session: SqlSession, shard: number, numbers: CommitNumbers, beforeFirstWrite: () => void) {
    super(session, shard, numbers);
    this.commit = numbers.lastCommit + 1;
    this.#beforeFirstWrite = beforeFirstWrite;
  }

  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  /** Whether a row of a log, which is there when this transaction ends, tells its commit. */
  get isLogged(): boolean {
    return this.#isLogged;
  }

  async insert<Row>(table: Table<Row>, row: Row): Promise<void> {
    if ((await this.#write(statements.insert(this.target(table), row))) === 1) {
      // `as`: a log has the column.
      this.#isLogged ||= table.isLog && (row as { readonly commit?: number }).commit === this.commit;
      return;
    }
    const key = JSON.stringify(table.key.map((name) => row[name]));
    throw new DuplicateKeyError(table.name, `${table.name}: there is a row of the key ${key}`);
  }

  async insertAll<Row>(table: Table<Row>, rows: readonly Row[]): Promise<void> {
    const { bulk } = this.session;
    if (bulk === undefined || rows.length < bulk.rowsMin) {
      // Together: where the database is elsewhere, they go there together.
      await Promise.all(rows.map((row) => this.insert(table, row)));
      return;
    }
    this.#begin();
    await bulk.insert(this.target(table), rows);
    this.#hasWritten = true;
  }

  async put<Row>(table: Table<Row>, row: Row): Promise<void> {
    await this.#write(statements.put(this.target(table), row));
    this.#hasWritten = true;
  }

  async update<Row>(table: Table<Row>, where: readonly Condition<Row>[], changes: Partial<Row>): Promise<number> {
    const statement = statements.update(this.target(table), where, changes);
    return statement === undefined ? this.count(table, where) : this.#write(statement);
  }

  async delete<Row>(table: Table<Row>, where: readonly Condition<Row>[]): Promise<number> {
    if (table.isLog) this.#isLogged = false;
    return this.#write(statements.remove(this.target(table), where));
  }

  async #write(statement: Statement): Promise<number> {
    this.#begin();
    const rowCount = await this.session.run(statement);
    this.#hasWritten ||= rowCount > 0;
    return rowCount;
  }

  #begin(): void {
    this.assertRunning();
    if (!this.#hasBegun) this.#beforeFirstWrite();
    this.#hasBegun = true;
  }
}

/** Works that are running, and how many of the last looks found that they had asked nothing since. */
interface Running {
  readonly txs: readonly SqlReader[];
  statementCount: number;
  quietLooks: number;
  readonly end: (reason: StorageError) => void;
}

const LOOKS = 4;

/**
 * Ends a work that awaits something else than its transaction (another one, say), for all others wait for it: one that
 * has asked nothing for so long. One timer looks after all of them, as there are thousands a second.
 */
export class QuietWatch {
  readonly #quietMsMax: number;
  readonly #running = new Set<Running>();
  #timer: NodeJS.Timeout | undefined;

  constructor(quietMsMax: number) {
    this.#quietMsMax = quietMsMax;
  }

  run<Result>(txs: readonly SqlReader[], work: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const running: Running = { txs, statementCount: -1, quietLooks: 0, end: reject };
      this.#running.add(running);
      this.#wait();
      const settled = <Value>(settle: (value: Value) => void) => {
        return (value: Value): void => {
          this.#running.delete(running);
          settle(value);
        };
      };
      const begun = async (): Promise<Result> => work();
      begun().then(settled(resolve), settled(reject));
    });
  }

  #wait(): void {
    this.#timer ??= setTimeout(() => this.#look(), this.#quietMsMax / LOOKS).unref();
  }

  #look(): void {
    this.#timer = undefined;
    for (const running of this.#running) {
      const count = running.txs.reduce((sum, { statementCount }) => sum + statementCount, 0);
      running.quietLooks = count === running.statementCount ? running.quietLooks + 1 : 0;
      running.statementCount = count;
      if (running.quietLooks < LOOKS) continue;
      this.#running.delete(running);
      running.end(tooQuiet(this.#quietMsMax));
    }
    if (this.#running.size > 0) this.#wait();
  }
}

function tooQuiet(quietMsMax: number): StorageError {
  return new StorageError(
    'storage.ended',
    `the work of a transaction has asked nothing of it for ${quietMsMax / 1000} s: it may await nothing else`,
  );
}
