import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ServiceContext } from '../../../src/service/context.js';
import { Feeds, Subscription } from '../../../src/service/timeseries/read/feed.js';
import { follow as followSeries } from '../../../src/service/timeseries/read/follow.js';
import type { Reader } from '../../../src/storage/storage.js';
import { openTestService, type TestService } from '../app.js';
import { type EventReader, type ReceivedEvent, readEvents } from '../server-sent-events.js';
import { post } from '../token/requests.js';

const START_MS = Date.UTC(2026, 0, 1);
const EMPTY = { samples: [] };

let service: TestService;
let url: string;
let clientId: string;
let headers: { authorization: string };
const readers: EventReader[] = [];

beforeEach(async () => {
  service = await openTestService();
  url = await service.app.listen({ port: 0 });
  ({ clientId } = await service.addClient({ organisation: 'acme' }));
  headers = await service.bearer({ clientId });
  await write([row('a', 0, 0)]);
});

afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.close().catch(() => undefined);
  await service.close();
});

const row = (timeseriesId: string, minute: number, val: number) => ({
  timeseriesId,
  timestamp: new Date(START_MS + minute * 60_000).toISOString(),
  val,
});

async function write(rows: readonly object[], as = headers): Promise<void> {
  const request = { method: 'POST', url: '/core/samples', headers: as, payload: rows } as const;
  expect((await service.app.inject(request)).statusCode).toBe(200);
}

async function follow(path: string, lastEventId?: string, as = headers): Promise<EventReader> {
  const id = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  const answer = await fetch(url + path, { headers: { ...as, ...id } });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  const reader = readEvents(answer.body!);
  readers.push(reader);
  return reader;
}

/** The commit in the id of an event. */
function commitIn(lastEventId: string): number {
  expect(lastEventId).toMatch(/^[0-9a-f]{8}-\d+:\d+$/);
  return Number(lastEventId.split(':')[1]);
}

async function take(reader: EventReader, count: number): Promise<ReceivedEvent[]> {
  const events = [];
  for (let i = 0; i < count; i++) events.push((await reader.next())!);
  return events;
}

