import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { forgetSome } from '../../../src/service/events/forget.js';
import { countEvents } from '../../../src/service/events/store.js';
import { createAdministration } from '../../../src/service/identity/administration.js';
import { StorageError } from '../../../src/storage/errors.js';
import { backupStore, openSqliteStorage, restoreStore } from '../../../src/storage/index.js';
import { shardOf } from '../../../src/storage/shard.js';
import type { StorageClock } from '../../../src/storage/storage.js';
import { eventCounts, events as eventsTable } from '../../../src/storage/tables/events.js';
import { folderInMemory } from '../../folder-in-memory.js';
import { failingStorage } from '../failing-storage.js';
import { type Caller, type OpenedEvents, openEvents } from './opened.js';

const LIFETIME_S = 600;
const MINUTE_MS = 60_000;
const SHARD = shardOf('acme');

let events: OpenedEvents;
let caller: Caller;

beforeEach(async () => {
  events = await openEvents({ settings: { continuationLifetimeS: LIFETIME_S, tokenLifetimeS: 1e9 } });
  caller = await events.addCaller();
  await events.addCollection('main', caller);
});
afterEach(() => events.service.close());

const context = () => events.service.service.context;
const versionCount = () => context().storage.read(SHARD, (tx) => tx.count(eventsTable));
/** Moves only the wall clock, so that background work does not run and the test forgets by itself. */
const pass = (byMs: number) => events.service.clock.setWall(events.service.clock.nowMs() + byMs);
const forgetAll = async (): Promise<void> => {
  while (await forgetSome(context(), SHARD));
};

