import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { describeValue } from '../../../core/errors.js';
import { RAW_METRIC } from '../../../formats/table/naming.js';
import type { Origin } from '../../../storage/samples/samples.js';
import { envelope } from '../../http/envelope.js';
import { badRequest } from '../../http/errors.js';
import { COLUMNS_TYPE, CSV_TYPE, contentTypeOf, JSON_TYPE, NDJSON_TYPE } from '../../http/media-types.js';
import { type RouteParts, security } from '../../http/route.js';
import { principalOf } from '../../identity/principal.js';
import { deletedAnswer, deleteQuery, ingestedAnswer, ingestQuery, seriesParams } from '../schemas.js';
import { addStreamedBodies, type StreamedBody } from './bodies.js';
import { csvSettingsOf } from './csv-query.js';
import { deleteSamples } from './delete.js';
import { Gatherer } from './gather.js';
import { ingest } from './ingest.js';
import type { SampleDefaults } from './json.js';

const tags = ['Time series'];

export function registerIngest(app: FastifyInstance, { context, authorize, wake }: RouteParts): void {
  const routes = app.withTypeProvider<TypeBoxTypeProvider>();
  addStreamedBodies(app, context);
  const description =
    `A body of ${JSON_TYPE} (an array, stored as a whole), ${NDJSON_TYPE}, ${CSV_TYPE} or ${COLUMNS_TYPE} ` +
    '(streamed, stored in parts), optionally compressed with gzip. A sample replaces the one of the same series ' +
    'and time, so sending again is safe. With the headers source, partition and offset, a repeated delivery of a ' +
    'queue is stored once: one whose offset is not above the highest of its partition changes nothing. Answered ' +
    'once the samples are on the disk.';
  const answers = { response: { 200: ingestedAnswer }, description, tags, security };
  const onRequest = authorize('core_write');
  const gatherer = new Gatherer(context);

  routes.post(
    '/core/samples',
    { onRequest, schema: { ...answers, summary: 'Write samples of any series', querystring: ingestQuery } },
    async (request) => answerIngest(request, {}, request.query),
  );
  routes.post(
    '/core/timeseries/:timeseriesId/samples',
    {
      onRequest,
      schema: { ...answers, summary: 'Write samples of one series', querystring: ingestQuery, params: seriesParams },
    },
    async (request) => answerIngest(request, request.params, request.query),
  );

  async function answerIngest(request: FastifyRequest, named: SampleDefaults, query: Static<typeof ingestQuery>) {
    const { metric } = query;
    const { organisation } = principalOf(request);
    const origin = originOf(request);
    const placement = await context.placements.of(organisation);
    const connection = request.raw.socket;
    const defaults = metric === undefined ? named : { ...named, metric };
    const type = contentTypeOf(request);
    const csv = csvSettingsOf(query, request.headers['content-type'], type);
    const job = { organisation, placement, defaults, origin, csv, connection, onStored: wake };
    const body = request.body as StreamedBody | undefined; // from addStreamedBodies
    if (body === undefined) throw badRequest('the body is missing; expected samples');
    return envelope(await ingest(context, gatherer, job, type, body));
  }
}

export function registerDelete(app: FastifyInstance, { context, authorize, wake }: RouteParts): void {
  const summary = 'Delete the samples of a range';
  const schema = {
    summary,
    tags,
    security,
    params: seriesParams,
    querystring: deleteQuery,
    response: { 200: deletedAnswer },
  };
  app
    .withTypeProvider<TypeBoxTypeProvider>()
    .delete(
      '/core/timeseries/:timeseriesId/samples',
      { onRequest: authorize('core_admin'), schema },
      async (request) => {
        const { metric = RAW_METRIC, ...range } = request.query;
        const reference = { timeseriesId: request.params.timeseriesId, metric };
        const { organisation } = principalOf(request);
        return envelope({ samplesDeleted: await deleteSamples(context, organisation, reference, range, wake) });
      },
    );
}

// The place in a queue: all three headers, or none.
function originOf({ headers }: FastifyRequest): Origin | undefined {
  const { source, partition, offset } = headers;
  if (source === undefined && partition === undefined && offset === undefined) return undefined;
  if (typeof source !== 'string' || typeof partition !== 'string' || typeof offset !== 'string') {
    const received = Object.entries({ source, partition, offset }).flatMap(([name, value]) => (value ? [name] : []));
    const expected = 'expected all three or none';
    throw badRequest(`headers source, partition and offset: ${expected}, received ${received.join(' and ')}`);
  }
  checkAscii('source', source);
  checkAscii('partition', partition);
  if (!/^\d{1,15}$/.test(offset)) {
    const expected = 'a whole number of at most 15 digits';
    throw badRequest(`header offset: expected ${expected}, received ${describeValue(offset)}`);
  }
  return { source, partition, offset: Number(offset) };
}

// Clients send other characters as UTF-8 or as Latin-1, some as either: one partition would be two.
function checkAscii(name: string, text: string): void {
  if (/^[\x20-\x7e]*$/.test(text)) return;
  const received = describeValue(text);
  const mend = 'send others percent-encoded';
  throw badRequest(`header ${name}: expected printable ASCII characters, received ${received}; ${mend}`);
}
