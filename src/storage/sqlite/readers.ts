import { SqlReader } from '../sql/transaction.js';
import { type CommitCounters, versionOf } from './commit-counters.js';
import type { Database } from './database.js';
import { NO_VALUES, sessionOf } from './group.js';

interface ReadersParts {
  readonly database: Database;
  /** Opens another connection, which never keeps a read transaction open; undefined if the files have gone. */
  readonly openWatch: () => Database | undefined;
  readonly counters: CommitCounters;
  /** Reads what other processes have committed, at least to this shard; within the readers' transaction. */
  readonly refresh: (shard: number) => void;
}

/** The readers of one connection. Those that overlap share a transaction, so they see one state. */
export class Readers {
  readonly #parts: ReadersParts;
  #count = 0;
  /** Opened when readers first overlap. */
  #watch: Database | undefined;
  /** The data version at which the current readers began, as `#watch` counts. */
  #version = Number.NaN;

  constructor(parts: ReadersParts) {
    this.#parts = parts;
  }

  /** Whether the current readers see all commits, even those of other processes. */
  get areUpToDate(): boolean {
    this.#watch ??= this.#parts.openWatch();
    return this.#watch !== undefined && versionOf(this.#watch) === this.#version;
  }

  async read<Result>(shard: number, work: (reader: SqlReader) => Promise<Result>): Promise<Result> {
    const { database, counters } = this.#parts;
    this.#begin(shard);
    const reader = new SqlReader(sessionOf(database), shard, counters.numbersOf(shard));
    try {
      return await work(reader);
    } finally {
      reader.end();
      this.#end();
    }
  }

  close(): void {
    this.#watch?.close();
  }

  #begin(shard: number): void {
    const { database, counters, refresh } = this.#parts;
    if (this.#count === 0) {
      try {
        if (this.#watch !== undefined) this.#version = versionOf(this.#watch);
        database.run('BEGIN', NO_VALUES);
        refresh(shard);
      } catch (error) {
        if (database.isInTransaction) database.exec('ROLLBACK');
        throw error;
      }
    } else if (!counters.hasRead(shard)) refresh(shard);
    this.#count++;
  }

  #end(): void {
    const { database } = this.#parts;
    this.#count--;
    if (this.#count === 0 && database.isInTransaction) database.run('END', NO_VALUES);
  }
}
