import { DuplicateKeyError, StorageError } from '../errors.js';
import type { Condition, Query, Reader, Transaction } from '../storage.js';
import type { Table } from '../table.js';
import type { Dialect, Statement, Target } from './statements.js';
import * as statements from './statements.js';

/** An open database transaction. A driver with synchronous calls has done the work when they return. */
export interface SqlSession {
  readonly dialect: Dialect;
  /** @returns the number of rows inserted, changed or deleted. */
  run(statement: Statement): number | Promise<number>;
  /**
   * Runs a statement whose answer nobody needs, where not to wait for it is faster: a failure is that of the next
   * statement, or of the transaction. Resolves when others may follow.
   */
  post?(statement: Statement): Promise<void>;
  all(statement: Statement): Record<string, unknown>[] | Promise<Record<string, unknown>[]>;
  /** Inserts many rows at once, where that is faster than a statement for each. */
  readonly bulk?: {
    readonly rowsMin: number;
    insert<Row>(target: Target<Row>, rows: readonly Row[]): Promise<void>;
  };
}

/** The commits of its shard that a reader or transaction sees. */
export interface CommitNumbers {
  readonly lastCommit: number;
  readonly durableCommit: number;
  readonly soleWriter?: object;
}

/** A reader that builds SQL statements from tables. */
export class SqlReader implements Reader {
  readonly shard: number;
  readonly lastCommit: number;
  readonly durableCommit: number;
  readonly soleWriter: object | undefined;
  protected readonly session: SqlSession;
  #hasEnded = false;
  #statementCount = 0;

  constructor(session: SqlSession, shard: number, { lastCommit, durableCommit, soleWriter }: CommitNumbers) {
    this.session = session;
    this.shard = shard;
    this.lastCommit = lastCommit;
    this.durableCommit = durableCommit;
    this.soleWriter = soleWriter;
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

  /** Called when the work has ended: what it left running must not touch the next transaction. */
  end(): void {
    this.#hasEnded = true;
  }

  /** Increases with each statement. */
  get statementCount(): number {
    return this.#statementCount;
  }

  protected assertRunning(): void {
    this.#statementCount++;
    if (!this.#hasEnded) return;
    throw new StorageError('storage.ended', 'the work of this transaction has ended; await everything that it starts');
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

  /** Whether a log row that this transaction inserted, and did not delete, records its commit. */
  get isLogged(): boolean {
    return this.#isLogged;
  }

  async insert<Row>(table: Table<Row>, row: Row): Promise<void> {
    // `as`: a log has the column.
    const isLogRow = table.isLog && (row as { readonly commit?: number }).commit === this.commit;
    if (isLogRow && this.session.post !== undefined) {
      // Nobody else has this commit, so its keys are free unless this work uses one twice.
      await this.#post(statements.append(this.target(table), row));
    } else if ((await this.#write(statements.insert(this.target(table), row))) !== 1) {
      const key = JSON.stringify(table.key.map((name) => row[name]));
      throw new DuplicateKeyError(table.name, `${table.name}: a row with the key ${key} exists`);
    }
    this.#isLogged ||= isLogRow;
  }

  async insertAll<Row>(table: Table<Row>, rows: readonly Row[]): Promise<void> {
    const { bulk } = this.session;
    if (bulk === undefined || rows.length < bulk.rowsMin) {
      // Awaited together, so that they travel together to a database elsewhere.
      await Promise.all(rows.map((row) => this.insert(table, row)));
      return;
    }
    this.#begin();
    await bulk.insert(this.target(table), rows);
    this.#hasWritten = true;
  }

  async put<Row>(table: Table<Row>, row: Row): Promise<void> {
    await this.#post(statements.put(this.target(table), row));
  }

  async update<Row>(table: Table<Row>, where: readonly Condition<Row>[], changes: Partial<Row>): Promise<number> {
    const statement = statements.update(this.target(table), where, changes);
    return statement === undefined ? this.count(table, where) : this.#write(statement);
  }

  async delete<Row>(table: Table<Row>, where: readonly Condition<Row>[]): Promise<number> {
    if (table.isLog) this.#isLogged = false;
    return this.#write(statements.remove(this.target(table), where));
  }

  async #post(statement: Statement): Promise<void> {
    this.#begin();
    await (this.session.post === undefined ? this.session.run(statement) : this.session.post(statement));
    this.#hasWritten = true;
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

/** A running work, and how many checks in a row found no new statement. */
interface Running {
  readonly txs: readonly SqlReader[];
  statementCount: number;
  quietChecks: number;
  readonly end: (reason: StorageError) => void;
}

const CHECKS = 4;

/**
 * Rejects a job that has sent no statement for `quietMsMax`, since all others wait for it: it awaits something other
 * than its transaction (perhaps another one). One timer serves all jobs, as there are thousands a second.
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
      const running: Running = { txs, statementCount: -1, quietChecks: 0, end: reject };
      this.#running.add(running);
      this.#schedule();
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

  #schedule(): void {
    this.#timer ??= setTimeout(() => this.#check(), this.#quietMsMax / CHECKS).unref();
  }

  #check(): void {
    this.#timer = undefined;
    for (const running of this.#running) {
      const count = running.txs.reduce((sum, { statementCount }) => sum + statementCount, 0);
      running.quietChecks = count === running.statementCount ? running.quietChecks + 1 : 0;
      running.statementCount = count;
      if (running.quietChecks < CHECKS) continue;
      this.#running.delete(running);
      running.end(tooQuiet(this.#quietMsMax));
    }
    if (this.#running.size > 0) this.#schedule();
  }
}

function tooQuiet(quietMsMax: number): StorageError {
  return new StorageError(
    'storage.ended',
    `the work of a transaction sent no statement for ${quietMsMax / 1000} s; it must await nothing but the transaction`,
  );
}
