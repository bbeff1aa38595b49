import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { backupStore, openSqliteStorage, restoreStore } from '../../src/storage/index.js';
import { loadSqlite } from '../../src/storage/sqlite/database.js';
import type { Reader, Storage, Transaction } from '../../src/storage/storage.js';
import { thing } from './conformance/some-things.js';
import { suiteTables, things } from './conformance/tables.js';
import { temporaryDirectory } from './open-temporary.js';

const SHARD = 3;
// Each look at the files finds that some time has passed.
let atMs = 0;
const clock = { nowMs: () => 0, monotonicMs: () => (atMs += 1000) };
const insert = (id: string) => async (tx: Transaction) => {
  await tx.insert(things, thing({ id }));
};
const ids = async (tx: Reader) => (await tx.find(things)).map(({ id }) => id);

// What is written to a file that nobody finds is lost.
describe('a store whose files somebody has', () => {
  let temporary: { readonly path: string; remove(): void };
  let directory: string;
  let storage: Storage;
  const open = () => openSqliteStorage({ directory, clock, tables: suiteTables, reserveBytes: 0 });
  const file = (suffix: string) => join(directory, `windrow.db${suffix}`);
  beforeEach(async () => {
    temporary = temporaryDirectory();
    directory = join(temporary.path, 'data');
    storage = await open();
    await storage.transaction(SHARD, insert('before'));
  });
  afterEach(async () => {
    await storage.close();
    temporary.remove();
  });
  const expectRefusal = async (name: string, isReplaced = false) => {
    const refusal = {
      code: 'storage.failed',
      message: expect.stringContaining(`${directory}: ${name} was moved, replaced or deleted while this process`),
    };
    await expect(storage.transaction(SHARD, insert('after'))).rejects.toMatchObject(refusal);
    await expect(storage.check()).rejects.toMatchObject(refusal);
    const reading = Array.from({ length: 3 }, () => storage.read(SHARD, ids));
    for (const found of await Promise.all(reading)) expect(found).toEqual(['before']);
    expect(existsSync(file(''))).toBe(isReplaced);
  };

  it('moved with their folder refuses writes until they are put back', async () => {
    const away = join(temporary.path, 'away');
    renameSync(directory, away);
    await expectRefusal('windrow.db');
    renameSync(away, directory);
    await storage.transaction(SHARD, insert('again'));
    await storage.check();
    expect(await storage.read(SHARD, ids)).toEqual(['again', 'before']);
  });

  it('deleted refuses writes', async () => {
    rmSync(directory, { recursive: true });
    await expectRefusal('windrow.db');
  });

  it('replaced by a backup refuses writes, and its end leaves alone what replaced it', async () => {
    const backup = join(temporary.path, 'backup.db');
    await backupStore(directory, backup);
    renameSync(directory, join(temporary.path, 'away'));
    await restoreStore(backup, directory, false);
    const other = await open();
    await other.transaction(SHARD, insert('other'));
    await expectRefusal('windrow.db', true);
    await storage.close();
    await other.transaction(SHARD, insert('later'));
    expect(await other.read(SHARD, ids)).toEqual(['before', 'later', 'other']);
    await other.close();
  });

  it('replaced while it is opened is not opened', async () => {
    const backup = join(temporary.path, 'backup.db');
    await backupStore(directory, backup);
    await storage.close();
    const openSqlite = await loadSqlite();
    const openDatabase = (path: string) => {
      const database = openSqlite(path);
      if (path === file('')) renameSync(backup, path);
      return database;
    };
    await expect(openSqliteStorage({ directory, clock, tables: suiteTables, openDatabase })).rejects.toMatchObject({
      code: 'storage.failed',
      message: expect.stringContaining('it was replaced while it was opened, as by a restore; try again'),
    });
    storage = await open();
    expect(await storage.read(SHARD, ids)).toEqual(['before']);
  });

  it.each(['-wal', '-shm'])('robbed of %s refuses writes', async (suffix) => {
    mkdirSync(join(temporary.path, 'away'));
    const away = join(temporary.path, 'away', `windrow.db${suffix}`);
    renameSync(file(suffix), away);
    await expectRefusal(`windrow.db${suffix}`, true);
    renameSync(away, file(suffix));
    await storage.transaction(SHARD, insert('again'));
  });
});
