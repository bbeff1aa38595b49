// A primary and a standby that has to confirm commits, in the address of a store: the standby takes over, and the old
// primary does not know.
import { execFileSync } from 'node:child_process';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PostgresServer } from '../../../scripts/cluster/postgres-server.mjs';
import { openPostgresStorage } from '../../../src/storage/postgres/open.js';
import type { Reader, Storage, Transaction } from '../../../src/storage/storage.js';
import { thing } from '../conformance/some-things.js';
import { suiteTables, things } from '../conformance/tables.js';
import { hasPostgres, limitsOver } from './open.js';
import { serverFolder } from './server.js';

const SHARD = 3;
const DATABASE = 'windrow';
const insert = (id: string) => (tx: Transaction) => tx.insert(things, thing({ id }));
const ids = async (tx: Reader) => (await tx.find(things)).map(({ id }) => id);
/** A tenth as fast: this machine may be busy, and no work is given up before a standby has taken over. */
const clock = { monotonicMs: () => performance.now() / 10 };
const ANSWER_MS_MAX = 120_000;
/** In proportion, so that a replaced server is noticed in the same way, after 0.6 s instead of 3 s. */
const limits = { ...limitsOver(5), answerMsMax: ANSWER_MS_MAX };

describe.runIf(hasPostgres)('a standby takes over', () => {
  let folder: string;
  let old: PostgresServer;
  let next: PostgresServer;
  let storages: Storage[];

  const open = async () => {
    const address = `postgres://windrow@/${DATABASE}?host=${encodeURIComponent(`${old.folder},${next.folder}`)}`;
    const storage = await openPostgresStorage({ address, clock, tables: suiteTables, limits });
    storages.push(storage);
    return storage;
  };
  /** As many at once as there are connections, each of which reads until all do. */
  const readOverAll = (storage: Storage) => {
    let [count, all] = [0, () => {}];
    const allRead = new Promise<void>((resolve) => (all = resolve));
    const one = () =>
      storage.read(SHARD, async (tx) => {
        if (++count === 10) all();
        await allRead;
        return ids(tx);
      });
    return Promise.all(Array.from({ length: 10 }, one));
  };

  // Made once; each test has copies, at the same place, as the standby knows the path of its primary.
  beforeAll(async () => {
    folder = serverFolder('windrow-failover-');
    const options = { shared_buffers: '16MB', fsync: 'off', wal_retrieve_retry_interval: '100ms' };
    old = new PostgresServer(join(folder, 'old'), options);
    next = new PostgresServer(join(folder, 'next'), options);
    await old.create();
    await old.start();
    await old.createDatabase(DATABASE);
    await next.createStandbyOf(old, 'next');
    await next.start();
    await old.configure([`synchronous_standby_names = 'next'`]);
    await old.stop();
    await next.stop();
    for (const server of [old, next]) renameSync(join(server.folder, 'data'), join(server.folder, 'template'));
  });
  beforeEach(async () => {
    storages = [];
    for (const server of [old, next]) {
      server.clear();
      execFileSync('cp', ['-a', join(server.folder, 'template'), join(server.folder, 'data')]);
      await server.start();
    }
    await expect.poll(() => old.query(`SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'`)).toBe('1');
  });
  afterEach(async () => {
    for (const server of [old, next]) {
      server.thaw();
      await server.stop('SIGQUIT');
    }
    await Promise.all(storages.map((storage) => storage.close()));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['hangs', () => old.freeze()],
    ['goes on', () => {}],
  ])('while the old primary %s, all goes on at the new one, before the connections time out', async (_, begin) => {
    const storage = await open();
    await storage.transaction(SHARD, insert('a'));
    await readOverAll(storage);
    begin();
    await next.promote();
    const startMs = performance.now();
    await storage.transaction(SHARD, insert('b'));
    expect(performance.now() - startMs).toBeLessThan(ANSWER_MS_MAX * 0.8);
    // Connections to the old one that waited in the pool meanwhile would still answer.
    old.thaw();
    expect(await readOverAll(storage)).toEqual(Array.from({ length: 10 }, () => ['a', 'b']));
  });

  it('a process that only reads sees what another wrote at the new primary, though the old one answers', async () => {
    const [writer, reader] = [await open(), await open()];
    await writer.transaction(SHARD, insert('a'));
    expect(await reader.read(SHARD, ids)).toEqual(['a']);
    await next.promote();
    await writer.transaction(SHARD, insert('b'));
    expect(await reader.read(SHARD, ids)).toEqual(['a', 'b']);
  });

  it('a process that starts later passes the old primary over, although it listens for writes', async () => {
    const storage = await open();
    await storage.transaction(SHARD, insert('a'));
    await next.promote();
    const later = await open();
    await later.transaction(SHARD, insert('b'));
    expect(await next.query('SELECT string_agg("id", \',\') FROM "things"', DATABASE)).toBe('a,b');
    expect(await later.read(SHARD, ids)).toEqual(['a', 'b']);
  });

  it('after a crash, a commit that no standby has yet is not read before one has', async () => {
    const storage = await open();
    await storage.transaction(SHARD, insert('a'));
    await next.stop('SIGQUIT');
    // It waits for the standby, and ends with its server.
    const alone = old.query(`UPDATE "things" SET "id" = 'alone'`, DATABASE).catch(() => {});
    await expect
      .poll(() => old.query(`SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`))
      .not.toBe('0');
    await old.stop('SIGQUIT');
    await alone;
    await old.start();
    expect(await old.query('SELECT "id" FROM "things"', DATABASE)).toBe('alone');
    const reading = storage.read(SHARD, ids);
    const waiting = new Promise((resolve) => setTimeout(() => resolve('waits'), 1000));
    expect(await Promise.race([reading, waiting])).toBe('waits');
    await old.stop('SIGQUIT');
    await next.start();
    await next.promote();
    expect(await reading).toEqual(['a']);
  });
});
