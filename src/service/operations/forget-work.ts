import type { SeriesReference } from '../../core/series.js';
import { equal, type Transaction } from '../../storage/storage.js';
import { BASE_ORDINAL, itemCheckpoints, itemSources, itemWork } from '../../storage/tables/operations.js';
import { sourcesOf } from './sources.js';

/**
 * Deletes the sources, state and work of items.
 *
 * @param keepingBase those of them that go on from their base.
 * @returns the series that they read
 */
export async function forgetWork(
  tx: Transaction,
  organisation: string,
  itemIds: readonly string[],
  keepingBase: readonly string[] = [],
): Promise<readonly SeriesReference[]> {
  const where = [...equal({ organisation }), ['itemId', 'in', itemIds]] as const;
  const sources = await sourcesOf(tx, organisation, itemIds);
  await tx.delete(itemSources, where);
  const without = itemIds.filter((itemId) => !keepingBase.includes(itemId));
  await tx.delete(itemCheckpoints, [...equal({ organisation }), ['itemId', 'in', without]]);
  if (keepingBase.length > 0) {
    const later = ['ordinal', '>', BASE_ORDINAL] as const;
    await tx.delete(itemCheckpoints, [...equal({ organisation }), ['itemId', 'in', keepingBase], later]);
  }
  await tx.delete(itemWork, where);
  return sources.map(({ timeseriesId, metric }) => ({ timeseriesId, metric }));
}
