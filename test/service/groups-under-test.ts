import { placementOf } from '../../src/storage/shard.js';
import type { Storage } from '../../src/storage/storage.js';
import { organisations } from '../../src/storage/tables/identity.js';

/** Over how many shards tests spread the series of their organisations: `WINDROW_GROUPS=8` spreads all of them. */
const GROUPS_UNDER_TEST = Number(process.env.WINDROW_GROUPS ?? 1);

/** Writes down that the series of an organisation are spread. */
export async function spread(storage: Storage, organisation: string, groupCount = GROUPS_UNDER_TEST): Promise<void> {
  if (groupCount === 1) return;
  await storage.transactionOver(placementOf(organisation, groupCount).shards, async (txs) => {
    for (const tx of txs) await tx.put(organisations, { organisation, groupCount, createdMs: 0 });
  });
}
