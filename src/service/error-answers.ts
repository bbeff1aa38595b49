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
  'delete /core/operations/{itemId}': [404],
  'delete /core/events/{id}': [404],
  'post /core/samples': [409],
  'post /core/timeseries/{timeseriesId}/samples': [409],
  'get /core/samples': [404, 406],
  'get /core/timeseries/{timeseriesId}/samples': [404, 406],
  'delete /core/timeseries/{timeseriesId}/samples': [404, 409],
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
