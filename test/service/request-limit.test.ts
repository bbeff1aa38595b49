import fastify from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LIMIT_HEADERS } from '../../src/service/http/limits.js';
import { windrowService } from '../../src/service/index.js';
import { StorageError } from '../../src/storage/errors.js';
import { openSqliteStorage } from '../../src/storage/index.js';
import { IDENTITY_SHARD } from '../../src/storage/shard.js';
import type { Reader } from '../../src/storage/storage.js';
import { throttles } from '../../src/storage/tables/identity.js';
import { openTestService, type TestService } from './app.js';
import { failingStorage } from './failing-storage.js';

const MAX = 5;
let service: TestService;

beforeEach(async () => {
  service = await openTestService({ settings: { requestsPerMinuteMax: MAX } });
});

afterEach(() => service.close());

const bearerOf = async () => service.bearer(await service.addClient({ organisation: 'acme' }));

async function statuses(count: number, headers: Record<string, string>): Promise<number[]> {
  const all = [];
  for (let i = 0; i < count; i++) all.push((await service.app.inject({ url: '/core/timeseries', headers })).statusCode);
  return all;
}

const ok = (count: number): number[] => Array(count).fill(200);

describe('7.2: 429', () => {
  it('a client may send requestsPerMinuteMax requests a minute, then is told when to retry', async () => {
    const headers = await bearerOf();
    expect(await statuses(MAX, headers)).toEqual(ok(MAX));
    service.clock.advance(20_000);
    const answer = await service.app.inject({ url: '/core/timeseries', headers });
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([429, '40']);
    expect(LIMIT_HEADERS.map((name) => answer.headers[name])).toEqual([String(MAX), '0', '40']);
    expect(answer.json()).toEqual({
      status: { code: '429', message: 'too many requests: at most 5 a minute; try again in 40 seconds' },
      data: {},
    });
    service.clock.advance(40_000);
    expect(await statuses(1, headers)).toEqual([200]);
  });

  it('counts on after the clock was set back by a day, over restarts too', async () => {
    const headers = await bearerOf();
    expect(await statuses(1, headers)).toEqual(ok(1));
    service.clock.advance(1000);
    await service.service.context.storage.check();
    service.clock.setWall(service.clock.nowMs() - 24 * 60 * 60_000);
    for (let i = 0; i < MAX; i++) {
      expect(await statuses(1, headers)).toEqual([200]);
      // The counts are exchanged.
      service.clock.advance(1000);
      await service.service.context.storage.check();
    }
    expect(await statuses(1, headers)).toEqual([429]);
    await service.reopen();
    expect(await statuses(1, headers)).toEqual([429]);
  });

  it('each client has its own count; health and metrics are not counted', async () => {
    const [one, other] = [await bearerOf(), await bearerOf()];
    expect(await statuses(MAX + 1, one)).toEqual([...ok(MAX), 429]);
    expect(await statuses(MAX, other)).toEqual(ok(MAX));
    const health = [];
    for (let i = 0; i <= MAX; i++) health.push((await service.app.inject({ url: '/health/live' })).statusCode);
    expect(health).toEqual(ok(MAX + 1));
  });

  it('a count that could not be read refuses one request, not all of the minute', async () => {
    let isAway = false;
    await service.close();
    service = await openTestService({
      settings: { requestsPerMinuteMax: MAX },
      storage: async (directory, clock) => {
        const storage = failingStorage(await openSqliteStorage({ directory, clock }), {});
        const failing = (tx: Reader): Reader =>
          new Proxy(tx, {
            get: (target, name) => {
              if (isAway && name === 'get') return getButCounts(target);
              const member: unknown = Reflect.get(target, name, target);
              return typeof member === 'function' ? member.bind(target) : member;
            },
          });
        const getButCounts =
          (tx: Reader): Reader['get'] =>
          async (table, key) => {
            if (table.name !== throttles.name) return tx.get(table, key);
            isAway = false;
            throw new StorageError('storage.failed', 'the database is away');
          };
        const read: typeof storage.read = (shard, work) => storage.read(shard, (tx) => work(failing(tx)));
        return { ...storage, read };
      },
    });
    const headers = await bearerOf();
    expect(await statuses(1, headers)).toEqual([200]);
    service.clock.advance(60_000);
    isAway = true;
    expect(await statuses(3, headers)).toEqual([503, 200, 200]);
  });

  it('a body is not read once the limit is exceeded', async () => {
    const headers = await bearerOf();
    await statuses(MAX, headers);
    const payload = [{ timeseriesId: 'a', timestamp: '2026-01-01T00:00:00Z', val: 1 }];
    const request = { method: 'POST', url: '/core/samples', payload } as const;
    expect((await service.app.inject({ ...request, headers })).statusCode).toBe(429);
    expect(await statuses(1, await bearerOf())).toEqual([200]);
    const read = await service.app.inject({ url: '/core/timeseries/a/samples', headers: await bearerOf() });
    expect(read.statusCode).toBe(404);
  });

  it('counts survive a restart', async () => {
    const headers = await bearerOf();
    await statuses(MAX - 1, headers);
    await service.reopen();
    expect(await statuses(2, headers)).toEqual([200, 429]);
  });

  it('processes of one store share the counts', async () => {
    const headers = await bearerOf();
    const { storage } = service.service.context;
    const other = fastify({ pluginTimeout: 0 });
    const { clock } = service;
    const settings = { requestsPerMinuteMax: MAX, eventLoopDelayMsMax: 0 };
    await other.register(windrowService, { storage, clock, scheduler: clock.scheduler, settings });
    expect(await statuses(3, headers)).toEqual(ok(3));
    clock.advance(1000);
    await expect.poll(() => storage.read(IDENTITY_SHARD, (tx) => tx.count(throttles))).toBe(1);
    const there = [];
    for (let i = 0; i < 3; i++) there.push((await other.inject({ url: '/core/timeseries', headers })).statusCode);
    expect(there).toEqual([200, 200, 429]);
    await other.close();
  });
});
