import type { Static } from 'typebox';
import { nextDouble } from '../../../core/next-double.js';
import { type SeriesReference, TIME_MS_END, TIME_MS_MIN } from '../../../core/series.js';
import { DamagedSamplesError } from '../../../storage/errors.js';
import { nextTurn } from '../../../storage/next-turn.js';
import { NO_COLUMNS, ResultSeriesError } from '../../../storage/samples/samples.js';
import type { SampleStore } from '../../../storage/samples/store.js';
import { type Reader, writeReserved } from '../../../storage/storage.js';
import type { ServiceContext } from '../../context.js';
import { badRequest, ServiceError } from '../../http/errors.js';
import { readSamplesQuery } from '../read/query.js';
import { checkSeries, PIECE_SAMPLES } from '../read/samples.js';
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
  await samples.load(context.storage, shard);
  try {
    return await writeReserved(context.storage, shard, async (tx) => {
      const count = await countIfSound(samples, tx, organisation, reference, { fromMs, untilMs });
      if (count === 0) return 0;
      await samples.append(tx, organisation, [{ ...reference, ...NO_COLUMNS, deleted: { fromMs, untilMs } }]);
      onStored(shard);
      return count;
    });
  } catch (error) {
    throw error instanceof ResultSeriesError ? writtenByItem(error) : error;
  }
}

/** Null if some are damaged: these cannot be counted, and to delete them is how to mend it. */
async function countIfSound(...of: Parameters<typeof countSamples>): Promise<number | null> {
  try {
    return await countSamples(...of);
  } catch (error) {
    if (error instanceof DamagedSamplesError) return null;
    throw error;
  }
}

// In pieces, so that a long series is not held in memory, and others have their turns.
async function countSamples(
  samples: SampleStore,
  tx: Reader,
  organisation: string,
  reference: SeriesReference,
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
): Promise<number> {
  let count = 0;
  for (let start = fromMs; ; await nextTurn()) {
    const { timeMs } = await samples.read(tx, organisation, reference, {
      fromMs: start,
      untilMs,
      limit: PIECE_SAMPLES,
    });
    count += timeMs.length;
    const last = timeMs.at(-1);
    if (last === undefined || timeMs.length < PIECE_SAMPLES) return count;
    start = nextDouble(last);
  }
}

/** The error, 409, for a change of samples that an item computes. */
export function writtenByItem(cause: ResultSeriesError): ServiceError {
  const { series, itemId } = cause;
  const mend = 'write to another series, or delete the item first';
  return new ServiceError(409, `${cause.message}; ${mend}`, { details: { series, itemId }, cause });
}
