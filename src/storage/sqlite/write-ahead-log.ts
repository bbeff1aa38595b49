import type { Database } from './database.js';

/** The write-ahead log of a store: what is committed is put on the disk there, and copied into the database later. */
export class WriteAheadLog {
  readonly #database: Database;
  readonly #pagesMax: number;
  #copiedPages = 0;
  #syncing: Promise<void> = Promise.resolve();

  /** @param pagesMax so many pages are new before they are copied. */
  constructor(database: Database, pagesMax: number) {
    this.#database = database;
    this.#pagesMax = pagesMax;
  }

  /** Resolves when what is committed by now is on the disk. After a failure nobody knows what the disk has. */
  sync(): Promise<void> {
    const syncing = this.#database.syncLog();
    this.#syncing = syncing.catch(() => {});
    return syncing;
  }

  /** Resolves when the sync that runs, if one does, has ended, well or not. */
  onSynced(): Promise<void> {
    return this.#syncing;
  }

  /** Copies it into the database when much has come to it, as far as no reader needs what was there. */
  copy(): void {
    try {
      const pages = Number(this.#database.all('PRAGMA wal_checkpoint(NOOP)')[0]?.log);
      if (pages < this.#copiedPages) this.#copiedPages = 0;
      if (pages - this.#copiedPages < this.#pagesMax) return;
      this.#copiedPages = pages;
      this.#database.all('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // All is in the log; it is tried again when more has come.
    }
  }

  /** Copies it into the database, and gives its room back. */
  empty(): void {
    try {
      this.#database.all('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // As much as there is room for.
    }
  }
}
