import { isDeepStrictEqual } from 'node:util';
import { formatInstant } from '../../../core/instant.js';
import { nextDouble } from '../../../core/next-double.js';
import { concatenate, type Series, type SeriesReference, seriesName } from '../../../core/series.js';
import { firstAtOrAfter } from '../../../kernels/search.js';
import type { Reader } from '../../../storage/storage.js';
import type { ServiceContext } from '../../context.js';
import { badRequest, notFound, type ServiceError } from '../../http/errors.js';
import type { RouteParts } from '../../http/route.js';
import type { Cut, Explanation } from '../../operations/compute/explain.js';
import type { StepPool } from '../../operations/compute/pool.js';
import { itemOfResult } from '../../operations/conflicts.js';
import { storedDefinition } from '../../operations/request.js';
import { instantOf } from './query.js';

/** How many stored samples on either side of the result to try first, and at most. */
const AROUND = 1024;
const AROUND_MAX = 65_536;
/** The most of all sources together. */
const AROUND_TOTAL_MAX = 1_048_576;

/** Explains one result at a time, as each holds the samples that it reads in memory. */
export function createExplainer({ context, pool }: Pick<RouteParts, 'context' | 'pool'>) {
  let last: Promise<unknown> = Promise.resolve();
  return (organisation: string, of: SeriesReference, time: string) => {
    const own = pool.track(last.then(() => explainResult(context, pool, organisation, of, time)));
    last = own.catch(() => {});
    return own;
  };
}

/**
 * Explains a stored result, from as many stored samples around it as it takes to recompute it bit for bit, and until
 * more samples change nothing: a step such as Gt or Round may give the same from too few. A thread does that, as it
 * takes hundreds of runs.
 *
 * @throws ServiceError 404 for a series that is not the result of an item, or a time without a result.
 */
async function explainResult(
  { storage, samples, placements }: ServiceContext,
  pool: StepPool,
  organisation: string,
  of: SeriesReference,
  time: string,
) {
  const timeMs = instantOf('time', time);
  const result = `${seriesName(of)} at ${formatInstant(timeMs)}`;
  const shard = (await placements.of(organisation)).shardOf(of.timeseriesId);
  await samples.log.load(storage, shard);
  let last: (Explanation & { readonly itemId: string }) | undefined;
  for (let around = AROUND; around <= AROUND_MAX; around *= 8) {
    const found = await storage.read(shard, (tx) => readQuestion(tx, around));
    if (found === undefined) break;
    const explained = await pool.explain(found.question);
    const told = explained && { ...explained.explanation, itemId: found.itemId };
    if (told !== undefined && (found.isAll || isDeepStrictEqual(told, last))) return told;
    last = explained?.isCut === false ? told : undefined;
    if (found.isAll) {
      throw badRequest(
        `${result} does not follow from the samples that are stored now: some were changed or deleted after it was ` +
          'computed, or it is about to be computed anew; if it stays so, post its item again',
      );
    }
  }
  if (last !== undefined) return last;
  throw badRequest(
    `${result} comes from over ${AROUND_MAX} samples of a source, or over ${AROUND_TOTAL_MAX} of all, or does ` +
      'not follow from those that are stored now; export its sources, and ask `windrow why`',
  );

  /** Undefined if it has too many sources to read that many samples of each. */
  async function readQuestion(tx: Reader, around: number) {
    const item = await itemOfResult(tx, organisation, of);
    if (item === undefined) {
      throw notFound(`${seriesName(of)} is not the result of an item; GET /core/operations lists the items`);
    }
    const range = { fromMs: timeMs, untilMs: nextDouble(timeMs), limit: 1 };
    const [value] = (await samples.read(tx, organisation, of, range)).value;
    if (value === undefined) throw await noResult(tx);
    const { plan } = await storedDefinition(item.request);
    if (around * plan.sources.length > AROUND_TOTAL_MAX) return undefined;
    const read: Series[] = [];
    for (const source of plan.sources) read.push(await readAround(tx, source, around));
    const until = item.boundaryMs ?? undefined;
    const cuts = read.map((one) => cutOf(one, timeMs, around));
    const isAll = cuts.every(({ firstMs, lastMs }) => firstMs === undefined && lastMs === undefined);
    return { question: { plan, read, of, stored: { timeMs, value }, cuts, until }, itemId: item.itemId, isAll };
  }

  async function noResult(tx: Reader): Promise<ServiceError> {
    const before = await samples.read(tx, organisation, of, { untilMs: timeMs, limit: 1, isDescending: true });
    const after = await samples.read(tx, organisation, of, { fromMs: timeMs, limit: 1 });
    const near = [...before.timeMs, ...after.timeMs].map(formatInstant);
    const nearest = near.length === 0 ? 'it has no results' : `the nearest are at ${near.join(' and ')}`;
    return notFound(`${seriesName(of)} has no result at ${formatInstant(timeMs)}; ${nearest}`);
  }

  async function readAround(tx: Reader, source: SeriesReference, limit: number): Promise<Series> {
    const before = await samples.read(tx, organisation, source, { untilMs: timeMs, limit, isDescending: true });
    const after = await samples.read(tx, organisation, source, { fromMs: timeMs, limit });
    const { timeseriesId, metric } = source;
    return { timeseriesId, metric, ...concatenate([before, after]) };
  }
}

/** Where more samples may be stored than were read, up to `around` on either side of a time. */
function cutOf({ timeMs: times }: Series, timeMs: number, around: number): Cut {
  const beforeCount = firstAtOrAfter(times, 0, times.length, timeMs);
  const afterCount = times.length - beforeCount;
  return {
    firstMs: beforeCount < around ? undefined : times[0],
    lastMs: afterCount < around ? undefined : times.at(-1),
  };
}
