import type { FastifyRequest } from 'fastify';
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

/** A series and its metrics. */
type Group = readonly SeriesInfo[];

/** So many metrics are read at a time, or more: a page may have as many as its series have. */
const METRICS_READ_MIN = 200;

/** Answers with a page of the organisation's series, each with all its metrics. */
export async function listSeries(
  { context, tokens }: RouteParts,
  request: FastifyRequest,
  timeseriesId: string | undefined,
) {
  const { organisation } = principalOf(request);
  const placement = await context.placements.of(organisation);
  const shards = timeseriesId === undefined ? placement.shards : [placement.shardOf(timeseriesId)];
  const ofId = timeseriesId === undefined ? {} : { timeseriesId };
  const listMetrics = async (after: SeriesReference | undefined, limit: number): Promise<SeriesInfo[]> => {
    const lists = shards.map((shard) => listOwn(context, organisation, placement, shard, { ...ofId, after, limit }));
    return (await Promise.all(lists)).flat().sort(inOrder).slice(0, limit);
  };
  const { rows, paging } = await readPage<Group, SeriesReference>(tokens, request, {
    name: 'timeseries',
    query: [timeseriesId ?? null],
    find: async (after, limit) => ({ rows: await findGroups(listMetrics, after, limit) }),
    placeOf: (group) => referenceOf(group.at(-1)!),
  });
  return pagedEnvelope(
    rows.map((group) => ({ timeseriesId: group[0]!.timeseriesId, metrics: group.map(describeMetric) })),
    paging,
  );
}

/** At most `limit` series after a place, whole: their metrics are read until another series follows them. */
async function findGroups(
  listMetrics: (after: SeriesReference | undefined, limit: number) => Promise<readonly SeriesInfo[]>,
  after: SeriesReference | undefined,
  limit: number,
): Promise<Group[]> {
  const groups: SeriesInfo[][] = [];
  const count = Math.max(limit + 1, METRICS_READ_MIN);
  for (let from = after; ; ) {
    const next = await listMetrics(from, count);
    for (const info of next) {
      const last = groups.at(-1);
      if (last?.[0]?.timeseriesId === info.timeseriesId) last.push(info);
      else groups.push([info]);
    }
    if (next.length < count || groups.length > limit) return groups.slice(0, limit);
    await nextTurn();
    from = referenceOf(next.at(-1)!);
  }
}

function referenceOf({ timeseriesId, metric }: SeriesReference): SeriesReference {
  return { timeseriesId, metric };
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
