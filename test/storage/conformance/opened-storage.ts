import type { Storage } from '../../../src/storage/storage.js';
import type { Table } from '../../../src/storage/table.js';

/** A new store for one test. */
export interface OpenedStorage {
  readonly storage: Storage;
  /** Moves the clock of leases forward. */
  advance(ms: number): void | Promise<void>;
  /** Closes the store and opens the same one again. */
  reopen(): Promise<Storage>;
  /** Closes all that is open and deletes the store. */
  dispose(): Promise<void>;
}

/** Opens a new, empty store with these tables. */
export type OpenStorage = (tables: readonly Table<never>[]) => Promise<OpenedStorage>;

/** The store of the running test. */
export interface Current {
  storage: Storage;
  advance(ms: number): void | Promise<void>;
  reopen(): Promise<void>;
}
