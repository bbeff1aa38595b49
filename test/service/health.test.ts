import parse from 'parse-prometheus-text-format';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOverload } from '../../src/service/http/limits.js';
import { StorageError, StorageFullError } from '../../src/storage/errors.js';
import { openSqliteStorage } from '../../src/storage/index.js';
import { IDENTITY_SHARD, SHARD_COUNT } from '../../src/storage/shard.js';
import type { Transaction } from '../../src/storage/storage.js';
import { secrets } from '../../src/storage/tables/identity.js';
import { itemWork } from '../../src/storage/tables/operations.js';
import { compactNow } from '../storage/samples/compact-now.js';
import { openTestService, type TestService } from './app.js';
import { failingStorage, type Trouble } from './failing-storage.js';

let trouble: Trouble;
let service: TestService;
let headers: { authorization: string };

beforeEach(async () => {
  trouble = {};
  service = await openTestService({
    storage: async (directory, clock) => failingStorage(await openSqliteStorage({ directory, clock }), trouble),
  });
  headers = await service.bearer(await service.addClient({ organisation: 'acme' }));
});

afterEach(async () => {
  Object.assign(trouble, { read: undefined, write: undefined });
  await service.close();
});

const THREE = [1, 2, 3].map((second) => ({
  timeseriesId: 'three',
  timestamp: `2026-01-01T00:00:0${second}Z`,
  val: second,
}));
const get = (url: string) => service.app.inject({ url, headers });
const post = (val: number) =>
  service.app.inject({
    method: 'POST',
    url: '/core/samples',
    headers,
    payload: [{ timeseriesId: 'a', timestamp: '2026-01-01T00:00:00Z', val }],
  });

/** Whether the key of continuation tokens is stored. */
const hasKey = () =>
  service.service.context.storage.read(IDENTITY_SHARD, async (tx) => (await tx.find(secrets)).length > 0);

describe('health', () => {
  it('/health/live says that the process answers, whatever the state of the store', async () => {
    trouble.read = new Error('no disk');
    const answer = await get('/health/live');
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      { status: { message: '', code: '200' }, data: { state: 'live' } },
    ]);
  });

  it('/health/ready is 503 with Retry-After while the store fails, and 200 again afterwards', async () => {
    expect((await get('/health/ready')).json()).toEqual({
      status: { message: '', code: '200' },
      data: { state: 'ready' },
    });
    trouble.read = new Error('no disk');
    const failed = await get('/health/ready');
    expect([failed.statusCode, failed.headers['retry-after']]).toEqual([503, '5']);
    expect(failed.json().status).toEqual({ code: '503', message: 'the store refuses reads or writes' });
    trouble.read = undefined;
    expect((await get('/health/ready')).statusCode).toBe(200);
  });

  it('once a stop has begun, new requests and /health/ready are 503; /health/live and /metrics answer', async () => {
    await service.service.stop();
    for (const url of ['/health/ready', '/core/timeseries', '/openapi.json']) {
      const answer = await get(url);
      expect([url, answer.statusCode, answer.headers['retry-after']]).toEqual([url, 503, '5']);
      expect(answer.json().status).toEqual({ code: '503', message: 'the service is stopping; try again later' });
    }
    expect((await get('/health/live')).statusCode).toBe(200);
    expect((await get('/metrics')).statusCode).toBe(200);
  });
});

