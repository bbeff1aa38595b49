import type { FastifyRequest } from 'fastify';
import { groupBy } from '../../../core/group.js';
import { formatInstant } from '../../../core/instant.js';
import type { SeriesReference } from '../../../core/series.js';
import { nextTurn } from '../../../storage/next-turn.js';
import type { SeriesInfo } from '../../../storage/samples/samples.js';
import type { Placement } from '../../../storage/shard.js';
import type { ServiceContext } from '../../context.js';
import { pagedEnvelope } from '../../http/envelope.js';
import { readPage } from '../../http/paging.js';
import type { RouteParts } from '../../http/route.js';
import { principalOf } from '../../identity/principal.js';

/** Answers with a page of the organisation's series and their metrics. */
export async function listSeries(
  { context, tokens }: RouteParts,
  request: FastifyRequest,
  timeseriesId: string | undefined,
) {
  const { organisation } = principalOf(request);
  const placement = await context.placements.of(organisation);
  const shards = timeseriesId === undefined ? placement.shards : [placement.shardOf(timeseriesId)];
  const ofId = timeseriesId === undefined ? {} : { timeseriesId };
  const { rows, paging } = await readPage<SeriesInfo, SeriesReference>(tokens, request, {
    name: 'timeseries',
    query: [timeseriesId ?? null],
    find: async (after, limit) => {
      const lists = shards.map((shard) => listOwn(context, organisation, placement, shard, { ...ofId, after, limit }));
      return { rows: (await Promise.all(lists)).flat().sort(inOrder).slice(0, limit) };
    },
    placeOf: ({ timeseriesId: id, metric }) => ({ timeseriesId: id, metric }),
  });
  const groups = [...groupBy(rows, (row) => row.timeseriesId)];
  return pagedEnvelope(
    groups.map(([id, infos]) => ({ timeseriesId: id, metrics: infos.map(describeMetric) })),
    paging,
  );
}

/** Some series of a shard, without replicas, which their own shards list. */
async function listOwn(
  { storage, samples }: ServiceContext,
  organisation: string,
  placement: Placement,
  shard: number,
  asked: { readonly timeseriesId?: string; readonly after: SeriesReference | undefined; readonly limit: number },
): Promise<readonly SeriesInfo[]> {
  const own: SeriesInfo[] = [];
  await samples.log.load(storage, shard);
  for (let { after, ...rest } = asked; ; ) {
    const options = { ...rest, ...(after === undefined ? {} : { after }) };
    const { infos, isAll } = await storage.read(shard, (tx) => samples.list(tx, organisation, options));
    own.push(...infos.filter(({ timeseriesId }) => placement.shardOf(timeseriesId) === shard));
    if (isAll || own.length >= asked.limit) return own;
    await nextTurn();
    after = infos.at(-1);
  }
}

// In the order of the store: by bytes.
function inOrder(a: SeriesReference, b: SeriesReference): number {
  return compareText(a.timeseriesId, b.timeseriesId) || compareText(a.metric, b.metric);
}

function compareText(a: string, b: string): number {
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function describeMetric({ metric, sampleCount, firstMs, lastMs, itemId }: SeriesInfo) {
  const instantOf = (timeMs: number | null): string | null => (timeMs === null ? null : formatInstant(timeMs));
  return { metric, sampleCount, firstTimestamp: instantOf(firstMs), lastTimestamp: instantOf(lastMs), itemId };
}
