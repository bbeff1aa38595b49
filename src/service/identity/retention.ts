import { WindrowError } from '../../core/errors.js';
import { SHARD_COUNT, shardOf } from '../../storage/shard.js';
import { equal, writeReserved } from '../../storage/storage.js';
import { type RetentionRow, retention } from '../../storage/tables/samples.js';
import { nameProblem } from '../timeseries/names.js';
import { isKeep, KEEP } from './keep.js';
import { type AdministrationContext, checkName, expected, type OfOrganisation } from './names.js';
import { checkOrganisation } from './organisations.js';

/** The most rules of an organisation: they are listed in one answer. */
const RULES_MAX = 10_000;

/** Which samples a retention rule applies to; '' means every series, or every metric. */
export type RetentionScope = Pick<RetentionRow, 'organisation' | 'timeseriesId' | 'metric'> & {
  readonly kind: 'samples' | 'results';
};

/** What is expected instead of this name of a scope: no series can have it. */
export function scopeNameProblem(name: string): string | undefined {
  return name === '' ? undefined : nameProblem(name);
}

/** Sets how long samples are kept; replaces the rule with the same scope. */
export async function setRetention(
  context: AdministrationContext,
  { keepMs, ...scope }: RetentionScope & { readonly keepMs: number },
): Promise<void> {
  const { storage, clock } = context;
  const organisation = checkName('organisation', scope.organisation);
  if (!isKeep(keepMs)) throw expected('keep', KEEP, keepMs);
  for (const field of ['timeseriesId', 'metric'] as const) {
    const problem = scopeNameProblem(scope[field]);
    if (problem !== undefined) throw expected(field, problem, scope[field]);
  }
  await checkOrganisation(context, organisation);
  const row = { ...scope, organisation, keepMs, createdMs: Math.floor(clock.nowMs()) };
  await writeReserved(storage, shardOf(organisation), async (tx) => {
    const { timeseriesId, metric, kind } = scope;
    const isNew = (await tx.get(retention, { organisation, kind, timeseriesId, metric })) === undefined;
    if (isNew && (await tx.count(retention, equal({ organisation }))) >= RULES_MAX) {
      const mend = 'remove some, or set rules for metrics or for all series';
      throw new WindrowError(
        'option.value',
        `${organisation}: expected at most ${RULES_MAX} retention rules, received one more; ${mend}`,
      );
    }
    await tx.put(retention, row);
  });
}

export async function listRetention(
  { storage }: AdministrationContext,
  { organisation }: OfOrganisation,
): Promise<readonly RetentionRow[]> {
  const rules: RetentionRow[] = [];
  for (let shard = 0; shard < SHARD_COUNT; shard++) {
    if (organisation !== undefined && shard !== shardOf(organisation)) continue;
    const where = organisation === undefined ? [] : equal({ organisation });
    for (const rule of await storage.read(shard, (tx) => tx.find(retention, { where }))) rules.push(rule);
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
