// PgBouncer before PostgreSQL: one that pools sessions changes nothing, and one that pools transactions is refused.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { findPooler, Pooler } from '../../../scripts/cluster/pooler.mjs';
import { openPostgresStorage } from '../../../src/storage/postgres/open.js';
import { thing } from '../conformance/some-things.js';
import { suiteTables, things } from '../conformance/tables.js';
import { describeStorage } from '../conformance.js';
import { createDatabase, hasPostgres, openTemporaryPostgres } from './open.js';
import { startServer } from './server.js';

const SHARD = 3;
const clock = { monotonicMs: () => performance.now() };
const canPool = hasPostgres && findPooler() !== undefined;

/** A pooler for the tests of a block, before the server of all tests. */
function poolerOf(options: Readonly<Record<string, string | number>>): (address: string) => string {
  let folder = '';
  let pooler: Pooler | undefined;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'windrow-pooler-'));
    // PgBouncer runs as another user.
    chmodSync(folder, 0o711);
    pooler = new Pooler(join(folder, 'pooler'));
    await pooler.start(await startServer(inject('postgresFolder')), options);
  });
  afterAll(async () => {
    await pooler?.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  return (address) => pooler!.addressOf(address);
}

describe.runIf(canPool)('PgBouncer that pools sessions', () => {
  const through = poolerOf({ pool_mode: 'session', default_pool_size: 60 });

  it('two processes behind it hear each other, and the claims of one that is gone are free', async () => {
    const database = await createDatabase();
    onTestFinished(() => database.remove());
    const open = () => openPostgresStorage({ address: through(database.address), clock, tables: suiteTables });
    const [a, b] = [await open(), await open()];
    onTestFinished(() => b.close());
    const heard: [number, boolean][] = [];
    b.onCommit((_, commit, isOwn) => heard.push([commit, isOwn]));
    // Enough rows for a COPY.
    const rows = Array.from({ length: 100 }, (_, i) => thing({ id: `${i}` }));
    await a.transaction(SHARD, (tx) => tx.insertAll(things, rows));
    await expect.poll(() => heard).toEqual([[1, false]]);
    expect(await b.read(SHARD, (tx) => tx.count(things))).toBe(rows.length);
    expect(await a.claim(SHARD, 'a', 600_000)).toBeDefined();
    expect(await b.claim(SHARD, 'b', 600_000)).toBeUndefined();
    await a.close();
    await expect.poll(() => b.claim(SHARD, 'b', 600_000)).toMatchObject({ sequence: 2 });
  });

  // As long again as the suite without a pooler.
  describe.runIf(process.env.WINDROW_POSTGRES === 'all')('in full', () => {
    describeStorage('PostgreSQL behind PgBouncer', (tables) => openTemporaryPostgres({ tables }, through));
  });
});

describe.runIf(canPool)('PgBouncer that pools transactions', () => {
  const through = poolerOf({ pool_mode: 'transaction' });

  it('is refused at the start, with what to change', async () => {
    const database = await createDatabase();
    onTestFinished(() => database.remove());
    await expect(openPostgresStorage({ address: through(database.address), clock })).rejects.toMatchObject({
      code: 'storage.failed',
      message: expect.stringMatching(/two connections have one session; a pooler must keep a session .*pool_mode/),
    });
  });
});
