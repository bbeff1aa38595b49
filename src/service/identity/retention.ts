import { SHARD_COUNT, shardOf } from '../../storage/shard.js';
import { type RetentionRow, retention } from '../../storage/tables/samples.js';
import { equal, writeReserved } from '../store.js';
import { type AdministrationContext, checkName, expected, type OfOrganisation } from './names.js';

/** Which samples a retention rule applies to; '' means every series, or every metric. */
export type RetentionScope = Pick<RetentionRow, 'organisation' | 'timeseriesId' | 'metric'> & {
  readonly kind: 'samples' | 'results';
};

/** Sets how long samples are kept; replaces the rule with the same scope. */
export async function setRetention(
  { storage, clock }: AdministrationContext,
  { keepMs, ...scope }: RetentionScope & { readonly keepMs: number },
): Promise<void> {
  const organisation = checkName('organisation', scope.organisation);
  if (!(Number.isSafeInteger(keepMs) && keepMs > 0)) throw expected('keep', 'a duration above 0', keepMs);
  const row = { ...scope, organisation, keepMs, createdMs: Math.floor(clock.nowMs()) };
  await writeReserved(storage, shardOf(organisation), (tx) => tx.put(retention, row));
}

export async function listRetention(
  { storage }: AdministrationContext,
  { organisation }: OfOrganisation,
): Promise<readonly RetentionRow[]> {
  const rules: RetentionRow[] = [];
  for (let shard = 0; shard < SHARD_COUNT; shard++) {
    if (organisation !== undefined && shard !== shardOf(organisation)) continue;
    const found = await storage.read(shard, (tx) => tx.find(retention));
    rules.push(...found.filter((rule) => organisation === undefined || rule.organisation === organisation));
  }
  return rules;
}

/** @returns the removed rule; undefined if there was none. */
export async function removeRetention(
  { storage }: AdministrationContext,
  { organisation, kind, timeseriesId, metric }: RetentionScope,
): Promise<RetentionRow | undefined> {
  const key = { organisation, kind, timeseriesId, metric };
  return writeReserved(storage, shardOf(organisation), async (tx) => {
    const row = await tx.get(retention, key);
    await tx.delete(retention, equal(key));
    return row;
  });
}
