import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seriesKey } from '../../../src/core/series.js';
import { Catalogue } from '../../../src/storage/samples/catalogue.js';
import { PendingLogs } from '../../../src/storage/samples/pending.js';
import { readProgress, START } from '../../../src/storage/samples/progress.js';
import type { TimeRange } from '../../../src/storage/samples/samples.js';
import { createSampleStore } from '../../../src/storage/samples/store.js';
import type { Reader, Storage, Transaction } from '../../../src/storage/storage.js';
import { sampleLog, series } from '../../../src/storage/tables/samples.js';
import { turnsDuring } from '../../service/turns-during.js';
import { type Bed, ORGANISATION, openBed, SHARD } from './bed.js';
import { compactNow } from './compact-now.js';
import { listAll } from './list-all.js';

// The cache in memory is never ahead of the disk, and never hides what another process changed there.

const a = { timeseriesId: 'a', metric: 'Raw' };
const b = { timeseriesId: 'b', metric: 'Raw' };

let bed: Bed;
beforeEach(async () => {
  bed = await openBed({ samplesMin: 1, seriesSamplesMin: 1 });
});
afterEach(() => bed.close());

const append = (of: typeof a, timeMs: number) =>
  bed.write((tx) => {
    const change = { ...of, timeMs: Float64Array.of(timeMs), value: Float64Array.of(timeMs) };
    return bed.samples.append(tx, ORGANISATION, [change]);
  });
const timesOf = async (tx: Reader, of: typeof a) => Array.from((await bed.samples.read(tx, ORGANISATION, of)).timeMs);

