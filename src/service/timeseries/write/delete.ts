import type { Static } from 'typebox';
import { type SeriesReference, TIME_MS_END, TIME_MS_MIN } from '../../../core/series.js';
import { DamagedSamplesError } from '../../../storage/errors.js';
import { nextTurn } from '../../../storage/next-turn.js';
import { NO_COLUMNS, ResultSeriesError, type TimeRange } from '../../../storage/samples/samples.js';
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
  const { samples, storage } = context;
  // Writers wait for the transaction, so as much as possible is done before.
  await samples.log.load(storage, shard);
  const isSound = (await ifSound(check(context, shard, organisation, reference, { fromMs, untilMs }))) !== null;
  return writeReserved(storage, shard, async (tx) => {
    const [itemId] = await samples.itemIdsOf(tx, organisation, [reference]);
    if (itemId != null) {
      throw writtenByItem(new ResultSeriesError(reference, itemId), 'delete the item: its results go with it');
    }
    const count = isSound ? await ifSound(samples.count(tx, organisation, reference, { fromMs, untilMs })) : null;
    if (count === 0) return 0;
    await samples.append(tx, organisation, [{ ...reference, ...NO_COLUMNS, deleted: { fromMs, untilMs } }]);
    onStored(shard);
    return count;
  });
}

/**
 * Reads the samples of a range by short readers.
 *
 * @throws DamagedSamplesError if some are damaged.
 */
async function check(
  { storage, samples }: ServiceContext,
  shard: number,
  organisation: string,
  reference: SeriesReference,
  { fromMs, untilMs }: TimeRange,
): Promise<void> {
  for (let atMs: number | undefined = fromMs; atMs !== undefined; await nextTurn()) {
    const rest: TimeRange = { fromMs: atMs, untilMs };
    atMs = await storage.read(shard, (tx) => samples.check(tx, organisation, reference, rest));
  }
}

/** Null if some are damaged: these cannot be counted, and to delete them is how to mend it. */
async function ifSound<Result>(work: Promise<Result>): Promise<Result | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof DamagedSamplesError) return null;
    throw error;
  }
}

/** The error, 409, for a change of samples that an item computes. */
export function writtenByItem(
  cause: ResultSeriesError,
  mend = 'write to another series, or delete the item first',
): ServiceError {
  const { series, itemId } = cause;
  return new ServiceError(409, `${cause.message}; ${mend}`, { details: { series, itemId }, cause });
}
