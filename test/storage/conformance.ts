import { afterEach, beforeEach, describe } from 'vitest';
import { describeClaims } from './conformance/claims.js';
import { describeCommits } from './conformance/commits.js';
import type { Current, OpenedStorage, OpenStorage } from './conformance/opened-storage.js';
import { describeQueries } from './conformance/queries.js';
import { describeRows } from './conformance/rows.js';
import { suiteTables } from './conformance/tables.js';
import { describeValues } from './conformance/values.js';

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
