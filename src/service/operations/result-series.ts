import { TIME_MS_END, TIME_MS_MIN } from '../../core/series.js';
import { NO_COLUMNS } from '../../storage/samples/columns.js';
import type { SampleStore } from '../../storage/samples/samples.js';
import type { Transaction } from '../../storage/storage.js';
import type { ItemRow } from '../../storage/tables/operations.js';

/** Deletes the samples of a result, final and provisional; the series stays. */
export async function deleteAll(
  samples: SampleStore,
  tx: Transaction,
  { organisation, itemId, timeseriesId, metric }: ItemRow,
): Promise<void> {
  const deleted = { fromMs: TIME_MS_MIN, untilMs: TIME_MS_END };
  const result = { timeseriesId, metric };
  await samples.append(tx, organisation, [{ ...result, ...NO_COLUMNS, deleted }], { itemId });
  await samples.setProvisional(tx, organisation, { ...result, ...NO_COLUMNS });
}
