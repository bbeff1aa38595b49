// Provokes every error that /openapi.json names; test/service/app.ts ensures that no others occur.
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqliteStorage, UnknownCommitError } from '../../src/storage/index.js';
import { openTestService, type TestService } from './app.js';
import { failingStorage, type Trouble } from './failing-storage.js';

interface Operation {
  readonly security?: readonly object[];
  readonly parameters?: readonly object[];
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly description?: string }>>;
}

type Method = 'GET' | 'POST' | 'DELETE';

const REQUESTS_MAX = 60;

const trouble: Trouble = {};
let service: TestService;
let operations: { method: Method; path: string; operation: Operation }[];
let components: {
  readonly responses: Readonly<Record<string, { description: string; headers: object; content: object }>>;
  readonly parameters: Readonly<Record<string, object>>;
};
let bearer: Record<string, string>;
let stranger: Record<string, string>;
/** A member of an item with a pattern. */
let memberId: string;

const json = { 'content-type': 'application/json' };
const sample = (timeseriesId: string, metric: string) => ({ timeseriesId, metric, timestamp: '2026-01-01', val: 1 });
const item = (timeseriesId: string, source = 'a') => ({
  metric: 'Result',
  processingType: 'stream',
  operations: [
    {
      operation: 'Abs',
      input: [{ timeseriesId: source, metric: 'Raw' }],
      output: [{ timeseriesId, metric: 'Result' }],
      parameters: {},
    },
  ],
});

beforeAll(async () => {
  service = await openTestService({
    settings: { bodyBytesMax: 4000, requestsPerMinuteMax: REQUESTS_MAX },
    storage: async (directory, clock) => failingStorage(await openSqliteStorage({ directory, clock }), trouble),
  });
  const client = await service.addClient({ organisation: 'acme' });
  const access = { organisation: 'acme', collectionId: 'alarms', clientIds: [client.clientId] };
  await service.service.identity.administration.addCollection(access);
  bearer = { ...(await service.bearer(client)), ercollectionid: 'alarms' };
  stranger = { ...(await service.bearer(client, 'none_of_ours')), ercollectionid: 'alarms' };
  const { app } = service;
  const samples = [sample('a', 'Raw'), sample('zone-1', 'Raw'), sample('written', 'Result')];
  expect((await app.inject(post('/core/samples', samples))).statusCode).toBe(200);
  expect((await app.inject(post('/core/operations', [item('computed')]))).statusCode).toBe(202);
  expect((await app.inject(post('/core/operations', [item('zone-{n}', 'zone-{n}')]))).statusCode).toBe(202);
  await service.service.worker.onIdle();
  const { data } = (await app.inject(get('/core/operations'))).json<{ data: { itemId: string; pattern: unknown }[] }>();
  memberId = data.find(({ pattern }) => pattern !== null)!.itemId;
  const document = (await app.inject({ url: '/openapi.json' })).json();
  components = document.components;
  operations = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      return { method: method.toUpperCase() as Method, path, operation }; // `as`: the service has only these methods
    }),
  );
});

afterAll(async () => {
  Object.assign(trouble, { read: undefined, write: undefined });
  await service.close();
});

const post = (url: string, payload: object) => ({ method: 'POST', url, payload, headers: bearer }) as const;
const remove = (url: string) => ({ method: 'DELETE', url, headers: bearer }) as const;
const get = (url: string, headers: object = {}) =>
  ({ method: 'GET', url, headers: { ...bearer, ...headers } }) as const;
const png = { accept: 'image/png' };

/** Requests that provoke errors of few routes. */
const own: Readonly<Record<string, () => InjectOptions>> = {
  'GET /core/status/{transactionId} 404': () => get('/core/status/none'),
  'GET /core/operations/{itemId} 404': () => get('/core/operations/none'),
  'DELETE /core/operations/{itemId} 404': () => remove('/core/operations/none'),
  'DELETE /core/operations/{itemId} 409': () => remove(`/core/operations/${memberId}`),
  'DELETE /core/events/{id} 404': () => remove('/core/events/none'),
  'GET /core/timeseries/{timeseriesId}/samples 404': () => get('/core/timeseries/none/samples'),
  'GET /core/timeseries/{timeseriesId}/live 404': () => get('/core/timeseries/none/live'),
  'GET /core/timeseries/{timeseriesId}/why 404': () => get('/core/timeseries/a/why?time=2026-01-01'),
  'DELETE /core/retention 404': () => remove('/core/retention?metric=none'),
  'GET /core/samples 404': () => get('/core/samples?timeseries_ids=none'),
  'GET /core/samples/live 404': () => get('/core/samples/live?timeseries_ids=none'),
  'DELETE /core/timeseries/{timeseriesId}/samples 404': () => remove('/core/timeseries/none/samples?all=true'),
  'GET /core/timeseries/{timeseriesId}/samples 406': () => get('/core/timeseries/a/samples', png),
  'GET /core/samples 406': () => get('/core/samples?timeseries_ids=a', png),
  'POST /operations 409': () => post('/operations', [item('written')]),
  'POST /core/operations 409': () => post('/core/operations', [item('written')]),
  'POST /core/samples 409': () => post('/core/samples', [sample('computed', 'Result')]),
  'POST /core/timeseries/{timeseriesId}/samples 409': () =>
    post('/core/timeseries/computed/samples', [sample('computed', 'Result')]),
  'DELETE /core/timeseries/{timeseriesId}/samples 409': () =>
    remove('/core/timeseries/computed/samples?metric=Result&all=true'),
};

