import type { Storage } from '../../src/storage/storage.js';

/** How a store fails, as long as it does. */
export interface Trouble {
  /** Of a reading. */
  read?: Error | undefined;
  /** Of a transaction. */
  write?: Error | undefined;
}

/** A real store that is made to fail from outside, as a disk does. */
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
