import type { Storage, Transaction } from '../storage/storage.js';

export { equal } from '../storage/storage.js';

/** A transaction that works on a full disk too, by its reserve: it writes little, or makes room. */
export function writeReserved<Result>(
  storage: Storage,
  shard: number,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return storage.transaction(shard, work, { usesReserve: true });
}
