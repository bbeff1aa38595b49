import type { Static } from 'typebox';
import { type SeriesReference, TIME_MS_END, TIME_MS_MIN } from '../../../core/series.js';
import { DamagedSamplesError } from '../../../storage/errors.js';
import { NO_COLUMNS, ResultSeriesError } from '../../../storage/samples/samples.js';
import type { SampleStore } from '../../../storage/samples/store.js';
import { writeReserved } from '../../../storage/storage.js';
import type { ServiceContext } from '../../context.js';
import { badRequest, ServiceError } from '../../http/errors.js';
import { readSamplesQuery } from '../read/query.js';
import { checkSeries } from '../read/samples.js';
import type { deleteQuery } from '../schemas.js';

/**
 * Deletes the samples of `[startTime, endTime)`; results that rest on them are recomputed.
 *
 * @returns how many; null if some are damaged.
 */
export async function deleteSamples(
  context: ServiceContext,
  organisation: string,
  reference: SeriesReference,
  { all = false, ...range }: Omit<Static<typeof deleteQuery>, 'metric'>,
  onStored: (shard: number) => void,
): Promise<number | null> {
  const { fromMs = TIME_MS_MIN, untilMs = TIME_MS_END } = readSamplesQuery(range);
  if (range.startTime === undefined && range.endTime === undefined && !all) {
    throw badRequest('startTime, endTime: expected at least one of them, or all=true to delete every sample');
  }
  if (all && (range.startTime !== undefined || range.endTime !== undefined)) {
    throw badRequest('all: expected without startTime and endTime, received with them; leave one of the two out');
  }
  await checkSeries(context, organisation, [reference]);
  const shard = (await context.placements.of(organisation)).shardOf(reference.timeseriesId);
  const { samples } = context;
  // The transaction counts samples, and writers wait for it.
  await samples.log.load(context.storage, shard);
  return writeReserved(context.storage, shard, async (tx) => {
    const [itemId] = await samples.itemIdsOf(tx, organisation, [reference]);
    if (itemId != null) throw writtenByItem(new ResultSeriesError(reference, itemId));
    const count = await countIfSound(samples, tx, organisation, reference, { fromMs, untilMs });
    if (count === 0) return 0;
    await samples.append(tx, organisation, [{ ...reference, ...NO_COLUMNS, deleted: { fromMs, untilMs } }]);
    onStored(shard);
    return count;
  });
}

/** Null if some are damaged: these cannot be counted, and to delete them is how to mend it. */
async function countIfSound(samples: SampleStore, ...of: Parameters<SampleStore['count']>): Promise<number | null> {
  try {
    return await samples.count(...of);
  } catch (error) {
    if (error instanceof DamagedSamplesError) return null;
    throw error;
  }
}

/** The error, 409, for a change of samples that an item computes. */
export function writtenByItem(cause: ResultSeriesError): ServiceError {
  const { series, itemId } = cause;
  const mend = 'write to another series, or delete the item first';
  return new ServiceError(409, `${cause.message}; ${mend}`, { details: { series, itemId }, cause });
}