describe('7.2: 503', () => {
  it('a full disk refuses writes but not reads; writes work again once there is room', async () => {
    expect((await post(1)).statusCode).toBe(200);
    trouble.write = new StorageFullError('the store: the disk is full', 'reads, tokens and deletions');
    const refused = await post(2);
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '5']);
    expect(refused.json().status.message).toBe(
      'the disk of the service is full: nothing was written; reads, tokens and deletions still work',
    );
    const read = await get('/core/timeseries/a/samples');
    expect(read.json().data.map(({ val }: { val: number }) => val)).toEqual([1]);
    trouble.write = undefined;
    expect((await post(3)).statusCode).toBe(200);
    expect((await get('/core/timeseries/a/samples')).json().data[0].val).toBe(3);
  });

  it('a full disk refuses no page of a list, even if the list is the first that has pages', async () => {
    const payload = [0, 1].map((timestamp) => ({ timeseriesId: 'a', timestamp, val: timestamp }));
    await service.app.inject({ method: 'POST', url: '/core/samples', headers, payload });
    await expect.poll(hasKey).toBe(true);
    trouble.write = new StorageFullError('the store: the disk is full', 'reads');
    const page = await get('/core/timeseries/a/samples?limit=1');
    expect(page.statusCode).toBe(200);
    const { continuationToken } = page.json().paging;
    const next = await service.app.inject({
      url: '/core/timeseries/a/samples?limit=1',
      headers: { ...headers, continuationtoken: continuationToken },
    });
    expect([next.statusCode, next.json().data.length]).toEqual([200, 1]);
  });

  it('a full disk without space set aside for tokens and deletions is not said to take them', async () => {
    trouble.write = new StorageFullError('the store: the disk is full', 'reads');
    expect((await post(1)).json().status.message).toBe(
      'the disk of the service is full: nothing was written; reads still work',
    );
  });

  it('a process whose store a newer version has upgraded refuses requests, says so, and is not ready', async () => {
    const error = new StorageError('storage.newer', 'the store at postgres://secret: a newer windrow has upgraded it');
    trouble.read = error;
    trouble.write = error;
    const message = 'a newer version has upgraded the store of the service; this process has to be replaced by it';
    for (const answer of [await post(1), await get('/core/timeseries')]) {
      expect([answer.statusCode, answer.json().status.message]).toEqual([503, message]);
    }
    const ready = await get('/health/ready');
    expect([ready.statusCode, ready.json().status.message]).toEqual([503, message]);
    expect((await get('/health/live')).statusCode).toBe(200);
  });

  it('7.2: a 500 reveals nothing of its cause; the log has all of it under the correlation id', async () => {
    trouble.write = new Error('a secret of ours');
    const answer = await post(1);
    expect([answer.statusCode, answer.body.includes('secret')]).toEqual([500, false]);
    const lines = service.logLines.map((line) => JSON.parse(line));
    const line = lines.find(({ correlationId, err }) => correlationId === answer.headers['x-correlation-id'] && err);
    expect(line).toMatchObject({ level: 50, err: { message: 'a secret of ours' } });
  });

  it('is one line in the log, with its reason and no stack, however many there are', async () => {
    trouble.write = new StorageFullError('the store: the disk is full', 'reads');
    const before = service.logLines.length;
    const refused = [await post(1), await post(2)];
    const token = await service.app.inject({
      method: 'POST',
      url: '/idm/ims/connect/token',
      headers: { authorization: 'Basic YTpi', 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'grant_type=client_credentials&scope=core_read',
    });
    expect([...refused, token].map(({ statusCode }) => statusCode)).toEqual([503, 503, 503]);
    const lines = service.logLines.slice(before).map((line) => JSON.parse(line));
    const ids = [...refused, token].map(({ headers: { 'x-correlation-id': id } }) => id);
    expect(lines.filter(({ correlationId }) => ids.includes(correlationId))).toEqual(
      ids.map((correlationId) =>
        expect.objectContaining({ correlationId, level: 40, statusCode: 503, reason: 'the store: the disk is full' }),
      ),
    );
  });

  it('background work says in the log that the disk is full, in a sentence without a stack', async () => {
    const input = [{ timeseriesId: 'a', metric: 'Raw' }];
    const step = { operation: 'Mul', input, output: [{ timeseriesId: 'a', metric: 'B' }], parameters: { scalar: 2 } };
    const payload = [{ metric: 'B', processingType: 'stream', operations: [step] }];
    const registered = await service.app.inject({ method: 'POST', url: '/operations', headers, payload });
    expect(registered.statusCode).toBe(202);
    expect((await post(1)).statusCode).toBe(200);
    trouble.write = new StorageFullError('the store: the disk is full', 'reads');
    const logged = () => service.logLines.map((line) => JSON.parse(line));
    const isTold = () => {
      service.clock.advance(1000);
      const told = logged().find(({ msg }) => msg === 'no results are computed now');
      return told?.reason === trouble.write?.message;
    };
    await expect.poll(isTold, { interval: 10 }).toBe(true);
    expect(logged().filter(({ err }) => err !== undefined)).toEqual([]);
  });

  it('overload is an event loop late at two consecutive checks, not one stall that is over', () => {
    const look = createOverload(2000);
    const delaysMs = [9000, 0, 2001, 2000, 3000, 2001, 5000, 1999, 9000, 0];
    const overloads = [false, false, false, false, false, true, true, false, false, false];
    expect(delaysMs.map(look)).toEqual(overloads);
  });

  it('a check before which no delay was measured changes nothing', () => {
    const look = createOverload(2000);
    const delaysMs = [3000, Number.NaN, 3000, Number.NaN, 3000, 0, Number.NaN, 3000];
    expect(delaysMs.map(look)).toEqual([false, false, true, true, true, false, false, false]);
  });

  it('an overloaded process answers 503 with Retry-After, except on health and metrics', async () => {
    await service.close();
    service = await openTestService({ settings: { eventLoopDelayMsMax: 1 } });
    headers = await service.bearer(await service.addClient({ organisation: 'acme' }));
    // The delay is checked once a second, so the loop is kept busy until a check has seen it.
    const isRefused = async (): Promise<boolean> => {
      const endMs = performance.now() + 100;
      while (performance.now() < endMs);
      await new Promise((resolve) => setTimeout(resolve, 1));
      service.clock.advance(1000);
      return (await get('/core/timeseries')).statusCode === 503;
    };
    await expect.poll(isRefused, { interval: 0 }).toBe(true);
    const answers = await Promise.all(['/core/timeseries', '/health/live', '/health/ready', '/metrics'].map(get));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([503, 200, 200, 200]);
    expect(answers[0]!.headers['retry-after']).toBe('5');
    expect(answers[0]!.json().status.message).toBe('the service is overloaded; try again later');
  });
});

