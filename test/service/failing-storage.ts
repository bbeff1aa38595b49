import type { Storage } from '../../src/storage/storage.js';

/** The errors that a store throws while they are set. */
export interface Trouble {
  /** Thrown by reads. */
  read?: Error | undefined;
  /** Thrown by transactions. */
  write?: Error | undefined;
}

/** A real store that a test can make fail, as a disk does. */
export function failingStorage(storage: Storage, trouble: Trouble): Storage {
  const stop = (error: Error | undefined): void => {
    if (error !== undefined) throw error;
  };
  return {
    read: async (shard, work) => {
      stop(trouble.read);
      return storage.read(shard, work);
    },
    lastCommit: async (shard) => {
      stop(trouble.read);
      return storage.lastCommit(shard);
    },
    recentCommit: async (shard) => {
      stop(trouble.read);
      return storage.recentCommit(shard);
    },
    transaction: async (shard, work, claim) => {
      stop(trouble.write);
      return storage.transaction(shard, work, claim);
    },
    transactionOver: async (shards, work, options) => {
      stop(trouble.write);
      return storage.transactionOver(shards, work, options);
    },
    check: async () => {
      stop(trouble.read);
      return storage.check();
    },
    claim: (shard, owner, leaseMs) => storage.claim(shard, owner, leaseMs),
    release: (claim) => storage.release(claim),
    maintains: (shard) => storage.maintains(shard),
    onCommit: (listener) => storage.onCommit(listener),
    close: () => storage.close(),
  };
}
