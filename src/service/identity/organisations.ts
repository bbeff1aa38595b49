import { WindrowError } from '../../core/errors.js';
import { GROUP_COUNTS, IDENTITY_SHARD, placementOf, shardOf } from '../../storage/shard.js';
import { equal, type Reader, type Transaction } from '../../storage/storage.js';
import { clients, organisations, users } from '../../storage/tables/identity.js';
import { series } from '../../storage/tables/samples.js';
import { type AdministrationContext, expected } from './names.js';

/**
 * Fixes the group count of an organisation before its first client or user is added: processes rely on it for good.
 *
 * @param groups one group by default, or as many as it has.
 * @throws WindrowError `identity.exists` if it has another number.
 */
export async function fixGroupCount(
  { storage, clock }: AdministrationContext,
  organisation: string,
  groups?: number,
): Promise<void> {
  if (groups !== undefined && !GROUP_COUNTS.includes(groups)) {
    throw expected('groups', `one of ${GROUP_COUNTS.join(', ')}`, groups);
  }
  // Of a version that fixed it only where it was asked to.
  const isOlder = await storage.read(IDENTITY_SHARD, (tx) => hasPeople(tx, organisation));
  const { home, shards } = placementOf(organisation, groups ?? 1);
  const fix = async (txs: readonly Transaction[]): Promise<void> => {
    const homeTx = txs.find(({ shard }) => shard === home)!;
    const known = await homeTx.get(organisations, { organisation });
    const existingSeries = await homeTx.find(series, { where: equal({ organisation }), limit: 1 });
    const isNew = known === undefined && !isOlder && existingSeries.length === 0;
    const groupCount = known?.groupCount ?? (isNew ? (groups ?? 1) : 1);
    if (groups !== undefined && groupCount !== groups) {
      const mend = 'leave groups out, or use another organisation';
      const some = groupCount === 1 ? 'one group' : `${groupCount} groups`;
      throw new WindrowError(
        'identity.exists',
        `the series of ${organisation} are in ${some}, which cannot change; ${mend}`,
      );
    }
    if (known !== undefined) return;
    const row = { organisation, groupCount, createdMs: Math.floor(clock.nowMs()) };
    for (const tx of txs) await tx.insert(organisations, row);
  };
  await storage.transactionOver(shards, fix, { usesReserve: true });
}

async function hasPeople(tx: Reader, organisation: string): Promise<boolean> {
  const some = { where: equal({ organisation }), limit: 1 };
  return (await tx.find(clients, some)).length > 0 || (await tx.find(users, some)).length > 0;
}

/**
 * An organisation is made by its first client or user, and is there as long as it has one of them or a series.
 *
 * @throws WindrowError `identity.missing`.
 */
export async function checkOrganisation({ storage }: AdministrationContext, organisation: string): Promise<void> {
  if (await storage.read(IDENTITY_SHARD, (tx) => hasPeople(tx, organisation))) return;
  const hasSeries = await storage.read(shardOf(organisation), async (tx) => {
    const groupCount = (await tx.get(organisations, { organisation }))?.groupCount ?? 1;
    return groupCount > 1 || (await tx.find(series, { where: equal({ organisation }), limit: 1 })).length > 0;
  });
  if (hasSeries) return;
  const mend = '`windrow client list` shows those there are, `windrow client add` makes one';
  throw new WindrowError('identity.missing', `there is no organisation ${organisation}; ${mend}`);
}
