import { gzipSync } from 'node:zlib';
import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestService, type TestService } from './app.js';

let service: TestService;
let bearer: { authorization: string };
let reader: { authorization: string };
let clientId: string;

beforeAll(async () => {
  service = await openTestService({ settings: { bodyBytesMax: 2000, streamedBodyBytesMax: 10_000 } });
  const client = await service.addClient({ organisation: 'acme' });
  clientId = client.clientId;
  bearer = await service.bearer(client);
  reader = await service.bearer(client, 'core_read');
});

afterAll(() => service.close());

interface Case {
  readonly what: string;
  readonly code: number;
  readonly request: InjectOptions;
  readonly message: RegExp;
}

const json = { 'content-type': 'application/json' };
const long = JSON.stringify(Array.from({ length: 100 }, () => ({ timeseriesId: 'a', timestamp: 0, val: 1 })));

const latin1 = Buffer.from('{"name": "Büro"}', 'latin1');

const cases = (): Case[] => [
  {
    what: 'no token',
    code: 401,
    request: { url: '/core/timeseries' },
    message: /Authorization: Bearer/,
  },
  {
    what: 'a token that there is none of',
    code: 401,
    request: { url: '/core/timeseries', headers: { authorization: 'Bearer nonsense' } },
    message: /unknown, expired or revoked/,
  },
  {
    what: 'too small a scope',
    code: 403,
    request: { method: 'DELETE', url: '/core/timeseries/a/samples?all=true', headers: reader },
    message: /core_admin/,
  },
  {
    what: 'a path that there is none of',
    code: 404,
    request: { url: '/nowhere?x=1' },
    message: /^there is no GET \/nowhere; /,
  },
  {
    what: 'a series that there is none of',
    code: 404,
    request: { url: '/core/timeseries/none/samples', headers: bearer },
    message: /"none", metric Raw/,
  },
  {
    what: 'a file of the documentation that there is none of',
    code: 404,
    request: { url: '/docs/static/nope' },
    message: /^there is no GET \/docs\/static\/nope; /,
  },
  {
    what: 'the id of a transaction, however long',
    code: 404,
    request: { url: `/core/status/${'x'.repeat(10_000)}`, headers: bearer },
    message: /^there is no transaction /,
  },
  {
    what: 'the name of a series that is longer than any',
    code: 400,
    request: { url: `/core/timeseries/${'x'.repeat(5000)}/samples`, headers: bearer },
    message: /timeseriesId/,
  },
  {
    what: 'a method that the path does not have',
    code: 405,
    request: { method: 'PUT', url: '/core/timeseries/a/samples', headers: bearer },
    message: /^\/core\/timeseries\/a\/samples has no PUT; expected DELETE, GET, HEAD, POST$/,
  },
  {
    what: 'a form of answer that there is none of',
    code: 406,
    request: { url: '/core/timeseries/known/samples', headers: { ...bearer, accept: 'image/png' } },
    message: /application\/json, text\/csv/,
  },
  {
    what: 'a path that is not percent-encoded UTF-8',
    code: 400,
    request: { url: '/core/timeseries/%zz/samples', headers: bearer },
    message: /^the path \/core\/timeseries\/%zz\/samples is not percent-encoded UTF-8; send a % itself as %25$/,
  },
  {
    what: 'a header as a parameter',
    code: 400,
    request: { url: '/core/timeseries?PageSize=3', headers: bearer },
    message: /^query PageSize: expected one of timeseriesId, received "PageSize"; PageSize is a header$/,
  },
  {
    what: 'a header as a parameter where another parameter is meant',
    code: 400,
    request: { url: '/core/timeseries/a/samples?pageSize=3', headers: bearer },
    message: /^query pageSize: expected one of .*, received "pageSize"; did you mean `limit`\?$/,
  },
  {
    what: 'a header as a parameter among clauses',
    code: 400,
    request: { url: '/core/events?pagesize=3', headers: { ...bearer, ercollectionid: 'alarms' } },
    message: /^pagesize at 0: expected one of \$top, .*, received pagesize \(PageSize is a header\)$/,
  },
  {
    what: 'a parameter that the endpoint does not know',
    code: 400,
    request: { url: '/core/timeseries/a/samples?metrik=Raw', headers: bearer },
    message: /query metrik: expected one of metric, .*did you mean `metric`\?/,
  },
  {
    what: 'JSON that is none',
    code: 400,
    request: { method: 'POST', url: '/operations', headers: { ...bearer, ...json }, payload: '[{"metric": }]' },
    message: /^the body is not JSON: /,
  },
  {
    what: 'a body of another type',
    code: 415,
    request: { method: 'POST', url: '/operations', headers: { ...bearer, 'content-type': 'text/csv' }, payload: 'a' },
    message: /^Content-Type: expected application\/json, received "text\/csv"$/,
  },
  {
    what: 'a body without a type',
    code: 415,
    request: { method: 'POST', url: '/core/events', headers: { ...bearer, 'content-type': '' }, payload: 'a' },
    message: /^Content-Type: expected application\/json or application\/x-ndjson, received (?:nothing|"")$/,
  },
  {
    what: 'a packed body where only samples may be',
    code: 415,
    request: {
      method: 'POST',
      url: '/operations',
      headers: { ...bearer, ...json, 'content-encoding': 'gzip' },
      payload: gzipSync('[]'),
    },
    message: /^Content-Encoding: expected none at this endpoint, received "gzip"/,
  },
  {
    what: 'packed lines where only samples may be',
    code: 415,
    request: {
      method: 'POST',
      url: '/core/events',
      headers: { ...bearer, 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' },
      payload: gzipSync('{}'),
    },
    message: /^Content-Encoding: expected none at this endpoint, received "gzip"/,
  },
  {
    what: 'a body that is not UTF-8',
    code: 400,
    request: { method: 'POST', url: '/operations', headers: { ...bearer, ...json }, payload: latin1 },
    message: /^the body is not UTF-8; send its text in that encoding$/,
  },
  {
    what: 'lines that are not UTF-8',
    code: 400,
    request: {
      method: 'POST',
      url: '/core/events',
      headers: { ...bearer, 'content-type': 'application/x-ndjson' },
      payload: latin1,
    },
    message: /^the body is not UTF-8; send its text in that encoding$/,
  },
  {
    what: 'samples of another type',
    code: 415,
    request: {
      method: 'POST',
      url: '/core/samples',
      headers: { ...bearer, 'content-type': 'image/png' },
      payload: 'a',
    },
    message: /^Content-Type: expected one of application\/json, .*\.columns, received "image\/png"$/,
  },
  {
    what: 'a body that is too large to be held',
    code: 413,
    request: {
      method: 'POST',
      url: '/operations',
      headers: { ...bearer, ...json },
      payload: JSON.stringify('x'.repeat(3000)),
    },
    message: /^the body is larger than 2000 bytes; send it in parts$/,
  },
  {
    what: 'samples in JSON that are too large to be held',
    code: 413,
    request: { method: 'POST', url: '/core/samples', headers: { ...bearer, ...json }, payload: long },
    message: /at most 2000 bytes; send it in parts, or as application\/x-ndjson/,
  },
];

describe('2.2: the error envelope', () => {
  beforeAll(async () => {
    const { administration } = service.service.identity;
    await administration.addCollection({ organisation: 'acme', collectionId: 'alarms', clientIds: [clientId] });
    const payload = JSON.stringify([{ timeseriesId: 'known', timestamp: '2026-01-01T00:00:00Z', val: 1 }]);
    await service.app.inject({ method: 'POST', url: '/core/samples', headers: { ...bearer, ...json }, payload });
  });

  it('7.2: every error has three digits in status.code, a sentence in status.message, and data', async () => {
    for (const { what, code, request, message } of cases()) {
      const answer = await service.app.inject(request);
      expect([what, answer.statusCode], answer.body).toEqual([what, code]);
      expect(answer.headers['content-type']).toMatch(/^application\/json/);
      const body = answer.json();
      expect(Object.keys(body)).toEqual(['status', 'data']);
      expect(Object.keys(body.status).sort()).toEqual(['code', 'message']);
      expect(body.status.code).toBe(String(code));
      expect(body.status.message).toMatch(message);
      expect(typeof body.data).toBe('object');
      // Codes of Fastify are not ours.
      expect(answer.body).not.toContain('FST_');
      expect(answer.headers['x-correlation-id'], what).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
    }
  });

  it('405 names the methods of the path', async () => {
    const answer = await service.app.inject({ method: 'PATCH', url: '/core/status/17' });
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'GET, HEAD']);
  });

  it('a method or path that there is not is told of as that, whatever the body', async () => {
    for (const [type, payload] of [
      ['application/json', '{not json'],
      ['application/json', `"${'x'.repeat(2_000_000)}"`],
      ['application/json; charset=utf-16', '{}'],
      ['text/csv', ''],
    ] as const) {
      const send = (method: 'PUT' | 'POST', url: string) =>
        service.app.inject({ method, url, headers: { 'content-type': type }, payload });
      const wrong = await send('PUT', '/core/samples');
      expect([type, wrong.statusCode, wrong.headers.allow]).toEqual([type, 405, 'GET, HEAD, POST']);
      const nowhere = await send('POST', '/core/nowhere');
      expect([nowhere.statusCode, nowhere.json().status.message]).toEqual([
        404,
        'there is no POST /core/nowhere; /docs lists every endpoint',
      ]);
      expect(nowhere.headers['x-correlation-id']).toMatch(/./);
    }
  });

  it('RFC 6750: 401 and 403 say how to authenticate', async () => {
    const challenges = [];
    for (const { request, code } of cases()) {
      if (code === 401 || code === 403)
        challenges.push((await service.app.inject(request)).headers['www-authenticate']);
    }
    expect(challenges).toEqual([
      'Bearer realm="windrow"',
      expect.stringContaining('error="invalid_token"'),
      expect.stringContaining('error="insufficient_scope"'),
    ]);
  });

  it('every endpoint refuses unknown parameters and suggests the nearest one', async () => {
    for (const { method, url } of service.routes) {
      if (!url.startsWith('/core') || method === 'HEAD') continue;
      const path = url.replaceAll(/:\w+/g, 'known');
      const headers = { ...bearer, ercollectionid: 'alarms' };
      // A missing field of the body would be reported first.
      const payload = url === '/core/retention' && method === 'POST' ? { keep: 'P1D' } : undefined;
      const answer = await service.app.inject({
        method: method as 'GET',
        url: `${path}?surprise=1`,
        headers,
        ...(payload && { payload }),
      });
      expect([method, url, answer.statusCode], answer.body).toEqual([method, url, 400]);
      expect([method, url, answer.json().status.message]).toEqual([method, url, expect.stringContaining('surprise')]);
    }
  });
});