describe('samples are followed as server-sent events', () => {
  it('the first event says where following starts, then each commit what it changed', async () => {
    const reader = await follow('/core/timeseries/a/live');
    const [first] = await take(reader, 1);
    expect([first!.type, first!.data]).toEqual(['samples', EMPTY]);
    await write([row('a', 1, 1.5), row('other', 1, 9)]);
    await write([row('a', 0, -2)]);
    const events = await take(reader, 2);
    const samples = (minute: number, val: number) => {
      const { timestamp } = row('', minute, 0);
      return { timeseriesId: 'a', metric: 'Raw', samples: [{ timestamp, val }] };
    };
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ['samples', samples(1, 1.5)],
      ['samples', samples(0, -2)],
    ]);
    const ids = [first!, ...events].map(({ lastEventId }) => commitIn(lastEventId));
    expect(ids).toEqual([ids[0], ids[0]! + 1, ids[0]! + 2]);
  });

  it('every value comes bit for bit, -0 too', async () => {
    const values = [-0, 0, 5e-324, -1.7976931348623157e308, 1e21, 1e-7, 0.1];
    const reader = await follow('/core/timeseries/a/live');
    await take(reader, 1);
    const rows = values.map((val, minute) => JSON.stringify(row('a', minute, val)));
    const payload = `[${rows.join(',').replace('"val":0}', '"val":-0}')}]`;
    const type = { 'content-type': 'application/json' };
    await service.app.inject({ method: 'POST', url: '/core/samples', headers: { ...headers, ...type }, payload });
    const [event] = await take(reader, 1);
    expect(event!.data.samples.map(({ val }) => val)).toEqual(values);
  });

  it('a deletion has its range', async () => {
    const reader = await follow('/core/timeseries/a/live');
    await take(reader, 1);
    const path = '/core/timeseries/a/samples';
    const range = '?startTime=2026-01-01T00:00:00Z&endTime=2026-01-01T01:00:00Z';
    await service.app.inject({ method: 'DELETE', url: path + range, headers });
    await write([row('a', 0, 1)]);
    await service.app.inject({ method: 'DELETE', url: `${path}?all=true`, headers });
    const [deleted, written, all] = await take(reader, 3);
    const times = { startTime: '2026-01-01T00:00:00.000Z', endTime: '2026-01-01T01:00:00.000Z' };
    expect(deleted!.data).toEqual({ timeseriesId: 'a', metric: 'Raw', deleted: times, samples: [] });
    expect(written!.data.samples).toHaveLength(1);
    expect(all!.data.deleted).toEqual({ startTime: null, endTime: null });
  });

  it('wherever the connection breaks, Last-Event-ID resumes: nothing that was written is missed', async () => {
    const series = ['a', 'b', 'c'];
    await write(series.map((id) => row(id, 0, 0)));
    const path = `/core/samples/live?timeseries_ids=${series.join(',')}`;
    const start = await follow(path);
    const [{ lastEventId }] = (await take(start, 1)) as [ReceivedEvent];
    // A commit of several series and of more samples than one event holds, between small ones.
    await write(series.map((id) => row(id, 1, 1)));
    await write(Array.from({ length: 12_000 }, (_, i) => row('b', i + 2, i)).concat([row('c', 2, 2)]));
    await write([row('a', 2, 2)]);
    const seenWith = async (breaks: number): Promise<Map<string, number>> => {
      const seen = new Map<string, number>();
      let id = lastEventId;
      const wanted = 3 + 12_000 + 1 + 1;
      for (let connection = 0; seen.size < wanted; connection++) {
        expect(connection).toBeLessThan(40);
        const reader = await follow(path, id);
        await take(reader, 1);
        // Each connection lasts for more events than the one before, so that the large commit gets through in the end.
        for (let i = 0; i < breaks + connection && seen.size < wanted; i++) {
          const event = await reader.next();
          for (const { timestamp, val } of event!.data.samples)
            seen.set(`${event!.data.timeseriesId} ${timestamp}`, val);
        }
        id = reader.lastEventId;
        await reader.close();
      }
      return seen;
    };
    const whole = await seenWith(1000);
    for (const breaks of [1, 2, 3]) expect(await seenWith(breaks)).toEqual(whole);
  });

  it('in quiet times a comment keeps the connection, and Last-Event-ID passes the writes of others', async () => {
    const reader = await follow('/core/timeseries/a/live');
    const [first] = await take(reader, 1);
    // Another series in the same shard.
    const { shardOf } = await service.service.context.placements.of('acme');
    const other = Array.from({ length: 1000 }, (_, i) => `other${i}`).find((id) => shardOf(id) === shardOf('a'))!;
    for (let i = 0; i < 3; i++) await write([row(other, i, i)]);
    const next = reader.next();
    await expect
      .poll(() => {
        service.clock.advance(16_000);
        return commitIn(reader.lastEventId);
      })
      .toBe(commitIn(first!.lastEventId) + 3);
    expect(reader.comments.length).toBeGreaterThan(0);
    await write([row('a', 5, 5)]);
    expect((await next)!.data.samples).toHaveLength(1);
  });

  it('ends when its token expires, and says so', async () => {
    const { tokenLifetimeS } = service.service.context.settings;
    const reader = await follow('/core/timeseries/a/live');
    await take(reader, 1);
    const next = reader.next();
    service.clock.advance(tokenLifetimeS * 1000);
    await expect
      .poll(async () => {
        service.clock.advance(16_000);
        return Promise.race([next.then((event) => event?.type), new Promise((resolve) => setTimeout(resolve, 20))]);
      })
      .toBe('stop');
    expect((await next)!.data.reason).toMatch(/access token has ended/);
    expect(await reader.next()).toBeUndefined();
  });

  it('gets no more samples soon after its token was revoked', async () => {
    const client = await service.addClient({ organisation: 'acme' });
    const own = await service.bearer(client);
    const reader = await follow('/core/timeseries/a/live', undefined, own);
    await take(reader, 1);
    const token = own.authorization.slice('Bearer '.length);
    expect((await post(service, 'revoke', client, { token })).statusCode).toBe(200);
    service.clock.advance(1000);
    await write([row('a', 1, 1)]);
    expect((await reader.next())!.type).toBe('stop');
    expect(await reader.next()).toBeUndefined();
  });

  it('a graceful stop sends every follower `stop`, then ends the stream', async () => {
    const followers = await Promise.all([
      follow('/core/timeseries/a/live'),
      follow('/core/samples/live?timeseries_ids=a'),
    ]);
    for (const reader of followers) await take(reader, 1);
    await service.service.stop();
    for (const reader of followers) {
      expect((await reader.next())!.type).toBe('stop');
      expect(await reader.next()).toBeUndefined();
    }
  });

  it('a follower of another organisation sees nothing of a series with the same name', async () => {
    const other = await service.bearer(await service.addClient({ organisation: 'rival' }));
    expect((await fetch(`${url}/core/timeseries/a/live`, { headers: other })).status).toBe(404);
    await write([row('a', 0, 1)], other);
    const reader = await follow('/core/timeseries/a/live', undefined, other);
    await take(reader, 1);
    await write([row('a', 1, 42)]);
    await write([row('a', 1, 7)], other);
    const [event] = await take(reader, 1);
    expect(event!.data.samples[0]!.val).toBe(7);
  });

  it('an id that is not from the stream is refused', async () => {
    const answer = await fetch(`${url}/core/timeseries/a/live`, { headers: { ...headers, 'last-event-id': 'x' } });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      status: { message: 'header Last-Event-ID: expected the id of an event of a stream, received "x"' },
    });
  });

  it('an id beyond all commits, as of another shard, or of another store begins anew and says so first', async () => {
    const [{ lastEventId }] = (await take(await follow('/core/timeseries/a/live'), 1)) as [ReceivedEvent];
    const [, store = '', shard = '', commit = ''] = /^(.*)-(.*):(.*)$/.exec(lastEventId)!;
    const other = store === '00000000' ? '11111111' : '00000000';
    const ofOthers = [`${other}-${shard}:999999`, `${other}-${shard}:${commit}`, `${other}-${shard}:0`];
    const ofStreams = [`${store}-${Number(shard) + 1}:${commit}`, `${lastEventId}.1:0`];
    // Versions before wrote ids without a store, or without shards.
    const ofVersions = [commit, '1.2', `${store}-${commit}`, `${store}-1.2.3`];
    for (const id of [`${store}-${shard}:999999`, ...ofOthers, ...ofStreams, ...ofVersions]) {
      const reader = await follow('/core/timeseries/a/live', id);
      const events = await take(reader, 2);
      expect(events.map(({ type }) => type)).toEqual(['reset', 'samples']);
      expect(events.map((event) => commitIn(event.lastEventId) >= commitIn(lastEventId))).toEqual([true, true]);
      await write([row('a', 1, 1.5)]);
      const [next] = await take(reader, 1);
      expect(next!.data).toMatchObject({ samples: [{ val: 1.5 }] });
    }
  });

  it('an id of a stream of another group does not continue this one in silence', async () => {
    const own = await service.bearer(await service.addClient({ organisation: 'spread', groups: 4 }));
    const { shardOf } = await service.service.context.placements.of('spread');
    const names = Array.from({ length: 50 }, (_, i) => `s${i}`);
    const there = names.find((name) => shardOf(name) !== shardOf('s0'))!;
    for (const name of ['s0', there]) await write([row(name, 0, 1)], own);
    for (let i = 1; i < 10; i++) await write([row(there, i, i)], own);
    const [first] = await take(await follow(`/core/timeseries/${there}/live`, undefined, own), 1);
    for (let i = 1; i < 20; i++) await write([row('s0', i, i)], own);
    const [event] = await take(await follow('/core/timeseries/s0/live', first!.lastEventId, own), 1);
    expect(event!.type).toBe('reset');
  });

  it('followers that disconnect leave nothing behind', async () => {
    const { storage } = service.service.context;
    let listeners = 0;
    const { onCommit } = storage;
    storage.onCommit = (listener) => {
      listeners++;
      const remove = onCommit.call(storage, listener);
      return () => {
        listeners--;
        remove();
      };
    };
    const followers = await Promise.all(Array.from({ length: 20 }, () => follow('/core/timeseries/a/live')));
    for (const reader of followers) await take(reader, 1);
    // One listener for all followers of a shard.
    expect(listeners).toBe(1);
    for (const reader of followers) await reader.close();
    await expect.poll(() => listeners).toBe(0);
  });

  it('a store that does not answer is not asked again for its last commit', async () => {
    const { storage, settings } = service.service.context;
    await take(await follow('/core/timeseries/a/live'), 1);
    const { lastCommit } = storage;
    const answers: (() => void)[] = [];
    storage.lastCommit = (shard) =>
      new Promise((resolve) => answers.push(() => resolve(lastCommit.call(storage, shard))));
    // For less time than after which its token is looked up.
    service.clock.advance(10 * settings.pollIntervalMs);
    expect(answers).toHaveLength(1);
    answers[0]!();
    await expect
      .poll(() => {
        service.clock.advance(settings.pollIntervalMs);
        return answers.length;
      })
      .toBeGreaterThan(1);
  });

  it('a hundred series and fifty followers: each gets its own, in order', async () => {
    const ids = Array.from({ length: 100 }, (_, i) => `s${i}`);
    await write(ids.map((id) => row(id, 0, 0)));
    const followers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => follow(`/core/samples/live?timeseries_ids=${ids[i]},${ids[i + 50]}`)),
    );
    for (const reader of followers) await take(reader, 1);
    const { body } = await service.app.inject({ url: '/metrics', headers });
    expect(body).toMatch(/^windrow_followers 50$/m);
    for (let minute = 1; minute <= 5; minute++) await write(ids.map((id, i) => row(id, minute, i)));
    for (const [i, reader] of followers.entries()) {
      const events = await take(reader, 10);
      const pair = [ids[i]!, ids[i + 50]!];
      const { shardOf } = await service.service.context.placements.of('acme');
      const isOfOneShard = shardOf(pair[0]!) === shardOf(pair[1]!);
      const seen = events.map(({ data }) => `${data.samples[0]!.timestamp} ${data.timeseriesId}`);
      const expected = Array.from({ length: 5 }, (_, k) =>
        pair.map((id) => `${row(id, k + 1, 0).timestamp} ${id}`),
      ).flat();
      // Changes from several shards are in order per shard.
      if (isOfOneShard) expect(seen).toEqual(expected);
      for (const id of pair) {
        const ofId = (texts: readonly string[]) => texts.filter((text) => text.endsWith(` ${id}`));
        expect(ofId(seen)).toEqual(ofId(expected));
      }
    }
  });

  it('the log is read when a followed series changes, once for all its followers, and not for others', async () => {
    const COUNT = 40;
    const { samples } = service.service.context;
    let [reads, found] = [0, 0];
    const changesAfter = samples.changesAfter.bind(samples);
    Object.assign(samples, {
      changesAfter: async (...given: Parameters<typeof changesAfter>) => {
        reads++;
        const read = await changesAfter(...given);
        found += read.changes.length;
        return read;
      },
    });
    // Another series in the same shard.
    const { shardOf } = await service.service.context.placements.of('acme');
    const other = Array.from({ length: 1000 }, (_, i) => `other${i}`).find((id) => shardOf(id) === shardOf('a'))!;
    for (let i = 0; i < COUNT; i++) await take(await follow('/core/timeseries/a/live'), 1);
    for (let i = 0; i < 30; i++) await write([row(other, i, i)]);
    expect([reads, found]).toEqual([0, 0]);
    await write([row('a', 5, 5), row(other, 5, 5)]);
    for (const reader of readers) expect((await take(reader, 1))[0]!.data).toMatchObject({ timeseriesId: 'a' });
    expect([reads, found]).toEqual([1, 1]);
  });

  describe('a follower that joins', () => {
    let aborting: AbortController;
    const joined: AsyncGenerator<string>[] = [];
    beforeEach(() => {
      aborting = new AbortController();
    });
    afterEach(async () => {
      aborting.abort();
      for (const events of joined.splice(0)) for await (const _ of events);
    });
    const join = async (
      context: ServiceContext,
      feeds: Feeds,
      timeseriesId: string,
      lastEventId?: string,
      isAllowed = async () => true,
    ) => {
      const references = [{ timeseriesId, metric: 'Raw' }];
      const { signal } = aborting;
      const follower = { organisation: 'acme', references, lastEventId, store, signal, isAllowed };
      const events = await followSeries(context, feeds, follower);
      joined.push(events);
      await events.next();
      return events;
    };
    const store = '0123abcd';
    const columns = { timeMs: Float64Array.of(START_MS + 1), value: Float64Array.of(7) };
    const change = (timeseriesId: string) => ({ timeseriesId, metric: 'Raw', ...columns });

    it('between a write and its commit gets the change', async () => {
      const { context } = service.service;
      const { storage, samples, placements } = context;
      const { shardOf } = await placements.of('acme');
      const other = Array.from({ length: 1000 }, (_, i) => `other${i}`).find((id) => shardOf(id) === shardOf('a'))!;
      const feeds = new Feeds(context);
      await join(context, feeds, other);
      const commit = await storage.lastCommit(shardOf('a'));
      const late = await storage.transaction(shardOf('a'), async (tx) => {
        await samples.append(tx, 'acme', [change('a')]);
        return join(context, feeds, 'a', `${store}-${shardOf('a')}:${commit}`);
      });
      expect((await late.next()).value).toContain('"val":7');
    });

    it('and falls behind gets no more once its token has ended, also of what was read for it before', async () => {
      const { storage, samples, placements } = service.service.context;
      const { home } = await placements.of('acme');
      const commit = await storage.lastCommit(home);
      for (let i = 0; i < 20; i++) await storage.transaction(home, (tx) => samples.append(tx, 'acme', [change('a')]));
      let nowMs = 0;
      const clock = { ...service.service.context.clock, monotonicMs: () => nowMs };
      const context = { ...service.service.context, clock };
      let isAllowed = true;
      const events = await join(context, new Feeds(context), 'a', `${store}-${home}:${commit}`, async () => isAllowed);
      for (let i = 0; i < 3; i++) expect((await events.next()).value).toContain('"val":7');
      isAllowed = false;
      expect((await events.next()).value).toContain('"val":7');
      nowMs += 1000;
      const id = `${store}-${home}:${commit + 4}`;
      expect((await events.next()).value).toBe(
        `id: ${id}\nevent: stop\ndata: {"reason":"the access token has ended; connect again with a new one"}\n\n`,
      );
      expect((await events.next()).done).toBe(true);
    });

    it('while its feed reads the log gets the change', async () => {
      const { storage, samples, placements } = service.service.context;
      const { home } = await placements.of('acme');
      let afterRead: (() => Promise<void>) | undefined;
      const read = async (shard: number, work: (tx: Reader) => Promise<unknown>) => {
        const result = await storage.read(shard, work);
        const then = afterRead;
        afterRead = undefined;
        await then?.();
        return result;
      };
      const context = { ...service.service.context, storage: Object.assign(Object.create(storage), { read }) };
      const feeds = new Feeds(context);
      await join(context, feeds, 'other');
      const commit = await storage.lastCommit(home);
      const late = new Promise<AsyncGenerator<string>>((resolve) => {
        afterRead = async () => resolve(await join(context, feeds, 'a', `${store}-${home}:${commit}`));
      });
      await storage.transaction(home, (tx) => samples.append(tx, 'acme', [change('a'), change('other')]));
      expect((await (await late).next()).value).toContain('"val":7');
    });
  });

  it('a refused Last-Event-ID leaves nothing behind', async () => {
    const { addEventListener, removeEventListener } = AbortSignal.prototype;
    let count = 0;
    AbortSignal.prototype.addEventListener = function (...listener: Parameters<typeof addEventListener>) {
      count++;
      addEventListener.apply(this, listener);
    };
    AbortSignal.prototype.removeEventListener = function (...listener: Parameters<typeof removeEventListener>) {
      count--;
      removeEventListener.apply(this, listener);
    };
    try {
      const request = { url: '/core/timeseries/a/live', headers: { ...headers, 'last-event-id': 'x' } };
      for (let i = 0; i < 5; i++) expect((await service.app.inject(request)).statusCode).toBe(400);
    } finally {
      Object.assign(AbortSignal.prototype, { addEventListener, removeEventListener });
    }
    expect(count).toBe(0);
  });

  it('nothing from before a reset comes after it', () => {
    const subscription = new Subscription('acme', [{ timeseriesId: 'a', metric: 'Raw' }], () => {});
    subscription.begin({ commit: 9 });
    const columns = { timeMs: Float64Array.of(1), value: Float64Array.of(2) };
    subscription.add({ organisation: 'acme', commit: 5, timeseriesId: 'a', metric: 'Raw', ...columns });
    subscription.reach(5, false, 0);
    subscription.reach(9, true, 1);
    expect(subscription.take(0)).toMatchObject({ changes: [], isForgotten: true, lastCommit: 9 });
  });
});
