import type { CompactOptions } from '../../../src/storage/samples/compaction/compact.js';
import { storeMove } from '../../../src/storage/samples/compaction/move.js';
import type { SampleStore } from '../../../src/storage/samples/store.js';
import type { Transaction } from '../../../src/storage/storage.js';

/** Prepares a move and stores it, in one transaction; returns whether there was one. */
export async function compactNow(
  samples: SampleStore,
  tx: Transaction,
  untilCommit: number,
  options: CompactOptions = {},
): Promise<boolean> {
  const move = await samples.prepareMove(tx, untilCommit, options);
  if (move !== undefined) await storeMove(tx, move);
  return move !== undefined;
}
