import { operationsBody } from '../operations/openapi.js';
import { NAME_CHARS_MAX } from '../timeseries/names.js';
import { statusSchema } from './envelope.js';
import { COLUMNS_TYPE, CSV_TYPE, JSON_TYPE, NDJSON_TYPE } from './media-types.js';

// The errors that each route may answer, for /openapi.json. test/service/error-answers.test.ts causes each of them,
// and every test of the service fails if a route answers one that is missing here.

interface ErrorAnswer {
  readonly name: string;
  readonly description: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const wayIn = { 'WWW-Authenticate': 'How to authenticate (RFC 6750).' };
const later = { 'Retry-After': 'When to retry, in seconds.' };

const answers = {
  400: { name: 'BadRequest', description: 'The request is invalid: data.issues says what is wrong, and where.' },
  401: { name: 'Unauthorized', description: 'No token, or one that is not valid.', headers: wayIn },
  403: { name: 'Forbidden', description: 'The token lacks the scope, or its client the access.', headers: wayIn },
  404: { name: 'NotFound', description: "Not found in the caller's organisation." },
  406: { name: 'NotAcceptable', description: 'Accept names no form that this endpoint supports.' },
  409: { name: 'Conflict', description: 'The request conflicts with what is stored.' },
  413: { name: 'TooLarge', description: 'The body is larger than this endpoint accepts.' },
  415: { name: 'UnsupportedType', description: 'The Content-Type or Content-Encoding of the body is not supported.' },
  429: { name: 'TooManyRequests', description: 'The client makes too many requests.', headers: later },
  500: { name: 'InternalFailure', description: 'Internal error; the log has it under the correlation id.' },
  503: { name: 'Unavailable', description: 'Overloaded, stopping, or the disk is full.', headers: later },
  504: { name: 'Unknown', description: 'The store was lost during the commit: whether it took effect is not known.' },
} as const satisfies Readonly<Record<number, ErrorAnswer>>;

type ErrorStatus = keyof typeof answers;

// What a route may answer in addition to all routes of its kind.
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

// They answer in every state of the service.
const alwaysAnswered: ReadonlySet<string> = new Set(['get /health/live', 'get /metrics']);

/** The errors of a route by status, as references to `errorComponents`. */
export function errorAnswersOf(route: string, security: readonly object[]): Readonly<Record<string, object>> {
  // The token endpoints have errors of their own form (RFC 6749), which are in their schemas.
  if (security.some((scheme) => 'client' in scheme)) return {};
  const statuses = statusesOf(route, security);
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${answers[status].name}` }]),
  );
}

function statusesOf(route: string, security: readonly object[]): readonly ErrorStatus[] {
  if (alwaysAnswered.has(route)) return [400];
  if (!security.some((scheme) => 'token' in scheme)) return [400, 503];
  const isRead = route.startsWith('get ');
  const ofBodies: readonly ErrorStatus[] = isRead ? [] : [413, 415];
  const ofCommits: readonly ErrorStatus[] = isRead ? [] : [504];
  return [400, 401, 403, ...(ownStatuses[route] ?? []), ...ofBodies, 429, 500, 503, ...ofCommits];
}

const text = { type: 'string' } as const;

const number = { type: 'integer' } as const;

const issue = {
  type: 'object' as const,
  properties: {
    pointer: { ...text, description: 'Where it is: a JSON pointer into the body, or into the query or path' },
    place: { ...text, description: 'What the pointer is of, if not the body: query, path, header' },
    line: { ...number, description: 'The line of the body, from 1' },
    code: { ...text, description: 'docs/errors.md lists them' },
    expected: text,
    received: { description: 'What came, most often as a text' },
    suggestion: { ...text, description: 'How to mend it' },
  },
  additionalProperties: true,
};

const errorDetails = {
  issues: { type: 'array' as const, items: issue, description: 'Each fault of the request, with its place' },
  code: { ...text, description: 'docs/errors.md lists them' },
  line: { ...number, description: 'The line of a streamed body at which reading ended' },
  samplesStored: { ...number, description: 'How many samples before the fault are stored' },
};

/** The components that the errors of routes refer to. */
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
            message: { ...text, description: 'What is wrong, and how to fix it' },
            code: { ...text, description: 'The HTTP status as three digits' },
          },
        },
        data: {
          type: 'object' as const,
          description: 'The details, as far as there are any',
          properties: errorDetails,
          additionalProperties: true,
        },
      },
    },
  },
  responses: Object.fromEntries(Object.values(answers).map((answer) => [answer.name, responseOf(answer)])),
};

/** The headers of an answer with this status. */
export function errorHeadersOf(status: string): { readonly headers?: object } {
  const { headers }: Partial<ErrorAnswer> = answers[Number(status) as ErrorStatus] ?? {};
  return headers === undefined ? {} : { headers: describedHeaders(headers) };
}

function describedHeaders(headers: Readonly<Record<string, string>>) {
  const named = Object.entries(headers).map(([name, description]) => [name, { description, schema: text }]);
  return Object.fromEntries(named);
}

function responseOf({ description, headers = {} }: ErrorAnswer) {
  return {
    description,
    headers: describedHeaders(headers),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorEnvelope' } } },
  };
}

// Bodies and answers that the routes check and write themselves, for /openapi.json. They are not in the schemas of the
// routes, since Fastify would check and serialise by these.

/** What an OpenAPI operation has in addition to its route's schemas. */
export interface StreamedForms {
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  /** The content of the answer 200. */
  readonly content?: object;
}

const header = (name: string, description: string, schema: object = text) => ({
  name,
  in: 'header',
  description,
  schema,
});

const pageToken = header('continuationToken', 'JSON: paging.continuationToken of the page before');

const seriesName = { type: ['string', 'null'], minLength: 1, maxLength: NAME_CHARS_MAX };

const sampleFields = {
  // No `default`: generators of clients take a field with one for required.
  metric: { ...seriesName, description: 'Raw if left out' },
  timestamp: {
    type: ['string', 'number'],
    description: 'ISO 8601, or epoch seconds, milli-, micro- or nanoseconds, told apart by size',
  },
  val: { type: ['number', 'null'], description: 'null means missing: not stored, but counted' },
};

const samplesWith = (title: string, timeseriesId: object, required: readonly string[]) => ({
  type: 'array',
  items: {
    type: 'object',
    title,
    required: [...required, 'timestamp', 'val'],
    properties: { timeseriesId, ...sampleFields },
    additionalProperties: false,
  },
});

const samples = samplesWith('WrittenSample', { ...seriesName, type: 'string' }, ['timeseriesId']);
/** Of the series that the path names. */
const seriesSamples = samplesWith(
  'WrittenSeriesSample',
  { ...seriesName, description: 'As in the path, or left out' },
  [],
);

const streamed = (csv: string) => ({
  [NDJSON_TYPE]: { schema: { ...text, description: 'A sample as a JSON object on each line' } },
  [CSV_TYPE]: { schema: { ...text, description: csv } },
  [COLUMNS_TYPE]: { schema: { ...text, format: 'binary', description: 'Frames of two columns, see docs/service.md' } },
});

const writing = (json: object, csv: string): StreamedForms => ({
  parameters: [
    header('Content-Encoding', 'gzip for a compressed body', { ...text, enum: ['gzip', 'identity'] }),
    header('source', 'The queue that delivered the body; requires partition and offset'),
    header('partition', 'Its partition'),
    header('offset', 'A body that was stored before is answered with isRepeated', { type: 'integer', minimum: 0 }),
  ],
  requestBody: {
    required: true,
    content: {
      [JSON_TYPE]: { schema: json },
      ...streamed(csv),
    },
  },
});

const page = {
  type: 'object',
  required: ['status', 'data', 'paging'],
  properties: {
    status: statusSchema,
    data: {
      type: 'array',
      items: {
        type: 'object',
        title: 'Sample',
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

// JSON only: with the other forms, generated clients could not tell the type of an answer. The routes' descriptions
// name them.
const reading: StreamedForms = {
  parameters: [pageToken],
  content: { [JSON_TYPE]: { schema: page } },
};

const following: StreamedForms = {
  parameters: [
    // The store, and the shard and commit of each group whose series are followed.
    header('Last-Event-ID', 'Resumes after the commit of this id', {
      ...text,
      pattern: '^[0-9a-f]{8}-[0-9]+:[0-9]+([.][0-9]+:[0-9]+)*$',
    }),
  ],
  content: { 'text/event-stream': { schema: text } },
};

const listing: StreamedForms = {
  parameters: [
    header('PageSize', 'Series per page', { type: 'integer', minimum: 1, maximum: 1000, default: 100 }),
    header('continuationToken', 'paging.continuationToken of the page before'),
  ],
};

export const streamedForms: Readonly<Record<string, StreamedForms>> = {
  'post /operations': { requestBody: operationsBody },
  'post /core/operations': { requestBody: operationsBody },
  'post /core/samples': writing(samples, 'timestamp,timeseriesId,metric,value, or a column for each series'),
  'post /core/timeseries/{timeseriesId}/samples': writing(seriesSamples, 'timestamp,value'),
  'get /core/samples': reading,
  'get /core/timeseries/{timeseriesId}/samples': reading,
  'get /core/samples/live': following,
  'get /core/timeseries/{timeseriesId}/live': following,
  'get /core/timeseries': listing,
  'get /metrics': { content: { 'text/plain': { schema: text } } },
};

/** The operation's name in generated clients, and a description where its route has only a summary. */
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
    description: 'Results that rest on the deleted samples are recomputed.',
  },
  'get /core/timeseries/{timeseriesId}/why': { id: 'explainResult' },
  'get /core/retention': { id: 'listRetention' },
  'post /core/retention': { id: 'setRetention' },
  'delete /core/retention': { id: 'removeRetention' },
  'get /core/timeseries': { id: 'listSeries', description: 'In pages, ordered by name.' },
  'post /operations': { id: 'registerOperations' },
  'post /core/operations': { id: 'registerCoreOperations' },
  'get /core/operations': { id: 'listItems', description: 'In pages, in order of registration.' },
  'get /core/operations/{itemId}': { id: 'getItem', description: 'With its state and, if it failed, the reason.' },
  'delete /core/operations/{itemId}': {
    id: 'deleteItem',
    description: 'Returns the deleted item. One with a pattern is deleted with its members.',
  },
  'get /core/status': { id: 'listTransactions' },
  'get /core/status/{transactionId}': { id: 'getTransaction' },
  'get /core/events': { id: 'listEvents' },
  'post /core/events': { id: 'writeEvents' },
  'delete /core/events/{id}': { id: 'deleteEvent', description: 'Queries that began before still show it.' },
  'get /health/live': { id: 'getLiveness', description: 'Answers even while the service is overloaded or stopping.' },
  'get /health/ready': { id: 'getReadiness', description: '503 while the store fails or the service is stopping.' },
  'get /metrics': { id: 'getMetrics', description: 'In the text format of Prometheus.' },
};
