import { Readable } from 'node:stream';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { exactJson } from '../../core/json-number.js';
import type { SeriesReference } from '../../core/series.js';
import { RAW_METRIC } from '../../formats/table/naming.js';
import { envelope } from '../http/envelope.js';
import { ServiceError } from '../http/errors.js';
import { JSON_TYPE } from '../http/media-types.js';
import { type RouteParts, security } from '../http/route.js';
import { principalOf } from '../identity/principal.js';
import { createAnswerSamples } from './read/answer.js';
import { Feeds } from './read/feed.js';
import { follow } from './read/follow.js';
import { listSeries } from './read/list-series.js';
import { readSeriesList } from './read/query.js';
import { checkSeries } from './read/samples.js';
import { createExplainer } from './read/why.js';
import { registerRetention } from './retention.js';
import {
  followQuery,
  listQuery,
  manySamplesQuery,
  metricQuery,
  samplesQuery,
  seriesAnswer,
  seriesParams,
  whyAnswer,
  whyQuery,
} from './schemas.js';
import { registerDelete, registerIngest } from './write/routes.js';

/** Routes to write, read, follow and delete samples. */
export async function registerTimeseries(app: FastifyInstance, parts: RouteParts): Promise<void> {
  // A separate Fastify scope: here bodies are streams.
  await app.register(async (scope) => registerIngest(scope, parts));
  registerDelete(app, parts);
  registerRetention(app, parts);
  registerReading(app, parts);
  registerFollowing(app, parts);
}

const tags = ['Time series'];

function registerReading(app: FastifyInstance, parts: RouteParts): void {
  const routes = app.withTypeProvider<TypeBoxTypeProvider>();
  const onRequest = parts.authorize('core_read', 'core_admin');
  const description =
    'Accept chooses the form: application/json gives pages (header continuationToken for the next one); text/csv, ' +
    'application/x-ndjson and application/vnd.windrow.columns stream all samples.';
  const common = { description, tags, security };
  const explain = createExplainer(parts);
  const answerSamples = createAnswerSamples(parts);

  routes.get(
    '/core/timeseries/:timeseriesId/samples',
    {
      onRequest,
      schema: { ...common, summary: 'Samples of a series', params: seriesParams, querystring: samplesQuery },
    },
    async (request, reply) => {
      const { metric = RAW_METRIC, ...query } = request.query;
      return answerSamples(request, reply, [{ timeseriesId: request.params.timeseriesId, metric }], query);
    },
  );
  routes.get(
    '/core/samples',
    { onRequest, schema: { ...common, summary: 'Samples of several series', querystring: manySamplesQuery } },
    async (request, reply) => {
      const { timeseries_ids, metric = RAW_METRIC, ...query } = request.query;
      return answerSamples(request, reply, readSeriesList(timeseries_ids, metric), query);
    },
  );
  routes.get(
    '/core/timeseries/:timeseriesId/why',
    {
      onRequest,
      schema: {
        summary: 'How a result came about',
        description: 'Step by step, back to the samples that it rests on, with what each step left out.',
        tags,
        security,
        params: seriesParams,
        querystring: whyQuery,
        response: { 200: whyAnswer },
      },
    },
    async (request, reply) => {
      const { metric = RAW_METRIC, time } = request.query;
      const of = { timeseriesId: request.params.timeseriesId, metric };
      // The schema's serializer writes −0 as 0.
      reply.type(`${JSON_TYPE}; charset=utf-8`).serializer((answer) => exactJson(answer));
      return envelope(await explain(principalOf(request).organisation, of, time));
    },
  );
  routes.get(
    '/core/timeseries',
    {
      onRequest,
      schema: {
        summary: 'List series with their metrics, counts and time ranges',
        tags,
        security,
        querystring: listQuery,
        response: { 200: seriesAnswer },
      },
    },
    async (request) => listSeries(parts, request, request.query.timeseriesId),
  );
}

/** Routes that send samples, results included, as they are stored: server-sent events. */
function registerFollowing(app: FastifyInstance, parts: RouteParts): void {
  const onRequest = parts.authorize('core_read', 'core_admin');
  const routes = app.withTypeProvider<TypeBoxTypeProvider>();
  const answer = createAnswer(app, parts, onRequest);
  const description =
    'Events `samples` with {timeseriesId, metric, samples, deleted?}; the id tells the commit, so that Last-Event-ID ' +
    'resumes a broken connection. `reset`: it cannot be resumed; read the series again. `stop`: the stream ends.';
  const common = { description, tags, security, produces: ['text/event-stream'] };
  routes.get(
    '/core/timeseries/:timeseriesId/live',
    {
      onRequest,
      exposeHeadRoute: false,
      schema: { ...common, summary: 'Follow a series', params: seriesParams, querystring: metricQuery },
    },
    async (request, reply) => {
      const { metric = RAW_METRIC } = request.query;
      return answer(request, reply, [{ timeseriesId: request.params.timeseriesId, metric }]);
    },
  );
  routes.get(
    '/core/samples/live',
    {
      onRequest,
      exposeHeadRoute: false,
      schema: { ...common, summary: 'Follow several series', querystring: followQuery },
    },
    async (request, reply) => {
      const { timeseries_ids, metric = RAW_METRIC } = request.query;
      return answer(request, reply, readSeriesList(timeseries_ids, metric));
    },
  );
}

function createAnswer(
  app: FastifyInstance,
  { context, tokens, stopping }: RouteParts,
  onRequest: ReturnType<RouteParts['authorize']>,
) {
  const feeds = new Feeds(context);
  context.metrics.watch('followers', 'Callers that follow series', () => feeds.followerCount);
  return async (request: FastifyRequest, reply: FastifyReply, references: readonly SeriesReference[]) => {
    const { organisation } = principalOf(request);
    await checkSeries(context, organisation, references);
    const closing = new AbortController();
    const end = (): void => closing.abort();
    request.raw.on('close', end);
    const follower = {
      organisation,
      references,
      lastEventId: lastEventIdOf(request),
      store: await tokens.fingerprint(),
      signal: closing.signal,
      // A token may expire, or be revoked, while its streams are open.
      isAllowed: () => isAuthorized(onRequest.call(app, request, reply)),
    };
    const events = Readable.from(await follow(context, feeds, follower), { highWaterMark: 1 });
    stopping.addEventListener('abort', end);
    if (stopping.aborted) end();
    events.on('close', () => {
      stopping.removeEventListener('abort', end);
      end();
    });
    reply
      .type('text/event-stream; charset=utf-8')
      .header('cache-control', 'no-store')
      .header('x-accel-buffering', 'no');
    // Once the stream has ended, the idle connection would delay a stop. HTTP/2 has no such header.
    if (request.raw.httpVersionMajor === 1) reply.header('connection', 'close');
    return reply.send(events);
  };
}

async function isAuthorized(authorization: Promise<unknown>): Promise<boolean> {
  try {
    await authorization;
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.statusCode < 500) return false;
    throw error;
  }
}

function lastEventIdOf({ headers }: FastifyRequest): string | undefined {
  const text = headers['last-event-id'];
  return text === undefined || text === '' ? undefined : String(text);
}
