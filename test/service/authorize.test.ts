// Bearer tokens (interface 5.2, 7.2; RFC 6750).
import { type FastifyInstance, fastify } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addErrorHandler } from '../../src/service/http/errors.js';
import { createAuthorize } from '../../src/service/identity/authorize.js';
import { type Principal, principalOf } from '../../src/service/identity/principal.js';

const principals: Readonly<Record<string, Principal>> = Object.fromEntries(
  ['core_read', 'core_write', 'core_admin', 'core_read core_write'].map((scope) => [
    scope.replaceAll(' ', '+'),
    { clientId: scope, username: null, organisation: 'acme', scopes: new Set(scope.split(' ')) },
  ]),
);

let app: FastifyInstance;

beforeAll(async () => {
  app = fastify();
  addErrorHandler(app);
  app.decorateRequest('principal', undefined);
  const authorize = createAuthorize(async (token) => principals[token]);
  const answer = (request: Parameters<typeof principalOf>[0]) => ({ clientId: principalOf(request).clientId });
  app.get('/read', { onRequest: authorize('core_read') }, async (request) => answer(request));
  app.post('/write', { onRequest: authorize('core_write') }, async (request) => answer(request));
  app.get('/admin', { onRequest: authorize('core_admin') }, async (request) => answer(request));
  app.get('/any', { onRequest: authorize('core_read', 'core_write', 'core_admin') }, async (request) =>
    answer(request),
  );
  await app.ready();
});
afterAll(() => app.close());

const get = (url: string, authorization?: string) =>
  app.inject({ url, headers: authorization === undefined ? {} : { authorization } });

describe('a request', () => {
  it('5.2 with Authorization: Bearer ACCESS_TOKEN passes, whatever the case of the scheme', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER ']) {
      expect((await get('/read', `${scheme} core_read`)).json()).toEqual({ clientId: 'core_read' });
    }
  });

  it('7.2 401 without a token or with another scheme: names the scheme, and no error', async () => {
    for (const authorization of [undefined, '', 'Basic YTpi', 'core_read']) {
      const answer = await get('/read', authorization);
      expect([answer.statusCode, answer.headers['www-authenticate']]).toEqual([401, 'Bearer realm="windrow"']);
      expect(answer.json()).toEqual({ status: { code: '401', message: expect.any(String) }, data: {} });
    }
  });

  it('7.2 401 with the text undefined as token: says where that comes from', async () => {
    for (const text of ['undefined', 'null', 'None']) {
      const answer = await get('/read', `Bearer ${text}`);
      expect(answer.statusCode).toBe(401);
      expect(answer.json()).toEqual({
        status: {
          code: '401',
          message: expect.stringContaining(`the text ${text}; the token request was probably refused`),
        },
        data: { error: 'invalid_token' },
      });
    }
  });

  it('7.2 401 with an invalid token: invalid_token', async () => {
    const answer = await get('/read', 'Bearer unknown');
    expect(answer.statusCode).toBe(401);
    expect(answer.headers['www-authenticate']).toMatch(
      /^Bearer realm="windrow", error="invalid_token", error_description="[^"\\]+"$/,
    );
    expect(answer.json()).toEqual({
      status: { code: '401', message: expect.stringContaining('expired') },
      data: { error: 'invalid_token' },
    });
  });

  it.each(['Bearer', 'Bearer ', 'Bearer a b', 'Bearer "core_read"', 'Bearer core_read,core_read', 'bearer =a'])(
    '7.2 400 with a malformed header: %j',
    async (authorization) => {
      const answer = await get('/read', authorization);
      expect(answer.statusCode).toBe(400);
      expect(answer.headers['www-authenticate']).toContain('error="invalid_request"');
      expect(answer.json()).toMatchObject({ status: { code: '400' }, data: { error: 'invalid_request' } });
    },
  );

  it('7.2 403 with an insufficient scope: insufficient_scope, and the scopes that suffice', async () => {
    const answer = await get('/read', 'Bearer core_write');
    expect(answer.statusCode).toBe(403);
    expect(answer.headers['www-authenticate']).toMatch(/error="insufficient_scope".*, scope="core_read"$/);
    expect(answer.json()).toMatchObject({ status: { code: '403' }, data: { error: 'insufficient_scope' } });
  });

  it('passes with any one of several scopes; core_admin covers all; core_write does not allow reading', async () => {
    const codes: Record<string, readonly number[]> = {};
    for (const token of Object.keys(principals)) {
      const headers = { authorization: `Bearer ${token}` };
      const write = await app.inject({ method: 'POST', url: '/write', headers });
      const answers = [await get('/read', headers.authorization), write];
      answers.push(await get('/admin', headers.authorization), await get('/any', headers.authorization));
      codes[token] = answers.map(({ statusCode }) => statusCode);
    }
    expect(codes).toEqual({
      core_read: [200, 403, 403, 200],
      core_write: [403, 200, 403, 200],
      core_admin: [200, 200, 200, 200],
      'core_read+core_write': [200, 200, 403, 200],
    });
  });

  it('does not pass with a token in the query or body', async () => {
    expect((await get('/read?access_token=core_read')).statusCode).toBe(401);
    const payload = { access_token: 'core_write' };
    expect((await app.inject({ method: 'POST', url: '/write', payload })).statusCode).toBe(401);
  });
});
