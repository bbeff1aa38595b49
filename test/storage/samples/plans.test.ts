import { expect, it } from 'vitest';
import { createSampleStore } from '../../../src/storage/samples/store.js';
import { openSqliteStorage } from '../../../src/storage/sqlite/open.js';
import { openDatabase } from '../faults.js';
import { temporaryDirectory } from '../open-temporary.js';

it('changes are read by the keys of their series only, however many series there are', async () => {
  const { path: directory, remove } = temporaryDirectory();
  const clock = { nowMs: () => 0, monotonicMs: () => performance.now() };
  const asked = new Set<string>();
  const open = (path: string) => {
    const database = openDatabase(path);
    const all = database.all.bind(database);
    database.all = (sql, values) => {
      asked.add(sql);
      return all(sql, values);
    };
    return database;
  };
  const storage = await openSqliteStorage({ directory, clock, openDatabase: open, reserveBytes: 0 });
  try {
    const changes = Array.from({ length: 20 }, (_, i) => {
      return { timeseriesId: `s${i}`, metric: 'Raw', timeMs: Float64Array.of(0), value: Float64Array.of(i) };
    });
    await storage.transaction(0, (tx) => createSampleStore({ clock }).append(tx, 'acme', changes));
    // A new store, which knows no series yet.
    const logged = await storage.read(0, (tx) => createSampleStore({ clock }).changesAfter(tx, 0));
    expect(logged.changes).toHaveLength(20);
    const [byKey = ''] = [...asked].filter((sql) => sql.includes('"seriesKey" IN'));
    const plan = openDatabase(`${directory}/windrow.db`).all(`EXPLAIN QUERY PLAN ${byKey}`, [0, '[1]']);
    expect(plan.map(({ detail }) => detail).join('\n')).toMatch(/series_by_seriesKey \(shard=\? AND seriesKey=\?\)/);
  } finally {
    await storage.close();
    remove();
  }
});
