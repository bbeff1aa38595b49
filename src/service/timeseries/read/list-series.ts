import type { FastifyRequest } from 'fastify';
import { formatInstant } from '../../../core/instant.js';
import type { SeriesReference } from '../../../core/series.js';
import type { SeriesInfo } from '../../../storage/samples/samples.js';
import { shardOf } from '../../../storage/shard.js';
import { pagedEnvelope } from '../../http/envelope.js';
import { continuationTokenOf, pageSizeOf } from '../../http/paging.js';
import { principalOf } from '../../identity/principal.js';
import type { ReadingParts } from './answer.js';

/** A page of the series of the caller's organisation, with what is known of them. */
export async function listSeries(
  { context: { storage, samples }, tokens }: ReadingParts,
  request: FastifyRequest,
  timeseriesId: string | undefined,
) {
  const principal = principalOf(request);
  const { organisation } = principal;
  const binding = { list: 'timeseries', principal, query: [timeseriesId ?? null] };
  const token = continuationTokenOf(request);
  // Sealed below: its form is known.
  const after = token === undefined ? undefined : ((await tokens.open(binding, token)).place as SeriesReference);
  const limit = pageSizeOf(request);
  const options = {
    limit: limit + 1,
    ...(after === undefined ? {} : { after }),
    ...(timeseriesId === undefined ? {} : { timeseriesId }),
  };
  const found = await storage.read(shardOf(organisation), (tx) => samples.list(tx, organisation, options));
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const isMore = found.length > limit && last !== undefined;
  const place = isMore ? { timeseriesId: last.timeseriesId, metric: last.metric } : undefined;
  return pagedEnvelope(groupById(page), {
    continuationToken: place === undefined ? null : await tokens.seal(binding, place),
  });
}

function groupById(infos: readonly SeriesInfo[]) {
  const groups = new Map<string, ReturnType<typeof describeMetric>[]>();
  for (const info of infos) {
    const metrics = groups.get(info.timeseriesId) ?? [];
    metrics.push(describeMetric(info));
    groups.set(info.timeseriesId, metrics);
  }
  return [...groups].map(([timeseriesId, metrics]) => ({ timeseriesId, metrics }));
}

function describeMetric({ metric, sampleCount, firstMs, lastMs, itemId }: SeriesInfo) {
  const instantOf = (timeMs: number | null): string | null => (timeMs === null ? null : formatInstant(timeMs));
  return { metric, sampleCount, firstTimestamp: instantOf(firstMs), lastTimestamp: instantOf(lastMs), itemId };
}