/** A valid request, or one for something that does not exist. */
function usual(method: Method, path: string): InjectOptions {
  const place = path.replaceAll(/\{\w+\}/g, 'a');
  const url = place
    .replace(/^\/core\/samples(\/live)?$/, '$&?timeseries_ids=a')
    .replace(/\/why$/, '$&?time=2026-01-01');
  if (method === 'DELETE' && place.endsWith('samples')) return remove(`${place}?all=true`);
  if (method !== 'POST') return { method, url, headers: bearer };
  if (path.endsWith('retention')) return post(url, { keep: 'P90D' });
  if (path.endsWith('operations')) return post(url, [item('computed')]);
  return post(place, path.endsWith('events') ? [{ id: 'e' }] : [sample('a', 'Raw')]);
}

const withHeaders = (request: InjectOptions, headers: object): InjectOptions => {
  return { ...request, headers: { ...request.headers, ...headers } };
};

/** Requests that provoke errors common to many routes. */
const common: Readonly<Record<string, (request: InjectOptions) => Promise<number>>> = {
  400: (request) => statusOf(withHeaders(request, { 'x-correlation-id': 'no such' })),
  401: ({ headers: _, ...request }) => statusOf(request),
  403: (request) => statusOf(withHeaders(request, stranger)),
  413: (request) => statusOf({ ...withHeaders(request, json), payload: `"${'x'.repeat(1_100_000)}"` }),
  415: (request) => statusOf({ ...withHeaders(request, { 'content-type': 'image/png' }), payload: 'x' }),
  429: async (request) => {
    service.clock.advance(60_000);
    for (let i = 0; i < REQUESTS_MAX; i++) await statusOf(get('/core/timeseries'));
    const status = await statusOf(request);
    service.clock.advance(60_000);
    return status;
  },
  500: async (request) => {
    trouble.read = new Error('the disk is on fire');
    trouble.write = trouble.read;
    const status = await statusOf(request);
    Object.assign(trouble, { read: undefined, write: undefined });
    return status;
  },
  504: async (request) => {
    trouble.write = new UnknownCommitError('the connection was lost during a commit');
    const status = await statusOf(request);
    trouble.write = undefined;
    return status;
  },
};

const statusOf = async (request: InjectOptions): Promise<number> => (await service.app.inject(request)).statusCode;

/** The errors of a route that a test must provoke. */
const errorsOf = ({ responses }: Operation): string[] => Object.keys(responses).filter((status) => status >= '400');
const isOpen = ({ security = [] }: Operation): boolean => security.length === 0;
const ofServices = () => operations.filter(({ path }) => !path.startsWith('/idm'));

describe('the errors named in /openapi.json', () => {
  it('7.2: each is returned by its route', async () => {
    for (const { method, path, operation } of ofServices()) {
      for (const status of errorsOf(operation).filter((one) => one !== '503')) {
        service.clock.advance(1000);
        const route = `${method} ${path} ${status}`;
        const given =
          own[route] === undefined ? await common[status]?.(usual(method, path)) : await statusOf(own[route]());
        expect([route, given]).toEqual([route, Number(status)]);
      }
    }
  });

  it('2.2: each has a sentence and the envelope; 401 and 403 say how to log in, 429 and 503 when to retry', () => {
    for (const { path, operation } of ofServices()) {
      for (const status of errorsOf(operation)) {
        const { $ref = '' } = operation.responses[status]!;
        const response = components.responses[$ref.replace('#/components/responses/', '')];
        expect([path, status, response?.description]).toEqual([path, status, expect.stringMatching(/\.$/)]);
        const schema = { $ref: '#/components/schemas/ErrorEnvelope' };
        expect(response?.content).toEqual({ 'application/json': { schema } });
        const headers: Record<string, string[]> = {
          401: ['WWW-Authenticate'],
          403: ['WWW-Authenticate'],
          429: ['Retry-After'],
          503: ['Retry-After'],
        };
        expect([status, Object.keys(response?.headers ?? {})]).toEqual([status, headers[status] ?? []]);
      }
    }
  });

  it('every route that takes a token lists all errors common to them, and every success response', () => {
    for (const { method, path, operation } of ofServices()) {
      const errors = errorsOf(operation);
      const expected = isOpen(operation) ? ['400'] : ['400', '401', '403', '429', '500', '503'];
      if (method === 'POST') expected.push('413', '415');
      expect([method, path, expected.filter((status) => !errors.includes(status))]).toEqual([method, path, []]);
      const successes = Object.keys(operation.responses).filter((status) => status < '300');
      expect([method, path, successes.length > 0]).toEqual([method, path, true]);
    }
  });

  it('7.1: the endpoints under /idm list theirs in the form of RFC 6749', () => {
    for (const { method, path, operation } of operations.filter((one) => one.path.startsWith('/idm'))) {
      const errors = ['400', '401', '413', '415', '429', '500', '503'];
      expect([method, path, errorsOf(operation)]).toEqual([method, path, errors]);
      expect(JSON.stringify(operation.responses)).not.toContain('ErrorEnvelope');
    }
  });

  it('4.2: every request can carry x-correlation-id', () => {
    expect(components.parameters.CorrelationId).toMatchObject({ name: 'x-correlation-id', in: 'header' });
    for (const { path, operation } of operations) {
      const parameter = { $ref: '#/components/parameters/CorrelationId' };
      expect([path, operation.parameters]).toEqual([path, expect.arrayContaining([parameter])]);
    }
  });

  // Last, since the service accepts nothing after its stop.
  it('7.2: 503 comes from each route that lists it, and from no other', async () => {
    await service.service.stop();
    for (const { method, path, operation } of operations) {
      const isNamed = errorsOf(operation).includes('503');
      const given = await statusOf(usual(method, path));
      expect([method, path, given === 503]).toEqual([method, path, isNamed]);
    }
  });
});
