import type { SeriesReference } from '../../../core/series.js';
import { NO_COLUMNS } from '../../../storage/samples/samples.js';
import type { ServiceContext } from '../../context.js';

/** What one transaction looks up and creates in some 20 ms. */
const SERIES_PER_TRANSACTION = 1000;

/**
 * Looks up and creates the series of a body that has very many, some at a time: all in the transaction that stores the
 * body, other writers would wait a second for 100,000 of them. If that transaction fails, series without samples stay.
 */
export async function prepareSeries(
  { storage, samples }: Pick<ServiceContext, 'storage' | 'samples'>,
  shard: number,
  organisation: string,
  all: readonly SeriesReference[],
): Promise<void> {
  if (all.length <= SERIES_PER_TRANSACTION) return;
  // Keeps in memory what it finds.
  const itemIdsOf = (some: readonly SeriesReference[]) =>
    storage.read(shard, (tx) => samples.itemIdsOf(tx, organisation, some));
  const missing: SeriesReference[] = [];
  for (const some of slicesOf(all)) {
    const itemIds = await itemIdsOf(some);
    // The body is refused, as a result is written by its item alone.
    if (itemIds.some((itemId) => typeof itemId === 'string')) return;
    missing.push(...some.filter((_, i) => itemIds[i] === undefined));
  }
  for (const some of slicesOf(missing)) {
    const changes = some.map(({ timeseriesId, metric }) => ({ timeseriesId, metric, ...NO_COLUMNS }));
    await storage.transaction(shard, (tx) => samples.append(tx, organisation, changes));
    await itemIdsOf(some);
  }
}

function* slicesOf(all: readonly SeriesReference[]): Generator<readonly SeriesReference[]> {
  for (let from = 0; from < all.length; from += SERIES_PER_TRANSACTION) {
    yield all.slice(from, from + SERIES_PER_TRANSACTION);
  }
}
