import type { Storage, Transaction } from '../storage/storage.js';

export { equal } from '../storage/storage.js';

/** A transaction that may use the disk's reserve, so that it works on a full disk: it writes little, or frees space. */
export function writeReserved<Result>(
  storage: Storage,
  shard: number,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return storage.transaction(shard, work, { usesReserve: true });
}
