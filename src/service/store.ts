import type { Storage, Transaction } from '../storage/storage.js';
import type { Value } from '../storage/table.js';

/** The conditions of a row to have these values. */
export function equal<Column extends string>(values: Readonly<Record<Column, Value>>) {
  // Each entry is a column and its value.
  return Object.entries(values).map(([column, value]) => [column, '=', value]) as [Column, '=', Value][];
}

/** A transaction that works on a full disk too, by its reserve: it writes little, or makes room. */
export function writeReserved<Result>(
  storage: Storage,
  shard: number,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return storage.transaction(shard, work, { usesReserve: true });
}
