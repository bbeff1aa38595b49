import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestService, type TestService } from './app.js';

let service: TestService;
const headers: Record<string, Record<string, string>> = { none: {} };

beforeAll(async () => {
  service = await openTestService();
  const client = await service.addClient({ organisation: 'acme' });
  for (const scope of ['core_read', 'core_write', 'core_admin']) headers[scope] = await service.bearer(client, scope);
});

afterAll(() => service.close());

const read = ['core_read', 'core_admin'];
const write = ['core_write', 'core_admin'];
const admin = ['core_admin'];
const all = ['core_read', 'core_write', 'core_admin'];

/** The scopes that open each route; undefined for routes without a token, or with other authentication. */
const opened: Readonly<Record<string, readonly string[] | undefined>> = {
  'GET /core/events': read,
  'POST /core/events': write,
  'DELETE /core/events/:id': admin,
  'GET /core/status': all,
  'GET /core/status/:transactionId': all,
  'POST /operations': write,
  'POST /core/operations': write,
  'GET /core/operations': read,
  'GET /core/operations/:itemId': read,
  'DELETE /core/operations/:itemId': admin,
  'GET /core/timeseries': read,
  'POST /core/samples': write,
  'POST /core/timeseries/:timeseriesId/samples': write,
  'GET /core/timeseries/:timeseriesId/why': read,
  'GET /core/retention': read,
  'POST /core/retention': admin,
  'DELETE /core/retention': admin,
  'GET /core/samples': read,
  'GET /core/samples/live': read,
  'GET /core/timeseries/:timeseriesId/samples': read,
  'GET /core/timeseries/:timeseriesId/live': read,
  'DELETE /core/timeseries/:timeseriesId/samples': admin,
  'POST /idm/ims/connect/token': undefined,
  'POST /idm/ims/connect/revoke': undefined,
  'POST /idm/ims/connect/introspect': undefined,
  'GET /.well-known/oauth-authorization-server': undefined,
  'GET /health/live': undefined,
  'GET /health/ready': undefined,
  'GET /metrics': undefined,
  'GET /openapi.json': undefined,
};

describe('5: scopes', () => {
  it('every route is in the table', () => {
    const routes = service.routes.filter(({ method, url }) => method !== 'HEAD' && !url.startsWith('/docs'));
    const other = routes.filter(({ method, url }) => !(`${method} ${url}` in opened));
    // The token endpoints answer other methods in the form of RFC 6749, and unknown metadata paths with 404.
    expect(other.filter(({ url }) => !url.startsWith('/idm') && !url.startsWith('/.well-known'))).toEqual([]);
    const registered = new Set(routes.map(({ method, url }) => `${method} ${url}`));
    expect(Object.keys(opened).filter((route) => !registered.has(route))).toEqual([]);
  });

  for (const [route, scopes] of Object.entries(opened)) {
    const told = scopes === undefined ? 'needs no token' : `opens to ${scopes.join(', ')}, and to nobody else`;
    it(`${route} ${told}`, async () => {
      const [method, url] = route.split(' ') as ['GET', string];
      for (const scope of ['none', ...all]) {
        // These requests name nothing that exists and have no body, so an admitted caller gets another error.
        const request = { method, url: url.replaceAll(/:\w+/g, 'none'), headers: headers[scope]! };
        const { statusCode } = await service.app.inject(request);
        const basic = url.startsWith('/idm') ? [400, 401, 415] : [200];
        if (scopes === undefined)
          expect([scope, basic.includes(statusCode)], String(statusCode)).toEqual([scope, true]);
        else if (scope === 'none') expect([scope, statusCode]).toEqual([scope, 401]);
        else if (!scopes.includes(scope)) expect([scope, statusCode]).toEqual([scope, 403]);
        else expect([scope, [200, 400, 404, 415].includes(statusCode)], String(statusCode)).toEqual([scope, true]);
      }
    });
  }
});
