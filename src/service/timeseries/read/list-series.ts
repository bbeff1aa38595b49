import type { FastifyRequest } from 'fastify';
import { groupBy } from '../../../core/group.js';
import { formatInstant } from '../../../core/instant.js';
import type { SeriesReference } from '../../../core/series.js';
import type { SeriesInfo } from '../../../storage/samples/samples.js';
import { shardOf } from '../../../storage/shard.js';
import { pagedEnvelope } from '../../http/envelope.js';
import { readPage } from '../../http/paging.js';
import type { RouteParts } from '../../http/route.js';
import { principalOf } from '../../identity/principal.js';

/** A page of the series of the caller's organisation, with what is known of them. */
export async function listSeries(
  { context: { storage, samples }, tokens }: RouteParts,
  request: FastifyRequest,
  timeseriesId: string | undefined,
) {
  const { organisation } = principalOf(request);
  const ofId = timeseriesId === undefined ? {} : { timeseriesId };
  const { rows, paging } = await readPage<SeriesInfo, SeriesReference>(tokens, request, {
    name: 'timeseries',
    query: [timeseriesId ?? null],
    find: (after, limit) =>
      storage.read(shardOf(organisation), (tx) =>
        samples.list(tx, organisation, { ...ofId, limit, ...(after === undefined ? {} : { after }) }),
      ),
    placeOf: ({ timeseriesId: id, metric }) => ({ timeseriesId: id, metric }),
  });
  const groups = [...groupBy(rows, (row) => row.timeseriesId)];
  return pagedEnvelope(
    groups.map(([id, infos]) => ({ timeseriesId: id, metrics: infos.map(describeMetric) })),
    paging,
  );
}

function describeMetric({ metric, sampleCount, firstMs, lastMs, itemId }: SeriesInfo) {
  const instantOf = (timeMs: number | null): string | null => (timeMs === null ? null : formatInstant(timeMs));
  return { metric, sampleCount, firstTimestamp: instantOf(firstMs), lastTimestamp: instantOf(lastMs), itemId };
}
