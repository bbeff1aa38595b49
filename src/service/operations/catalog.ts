import type { Transaction } from '../../storage/storage.js';
import { itemCatalog } from '../../storage/tables/operations.js';
import { logProgress } from '../../storage/tables/samples.js';

/** Tells the worker that items were added, changed or removed. */
export async function noteChange(tx: Transaction): Promise<void> {
  await tx.put(itemCatalog, { name: 'items', commit: tx.commit });
  if ((await tx.get(logProgress, { name: 'log' })) !== undefined) return;
  // This is the first item of the shard: items have to take in what the log gets from now on.
  await tx.put(logProgress, { name: 'log', absorbedCommit: tx.lastCommit });
}
