import fastify from 'fastify';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { windrowService } from '../../src/service/index.js';
import { openTestService, type TestService } from './app.js';

const HEADER = 'x-correlation-id';
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let service: TestService;
let headers: { authorization: string };

beforeEach(async () => {
  service = await openTestService();
  headers = await service.bearer(await service.addClient({ organisation: 'acme' }));
});

afterEach(() => service.close());

const linesSince = (count: number) => service.logLines.slice(count).map((line) => JSON.parse(line));

describe('4.2: x-correlation-id', () => {
  it('is echoed, and is in every line that the request logs', async () => {
    for (const id of [
      'a',
      'trace_17.b-C',
      'x'.repeat(128),
      'Root=1-67891233-abcdef012345678912345678;Parent=463ac35c9f6413ad;Sampled=1',
      '|7d5d747b-1a2b3c4d.5e6f_',
      'urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
      '{F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6}',
      '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      'svc/req#17@host+a~b:c',
    ]) {
      const before = service.logLines.length;
      const urls = ['/core/timeseries', '/core/timeseries/none/samples', '/nowhere', '/core/timeseries/%zz/samples'];
      for (const url of urls) {
        const answer = await service.app.inject({ url, headers: { ...headers, [HEADER]: id } });
        expect([url, answer.headers[HEADER]]).toEqual([url, id]);
      }
      const lines = linesSince(before);
      const answered = lines.filter(({ msg }) => msg === 'answered');
      expect(answered).toMatchObject(urls.map((path) => ({ path, method: 'GET', statusCode: expect.any(Number) })));
      expect(lines.map(({ correlationId }) => correlationId)).toEqual(lines.map(() => id));
    }
  });

  it('is generated if absent, a different one for each request', async () => {
    const ids: unknown[] = [];
    for (let i = 0; i < 20; i++)
      ids.push((await service.app.inject({ url: '/core/timeseries', headers })).headers[HEADER]);
    for (const id of ids) expect(id).toMatch(UUID);
    expect(new Set(ids).size).toBe(20);
    const logged = service.logLines.map((line) => JSON.parse(line).correlationId).filter((id) => ids.includes(id));
    expect(new Set(logged).size).toBe(20);
  });

  it('is refused, and not echoed, if it is empty, too long or more than one word', async () => {
    for (const id of ['', 'a b', 'a"b', 'ä', 'x'.repeat(129), 'a\\b', 'a,b', '<script>']) {
      const answer = await service.app.inject({ url: '/health/live', headers: { [HEADER]: id } });
      expect([id, answer.statusCode]).toEqual([id, 400]);
      expect(answer.json().status.message).toMatch(/^header x-correlation-id: expected 1 to 128 ASCII characters/);
      expect(answer.headers[HEADER]).toMatch(UUID);
    }
  });

  it('is stored with what the request starts: its transaction of operations', async () => {
    const operation = {
      operation: 'Abs',
      input: [{ timeseriesId: 'a', metric: 'Raw' }],
      output: [{ timeseriesId: 'a', metric: 'Abs' }],
      parameters: {},
    };
    const payload = [{ metric: 'Abs', processingType: 'stream', operations: [operation] }];
    const request = { method: 'POST', url: '/operations', headers: { ...headers, [HEADER]: 'order-66' } } as const;
    const { data } = (await service.app.inject({ ...request, payload })).json();
    const answer = await service.app.inject({ url: `/core/status/${data.id}`, headers });
    expect(answer.json().data.correlationId).toBe('order-66');
  });

  it('is in log lines of the plugin too, where the host numbers its requests itself', async () => {
    const lines: string[] = [];
    const log = pino({ level: 'trace' }, { write: (line) => lines.push(line) });
    const host = fastify({ loggerInstance: log, pluginTimeout: 0 });
    await host.register(windrowService, { storage: service.service.context.storage, prefix: '/windrow' });
    const answer = await host.inject({ url: '/windrow/health/live', headers: { [HEADER]: 'of-the-caller' } });
    expect([answer.statusCode, answer.headers[HEADER]]).toEqual([200, 'of-the-caller']);
    const answered = lines.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'answered');
    expect(answered).toMatchObject({ correlationId: 'of-the-caller', path: '/windrow/health/live' });
    await host.close();
  });
});
