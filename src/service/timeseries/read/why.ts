import { InputError } from '../../../core/errors.js';
import { formatInstant } from '../../../core/instant.js';
import { nextDouble } from '../../../core/next-double.js';
import { concatenate, type Series, type SeriesReference, seriesName } from '../../../core/series.js';
import { type Sample, type Why, why } from '../../../inspect/index.js';
import type { Reader } from '../../../storage/storage.js';
import type { ItemRow } from '../../../storage/tables/operations.js';
import type { ServiceContext } from '../../context.js';
import { badRequest, notFound, type ServiceError } from '../../http/errors.js';
import { itemOfResult } from '../../operations/conflicts.js';
import { storedDefinition } from '../../operations/request.js';
import { instantOf } from './query.js';

/** How many stored samples on either side of the result to try first, and at most. */
const AROUND = 1024;
const AROUND_MAX = 65_536;
/** The most samples in one list of the answer. */
const SHOWN_MAX = 1000;

/**
 * Explains a stored result, from as many stored samples around it as it takes to recompute it bit for bit.
 *
 * @throws ServiceError 404 for a series that is not the result of an item, or a time without a result.
 */
export async function explainResult(
  { storage, samples, placements }: ServiceContext,
  organisation: string,
  of: SeriesReference,
  time: string,
) {
  const timeMs = instantOf('time', time);
  const shard = (await placements.of(organisation)).shardOf(of.timeseriesId);
  return storage.read(shard, async (tx) => {
    const item = await itemOfResult(tx, organisation, of);
    if (item === undefined) {
      throw notFound(`${seriesName(of)} is not the result of an item; GET /core/operations lists the items`);
    }
    const range = { fromMs: timeMs, untilMs: nextDouble(timeMs), limit: 1 };
    const [value] = (await samples.read(tx, organisation, of, range)).value;
    if (value === undefined) throw await noResult(tx);
    return describe(await findWhy(tx, item, of, { timeMs, value }), item.itemId);
  });

  async function noResult(tx: Reader): Promise<ServiceError> {
    const before = await samples.read(tx, organisation, of, { untilMs: timeMs, limit: 1, isDescending: true });
    const after = await samples.read(tx, organisation, of, { fromMs: timeMs, limit: 1 });
    const near = [...before.timeMs, ...after.timeMs].map(formatInstant);
    const nearest = near.length === 0 ? 'it has no results' : `the nearest are at ${near.join(' and ')}`;
    return notFound(`${seriesName(of)} has no result at ${formatInstant(timeMs)}; ${nearest}`);
  }

  async function findWhy(tx: Reader, item: ItemRow, result: SeriesReference, stored: Sample): Promise<Why> {
    const { plan } = await storedDefinition(item.request);
    const options = item.boundaryMs === null ? {} : { until: item.boundaryMs };
    for (let around = AROUND; around <= AROUND_MAX; around *= 8) {
      const read: Series[] = [];
      for (const source of plan.sources) read.push(await readAround(tx, source, stored.timeMs, around));
      const explanation = tryWhy(() => why(plan, read, result, stored.timeMs, options));
      if (explanation !== undefined && Object.is(explanation.value, stored.value)) return explanation;
    }
    throw badRequest(
      `${seriesName(result)} at ${formatInstant(stored.timeMs)} comes from over ${AROUND_MAX} samples of a source, ` +
        'or is about to be computed anew; export its sources, and ask `windrow why`',
    );
  }

  async function readAround(tx: Reader, source: SeriesReference, aroundMs: number, limit: number): Promise<Series> {
    const before = await samples.read(tx, organisation, source, { untilMs: aroundMs, limit, isDescending: true });
    const after = await samples.read(tx, organisation, source, { fromMs: aroundMs, limit });
    const { timeseriesId, metric } = source;
    return { timeseriesId, metric, ...concatenate([before, after]) };
  }
}

/** Undefined if the samples do not reach far enough to compute the result. */
function tryWhy(ask: () => Why): Why | undefined {
  try {
    return ask();
  } catch (error) {
    if (error instanceof InputError) return undefined;
    throw error;
  }
}

function describe({ series, timeMs, value, steps, sources }: Why, itemId: string) {
  return {
    ...series,
    timestamp: formatInstant(timeMs),
    val: value,
    itemId,
    steps: steps.map(({ pointer, operation, does, output, results, window, inputs, isProved }) => ({
      pointer,
      operation,
      does,
      output,
      window:
        window === undefined
          ? null
          : {
              startTime: formatInstant(window.startMs),
              endTime: formatInstant(window.endMs),
              timezone: window.timezone,
            },
      results: listOf(results),
      inputs: inputs.map(({ series: read, used, leftOut }) => ({
        ...read,
        used: listOf(used),
        leftOut: listOf(leftOut),
      })),
      isProved,
    })),
    sources: sources.map(({ series: read, used, leftOut }) => ({
      ...read,
      used: listOf(used),
      leftOut: listOf(leftOut),
    })),
  };
}

function listOf(samples: readonly (Sample & { readonly reason?: string })[]) {
  const shown = samples.slice(0, SHOWN_MAX).map(({ timeMs, value, reason }) => ({
    timestamp: formatInstant(timeMs),
    val: value,
    ...(reason === undefined ? {} : { reason }),
  }));
  return { count: samples.length, samples: shown };
}
