import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { RAW_METRIC } from '../../formats/csv/read/long-rows.js';
import type { ServiceContext } from '../context.js';
import type { ContinuationTokens } from '../continuation.js';
import type { Authorize } from '../principal.js';
import { answerSamples } from './answer-samples.js';
import { listSeries } from './list-series.js';
import { readSeriesList } from './query.js';
import { listQuery, manySamplesQuery, samplesQuery, seriesAnswer, seriesParams } from './schemas.js';

const security = [{ token: [] }];
const tags = ['Time series'];

/** Routes that read samples, and list what there is. */
export function registerReading(
  app: FastifyInstance,
  context: ServiceContext,
  authorize: Authorize,
  tokens: ContinuationTokens,
): void {
  const parts = { context, tokens };
  const routes = app.withTypeProvider<TypeBoxTypeProvider>();
  const onRequest = authorize('core_read', 'core_admin');
  const description =
    'By Accept: application/json gives pages (header continuationToken for the next one); text/csv, ' +
    'application/x-ndjson and application/vnd.windrow.columns give all, streamed.';
  const common = { description, tags, security };

  routes.get(
    '/core/timeseries/:timeseriesId/samples',
    {
      onRequest,
      schema: { ...common, summary: 'Samples of a series', params: seriesParams, querystring: samplesQuery },
    },
    async (request, reply) => {
      const { metric = RAW_METRIC, ...query } = request.query;
      return answerSamples(parts, request, reply, [{ timeseriesId: request.params.timeseriesId, metric }], query);
    },
  );
  routes.get(
    '/core/samples',
    { onRequest, schema: { ...common, summary: 'Samples of several series', querystring: manySamplesQuery } },
    async (request, reply) => {
      const { timeseries_ids, metric = RAW_METRIC, ...query } = request.query;
      return answerSamples(parts, request, reply, readSeriesList(timeseries_ids, metric), query);
    },
  );
  routes.get(
    '/core/timeseries',
    {
      onRequest,
      schema: {
        summary: 'The series that there are, with metrics, counts and ranges',
        tags,
        security,
        querystring: listQuery,
        response: { 200: seriesAnswer },
      },
    },
    async (request) => listSeries(parts, request, request.query.timeseriesId),
  );
}
