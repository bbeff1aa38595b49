import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  backupStore,
  checkStore,
  openSqliteStorage,
  restoreStore,
  type SqliteOptions,
} from '../../src/storage/index.js';
import { createSampleStore } from '../../src/storage/samples/store.js';
import type { Migration } from '../../src/storage/sqlite/schema.js';
import { defineTable, integer, type Table, text, textOrNull } from '../../src/storage/table.js';
import { tables } from '../../src/storage/tables/index.js';
import { openDatabase } from './faults.js';
import { temporaryDirectory } from './open-temporary.js';

const SHARD = 1;
// Written by windrow at that version: samples of series 1, and a deletion with a sample of series 2.
const ROW_OF_VERSION_4 =
  '0219a984071b020000000000000000000000000088b3400100032d020101222200020000000000408f400000e8d000030700200000003400' +
  '00330000330000330000338000333400d340803f0000000000000000000000000088b340210000000000409f40210000000000001c40';
const clock = { nowMs: () => 0, monotonicMs: () => 0 };

// A table in its old and in its new form.
const oldSigns = defineTable('signs', { id: text, word: text }, ['id']);
const signs = defineTable('signs', { id: text, word: text, colour: textOrNull, length: integer }, ['id'], [['length']]);
const places = defineTable('places', { id: text }, ['id']);

// `as`: lists of tables with different rows.
const oldTables = [oldSigns] as unknown as readonly Table<never>[];
const newTables = [signs, places] as unknown as readonly Table<never>[];
const migrations: readonly Migration[] = [
  (database) => {
    database.exec('ALTER TABLE "signs" ADD COLUMN "colour" TEXT');
    database.exec('ALTER TABLE "signs" ADD COLUMN "length" INTEGER NOT NULL DEFAULT 0');
    database.exec('UPDATE "signs" SET "length" = length("word")');
    database.exec('CREATE INDEX "signs_by_length" ON "signs" ("shard", "length")');
  },
  (database) => {
    database.exec(
      'CREATE TABLE "places" ("shard" INTEGER NOT NULL, "id" TEXT NOT NULL, PRIMARY KEY ("shard", "id")) WITHOUT ROWID',
    );
  },
];

