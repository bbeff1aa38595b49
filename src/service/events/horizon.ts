import type { Reader, Transaction } from '../../storage/storage.js';
import { eventHorizon } from '../../storage/tables/events.js';

const HORIZON_NAME = 'events';

/** How far old versions of a shard's events were deleted: snapshots before this commit are no longer whole. */
export async function horizonOf(tx: Reader): Promise<number> {
  return (await tx.get(eventHorizon, { name: HORIZON_NAME }))?.forgottenCommit ?? 0;
}

/**
 * A version that ended at a commit belongs to the snapshots before it. The horizon tells these that they are no longer
 * whole, whatever the clocks said.
 */
export async function raiseHorizon(tx: Transaction, forgottenCommit: number): Promise<void> {
  if (forgottenCommit > (await horizonOf(tx))) await tx.put(eventHorizon, { name: HORIZON_NAME, forgottenCommit });
}
