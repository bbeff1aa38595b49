import { equal, type Reader } from '../../storage/storage.js';
import type { RowIn } from '../../storage/table.js';
import { itemSources } from '../../storage/tables/operations.js';

/** The rows of the series that items read. */
export function sourcesOf(
  tx: Reader,
  organisation: string,
  itemIds: readonly string[],
): Promise<readonly RowIn<typeof itemSources>[]> {
  return tx.find(itemSources, {
    where: [...equal({ organisation }), ['itemId', 'in', itemIds]],
    // Ordered as in their index: in the order of the primary key, SQLite would read all of the organisation.
    orderBy: [{ column: 'itemId' }, { column: 'timeseriesId' }, { column: 'metric' }],
  });
}