describe('versions of a store', () => {
  let directory: string;
  let remove: () => void;
  beforeEach(() => {
    ({ path: directory, remove } = temporaryDirectory());
  });
  afterEach(() => remove());

  const open = (options: Partial<SqliteOptions>) =>
    openSqliteStorage({ directory, clock, reserveBytes: 0, ...options });
  const file = () => join(directory, 'windrow.db');
  const makeOld = async () => {
    const storage = await open({ tables: oldTables, migrations: [] });
    await storage.transaction(SHARD, (tx) => tx.insert(oldSigns, { id: 'a', word: 'stop' }));
    await storage.close();
  };
  /** Changes the file behind the store's back. */
  const execute = (...statements: string[]) => {
    const database = openDatabase(file());
    for (const statement of statements) database.exec(statement);
    database.close();
  };

  it('a new store has all tables of windrow', async () => {
    const storage = await open({});
    const counts = await storage.read(SHARD, (tx) => Promise.all(tables.map((table) => tx.count(table))));
    expect(counts).toEqual(tables.map(() => 0));
    await storage.close();
  });

  it('an older store is migrated step by step, and keeps its rows and commit numbers', async () => {
    await makeOld();
    const storage = await open({ tables: newTables, migrations });
    const found = await storage.read(SHARD, async (tx) => [
      tx.lastCommit,
      await tx.find(signs),
      await tx.count(places),
    ]);
    expect(found).toEqual([1, [{ id: 'a', word: 'stop', colour: null, length: 4 }], 0]);
    await storage.close();
    // And only once.
    const again = await open({ tables: newTables, migrations });
    expect(await again.read(SHARD, (tx) => tx.count(signs))).toBe(1);
    await again.close();
  });

  it('a check of an older store says that it has read the structure of its file alone', async () => {
    await (await open({})).close();
    expect(await checkStore(directory)).toMatchObject({ isOlder: false, faults: [] });
    execute('PRAGMA user_version = 3');
    expect(await checkStore(directory)).toMatchObject({ version: 3, isOlder: true, faults: [] });
  });

  it('a backup or a restore of an older store says that its samples were not read', async () => {
    await (await open({})).close();
    const copy = join(directory, 'copy.db');
    expect(await backupStore(directory, copy)).toMatchObject({ isOlder: false, faults: [] });
    execute('PRAGMA user_version = 3');
    expect(await backupStore(directory, copy)).toMatchObject({ isOlder: true, faults: [] });
    expect(await restoreStore(copy, join(directory, 'restored'), false)).toEqual({ isOlder: true, faults: [] });
  });

  it('a check of an empty file finds a fault', async () => {
    writeFileSync(file(), '');
    expect((await checkStore(directory)).faults).toEqual(['windrow.db: the file is empty; restore a backup']);
  });

  it('a store of a version in between is migrated by the steps it lacks', async () => {
    await makeOld();
    await (await open({ tables: newTables, migrations: migrations.slice(0, 1) })).close();
    const storage = await open({ tables: newTables, migrations });
    expect(await storage.read(SHARD, (tx) => tx.find(signs, { where: [['length', '=', 4]] }))).toHaveLength(1);
    await storage.close();
  });

  it('the log of version 4 is readable, and its shards continue after their last commits', async () => {
    await (await open({})).close();
    const [of, deleting] = [
      { key: 1, id: 'a' },
      { key: 2, id: 'b' },
    ];
    const series = ({ key, id }: typeof of) =>
      `INSERT INTO "series" VALUES (${SHARD}, 'acme', '${id}', 'Raw', ${key}, NULL, 0, 1, 0, NULL, NULL, NULL)`;
    execute(
      'DROP TABLE "ended_patterns"',
      'ALTER TABLE "item_checkpoints" DROP COLUMN "lacksUntilMs"',
      'DROP TABLE "sample_log"',
      'CREATE TABLE "sample_log" ("shard" INTEGER NOT NULL, "commit" INTEGER NOT NULL, "part" INTEGER NOT NULL, ' +
        '"organisation" TEXT NOT NULL, "sampleCount" INTEGER NOT NULL, "changes" BLOB NOT NULL, "source" TEXT, ' +
        '"partition" TEXT, "offset" INTEGER, "checksum" INTEGER, PRIMARY KEY ("shard", "commit", "part"))',
      `INSERT INTO "sample_log" VALUES (${SHARD}, 1, 0, 'acme', 4, x'${ROW_OF_VERSION_4}', NULL, NULL, NULL, ` +
        '854844612)',
      `UPDATE "windrow_shard" SET "commit" = 1 WHERE "shard" = ${SHARD}`,
      series(of),
      series(deleting),
      'PRAGMA user_version = 4',
    );
    const storage = await open({});
    const samples = createSampleStore({ clock });
    const read = (timeseriesId: string) =>
      storage.read(SHARD, async (tx) => {
        const { timeMs, value } = await samples.read(tx, 'acme', { timeseriesId, metric: 'Raw' });
        return [Array.from(timeMs), Array.from(value)];
      });
    expect(await read('a')).toEqual([
      [1000, 2000, 3000],
      [20.5, -0, 0.1 + 0.2],
    ]);
    expect(await read('b')).toEqual([[2000], [7]]);
    const { changes } = await storage.read(SHARD, (tx) => samples.changesAfter(tx, 0));
    expect(changes[1]).toMatchObject({ timeseriesId: 'b', deleted: { fromMs: 0, untilMs: 5000 } });
    const change = { timeseriesId: 'a', metric: 'Raw', timeMs: Float64Array.of(4000), value: Float64Array.of(1) };
    await storage.transaction(SHARD, async (tx) => {
      expect(tx.commit).toBe(2);
      return samples.append(tx, 'acme', [change]);
    });
    await storage.close();
    const again = await open({});
    expect(await again.lastCommit(SHARD)).toBe(2);
    await again.close();
  });

  it('a failing step leaves the store as it was', async () => {
    await makeOld();
    const failing: Migration = (database) => database.exec('INSERT INTO "nowhere" VALUES (1)');
    const opening = open({ tables: newTables, migrations: [migrations[0]!, failing] });
    await expect(opening).rejects.toMatchObject({
      code: 'storage.failed',
      message: expect.stringContaining('nowhere'),
    });
    const storage = await open({ tables: oldTables, migrations: [] });
    expect(await storage.read(SHARD, (tx) => tx.find(oldSigns))).toEqual([{ id: 'a', word: 'stop' }]);
    await storage.close();
  });

  it('a store of a newer version is refused and left unchanged', async () => {
    await (await open({ tables: newTables, migrations })).close();
    const before = readFileSync(file());
    await expect(open({ tables: oldTables, migrations: [] })).rejects.toMatchObject({
      code: 'storage.newer',
      message:
        `${file()}: the store has version 5, but this windrow knows only versions up to 3; ` +
        'use the windrow that wrote it, or a newer one',
    });
    expect(readFileSync(file()).equals(before)).toBe(true);
  });

  it('a store whose samples are in a form that is no longer read is refused and left unchanged', async () => {
    await (await open({})).close();
    execute('PRAGMA user_version = 2');
    const before = readFileSync(file());
    const refusal = {
      code: 'storage.newer',
      message:
        `${file()}: the store has version 2, but this windrow knows only versions from 3 on; ` +
        'read it with the windrow that wrote it, and send its samples to a new store',
    };
    await expect(open({})).rejects.toMatchObject(refusal);
    await expect(checkStore(directory)).rejects.toMatchObject(refusal);
    expect(readFileSync(file()).equals(before)).toBe(true);
  });

  it('a process that runs while a newer version migrates the store reads and writes nothing any more', async () => {
    await makeOld();
    const running = await open({ tables: oldTables, migrations: [] });
    const reader = await open({ tables: oldTables, migrations: [] });
    expect(await reader.read(SHARD, (tx) => tx.count(oldSigns))).toBe(1);
    const newer = await open({ tables: newTables, migrations });
    const refusal = {
      code: 'storage.newer',
      message:
        `the store in ${directory}: a newer windrow has upgraded it to version 5, and this one knows versions ` +
        'up to 3; start the newer one',
    };
    const insert = (id: string) => running.transaction(SHARD, (tx) => tx.insert(oldSigns, { id, word: 'go' }));
    for (const refused of [insert('b'), insert('c'), running.claim(SHARD, 'worker', 1000)])
      await expect(refused).rejects.toMatchObject(refusal);
    await expect(reader.read(SHARD, (tx) => tx.count(oldSigns))).rejects.toMatchObject(refusal);
    await expect(reader.lastCommit(SHARD)).rejects.toMatchObject(refusal);
    await expect(reader.check()).rejects.toMatchObject(refusal);
    await running.close();
    await reader.close();
    await newer.transaction(SHARD, (tx) => tx.insert(signs, { id: 'd', word: 'go', colour: null, length: 2 }));
    expect(await newer.read(SHARD, (tx) => tx.find(signs))).toEqual([
      { id: 'a', word: 'stop', colour: null, length: 4 },
      { id: 'd', word: 'go', colour: null, length: 2 },
    ]);
    await newer.close();
  });

  it('a store with another number of shards is refused', async () => {
    await makeOld();
    execute(`UPDATE "windrow_meta" SET "value" = '64' WHERE "name" = 'shardCount'`);
    await expect(open({ tables: oldTables, migrations: [] })).rejects.toMatchObject({
      code: 'storage.newer',
      message: expect.stringContaining('the store has 64 shards, but this windrow uses 32'),
    });
  });

  it('the SQLite file of another program is refused and left unchanged', async () => {
    execute('CREATE TABLE "theirs" ("id" INTEGER)', 'PRAGMA user_version = 1');
    await expect(open({})).rejects.toMatchObject({
      code: 'storage.damaged',
      message: expect.stringContaining('is not a windrow store'),
    });
    const database = openDatabase(file());
    expect(database.all('SELECT "name" FROM "sqlite_master"')).toEqual([{ name: 'theirs' }]);
    database.close();
  });
});
