import { placementOf } from '../../src/storage/shard.js';
import type { Storage } from '../../src/storage/storage.js';
import { organisations } from '../../src/storage/tables/identity.js';

/** The number of groups of the tests' organisations: `WINDROW_GROUPS=8` spreads each over eight shards. */
const GROUPS_UNDER_TEST = Number(process.env.WINDROW_GROUPS ?? 1);

/** Stores the number of groups of an organisation. */
export async function spread(storage: Storage, organisation: string, groupCount = GROUPS_UNDER_TEST): Promise<void> {
  if (groupCount === 1) return;
  await storage.transactionOver(placementOf(organisation, groupCount).shards, async (txs) => {
    for (const tx of txs) await tx.put(organisations, { organisation, groupCount, createdMs: 0 });
  });
}