describe('old versions of events', () => {
  it('are kept as long as a token can ask for them, and then forgotten', async () => {
    await caller.post('main', [{ id: 'a', name: '1' }, { id: 'b' }, { id: 'c' }]);
    const first = await caller.list('main', '$orderby=id desc', { pagesize: '1' });
    const continuationtoken = String(first.body.paging.continuationToken);
    const next = () => caller.list('main', '$orderby=id desc', { continuationtoken });
    await caller.post('main', { id: 'a', name: '2' });
    await caller.send('DELETE', '/core/events/b', { ercollectionid: 'main' });
    expect(await versionCount()).toBe(4);

    pass(LIFETIME_S * 1000 - 1);
    await forgetAll();
    expect((await next()).body.data).toMatchObject([{ id: 'b' }, { id: 'a', name: '1' }]);
    const second = await caller.list('main', '$orderby=id desc', { continuationtoken, pagesize: '1' });
    const ofSecond = String(second.body.paging.continuationToken);

    pass(1);
    expect((await next()).body.status.message).toMatch(/the token has expired; start again without it/);
    // Later pages do not extend the life of what the first page saw.
    const third = await caller.list('main', '$orderby=id desc', { continuationtoken: ofSecond });
    expect(third.body.status.message).toMatch(/the token has expired/);
    pass(MINUTE_MS + 1);
    await forgetAll();
    expect(await versionCount()).toBe(2);
    const now = await caller.list('main', '$orderby=id&$select=id,name');
    expect(now.body).toMatchObject({
      data: [
        { id: 'a', name: '2' },
        { id: 'c', name: null },
      ],
      paging: { totalCount: 2 },
    });
  });

  it('that were forgotten are never silently missing from a page, whatever the clock was set to', async () => {
    const { clock } = events.service;
    await caller.post('main', [{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
    const first = await caller.list('main', '$orderby=id', { pagesize: '1' });
    const startMs = clock.nowMs();
    // The wall clock is a day back while b is deleted, so b seems to have been deleted a day ago.
    clock.setWall(startMs - 24 * 60 * MINUTE_MS);
    await caller.send('DELETE', '/core/events/b', { ercollectionid: 'main' });
    clock.setWall(startMs);
    await forgetAll();
    const continuationtoken = String(first.body.paging.continuationToken);
    const second = await caller.list('main', '$orderby=id', { continuationtoken });
    expect(second.statusCode).toBe(400);
    expect(second.body.status.message).toMatch(/the token has expired/);
    const later = await caller.list('main', '$orderby=id', { pagesize: '1' });
    const token = String(later.body.paging.continuationToken);
    expect((await caller.list('main', '$orderby=id', { continuationtoken: token })).body.data).toMatchObject([
      { id: 'c' },
    ]);
  });

  it.each([0, 5])('of a state that a restored backup lacks are not taken from %i commits since', async (count) => {
    const folder = folderInMemory('windrow-restored-');
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    let directory = join(folder, 'first');
    mkdirSync(directory);
    const storage = (_: string, clock: StorageClock) => openSqliteStorage({ directory, clock, reserveBytes: 0 });
    const { service, ...restored } = await openEvents({ storage });
    onTestFinished(() => service.close());
    const own = await restored.addCaller();
    await restored.addCollection('main', own);
    await own.post('main', [{ id: 'a' }, { id: 'b' }]);
    await backupStore(directory, join(folder, 'backup'), false);
    await own.post('main', [{ id: 'c' }]);
    const first = await own.list('main', '$orderby=id', { pagesize: '1' });
    const continuationtoken = String(first.body.paging.continuationToken);
    await restoreStore(join(folder, 'backup'), join(folder, 'second'), false);
    directory = join(folder, 'second');
    await service.reopen();
    for (let i = 0; i < count; i++) await own.post('main', [{ id: `since${i}` }]);
    const second = await own.list('main', '$orderby=id', { continuationtoken });
    expect(second.statusCode).toBe(400);
    expect(second.body.status.message).toMatch(/is not one of this service .*; start again without it/);
    expect((await own.list('main', '$orderby=id')).body.data).toHaveLength(2 + count);
  });

  it('are forgotten in commits of limited size', async () => {
    await caller.post(
      'main',
      Array.from({ length: 1200 }, (_, i) => ({ id: `e${i}` })),
    );
    await caller.post(
      'main',
      Array.from({ length: 1200 }, (_, i) => ({ id: `e${i}`, name: 'new' })),
    );
    pass(LIFETIME_S * 1000 + MINUTE_MS + 1);
    const counts: number[] = [];
    while (await forgetSome(context(), SHARD)) counts.push(await versionCount());
    expect(counts).toEqual([1900, 1400]);
    expect(await versionCount()).toBe(1200);
    expect((await caller.list('main', "$filter=name eq 'new'")).body.paging.totalCount).toBe(1200);
  });

  it('are forgotten in the background, again and again, until the service stops', async () => {
    const { clock } = events.service;
    for (const name of ['1', '2']) {
      await caller.post('main', { id: 'a', name });
      await caller.post('main', { id: 'a', name: `${name} again` });
      // In steps, as each round is scheduled when the one before it has ended.
      for (let minute = 0; minute < 1000 && (await versionCount()) > 1; minute++) {
        clock.advance(MINUTE_MS);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(await versionCount()).toBe(1);
    }
    await caller.post('main', { id: 'a', name: '3' });
    await events.service.service.stop();
    clock.advance(60 * MINUTE_MS);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await versionCount()).toBe(2);
  });

  it('of a removed collection are seen by pages under way, and not by a later collection', async () => {
    const administration = createAdministration(context());
    await caller.post('main', [{ id: 'a' }, { id: 'b' }]);
    const first = await caller.list('main', '$orderby=id', { pagesize: '1' });
    await administration.removeCollection({ organisation: 'acme', collectionId: 'main', clientIds: [] });
    const continuationtoken = String(first.body.paging.continuationToken);
    expect((await caller.list('main', '$orderby=id', { continuationtoken })).statusCode).toBe(403);
    await administration.addCollection({ organisation: 'acme', collectionId: 'main', clientIds: [caller.clientId] });
    expect((await caller.list('main')).statusCode).toBe(204);
    expect((await caller.list('main', '$orderby=id', { continuationtoken })).body.data).toMatchObject([{ id: 'b' }]);
    await caller.post('main', { id: 'a' });
    expect((await caller.list('main')).body.paging.totalCount).toBe(1);
  });

  it('of a removed collection end some at a time; what a failure left over ends with the next removal', async () => {
    const { storage } = context();
    const administration = createAdministration(context());
    const removal = { organisation: 'acme', collectionId: 'main', clientIds: [] };
    await caller.post(
      'main',
      Array.from({ length: 1200 }, (_, i) => ({ id: `${i}` })),
    );
    let count = 0;
    const failing = { ...failingStorage(storage, {}) };
    failing.transaction = async (shard, work, options) => {
      if (count++ === 2) throw new StorageError('storage.failed', 'the store is away');
      return storage.transaction(shard, work, options);
    };
    const interrupted = createAdministration({ ...context(), storage: failing }).removeCollection(removal);
    await expect(interrupted).rejects.toThrow('the store is away');
    // Closed to all, and still listed, so that it can be removed again.
    expect((await caller.list('main')).statusCode).toBe(403);
    const collection = { organisation: 'acme', ercollectionid: 'main' };
    const left = await storage.read(SHARD, (tx) => countEvents(tx, collection));
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(1200);
    expect(await administration.listCollections({})).toMatchObject([{ collectionId: 'main', clientIds: [] }]);
    await administration.removeCollection(removal);
    expect(await administration.listCollections({})).toEqual([]);
    await administration.addCollection({ ...removal, clientIds: [caller.clientId] });
    expect((await caller.list('main')).statusCode).toBe(204);
  });

  it('stay if the collection is added again while it is removed, and so does what is written then', async () => {
    const { storage } = context();
    const of = { organisation: 'acme', collectionId: 'main' };
    await caller.post(
      'main',
      Array.from({ length: 1200 }, (_, i) => ({ id: `${i}` })),
    );
    let count = 0;
    const interrupted = { ...failingStorage(storage, {}) };
    interrupted.transaction = async (shard, work, options) => {
      if (count++ === 2) {
        await createAdministration(context()).addCollection({ ...of, clientIds: [caller.clientId] });
        await caller.post('main', { id: 'new' });
      }
      return storage.transaction(shard, work, options);
    };
    const removal = createAdministration({ ...context(), storage: interrupted });
    await expect(removal.removeCollection({ ...of, clientIds: [] })).rejects.toMatchObject({ code: 'identity.exists' });
    const { body } = await caller.list('main', "$filter=id eq 'new'");
    expect(body.data).toMatchObject([{ id: 'new' }]);
    const all = await caller.list('main', '', { pagesize: '1000' });
    expect(all.body.paging.totalCount).toBe((all.body.data as unknown[]).length);
  });

  it('do not count: the count of a collection is that of its current events', async () => {
    await caller.post('main', [{ id: 'a' }, { id: 'b' }]);
    await caller.post('main', [{ id: 'b', name: 'x' }, { id: 'c' }]);
    await caller.send('DELETE', '/core/events/a', { ercollectionid: 'main' });
    const rows = await context().storage.read(SHARD, (tx) => tx.find(eventCounts));
    expect(rows).toEqual([{ organisation: 'acme', ercollectionid: 'main', eventCount: 2 }]);
  });
});
