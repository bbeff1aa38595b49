import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, type OpenDatabase, SqliteFailure } from './database.js';

/**
 * Tells whether a process that works on shards still lives: while it does it holds a lock on a file of its own, which
 * the system lets go of the moment it ends. So the claims of a process that was killed need not run out.
 */
export class WorkerLock {
  readonly #open: OpenDatabase;
  readonly #path: string;
  #database: Database | undefined;

  constructor(open: OpenDatabase, directory: string) {
    this.#open = open;
    this.#path = join(directory, 'windrow.worker');
  }

  /** @returns true when this call has taken the lock: no process that took it before lives any more. */
  take(): boolean {
    if (this.#database !== undefined) return false;
    closeSync(openSync(this.#path, 'a', 0o600));
    const database = this.#open(this.#path);
    try {
      database.exec('BEGIN EXCLUSIVE');
      this.#database = database;
      return true;
    } catch (error) {
      database.close();
      if (error instanceof SqliteFailure && error.kind === 'busy') return false;
      throw error;
    }
  }

  release(): void {
    this.#database?.close();
    this.#database = undefined;
  }
}
