import { COLUMNS_TYPE, CSV_TYPE, JSON_TYPE, NDJSON_TYPE } from '../timeseries/write/bodies.js';

// Which errors each route may answer, for /openapi.json. test/service/error-answers.test.ts brings about every one of
// them, and every test of the service fails where a route answers one that is not named here.

interface ErrorAnswer {
  readonly name: string;
  readonly description: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const wayIn = { 'WWW-Authenticate': 'How to authenticate (RFC 6750).' };
const later = { 'Retry-After': 'When to come again, in seconds.' };

const answers = {
  400: { name: 'BadRequest', description: 'The request is not understood: what is wrong where, in data.issues.' },
  401: { name: 'Unauthorized', description: 'No token, or one that does not hold.', headers: wayIn },
  403: { name: 'Forbidden', description: 'The scope of the token, or of its client, is too small.', headers: wayIn },
  404: { name: 'NotFound', description: 'There is none of these in the organisation of the caller.' },
  406: { name: 'NotAcceptable', description: 'Accept names no form that this endpoint answers in.' },
  409: { name: 'Conflict', description: 'The request is at odds with what is stored.' },
  413: { name: 'TooLarge', description: 'The body is larger than this endpoint takes.' },
  415: { name: 'UnsupportedType', description: 'The body has a Content-Type or Content-Encoding that is not taken.' },
  429: { name: 'TooManyRequests', description: 'The client asks too often.', headers: later },
  500: { name: 'InternalFailure', description: 'A fault of the service: its log has it under the correlation id.' },
  503: { name: 'Unavailable', description: 'Overloaded, stopping, or the disk is full.', headers: later },
} as const satisfies Readonly<Record<number, ErrorAnswer>>;

type ErrorStatus = keyof typeof answers;

// What a route may answer beside what all routes of its kind do.
const ownStatuses: Readonly<Record<string, readonly ErrorStatus[]>> = {
  'get /core/status/{transactionId}': [404],
  'post /operations': [409],
  'post /core/operations': [409],
  'get /core/operations/{itemId}': [404],
  'delete /core/operations/{itemId}': [404, 409],
  'delete /core/events/{id}': [404],
  'post /core/samples': [409],
  'post /core/timeseries/{timeseriesId}/samples': [409],
  'get /core/samples': [404, 406],
  'get /core/timeseries/{timeseriesId}/samples': [404, 406],
  'get /core/timeseries/{timeseriesId}/why': [404],
  'delete /core/timeseries/{timeseriesId}/samples': [404, 409],
  'delete /core/retention': [404],
  'get /core/samples/live': [404],
  'get /core/timeseries/{timeseriesId}/live': [404],
};

// They say how the service is, whatever it is like.
const alwaysAnswered: ReadonlySet<string> = new Set(['get /health/live', 'get /metrics']);

/** The errors of a route, by their status, as references to `errorComponents`. */
export function errorAnswersOf(route: string, security: readonly object[]): Readonly<Record<string, object>> {
  // Those of the token endpoint and its kin have a form of their own (RFC 6749), and stand in their schemas.
  if (security.some((scheme) => 'client' in scheme)) return {};
  const statuses = statusesOf(route, security);
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${answers[status].name}` }]),
  );
}

function statusesOf(route: string, security: readonly object[]): readonly ErrorStatus[] {
  if (alwaysAnswered.has(route)) return [400];
  if (!security.some((scheme) => 'token' in scheme)) return [400, 503];
  const ofBodies: readonly ErrorStatus[] = route.startsWith('get ') ? [] : [413, 415];
  return [400, 401, 403, ...(ownStatuses[route] ?? []), ...ofBodies, 429, 500, 503];
}

const text = { type: 'string' } as const;

/** What the errors of routes refer to. */
export const errorComponents = {
  schemas: {
    ErrorEnvelope: {
      type: 'object' as const,
      required: ['status', 'data'],
      properties: {
        status: {
          type: 'object' as const,
          required: ['message', 'code'],
          properties: {
            message: { ...text, description: 'What is wrong, and how to mend it' },
            code: { ...text, description: 'The HTTP status as three digits' },
          },
        },
        data: { type: 'object' as const, description: 'The details, such as issues', additionalProperties: true },
      },
    },
  },
  responses: Object.fromEntries(Object.values(answers).map((answer) => [answer.name, responseOf(answer)])),
};

function responseOf({ description, headers = {} }: ErrorAnswer) {
  const named = Object.entries(headers).map(([name, description]) => [name, { description, schema: text }]);
  return {
    description,
    headers: Object.fromEntries(named),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorEnvelope' } } },
  };
}

// Bodies and answers that are streams, for /openapi.json: Fastify would check and write by their schemas, so these do
// not stand at the routes.

/** What an operation of OpenAPI has beside what the schemas of its route say. */
export interface StreamedForms {
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  /** Of an answer 200. */
  readonly content?: object;
}

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
  required: ['status', 'data', 'paging'],
  properties: {
    status: { type: 'object', required: ['message', 'code'], properties: { message: text, code: text } },
    data: {
      type: 'array',
      items: {
        type: 'object',
        required: ['timeseriesId', 'metric', 'timestamp', 'val'],
        properties: { timeseriesId: text, metric: text, timestamp: text, val: { type: 'number' } },
      },
    },
    paging: {
      type: 'object',
      required: ['continuationToken'],
      properties: { continuationToken: { type: ['string', 'null'] } },
    },
  },
};

// JSON alone: with the texts of the other forms beside it, generated clients could not tell what an answer is. The
// description of the routes names them.
const reading: StreamedForms = {
  parameters: [pageToken],
  content: { [JSON_TYPE]: { schema: page } },
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

/** How generated clients call each operation, and what there is to say where its route has a summary alone. */
export const namedOperations: Readonly<Record<string, { readonly id: string; readonly description?: string }>> = {
  'post /idm/ims/connect/token': { id: 'getToken' },
  'post /idm/ims/connect/revoke': { id: 'revokeToken' },
  'post /idm/ims/connect/introspect': { id: 'introspectToken' },
  'get /.well-known/oauth-authorization-server': { id: 'getServerMetadata' },
  'post /core/samples': { id: 'writeSamples' },
  'get /core/samples': { id: 'readSamples' },
  'get /core/samples/live': { id: 'followSamples' },
  'post /core/timeseries/{timeseriesId}/samples': { id: 'writeSeriesSamples' },
  'get /core/timeseries/{timeseriesId}/samples': { id: 'readSeriesSamples' },
  'get /core/timeseries/{timeseriesId}/live': { id: 'followSeries' },
  'delete /core/timeseries/{timeseriesId}/samples': {
    id: 'deleteSeriesSamples',
    description: 'Results that rest on the deleted samples are computed anew.',
  },
  'get /core/timeseries/{timeseriesId}/why': { id: 'explainResult' },
  'get /core/retention': { id: 'listRetention' },
  'post /core/retention': { id: 'setRetention' },
  'delete /core/retention': { id: 'removeRetention' },
  'get /core/timeseries': { id: 'listSeries', description: 'In pages, in the order of their names.' },
  'post /operations': { id: 'registerOperations' },
  'post /core/operations': { id: 'registerCoreOperations' },
  'get /core/operations': { id: 'listItems', description: 'In pages, in the order of their registration.' },
  'get /core/operations/{itemId}': { id: 'getItem', description: 'With its state, and why it failed where it did.' },
  'delete /core/operations/{itemId}': {
    id: 'deleteItem',
    description: 'Answered with the item as it was. One with a pattern goes with its members.',
  },
  'get /core/status': { id: 'listTransactions' },
  'get /core/status/{transactionId}': { id: 'getTransaction' },
  'get /core/events': { id: 'listEvents' },
  'post /core/events': { id: 'writeEvents' },
  'delete /core/events/{id}': { id: 'deleteEvent', description: 'Pages that were begun before still show it.' },
  'get /health/live': { id: 'getLiveness', description: 'Answered also while the service is overloaded or stops.' },
  'get /health/ready': { id: 'getReadiness', description: '503 while the store fails or the service stops.' },
  'get /metrics': { id: 'getMetrics', description: 'In the text format of Prometheus.' },
};