describe('known series', () => {
  it('of many thousands are looked up, kept and found again in turns', async () => {
    const many = Array.from({ length: 20_000 }, (_, i) => ({ ...b, timeseriesId: `b${i}` }));
    await bed.write((tx) =>
      bed.samples.createResults(
        tx,
        ORGANISATION,
        many.map((one) => ({ ...one, itemId: 'i' })),
      ),
    );
    const catalogue = new Catalogue();
    const find = () => bed.read((tx) => catalogue.find(tx, START, ORGANISATION, [...many, a]));
    const first = await turnsDuring(find);
    expect(first.result.map((one) => one?.key)).toEqual([...many.map((_, i) => i + 1), undefined]);
    // 40 queries of 500 series, and 5,000 at a time to look for each, to keep it, and to give it.
    expect(first.turnCount).toBeGreaterThanOrEqual(40 + 4 + 3 + 4);
    const again = await turnsDuring(find);
    expect(again.result).toEqual(first.result);
    expect(again.turnCount).toBeGreaterThanOrEqual(4);
  });

  it('of a drop that was undone are not mistaken for those of the drop that gets its number', async () => {
    await append(a, 1);
    await append(b, 2);
    const undone = bed.write(async (tx) => {
      await bed.samples.drop(tx, ORGANISATION, a);
      expect(await timesOf(tx, b)).toEqual([2]);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await bed.write((tx) => bed.samples.drop(tx, ORGANISATION, b));
    expect(await bed.read((tx) => timesOf(tx, b))).toEqual([]);
    // Samples written by name go to the current series of that name, not to the one that was dropped.
    await append(b, 9);
    expect(await bed.read((tx) => listAll(bed.samples, tx, ORGANISATION))).toMatchObject([
      { ...a, sampleCount: 1, firstMs: 1 },
      { ...b, sampleCount: 1, firstMs: 9 },
    ]);
  });

  it('that another process dropped and created again are looked up anew', async () => {
    await append(a, 1);
    expect(await bed.read((tx) => timesOf(tx, a))).toEqual([1]);
    await bed.write((tx) => bed.other.drop(tx, ORGANISATION, a));
    expect(await bed.read((tx) => timesOf(tx, a))).toEqual([]);
    await bed.write((tx) =>
      bed.other.append(tx, ORGANISATION, [{ ...a, timeMs: Float64Array.of(5), value: Float64Array.of(5) }]),
    );
    expect(await bed.read((tx) => timesOf(tx, a))).toEqual([5]);
  });
});

it('a series is looked up without reading others of its id or of its metric', async () => {
  const count = 300;
  const references = Array.from({ length: count }, (_, i) => [
    { timeseriesId: 'one', metric: `metric ${i}` },
    { timeseriesId: `id ${i}`, metric: 'Raw' },
  ]).flat();
  let rowCount = 0;
  const counted = (tx: Transaction): Transaction =>
    new Proxy(tx, {
      get: (of, name) => {
        // `as`: a method of the transaction; its table decides what it returns.
        const method = Reflect.get(of, name) as unknown;
        if (typeof method !== 'function') return method;
        return async (...words: unknown[]) => {
          const result: unknown = await method.apply(of, words);
          if (name === 'find' && words[0] === series && Array.isArray(result)) rowCount += result.length;
          return result;
        };
      },
    });
  await bed.write(async (tx) => {
    const watched = counted(tx);
    for (const of of references) {
      const change = { ...of, timeMs: Float64Array.of(1), value: Float64Array.of(1) };
      await bed.samples.append(watched, ORGANISATION, [change]);
    }
  });
  expect(rowCount).toBeLessThanOrEqual(2 * references.length);
  await bed.reopen();
  const found = await bed.read((tx) => new Catalogue().find(tx, START, ORGANISATION, [...references, b]));
  expect(found.map((one) => one && seriesKey(one))).toEqual([...references.map(seriesKey), undefined]);
});

describe('progress', () => {
  /** The progress that a transaction finds, and how many times it reads it from the store. */
  const found = (work: (tx: Transaction) => Promise<unknown> = async () => {}) =>
    bed.write(async (tx) => {
      let readCount = 0;
      const get: Transaction['get'] = (table, key) => {
        readCount++;
        return tx.get(table, key);
      };
      const { shard, lastCommit, durableCommit, soleWriter } = tx;
      const numbers = { shard, lastCommit, durableCommit, soleWriter };
      const reader: Reader = { ...numbers, get, find: tx.find.bind(tx), count: tx.count.bind(tx) };
      const { nextSeriesKey } = await readProgress(reader);
      await work(tx);
      return { nextSeriesKey, readCount };
    });
  const fail = async (tx: Transaction): Promise<void> => {
    await bed.samples.append(tx, ORGANISATION, [{ ...b, timeMs: Float64Array.of(1), value: Float64Array.of(1) }]);
    throw new Error('undone');
  };

  it('is read once for all transactions until it is written', async () => {
    await append(a, 1);
    expect(await found()).toEqual({ nextSeriesKey: 2, readCount: 1 });
    await append(a, 2);
    expect(await found()).toEqual({ nextSeriesKey: 2, readCount: 0 });
    await append(b, 1);
    expect(await found()).toEqual({ nextSeriesKey: 3, readCount: 1 });
  });

  it('is read again after another process has written it', async () => {
    await append(a, 1);
    await found();
    const change = { ...b, timeMs: Float64Array.of(1), value: Float64Array.of(1) };
    await bed.write((tx) => bed.other.append(tx, ORGANISATION, [change]), 1);
    expect(await found()).toEqual({ nextSeriesKey: 3, readCount: 1 });
  });

  it('is as it was after a transaction that wrote it is undone, alone or with its group', async () => {
    await append(a, 1);
    await expect(found(fail)).rejects.toThrow('undone');
    expect(await found()).toEqual({ nextSeriesKey: 2, readCount: 1 });
    bed.failCommit();
    // The second of the group reads what the first has written.
    const group = await Promise.allSettled([append(b, 1), found()]);
    expect(group.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await found()).toEqual({ nextSeriesKey: 2, readCount: 1 });
  });
});

describe('the log in memory', () => {
  const times = async (logs: PendingLogs, tx: Reader, progress: Awaited<ReturnType<typeof readProgress>>) =>
    Array.from((await (await logs.open(tx, progress)).patchOf({ organisation: ORGANISATION, key: 1 })).timeMs);

  it('gives a reader of an older state what it needs, even if it has been dropped since', async () => {
    await append(a, 1);
    await append(a, 2);
    const older = await bed.read(readProgress);
    await bed.write((tx) => compactNow(bed.samples, tx, tx.lastCommit));
    await append(a, 3);
    await bed.read(async (tx) => {
      const logs = new PendingLogs();
      expect(await times(logs, tx, await readProgress(tx))).toEqual([3]);
      // A snapshot as a driver would show it; the rows of the last round are still in the table.
      const snapshot: Reader = {
        shard: tx.shard,
        lastCommit: 2,
        durableCommit: tx.durableCommit,
        get: (table, key) => tx.get(table, key),
        find: (table, query) => tx.find(table, query),
        count: (table, where) => tx.count(table, where),
      };
      expect(await times(logs, snapshot, older)).toEqual([1, 2]);
      expect(await times(logs, tx, await readProgress(tx))).toEqual([3]);
    });
  });

  it('gives the rest to all who read and write while old rows are dropped from it in several turns', async () => {
    await append(a, 1);
    const many = Array.from({ length: 8000 }, (_, i) => ({ ...b, timeseriesId: `b${i}` }));
    for (let timeMs = 1; timeMs <= 4; timeMs++) {
      const change = { timeMs: Float64Array.of(timeMs), value: Float64Array.of(timeMs) };
      await bed.write((tx) =>
        bed.samples.append(tx, ORGANISATION, [...many.map((of) => ({ ...of, ...change })), { ...a, ...change }]),
      );
    }
    expect(await bed.read((tx) => timesOf(tx, a))).toEqual([1, 2, 3, 4]);
    await bed.write((tx) => compactNow(bed.samples, tx, 1, { isEager: true }));
    const dropping = turnsDuring(() => bed.read((tx) => timesOf(tx, a)));
    const reads = [a, many[0]!, many[7999]!].map((of) => bed.read((tx) => timesOf(tx, of)));
    const readsOfLater = [5, 6, 7].map(async (timeMs) => {
      await append(a, timeMs);
      return bed.read((tx) => timesOf(tx, a));
    });
    // Appends that were asked for later may be done by then.
    const [ofA, ...ofOthers] = await Promise.all(reads);
    expect(ofA!.slice(0, 4)).toEqual([1, 2, 3, 4]);
    expect(ofOthers).toEqual([1, 2].map(() => [1, 2, 3, 4]));
    for (const [i, times] of (await Promise.all(readsOfLater)).entries()) {
      expect(times.slice(0, 5 + i)).toEqual([1, 2, 3, 4, 5, 6, 7].slice(0, 5 + i));
    }
    const { turnCount, result } = await turnsDuring(() => bed.read((tx) => timesOf(tx, a)));
    expect(result).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect((await dropping).turnCount).toBeGreaterThan(turnCount);
    expect(await bed.read((tx) => timesOf(tx, many[4321]!))).toEqual([1, 2, 3, 4]);
  });

  it('keeps no bytes for readers of an older state, for whom those of the current one would have to go', async () => {
    await append(a, 1);
    await append(a, 2);
    const logs = new PendingLogs(30);
    const counted = { gets: 0 };
    const reader = (lastCommit: number): Reader => ({
      shard: SHARD,
      lastCommit,
      durableCommit: lastCommit,
      get: (table, key) => {
        counted.gets++;
        return bed.read((tx) => tx.get(table, key));
      },
      find: (table, query) => bed.read((tx) => tx.find(table, query)),
      count: (table, where) => bed.read((tx) => tx.count(table, where)),
    });
    const ofSeries = { organisation: ORGANISATION, key: 1 };
    const older = await logs.open(reader(2), await bed.read(readProgress));
    await bed.write((tx) => compactNow(bed.samples, tx, tx.lastCommit));
    await append(a, 3);
    const [progress, lastCommit] = await bed.read(async (tx) => [await readProgress(tx), tx.lastCommit] as const);
    expect((await (await logs.open(reader(lastCommit), progress)).patchOf(ofSeries)).timeMs).toEqual(
      Float64Array.of(3),
    );
    expect((await older.patchOf(ofSeries)).timeMs).toEqual(Float64Array.of(1, 2));
    expect(counted.gets).toBe(2);
    await (await logs.open(reader(lastCommit), progress)).patchOf(ofSeries);
    expect(counted.gets).toBe(2);
  });

  it('gives a read with a limit the part of its range that has enough samples, from either end', async () => {
    for (const at of [10, 20, 30, 40, 25]) await append(a, at);
    const partOf = (range: TimeRange, count: number, isDescending: boolean) =>
      bed.read(async (tx) => {
        const log = await new PendingLogs().open(tx, await readProgress(tx));
        const part = log.partOf({ organisation: ORGANISATION, key: 1 }, range, count, isDescending);
        const { timeMs } = await log.patchOf({ organisation: ORGANISATION, key: 1 }, part);
        return Array.from(timeMs).filter((ms) => ms >= part.fromMs && ms < part.untilMs);
      });
    const all = { fromMs: Number.NEGATIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY };
    expect(await partOf(all, 2, false)).toEqual([10, 20]);
    // A late sample is found among the others.
    expect(await partOf(all, 3, false)).toEqual([10, 20, 25, 30]);
    expect(await partOf(all, 2, true)).toEqual([25, 30, 40]);
    expect(await partOf({ fromMs: 15, untilMs: 40 }, 1, false)).toEqual([20]);
    expect(await partOf({ fromMs: 15, untilMs: 40 }, 9, true)).toEqual([20, 25, 30]);
  });

  it.each([-1e6, 1e6])('finds the times of each series in rows that another makes as wide as to %d', async (far) => {
    const starts = [10, 20, 40, 30];
    for (const start of starts) {
      const timeMs = Float64Array.from({ length: 5 }, (_, i) => start + 2 * i);
      const wide = { ...b, timeMs: Float64Array.of(far + start), value: Float64Array.of(0) };
      await bed.write((tx) => bed.samples.append(tx, ORGANISATION, [{ ...a, timeMs, value: timeMs }, wide]));
    }
    const logs = new PendingLogs();
    const ofSeries = { organisation: ORGANISATION, key: 1 };
    const timesIn = (range: TimeRange) =>
      bed.read(async (tx) => {
        const log = await logs.open(tx, await readProgress(tx));
        return Array.from((await log.patchOf(ofSeries, range)).timeMs);
      });
    for (let fromMs = 5; fromMs < 55; fromMs++) {
      for (const untilMs of [fromMs + 0.5, fromMs + 1, fromMs + 9, fromMs + 12]) {
        // Whole rows, and no others, now that the times of all have been looked at.
        const rows = starts.filter((start) => start < untilMs && start + 8 >= fromMs).sort((one, two) => one - two);
        const expected = rows.flatMap((start) => [0, 2, 4, 6, 8].map((ms) => start + ms));
        expect(await timesIn({ fromMs, untilMs })).toEqual(expected);
      }
    }
    const { forward, back } = await bed.read(async (tx) => {
      const log = await logs.open(tx, await readProgress(tx));
      const range = { fromMs: 0, untilMs: 100 };
      return { forward: log.partOf(ofSeries, range, 6, false), back: log.partOf(ofSeries, range, 6, true) };
    });
    expect(forward.untilMs).toBeGreaterThan(28);
    expect([forward.fromMs, Math.floor(forward.untilMs), back]).toEqual([0, 28, { fromMs: 30, untilMs: 100 }]);
  });

  it('that others have loaded further serves a reader who sees less of it, without another look', async () => {
    for (const at of [1, 2, 3]) await append(a, at);
    const logs = new PendingLogs();
    await bed.read(async (tx) => {
      const progress = await readProgress(tx);
      expect(await times(logs, tx, progress)).toEqual([1, 2, 3]);
      const unasked = () => Promise.reject(new Error('the log was read again'));
      const behind: Reader = {
        shard: tx.shard,
        lastCommit: 2,
        durableCommit: 2,
        get: unasked,
        find: unasked,
        count: unasked,
      };
      expect(await times(logs, behind, progress)).toEqual([1, 2]);
      const log = await logs.open(behind, progress);
      expect(log.rowsWithin(0, Infinity).map(({ commit }) => commit)).toEqual([1, 2]);
    });
  });

  it('reads rows again if there was no room for their bytes', async () => {
    for (const at of [1, 2, 3, 4]) await append(a, at);
    const counted = { gets: 0 };
    await bed.read(async (tx) => {
      const logs = new PendingLogs(1);
      const watched: Reader = {
        shard: tx.shard,
        lastCommit: tx.lastCommit,
        durableCommit: tx.durableCommit,
        get: (table, key) => {
          counted.gets++;
          return tx.get(table, key);
        },
        find: (table, query) => tx.find(table, query),
        count: (table, where) => tx.count(table, where),
      };
      const progress = await readProgress(tx);
      expect(await times(logs, watched, progress)).toEqual([1, 2, 3, 4]);
      expect(await times(logs, watched, progress)).toEqual([1, 2, 3, 4]);
    });
    expect(counted.gets).toBeGreaterThanOrEqual(6);
  });

  it('looks for the samples of a range only where they may be, and for deletions everywhere', async () => {
    for (const at of [1, 2, 3, 4]) await append(a, at);
    const nothing = { timeMs: new Float64Array(0), value: new Float64Array(0) };
    const deleted = { fromMs: 3, untilMs: 10 };
    const opened = await bed.read(async (tx) => {
      let getCount = 0;
      const get: Reader['get'] = (table, key) => {
        getCount++;
        return tx.get(table, key);
      };
      const { shard, lastCommit, durableCommit } = tx;
      const reader: Reader = {
        shard,
        lastCommit,
        durableCommit,
        get,
        find: tx.find.bind(tx),
        count: tx.count.bind(tx),
      };
      const log = await new PendingLogs(1).open(reader, await readProgress(tx));
      const patch = await log.patchOf({ organisation: ORGANISATION, key: 1 }, { fromMs: 2, untilMs: 3 });
      return { timeMs: [...patch.timeMs], getCount };
    });
    expect(opened).toEqual({ timeMs: [2], getCount: 1 });
    await bed.write((tx) => bed.samples.append(tx, ORGANISATION, [{ ...a, ...nothing, deleted }]));
    await append(a, 5);
    // It may have deleted the rest of a segment of the range, which is not read then.
    const { deleted: ranges } = await bed.read(async (tx) => {
      const log = await new PendingLogs().open(tx, await readProgress(tx));
      return log.patchOf({ organisation: ORGANISATION, key: 1 }, { fromMs: 1, untilMs: 2 });
    });
    expect(ranges).toEqual([deleted]);
    const readRange = (fromMs: number, untilMs: number) =>
      bed.read(async (tx) => [...(await bed.samples.read(tx, ORGANISATION, a, { fromMs, untilMs })).timeMs]);
    expect([await readRange(2, 4), await readRange(4, 5), await readRange(5, 6)]).toEqual([[2], [], [5]]);
  });

  it('is loaded to its end, past a commit with more rows than one reader takes', async () => {
    await append(a, 1);
    await bed.write(async (tx) => {
      for (let timeMs = 2; timeMs <= 20; timeMs++) {
        const change = { ...a, timeMs: Float64Array.of(timeMs), value: Float64Array.of(timeMs) };
        await bed.samples.append(tx, ORGANISATION, [change]);
      }
    });
    await append(a, 21);
    while (await bed.read((tx) => bed.samples.log.loadNext(tx, { rowCountMax: 2 })));
    let readCount = 0;
    const times = await bed.read((tx) => {
      const find: Reader['find'] = (table, query) => {
        if (table.name === sampleLog.name) readCount++;
        return tx.find(table, query);
      };
      const { shard, lastCommit, durableCommit } = tx;
      const reader: Reader = { shard, lastCommit, durableCommit, find, get: tx.get.bind(tx), count: tx.count.bind(tx) };
      return timesOf(reader, a);
    });
    expect(times).toEqual(Array.from({ length: 21 }, (_, i) => i + 1));
    expect(readCount).toBe(0);
  });

  it('is loaded up to where it ended at the beginning, however fast writers are', async () => {
    for (let timeMs = 1; timeMs <= 200; timeMs++) await append(a, timeMs);
    const fresh = createSampleStore({ clock: { nowMs: () => 0 } });
    let timeMs = 200;
    let readerCount = 0;
    const storage: Storage = Object.assign(Object.create(bed.storage), {
      lastCommit: (shard: number) => bed.storage.lastCommit(shard),
      // Between any two readers comes more than one of them takes.
      read: async (shard: number, work: (tx: Reader) => Promise<unknown>) => {
        if (++readerCount > 30) throw new Error('it does not end');
        const result = await bed.storage.read(shard, work);
        for (let i = 0; i < 70; i++) await append(a, ++timeMs);
        return result;
      },
    });
    await fresh.log.load(storage, SHARD);
    expect(await bed.read((tx) => fresh.count(tx, ORGANISATION, a, { fromMs: 1, untilMs: 201 }))).toBe(200);
  });

  it('does not keep rows in memory that are in segments, though nobody reads', async () => {
    for (let timeMs = 1; timeMs <= 5; timeMs++) await append(a, timeMs);
    const logs = new PendingLogs();
    const countReads = (work: (tx: Reader) => Promise<unknown>) =>
      bed.read(async (tx) => {
        let count = 0;
        const find: Reader['find'] = (table, query) => {
          if (table.name === sampleLog.name) count++;
          return tx.find(table, query);
        };
        const { shard, lastCommit, durableCommit } = tx;
        await work({ shard, lastCommit, durableCommit, find, get: tx.get.bind(tx), count: tx.count.bind(tx) });
        return count;
      });
    const open = async (tx: Reader) => logs.open(tx, await readProgress(tx));
    expect(await countReads(open)).toBe(1);
    expect(await countReads(open)).toBe(0);
    await countReads(async (tx) => logs.dropCompacted(tx, { ...(await readProgress(tx)), compactedCommit: 3 }));
    // A reader of the state before has to read those rows again.
    expect(await countReads(open)).toBe(1);
  });
});