describe('/metrics', () => {
  it('has what operators need: failed and late items, backlog, followers, store errors', async () => {
    await service.close();
    service = await openTestService();
    headers = await service.bearer(await service.addClient({ organisation: 'acme' }));
    const figures = async () => {
      const families = parse((await get('/metrics')).body);
      return new Map(families.map(({ name, metrics }) => [name, Number(metrics[0]?.value ?? 0)]));
    };
    await post(1);
    const { storage, clock } = service.service.context;
    await storage.transaction(7, async (tx) => {
      const work = { organisation: 'acme', dueMs: clock.nowMs() };
      await tx.insert(itemWork, { ...work, itemId: 'a', attemptCount: 1 });
      await tx.insert(itemWork, { ...work, itemId: 'b', attemptCount: 0, dueMs: clock.nowMs() + 1000 });
    });
    await expect(
      storage.transaction(7, async () => {
        throw new StorageFullError('the store: the disk is full', 'reads');
      }),
    ).rejects.toThrow();
    const found = await figures();
    for (const name of ['items_failed', 'followers', 'compacted_commits', 'compaction_errors_total']) {
      expect([name, found.has(`windrow_${name}`)]).toEqual([name, true]);
    }
    expect(found.get('windrow_items_late')).toBe(1);
    expect(found.get('windrow_items_retrying')).toBe(1);
    expect(found.get('windrow_compaction_backlog_commits')).toBeGreaterThan(0);
    expect(found.get('windrow_store_errors_total')).toBe(1);
    const { samples } = service.service.context;
    for (let shard = 0; shard < SHARD_COUNT; shard++) {
      const compact = (tx: Transaction) => compactNow(samples, tx, tx.lastCommit, { isDue: true });
      while (await storage.transaction(shard, compact));
    }
    // Though compaction has committed since, too.
    expect((await figures()).get('windrow_compaction_backlog_commits')).toBe(0);
  });

  it('does not wait for a database that does not answer: what it tells is NaN', async () => {
    await service.close();
    let silence = Promise.resolve();
    service = await openTestService({
      storage: async (directory, clock) => {
        const storage = failingStorage(await openSqliteStorage({ directory, clock }), {});
        return { ...storage, read: (shard, work) => silence.then(() => storage.read(shard, work)) };
      },
    });
    let end = () => {};
    silence = new Promise((resolve) => {
      end = resolve;
    });
    const answering = get('/metrics');
    const isAnswered = async () => {
      service.clock.advance(1000);
      return Promise.race([answering.then(() => true), new Promise((resolve) => setTimeout(resolve, 20))]);
    };
    await expect.poll(isAnswered).toBe(true);
    end();
    const { statusCode, body } = await answering;
    expect([statusCode, /^windrow_items_failed (.*)$/m.exec(body)?.[1]]).toEqual([200, 'Nan']);
    expect(body).toMatch(/^windrow_commits_total \d/m);
  });

  it('parses as Prometheus text, and counts what was done', async () => {
    await post(1);
    await get('/core/timeseries/a/samples');
    // The page looks one sample ahead, which is not given.
    await service.app.inject({ method: 'POST', url: '/core/samples', headers, payload: THREE });
    await get('/core/timeseries/three/samples?limit=2');
    await get('/core/timeseries/none/samples');
    await get('/nowhere/at/all');
    const answer = await get('/metrics');
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
    const families = new Map(parse(answer.body).map((family) => [family.name, family]));
    const figure = (name: string) => Number(families.get(name)?.metrics[0]?.value);
    const counters = ['samples_ingested', 'samples_read', 'events_written', 'tokens_issued', 'commits'];
    for (const name of counters) expect(families.get(`windrow_${name}_total`)?.type).toBe('COUNTER');
    expect(figure('windrow_samples_ingested_total')).toBe(4);
    expect(figure('windrow_samples_read_total')).toBe(3);
    expect(figure('windrow_commits_total')).toBeGreaterThan(0);
    for (const name of ['process_cpu_seconds_total', 'nodejs_eventloop_lag_seconds', 'process_resident_memory_bytes']) {
      expect(families.has(name)).toBe(true);
    }
    const times = families.get('windrow_http_request_duration_seconds');
    expect(times?.type).toBe('HISTOGRAM');
    // The parser drops the labels of a histogram, so its counts are read from the text.
    const lines = answer.body
      .split('\n')
      .filter((line) => line.startsWith('windrow_http_request_duration_seconds_count'));
    const [counts] = parse(`${lines.join('\n')}\n`);
    const counted = counts?.metrics.map(({ labels, value }) => [labels?.method, labels?.route, labels?.status, value]);
    expect(counted).toEqual(
      expect.arrayContaining([
        ['POST', '/core/samples', '200', '2'],
        ['GET', '/core/timeseries/:timeseriesId/samples', '200', '2'],
        ['GET', '/core/timeseries/:timeseriesId/samples', '404', '1'],
        ['GET', 'unknown', '404', '1'],
      ]),
    );
    // The number of series and paths must not add labels, as Prometheus keeps each for ever.
    expect(answer.body).not.toContain('nowhere');
  });
});
