// Bodies and answers that are streams, for /openapi.json: Fastify would check and write by their schemas, so these do
// not stand at the routes.

import { COLUMNS_TYPE, CSV_TYPE, JSON_TYPE, NDJSON_TYPE } from './timeseries/bodies.js';

/** What an operation of OpenAPI has beside what the schemas of its route say. */
export interface StreamedForms {
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  /** Of an answer 200. */
  readonly content?: object;
}

const text = { type: 'string' } as const;

const header = (name: string, description: string, schema: object = text) => ({
  name,
  in: 'header',
  description,
  schema,
});

const pageToken = header('continuationToken', 'JSON: paging.continuationToken of the page before');

const sample = {
  type: 'object',
  required: ['timestamp', 'val'],
  properties: {
    timeseriesId: { ...text, description: 'Left out where the path names it' },
    metric: { ...text, default: 'Raw' },
    timestamp: { type: ['string', 'number'], description: 'ISO 8601, or epoch seconds or milliseconds' },
    val: { type: ['number', 'null'], description: 'null is missing: left out, and counted' },
  },
};

const samples = { type: 'array', items: sample };

const streamed = (csv: string) => ({
  [NDJSON_TYPE]: { schema: { ...text, description: 'A sample as a JSON object on each line' } },
  [CSV_TYPE]: { schema: { ...text, description: csv } },
  [COLUMNS_TYPE]: { schema: { ...text, format: 'binary', description: 'Frames of two columns, see docs/service.md' } },
});

const writing: StreamedForms = {
  parameters: [
    header('Content-Encoding', 'gzip for a packed body', { ...text, enum: ['gzip', 'identity'] }),
    header('source', 'The queue that delivered the body; with partition and offset, or none of them'),
    header('partition', 'Its partition'),
    header('offset', 'What was taken before is answered with isRepeated', { type: 'integer', minimum: 0 }),
  ],
  requestBody: {
    required: true,
    content: {
      [JSON_TYPE]: { schema: samples },
      ...streamed('timestamp,timeseriesId,metric,value, or a column for each series; of one series timestamp,value'),
    },
  },
};

const page = {
  type: 'object',
  properties: {
    status: { type: 'object', properties: { message: text, code: text } },
    data: samples,
    paging: { type: 'object', properties: { continuationToken: { type: ['string', 'null'] } } },
  },
};

const reading: StreamedForms = {
  parameters: [pageToken],
  content: { [JSON_TYPE]: { schema: page }, ...streamed('timestamp,timeseriesId,metric,value') },
};

const following: StreamedForms = {
  parameters: [header('Last-Event-ID', 'Goes on behind the commit of this id', { type: 'integer', minimum: 0 })],
  content: { 'text/event-stream': { schema: text } },
};

const listing: StreamedForms = {
  parameters: [
    header('PageSize', 'Series of a page', { type: 'integer', minimum: 1, maximum: 1000, default: 100 }),
    header('continuationToken', 'paging.continuationToken of the page before'),
  ],
};

/** By method and path. */
export const streamedForms: Readonly<Record<string, StreamedForms>> = {
  'post /core/samples': writing,
  'post /core/timeseries/{timeseriesId}/samples': writing,
  'get /core/samples': reading,
  'get /core/timeseries/{timeseriesId}/samples': reading,
  'get /core/samples/live': following,
  'get /core/timeseries/{timeseriesId}/live': following,
  'get /core/timeseries': listing,
  'get /metrics': { content: { 'text/plain': { schema: text } } },
};
