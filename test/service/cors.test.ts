import { afterEach, describe, expect, it } from 'vitest';
import { LIMIT_HEADERS } from '../../src/service/http/limits.js';
import { openTestService, type TestService } from './app.js';

const PAGE = 'https://app.example.com';

let service: TestService;

afterEach(() => service.close());

const preflight = (url: string, origin: string) =>
  service.app.inject({
    method: 'OPTIONS',
    url,
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type',
    },
  });

describe('--cors-origin', () => {
  it('lets pages of that origin call every endpoint, and no others', async () => {
    service = await openTestService({ settings: { corsOrigins: [PAGE, 'https://other.example.com'] } });
    for (const url of ['/core/samples', '/idm/ims/connect/token', '/operations']) {
      const { statusCode, headers } = await preflight(url, PAGE);
      expect([url, statusCode, headers['access-control-allow-origin']]).toEqual([url, 204, PAGE]);
      expect(headers['access-control-allow-methods']).toContain('POST');
      expect(headers['access-control-allow-headers']).toBe('authorization,content-type');
      expect((await preflight(url, 'https://evil.example.com')).headers['access-control-allow-origin']).toBeUndefined();
    }
    const refused = await service.app.inject({ url: '/core/timeseries', headers: { origin: PAGE } });
    expect([refused.statusCode, refused.headers['access-control-allow-origin']]).toEqual([401, PAGE]);
    for (const name of ['x-correlation-id', ...LIMIT_HEADERS]) {
      expect(refused.headers['access-control-expose-headers']).toContain(name);
    }
    expect(refused.headers['access-control-allow-credentials']).toBeUndefined();
    expect((await service.app.inject({ url: '/nowhere' })).statusCode).toBe(404);
    expect((await service.app.inject({ method: 'OPTIONS', url: '/nowhere' })).statusCode).toBe(404);
    const options = await service.app.inject({ method: 'OPTIONS', url: '/core/samples', headers: { origin: PAGE } });
    expect([options.statusCode, options.headers.allow]).toEqual([405, 'GET, HEAD, POST']);
    expect((await service.app.inject({ method: 'PUT', url: '/core/samples' })).statusCode).toBe(405);
  });

  it('answers vary with the origin, and with the form that is asked for', async () => {
    service = await openTestService({ settings: { corsOrigins: [PAGE] } });
    const headers = await service.bearer(await service.addClient({ organisation: 'acme' }));
    const payload = [{ timeseriesId: 'a', timestamp: '2026-01-01T00:00:00Z', val: 1 }];
    await service.app.inject({ method: 'POST', url: '/core/samples', headers, payload });
    const samples = await service.app.inject({ url: '/core/timeseries/a/samples', headers });
    expect(samples.headers.vary).toBe('Origin, accept');
  });

  it('* lets any page call', async () => {
    service = await openTestService({ settings: { corsOrigins: ['*'] } });
    expect((await preflight('/core/samples', PAGE)).headers['access-control-allow-origin']).toBe('*');
  });

  it('without it, responses have no CORS headers', async () => {
    service = await openTestService();
    const { statusCode, headers } = await preflight('/core/samples', PAGE);
    expect([statusCode, headers['access-control-allow-origin']]).toEqual([405, undefined]);
  });
});
