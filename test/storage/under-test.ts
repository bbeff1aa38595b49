import { openSqliteStorage } from '../../src/storage/index.js';
import { openPostgresStorage } from '../../src/storage/postgres/open.js';
import type { Storage, StorageClock } from '../../src/storage/storage.js';
import { createDatabase, type TestDatabase } from './postgres/open.js';

/** Where a test of the service keeps its data: in a directory, or in a database (vitest project `postgres`). */
export interface StoreUnderTest {
  /** @param isTimeless whether a database, too, goes by the test's clock, so that work waits as long as it needs. */
  open(clock: StorageClock, isTimeless?: boolean): Promise<Storage>;
  /** Ends leases earlier, where they do not go by the test's clock. */
  advanceLeases(ms: number): Promise<void>;
  remove(): Promise<void>;
}

export async function storeUnderTest(directory: string): Promise<StoreUnderTest> {
  if (process.env.WINDROW_TEST_STORE !== 'postgres') {
    return {
      // The space kept for a full disk is tested where disks are full; to write it took a fifth of each start.
      open: (clock) => openSqliteStorage({ directory, clock, reserveBytes: 0 }),
      advanceLeases: async () => {},
      remove: async () => {},
    };
  }
  return storeIn(await createDatabase());
}

export function storeIn(database: TestDatabase): StoreUnderTest {
  return {
    // A clock that stands still would never reach a time limit.
    open: (clock, isTimeless = false) => {
      const own = isTimeless ? clock : { monotonicMs: () => performance.now() };
      return openPostgresStorage({ address: database.address, clock: own });
    },
    advanceLeases: database.advanceLeases,
    remove: database.remove,
  };
}
