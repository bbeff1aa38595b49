import { type Database, type OpenDatabase, SqliteFailure, type SqlRow, type SqlValue } from './database.js';
import { isJournalHot } from './journal.js';
import type { Statement } from './statements.js';

/**
 * The connection that lasts. After a failure of the file or the disk SQLite may have undone the transaction by
 * itself, and statements would go on outside of one; so everything is refused until `restore` was called.
 */
export class Connection implements Database {
  readonly losesMark: boolean;
  readonly #path: string;
  readonly #open: OpenDatabase;
  #database: Database;
  #failure: SqliteFailure | undefined;
  #records: Statement[] = [];

  constructor(path: string, open: OpenDatabase) {
    this.#path = path;
    this.#open = open;
    this.#database = open(path);
    this.losesMark = this.#database.losesMark;
  }

  get failure(): SqliteFailure | undefined {
    return this.#failure;
  }

  exec(sql: string): void {
    this.#watch(() => this.#database.exec(sql));
  }

  run(sql: string, values: readonly SqlValue[]): number {
    const rowCount = this.#watch(() => this.#database.run(sql, values));
    if (rowCount > 0) this.#records.push({ sql, values });
    return rowCount;
  }

  /** How many statements have changed rows since `takeRecords`. */
  get recordCount(): number {
    return this.#records.length;
  }

  /** Forgets the records from this one on: what they wrote was undone. */
  dropRecords(from: number): void {
    this.#records.length = Math.min(from, this.#records.length);
  }

  /** The statements that changed rows since it was last called, in their order. */
  takeRecords(): readonly Statement[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }

  all(sql: string, values: readonly SqlValue[] = []): SqlRow[] {
    return this.#watch(() => this.#database.all(sql, values));
  }

  /**
   * Undoes what is left of a failed transaction. Where SQLite could not undo it (it says so, or its journal still
   * tells), the file is opened anew, which does.
   */
  restore(): void {
    this.#records = [];
    if (!this.#rollBack() || isJournalHot(this.#path)) this.#reopen();
    this.#failure = undefined;
  }

  /** @returns whether SQLite is in no transaction any more. */
  #rollBack(): boolean {
    try {
      this.#database.exec('ROLLBACK');
      return true;
    } catch (error) {
      // SQLite may have undone it by itself.
      return error instanceof SqliteFailure && error.message.includes('no transaction is active');
    }
  }

  #reopen(): void {
    try {
      this.#database.close();
    } catch {
      // What can not be closed in order is undone when the file is opened.
    }
    this.#database = this.#open(this.#path);
  }

  close(): void {
    this.#database.close();
  }

  #watch<Result>(work: () => Result): Result {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return work();
    } catch (error) {
      if (error instanceof SqliteFailure && error.kind !== 'other') this.#failure = error;
      throw error;
    }
  }
}
