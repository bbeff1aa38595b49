import { rmSync } from 'node:fs';
import { openSqliteStorage } from '../../../src/storage/index.js';
import type { Sizes } from '../../../src/storage/samples/compaction/rewrite.js';
import type { SampleStore } from '../../../src/storage/samples/store.js';
import { createSampleStore } from '../../../src/storage/samples/store.js';
import type { Reader, Storage, Transaction } from '../../../src/storage/storage.js';
import { folderInMemory } from '../../folder-in-memory.js';
import { failAt, hold } from '../faults.js';

export const SHARD = 5;
export const ORGANISATION = 'acme';

/** Stores of samples over a real database in a folder of its own. */
export interface Bed {
  readonly storage: Storage;
  readonly samples: SampleStore;
  /** A second store over a second connection to the same file: in effect, another process. */
  readonly other: SampleStore;
  /** @param process 0 for `samples`, 1 for `other`. */
  write<Result>(work: (tx: Transaction) => Promise<Result>, process?: number): Promise<Result>;
  read<Result>(work: (tx: Reader) => Promise<Result>, process?: number): Promise<Result>;
  /** Closes the database and reopens it, with nothing left in memory. */
  reopen(): Promise<void>;
  /** Makes the next commit fail, and with it all works of its group. */
  failCommit(): void;
  close(): Promise<void>;
}

// A clock that stands still, so that works submitted together form one group, however long they take.
const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 };

export async function openBed(sizes: Partial<Sizes> = {}): Promise<Bed> {
  // The laws make thousands of commits, and none of them is about the disk.
  const directory = folderInMemory('windrow-samples-');
  const held = hold();
  // Each group has a COMMIT, even one that wrote nothing, so that `failCommit` can make it fail.
  const options = { directory, clock, openDatabase: held.open, reserveBytes: 0 };
  const open = async () => ({
    storages: [await openSqliteStorage(options), await openSqliteStorage(options)] as const,
    samples: createSampleStore({ clock, sizes, partSamplesMin: 1 }),
    other: createSampleStore({ clock, sizes, partSamplesMin: 1 }),
  });
  const close = async () => {
    for (const storage of opened.storages) await storage.close();
  };
  let opened = await open();
  return {
    get storage() {
      return opened.storages[0];
    },
    get samples() {
      return opened.samples;
    },
    get other() {
      return opened.other;
    },
    write: (work, process = 0) => opened.storages[process]!.transaction(SHARD, work),
    read: (work, process = 0) => opened.storages[process]!.read(SHARD, work),
    reopen: async () => {
      await close();
      opened = await open();
    },
    failCommit: () => {
      held.before = failAt('COMMIT', 'full');
    },
    close: async () => {
      await close();
      rmSync(directory, { recursive: true });
    },
  };
}
