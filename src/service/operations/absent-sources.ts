import { groupBy } from '../../core/group.js';
import { type SeriesReference, seriesKey, seriesName } from '../../core/series.js';
import type { ServiceContext } from '../context.js';
import type { ItemRecord } from './records.js';
import { isPattern } from './request.js';

const NAMED_MAX = 3;

/**
 * Says in the records of items that have no message which of their sources are no series, and which patterns none
 * fits: such an item is active and computes nothing, be its samples still to come or their name misspelt.
 */
export async function withAbsentSources(
  { storage, samples, placements }: Pick<ServiceContext, 'storage' | 'samples' | 'placements'>,
  organisation: string,
  records: readonly ItemRecord[],
): Promise<readonly ItemRecord[]> {
  const placement = await placements.of(organisation);
  const sources = new Map<string, SeriesReference>();
  for (const record of records) for (const source of plainSources(record)) sources.set(seriesKey(source), source);
  const absent = new Set<string>();
  for (const [shard, some] of groupBy(sources.values(), ({ timeseriesId }) => placement.shardOf(timeseriesId))) {
    const found = await storage.read(shard, (tx) => samples.itemIdsOf(tx, organisation, some));
    for (const [index, source] of some.entries()) if (found[index] === undefined) absent.add(seriesKey(source));
  }
  return records.map((record) => {
    const missing = plainSources(record).filter((source) => absent.has(seriesKey(source)));
    const patterns = record.message === null && record.isWithoutMembers ? record.sources.filter(isPattern) : [];
    const told = [...messageAbout(missing, ['is called', 'are called']), ...messageAbout(patterns, ['fits', 'fit'])];
    return told.length === 0 ? record : { ...record, message: told.join('; ') };
  });
}

function plainSources({ message, sources }: ItemRecord): readonly SeriesReference[] {
  return message === null ? sources.filter((source) => !isPattern(source)) : [];
}

/** Empty if nothing is missing. */
function messageAbout(missing: readonly SeriesReference[], [is, are]: readonly [string, string]): readonly string[] {
  const names = missing.slice(0, NAMED_MAX).map((source) => JSON.stringify(seriesName(source)));
  const others = missing.length - names.length;
  const told = [...names, ...(others === 0 ? [] : [`${others} more`])];
  const last = told.pop();
  if (last === undefined) return [];
  return [
    told.length === 0 ? `no series ${is} ${last} so far` : `no series ${are} ${told.join(', ')} and ${last} so far`,
  ];
}
