import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { backupStore, checkStore, openSqliteStorage, restoreStore } from '../../src/storage/index.js';
import {
  createExpiries,
  deleteExpired,
  type Expired,
  findExpired,
} from '../../src/storage/samples/compaction/retention.js';
import type { SampleChange } from '../../src/storage/samples/samples.js';
import { createSampleStore } from '../../src/storage/samples/store.js';
import type { Storage } from '../../src/storage/storage.js';
import { retention, segments } from '../../src/storage/tables/samples.js';
import { openDatabase } from './faults.js';
import { temporaryDirectory } from './open-temporary.js';
import { compactNow } from './samples/compact-now.js';

const SHARD = 7;
const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => performance.now() };
const of = (metric: string) => ({ timeseriesId: 'pump', metric });
const samplesOf = (metric: string, from: number, count: number) => ({
  ...of(metric),
  timeMs: Float64Array.from({ length: count }, (_, i) => (from + i) * 60_000),
  value: Float64Array.from({ length: count }, (_, i) => Math.sin(from + i + metric.length / 8)),
});

describe('the upkeep of a store', () => {
  let folder: string;
  let remove: () => void;
  let directory: string;
  let storages: Storage[];
  let samples: ReturnType<typeof createSampleStore>;
  const open = async (at = directory) => {
    const storage = await openSqliteStorage({ directory: at, clock, reserveBytes: 0 });
    storages.push(storage);
    return storage;
  };
  beforeEach(() => {
    ({ path: folder, remove } = temporaryDirectory());
    directory = join(folder, 'store');
    storages = [];
    samples = createSampleStore({ clock });
  });
  afterEach(async () => {
    for (const storage of storages) await storage.close();
    remove();
  });

  const append = (storage: Storage, metric: string, from: number, count: number) =>
    storage.transaction(SHARD, (tx) => samples.append(tx, 'acme', [samplesOf(metric, from, count)]));
  const appendEach = (storage: Storage, ids: readonly string[], columns: Omit<SampleChange, 'timeseriesId'>) => {
    const changes = ids.map((timeseriesId) => ({ ...columns, timeseriesId }));
    return storage.transaction(SHARD, (tx) => samples.append(tx, 'acme', changes));
  };
  const read = (storage: Storage, metric: string, range = {}) =>
    storage.read(SHARD, (tx) => createSampleStore({ clock }).read(tx, 'acme', of(metric), range));
  const compact = async (storage: Storage) => {
    const work = () => storage.transaction(SHARD, (tx) => compactNow(samples, tx, tx.lastCommit, { isEager: true }));
    while (await work());
  };

  /** Flips bits wherever these bytes are in the file, as a failing disk does. */
  const flipWithin = (bytes: Uint8Array): void => {
    const path = join(directory, 'windrow.db');
    const file = readFileSync(path);
    // They may also be in pages that are free now.
    for (let at = file.indexOf(bytes); at >= 0; at = file.indexOf(bytes, at + 1))
      file[at + (bytes.length >> 1)]! ^= 0x10;
    writeFileSync(path, file);
  };
  const storedBytes = (table: string, column: string, where = '1'): Uint8Array => {
    const database = openDatabase(join(directory, 'windrow.db'));
    const [row] = database.all(`SELECT "${column}" AS "bytes" FROM "${table}" WHERE ${where} LIMIT 1`);
    database.close();
    // Short enough for one page, so that the file contains them unbroken.
    return (row!.bytes as Uint8Array).slice(0, 200);
  };

  it('a backup made while samples arrive holds one moment of the store, and can be restored', async () => {
    const storage = await open();
    await append(storage, 'Raw', 0, 30_000);
    await compact(storage);
    let isDone = false;
    let count = 30_000;
    const writing = (async () => {
      for (; !isDone; count += 10) await append(storage, 'Raw', count, 10);
    })();
    const before = count;
    const file = join(folder, 'backup.db');
    const { byteCount, faults } = await backupStore(directory, file);
    expect(byteCount).toBeGreaterThan(100_000);
    expect(faults).toEqual([]);
    isDone = true;
    await writing;
    expect(readdirSync(folder).sort()).toEqual(['backup.db', 'store']);
    const restored = join(folder, 'restored');
    await restoreStore(file, restored, false);
    expect((await checkStore(restored)).faults).toEqual([]);
    const { timeMs, value } = await read(await open(restored), 'Raw');
    expect(timeMs.length).toBeGreaterThanOrEqual(before);
    expect(timeMs.length).toBeLessThanOrEqual(count);
    expect({ timeMs, value }).toEqual({
      timeMs: samplesOf('Raw', 0, timeMs.length).timeMs,
      value: samplesOf('Raw', 0, timeMs.length).value,
    });
  });

  it('a restore overwrites only by force, and never a store that a process has open', async () => {
    await append(await open(), 'Raw', 0, 10);
    const file = join(folder, 'backup.db');
    await backupStore(directory, file);
    await expect(restoreStore(file, directory, false)).rejects.toMatchObject({
      code: 'arguments',
      message: expect.stringContaining('there is already a store'),
    });
    await expect(restoreStore(file, directory, true)).rejects.toMatchObject({
      code: 'storage.locked',
      message: expect.stringContaining('a process has the store open'),
    });
    // Over a damaged store.
    const broken = join(folder, 'broken');
    mkdirSync(broken);
    writeFileSync(join(broken, 'windrow.db'), 'no store any more');
    await restoreStore(file, broken, true);
    expect((await read(await open(broken), 'Raw')).timeMs).toHaveLength(10);
  });

  it('a file that is not a backup is refused, and leaves nothing behind', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, 'a text');
    await expect(restoreStore(file, directory, false)).rejects.toMatchObject({ code: 'storage.damaged' });
    await expect(restoreStore(join(folder, 'none'), directory, false)).rejects.toMatchObject({
      code: 'file.missing',
      message: expect.stringContaining('there is no such file'),
    });
    expect(existsSync(join(directory, 'windrow.db'))).toBe(false);
  });

  it('a flipped bit in a segment is named and refused, and everything else is readable', async () => {
    const storage = await open();
    await append(storage, 'Raw', 0, 20_000);
    await append(storage, 'Other', 0, 20_000);
    await compact(storage);
    await storage.close();
    expect(await checkStore(directory)).toMatchObject({ seriesCount: 2, sampleCount: 40_000, faults: [] });
    const bytes = storedBytes('segments', 'values', '"seriesKey" = 1 AND "startMs" > 0');
    flipWithin(bytes);
    const { faults } = await checkStore(directory);
    const name = 'acme: series "pump", metric "Raw": ';
    expect(faults).toEqual([
      expect.stringMatching(`^${name}4096 stored samples from 1970-\\S+ to 1970-\\S+ .*damaged on the disk`),
    ]);
    // A backup of it is made, as all else is whole, but says so; so does a restore.
    const file = join(folder, 'damaged.db');
    expect(await backupStore(directory, file)).toMatchObject({ faults });
    expect(await restoreStore(file, join(folder, 'restored'), false)).toEqual({ isOlder: false, faults });
    const again = await open();
    const message = faults[0]!.slice('acme: '.length);
    await expect(read(again, 'Raw')).rejects.toMatchObject({ code: 'storage.damaged', message });
    expect((await read(again, 'Other')).timeMs).toHaveLength(20_000);
    expect((await read(again, 'Raw', { untilMs: 4096 * 60_000 })).timeMs).toHaveLength(4096);
    // Deleting the whole range removes it, and what was lost can be sent again.
    const deleted = { fromMs: 4096 * 60_000, untilMs: 8192 * 60_000 };
    const none = new Float64Array(0);
    await again.transaction(SHARD, (tx) =>
      samples.append(tx, 'acme', [{ ...of('Raw'), timeMs: none, value: none, deleted }]),
    );
    await append(again, 'Raw', 4096, 4096);
    await compact(again);
    expect((await checkStore(directory)).faults).toEqual([]);
    expect((await read(again, 'Raw')).value).toEqual(samplesOf('Raw', 0, 20_000).value);
  });

  it('a flipped bit in the log is named and refused, and everything else is readable', async () => {
    const storage = await open();
    await append(storage, 'Raw', 0, 300);
    await append(storage, 'Other', 0, 300);
    await storage.close();
    flipWithin(storedBytes('sample_log', 'changes', '"commit" = 1'));
    const { faults } = await checkStore(directory);
    expect(faults).toEqual([
      expect.stringMatching(/^300 samples of acme, part 0 of commit 1, were damaged.*"pump" Raw/),
    ]);
    const again = await open();
    await expect(read(again, 'Raw')).rejects.toMatchObject({ code: 'storage.damaged' });
    expect((await read(again, 'Raw', { fromMs: 301 * 60_000 })).timeMs).toHaveLength(0);
    expect((await read(again, 'Other')).timeMs).toHaveLength(300);
  });

  it('a flipped bit in the log of samples that are in segments is told as such, and none is given up', async () => {
    const storage = await open();
    await append(storage, 'Raw', 0, 20_000);
    expect(await checkStore(directory)).toMatchObject({ logRowCount: 1, faults: [] });
    // Its row stays for one more round.
    while (await storage.transaction(SHARD, (tx) => compactNow(samples, tx, 1)));
    expect(await checkStore(directory)).toMatchObject({ logRowCount: 0, sampleCount: 20_000, faults: [] });
    await storage.close();
    flipWithin(storedBytes('sample_log', 'changes'));
    const where = '20000 samples of acme, part 0 of commit 1, are damaged on the disk in the log alone';
    const what = 'they are in segments, all of them can be read, and compaction deletes the row later';
    const { faults } = await checkStore(directory);
    expect(faults).toEqual([expect.stringMatching(new RegExp(`^${where}: ${what}`))]);
    const again = await open();
    expect((await read(again, 'Raw')).value).toEqual(samplesOf('Raw', 0, 20_000).value);
    await append(again, 'Other', 0, 20_000);
    await compact(again);
    expect((await checkStore(directory)).faults).toEqual([]);
    expect((await read(again, 'Raw')).value).toEqual(samplesOf('Raw', 0, 20_000).value);
  });

  it('a copy whose files do not belong together is refused when opened', async () => {
    const storage = await open();
    await append(storage, 'Raw', 0, 20_000);
    await compact(storage);
    const copy = join(folder, 'copy');
    mkdirSync(copy);
    // The database of now, the log of later: what `cp` does, one file after another.
    copyFileSync(join(directory, 'windrow.db'), join(copy, 'windrow.db'));
    for (let i = 0; i < 40; i++) {
      await append(storage, `metric ${i}`, 0, 20_000);
      await compact(storage);
    }
    copyFileSync(join(directory, 'windrow.db-wal'), join(copy, 'windrow.db-wal'));
    await expect(open(copy)).rejects.toMatchObject({
      code: 'storage.damaged',
      message: expect.stringContaining('backup'),
    });
    // A consistent copy is accepted.
    const whole = join(folder, 'whole');
    mkdirSync(whole);
    await storage.close();
    copyFileSync(join(directory, 'windrow.db'), join(whole, 'windrow.db'));
    expect((await read(await open(whole), 'Raw')).timeMs).toHaveLength(20_000);
  });

  it('retention deletes whole segments by the most specific rule, and items do not see it as a change', async () => {
    const storage = await open();
    const dayMs = 86_400_000;
    const start = clock.nowMs() / 60_000 - 20 * 1440;
    for (const metric of ['Raw', 'Kept']) await append(storage, metric, start, 20 * 1440);
    await storage.transaction(SHARD, (tx) =>
      samples.append(tx, 'acme', [samplesOf('Result', start, 20 * 1440)], { itemId: 'i' }),
    );
    await compact(storage);
    const rule = { organisation: 'acme', timeseriesId: '', metric: '', createdMs: 0 };
    await storage.transaction(SHARD, async (tx) => {
      await tx.insert(retention, { ...rule, kind: 'samples', keepMs: 5 * dayMs });
      await tx.insert(retention, { ...rule, kind: 'samples', metric: 'Kept', keepMs: 365 * dayMs });
      await tx.insert(retention, { ...rule, kind: 'results', keepMs: 10 * dayMs });
    });
    const commit = await storage.read(SHARD, async (tx) => tx.lastCommit);
    const { expired, last } = await storage.read(SHARD, async (tx) =>
      findExpired(tx, 'acme', createExpiries(await tx.find(retention), clock.nowMs(), 1)),
    );
    expect(last).toBeUndefined();
    expect(expired.map(({ row }) => row.metric)).toEqual(['Raw', 'Result']);
    await deleteAll(storage, expired);
    const spans = [
      ['Raw', 5],
      ['Kept', 20],
      ['Result', 10],
    ] as const;
    for (const [metric, days] of spans) {
      const { timeMs } = await read(storage, metric);
      const ageDays = (clock.nowMs() - timeMs[0]!) / dayMs;
      expect(ageDays).toBeGreaterThanOrEqual(days);
      // A segment is about three days long.
      expect(ageDays).toBeLessThan(days + 3);
      const info = await storage.read(SHARD, (tx) => samples.info(tx, 'acme', of(metric)));
      expect(info).toMatchObject({ sampleCount: timeMs.length, firstMs: timeMs[0], lastMs: timeMs.at(-1) });
    }
    expect(await storage.read(SHARD, (tx) => samples.changesAfter(tx, commit))).toMatchObject({ changes: [] });
    expect((await checkStore(directory)).faults).toEqual([]);
  });

  it('retention deletes the beginning of a segment that reaches back too far, of few in one transaction', async () => {
    const storage = await open();
    const hourMs = 3_600_000;
    const ids = Array.from({ length: 40 }, (_, i) => `s${String(i).padStart(2, '0')}`);
    const times = Float64Array.from({ length: 1000 }, (_, i) => clock.nowMs() - (1000 - i) * hourMs);
    const columns = { metric: 'Raw', timeMs: times, value: times.map((time) => Math.sin(time)) };
    await appendEach(storage, ids, columns);
    await compact(storage);
    const rule = { organisation: 'acme', kind: 'samples', timeseriesId: '', metric: '', createdMs: 0 };
    const retain = async (keptHours: number, afterHours: number): Promise<number[]> => {
      const expiries = createExpiries(
        [{ ...rule, keepMs: keptHours * hourMs }],
        clock.nowMs() + afterHours * hourMs,
        1 / 8,
      );
      const { expired } = await storage.read(SHARD, (tx) => findExpired(tx, 'acme', expiries));
      const sizes: number[] = [];
      for (let left = expired; left.length > 0; sizes.push(left.length)) {
        left = left.slice(await storage.transaction(SHARD, (tx) => deleteExpired(tx, left)));
      }
      return sizes;
    };
    const left = async () => storage.read(SHARD, (tx) => samples.info(tx, 'acme', { ...columns, timeseriesId: 's39' }));
    // 1,000 hours are no eighth more than 900.
    await retain(900, 0);
    expect(await left()).toMatchObject({ sampleCount: 1000 });
    expect(await retain(720, 0)).toEqual([34, 27, 20, 13, 6, 0]);
    expect(await left()).toMatchObject({ sampleCount: 720, firstMs: times[280], lastMs: times.at(-1) });
    await retain(720, 90);
    expect(await left()).toMatchObject({ sampleCount: 720 });
    await retain(720, 91);
    expect(await left()).toMatchObject({ sampleCount: 629, firstMs: times[371], lastMs: times.at(-1) });
    const { timeMs, value } = await storage.read(SHARD, (tx) =>
      createSampleStore({ clock }).read(tx, 'acme', { timeseriesId: 's07', metric: 'Raw' }),
    );
    expect(timeMs).toEqual(times.subarray(371));
    expect(value).toEqual(columns.value.subarray(371));
    expect((await checkStore(directory)).faults).toEqual([]);
  });

  it('retention looks through few series at a time, and deletes of few in one transaction', async () => {
    const storage = await open();
    const keepMs = 86_400_000;
    const ids = Array.from({ length: 1200 }, (_, i) => `s${String(i).padStart(4, '0')}`);
    const old = { metric: 'Raw', timeMs: Float64Array.of(clock.nowMs() - 2 * keepMs), value: Float64Array.of(1) };
    await appendEach(storage, ids, old);
    await compact(storage);
    const rule = { organisation: 'acme', kind: 'samples', metric: '', keepMs, createdMs: 0 };
    const rules = ids.slice(0, 1150).map((timeseriesId) => ({ ...rule, timeseriesId }));
    const expiries = createExpiries(rules, clock.nowMs(), 1 / 8);
    const first = await storage.read(SHARD, (tx) => findExpired(tx, 'acme', expiries));
    expect(first.expired.map(({ row }) => row.timeseriesId)).toEqual(ids.slice(0, 1000));
    const rest = await storage.read(SHARD, (tx) => findExpired(tx, 'acme', expiries, first.last));
    expect(rest.expired.map(({ row }) => row.timeseriesId)).toEqual(ids.slice(1000, 1150));
    expect(rest.last).toBeUndefined();
    expect(Math.max(...(await deleteAll(storage, [...first.expired, ...rest.expired])))).toBe(100);
    const left = await storage.read(SHARD, (tx) => tx.find(segments));
    expect(left).toHaveLength(50);
  });
});

/** Deletes what has expired. @returns how many segments each transaction has deleted. */
async function deleteAll(storage: Storage, expired: readonly Expired[]): Promise<number[]> {
  const counts: number[] = [];
  for (let left = expired; left.length > 0; ) {
    left = await storage.transaction(SHARD, async (tx) => {
      const before = await tx.count(segments);
      const doneCount = await deleteExpired(tx, left);
      counts.push(before - (await tx.count(segments)));
      return left.slice(doneCount);
    });
  }
  return counts;
}
