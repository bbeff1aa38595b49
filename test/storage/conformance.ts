import { afterEach, beforeEach, describe } from 'vitest';
import type { Storage } from '../../src/storage/storage.js';
import type { Table } from '../../src/storage/table.js';
import { describeClaims } from './conformance/claims.js';
import { describeCommits } from './conformance/commits.js';
import { describeQueries } from './conformance/queries.js';
import { describeRows } from './conformance/rows.js';
import { suiteTables } from './conformance/tables.js';
import { describeValues } from './conformance/values.js';

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

/** What every driver of `Storage` must do. */
export function describeStorage(name: string, open: OpenStorage): void {
  describe(`${name} as a store`, () => {
    let opened: OpenedStorage;
    // Filled before each test.
    const current = {} as Current;
    beforeEach(async () => {
      opened = await open(suiteTables);
      current.storage = opened.storage;
      current.advance = opened.advance;
      current.reopen = async () => {
        current.storage = await opened.reopen();
      };
    });
    afterEach(() => opened.dispose());

    describe('values', () => describeValues(current));
    describe('rows', () => describeRows(current));
    describe('queries', () => describeQueries(current));
    describe('commits', () => describeCommits(current));
    describe('claims', () => describeClaims(current));
  });
}
