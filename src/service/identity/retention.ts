import { WindrowError } from '../../core/errors.js';
import { SHARD_COUNT, shardOf } from '../../storage/shard.js';
import { type RetentionRow, retention } from '../../storage/tables/samples.js';
import { writeReserved } from '../store.js';
import { type AdministrationContext, checkName, expected, type OfOrganisation } from './names.js';

/** Which samples a rule is about: '' stands for every series, or every metric. */
export type RetentionScope = Pick<RetentionRow, 'organisation' | 'timeseriesId' | 'metric'> & {
  readonly kind: 'samples' | 'results';
};

/** Says how long samples are kept; in the place of a rule of the same scope. */
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

export async function removeRetention({ storage }: AdministrationContext, scope: RetentionScope): Promise<void> {
  const where = (['organisation', 'kind', 'timeseriesId', 'metric'] as const).map(
    (name) => [name, '=', scope[name]] as const,
  );
  await writeReserved(storage, shardOf(scope.organisation), async (tx) => {
    if ((await tx.delete(retention, where)) > 0) return;
    const mend = '`windrow retention list` tells the rules';
    throw new WindrowError('identity.missing', `there is no such rule of ${scope.organisation}; ${mend}`);
  });
}
