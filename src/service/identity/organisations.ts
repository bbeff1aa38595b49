import { WindrowError } from '../../core/errors.js';
import { IDENTITY_SHARD, shardOf } from '../../storage/shard.js';
import { equal } from '../../storage/storage.js';
import { clients, organisations, users } from '../../storage/tables/identity.js';
import { series } from '../../storage/tables/samples.js';
import type { AdministrationContext } from './names.js';

/**
 * An organisation is made by its first client or user, and is there as long as it has one of them or a series.
 *
 * @throws WindrowError `identity.missing`.
 */
export async function checkOrganisation({ storage }: AdministrationContext, organisation: string): Promise<void> {
  const some = { where: equal({ organisation }), limit: 1 };
  const hasPeople = await storage.read(IDENTITY_SHARD, async (tx) => {
    return (await tx.find(clients, some)).length > 0 || (await tx.find(users, some)).length > 0;
  });
  if (hasPeople) return;
  const hasSeries = await storage.read(shardOf(organisation), async (tx) => {
    const isSpread = (await tx.get(organisations, { organisation })) !== undefined;
    return isSpread || (await tx.find(series, some)).length > 0;
  });
  if (hasSeries) return;
  const mend = '`windrow client list` shows those there are, `windrow client add` makes one';
  throw new WindrowError('identity.missing', `there is no organisation ${organisation}; ${mend}`);
}
