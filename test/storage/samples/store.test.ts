import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SeriesReference } from '../../../src/core/series.js';
import { Compactor } from '../../../src/storage/samples/compaction/compactor.js';
import { ForgottenChangesError, ResultSeriesError } from '../../../src/storage/samples/samples.js';
import { createSampleStore } from '../../../src/storage/samples/store.js';
import type { SegmentRow } from '../../../src/storage/tables/samples.js';
import { logProgress, sampleLog, segments } from '../../../src/storage/tables/samples.js';
import { type Bed, ORGANISATION, openBed, SHARD } from './bed.js';
import { compactNow } from './compact-now.js';
import { listAll } from './list-all.js';
import { columnsOf } from './model.js';

const a: SeriesReference = { timeseriesId: 'a', metric: 'Raw' };
const b: SeriesReference = { timeseriesId: 'b', metric: 'Raw' };

let bed: Bed;
beforeEach(async () => {
  bed = await openBed();
});
afterEach(() => bed.close());

/** One sample a second in `[fromS, untilS)`; the values identify them. */
function seconds(fromS: number, untilS: number, version = 0) {
  const timeMs = Float64Array.from({ length: untilS - fromS }, (_, i) => (fromS + i) * 1000);
  return { timeMs, value: timeMs.map((time) => time / 1000 + version / 10) };
}

const append = (of: SeriesReference, fromS: number, untilS: number, version = 0) =>
  bed.write((tx) => bed.samples.append(tx, ORGANISATION, [{ ...of, ...seconds(fromS, untilS, version) }]));
const compactAll = async () => {
  while (await bed.write((tx) => compactNow(bed.samples, tx, tx.lastCommit, { isEager: true })));
};
const rowsOf = (): Promise<SegmentRow[]> => bed.read((tx) => tx.find(segments));
const read = (of: SeriesReference) => bed.read((tx) => bed.samples.read(tx, ORGANISATION, of));

describe('an append', () => {
  it('with an offset already stored writes nothing; with a later one it does, by partition', async () => {
    const send = (partition: string, offset: number, at: number) =>
      bed.write((tx) => {
        const change = { ...a, ...seconds(at, at + 1) };
        return bed.samples.append(tx, ORGANISATION, [change], { origin: { source: 'queue', partition, offset } });
      });
    expect([await send('0', 5, 1), await send('0', 5, 2), await send('0', 4, 3), await send('0', 6, 4)]).toEqual([
      true,
      false,
      false,
      true,
    ]);
    expect(await send('1', 5, 5)).toBe(true);
    expect(Array.from((await read(a)).timeMs)).toEqual([1000, 4000, 5000]);
  });

  it('of more than fits into a row of the log is cut into several, and deletes ahead of all its samples', async () => {
    await append(b, 0, 10);
    const deleted = { fromMs: 0, untilMs: 1e9 };
    const written = [
      { ...a, ...seconds(0, 32_766) },
      { ...b, ...seconds(5, 70_005), deleted },
      { ...a, metric: 'Other', ...seconds(0, 3) },
    ];
    await bed.write((tx) => bed.samples.append(tx, ORGANISATION, written));
    const rows = await bed.read((tx) => tx.find(sampleLog, { where: [['commit', '=', 2]] }));
    // Of the row that the first series leaves room for nothing in, the second has its deletion in the next.
    expect(rows.map(({ sampleCount }) => sampleCount)).toEqual([32_766, 32_767, 32_767, 4_469]);
    const { changes } = await bed.read((tx) => bed.samples.changesAfter(tx, 1));
    expect(changes.map((change) => change.deleted)).toEqual([undefined, deleted, undefined, undefined, undefined]);
    const expectAll = async () => {
      for (const { timeseriesId, metric, timeMs, value } of written) {
        expect(await read({ timeseriesId, metric })).toEqual({ timeMs, value });
      }
    };
    await expectAll();
    await bed.reopen();
    await expectAll();
    await compactAll();
    await expectAll();
  });

  it('creates each series that it names once, also for an empty change', async () => {
    const none = new Float64Array(0);
    await bed.write((tx) =>
      bed.samples.append(tx, ORGANISATION, [
        { ...a, ...seconds(0, 2) },
        { ...a, ...seconds(2, 3) },
        { ...b, timeMs: none, value: none },
      ]),
    );
    const infos = await bed.read((tx) => listAll(bed.samples, tx, ORGANISATION));
    expect(infos).toEqual([
      { ...a, itemId: null, sampleCount: 3, firstMs: 0, lastMs: 2000 },
      { ...b, itemId: null, sampleCount: 0, firstMs: null, lastMs: null },
    ]);
    expect(await bed.read((tx) => listAll(bed.samples, tx, 'another organisation'))).toEqual([]);
  });

  it('to a result is refused unless an item makes it; provisional samples are only for results', async () => {
    const change = { ...a, ...seconds(0, 2) };
    await bed.write((tx) => bed.samples.append(tx, ORGANISATION, [change], { itemId: 'item' }));
    await expect(append(a, 2, 3)).rejects.toThrow(ResultSeriesError);
    await append(b, 0, 1);
    const provisional = bed.write((tx) => bed.samples.setProvisional(tx, ORGANISATION, { ...b, ...seconds(1, 2) }));
    await expect(provisional).rejects.toThrow('not the result of an item');
  });

  it('with times out of order is refused as the caller’s mistake, and nothing is written', async () => {
    const change = { ...a, timeMs: Float64Array.of(1, 1), value: Float64Array.of(1, 2) };
    await expect(bed.write((tx) => bed.samples.append(tx, ORGANISATION, [change]))).rejects.toThrow('do not rise');
    expect(await bed.read((tx) => listAll(bed.samples, tx, ORGANISATION))).toEqual([]);
  });
});

describe('a follower of the log', () => {
  it('gets the changes of whole commits, in order, with deletions and drops, in limited portions', async () => {
    await bed.write(async (tx) => {
      await bed.samples.append(tx, ORGANISATION, [
        { ...a, ...seconds(0, 2) },
        { ...b, ...seconds(0, 1) },
      ]);
      await bed.samples.append(tx, 'other', [{ ...a, ...seconds(7, 8) }]);
    });
    const deleted = { fromMs: 0, untilMs: 1000 };
    await bed.write((tx) => bed.samples.append(tx, ORGANISATION, [{ ...a, ...seconds(3, 4), deleted }]));
    await bed.write((tx) => bed.samples.drop(tx, ORGANISATION, b));
    const { changes, lastCommit } = await bed.read((tx) => bed.samples.changesAfter(tx, 0));
    const brief = changes.map(({ organisation, timeseriesId, commit, timeMs, deleted: range }) =>
      [commit, organisation, timeseriesId, timeMs.length, range?.fromMs].join(' '),
    );
    // A write to a series that no longer exists is left out, but its drop is included.
    expect(brief).toEqual(['1 acme a 2 ', '1 other a 1 ', '2 acme a 1 0', '3 acme b 0 -62135596800000']);
    expect(lastCommit).toBe(3);
    const some = await bed.read((tx) => bed.samples.changesAfter(tx, 0, 1));
    expect(some).toMatchObject({ changes: [{ commit: 1 }, { commit: 1 }], lastCommit: 1, isAll: false });
    const rest = await bed.read((tx) => bed.samples.changesAfter(tx, 1));
    expect(rest).toMatchObject({ lastCommit: 3, isAll: true });
    expect([...some.changes, ...rest.changes]).toEqual(changes);
  });

  it('gets about a million samples at once, however few changes they are', async () => {
    for (let commit = 0; commit < 5; commit++) await append(a, commit * 300_000, (commit + 1) * 300_000);
    const some = await bed.read((tx) => bed.samples.changesAfter(tx, 0));
    expect(some).toMatchObject({ lastCommit: 4, isAll: false });
    const rest = await bed.read((tx) => bed.samples.changesAfter(tx, 4));
    expect(rest).toMatchObject({ lastCommit: 5, isAll: true });
    const times = [...some.changes, ...rest.changes].flatMap(({ timeMs }) => Array.from(timeMs));
    expect(times).toEqual(Array.from(seconds(0, 1_500_000).timeMs));
  });

  it.each([
    ['for half a minute', {}, [0, 2000, 20_000, 31_000], [2, 3, 4]],
    ['up to so many samples', { keptCostMax: 45_000 }, [0, 0, 0, 0], [3, 4]],
    ['after a pause for a while, as it is deleted little by little', {}, [0, 0, 0, 0, 0, 0, 90_000], [5, 6, 7]],
    ['but for the last round, however old', { keptMs: 10, keptCostMax: 10 }, [0, 100, 200, 300], [4]],
  ])(
    'finds what was compacted in the log %s, and is told if it no longer reaches back',
    async (_, sizes, times, left) => {
      let nowMs = 0;
      const samples = createSampleStore({ clock: { nowMs: () => nowMs }, sizes });
      for (const [i, timeMs] of times.entries()) {
        nowMs = timeMs;
        await append(a, 20_000 * i, 20_000 * (i + 1));
        await bed.write((tx) => compactNow(samples, tx, tx.lastCommit));
      }
      const rows = await bed.read((tx) => tx.find(sampleLog));
      const firsts = rows.map(({ commit }) => commit).sort((a, b) => a - b);
      const changesAfter = (commit: number) => bed.read((tx) => samples.changesAfter(tx, commit));
      await expect(changesAfter(0)).rejects.toThrow(ForgottenChangesError);
      const { changes } = await changesAfter(firsts[0]! - 1);
      expect(changes.map(({ timeMs }) => timeMs[0]! / 20_000_000 + 1)).toEqual(left);
    },
  );
});

describe('compaction', () => {
  it('moves no commit after its bound, and nothing while there is little', async () => {
    await append(a, 0, 100);
    await append(a, 100, 200);
    expect(await bed.write((tx) => compactNow(bed.samples, tx, tx.lastCommit))).toBe(false);
    expect(await rowsOf()).toEqual([]);
    await bed.write((tx) => compactNow(bed.samples, tx, 1, { isEager: true }));
    expect((await rowsOf()).map(({ sampleCount }) => sampleCount)).toEqual([100]);
    expect((await bed.read((tx) => tx.find(sampleLog))).map(({ commit }) => commit)).toEqual([2]);
  });

  it('fills segments of 4096 samples at the end of a series, however few come at a time', async () => {
    for (let at = 0; at < 10_000; at += 250) {
      await append(a, at, at + 250);
      await compactAll();
    }
    const counts = (await rowsOf()).map(({ sampleCount }) => sampleCount);
    expect(counts.slice(0, 2)).toEqual([4096, 4096]);
    expect(counts.reduce((sum, count) => sum + count)).toBe(10_000);
    expect(counts.length).toBeLessThan(8);
  });

  it('rewrites the segments that late samples touch, and no others', async () => {
    await append(a, 0, 20_000);
    await compactAll();
    const before = await rowsOf();
    await bed.write((tx) =>
      bed.samples.append(tx, ORGANISATION, [{ ...a, timeMs: Float64Array.of(5_000_500), value: Float64Array.of(7) }]),
    );
    await append(a, 9000, 9001, 5);
    await compactAll();
    const after = await rowsOf();
    const isKept = (row: SegmentRow) => after.some((other) => Buffer.compare(other.values, row.values) === 0);
    expect(before.map(isKept)).toEqual([true, false, false, true, true]);
    expect(after.map(({ sampleCount }) => sampleCount)).toEqual([4096, 4097, 4096, 4096, 3616]);
  });

  it('writes nothing if the same samples come again', async () => {
    await append(a, 0, 20_000);
    await compactAll();
    const before = await rowsOf();
    await append(a, 0, 20_000);
    await compactAll();
    expect(await rowsOf()).toEqual(before);
  });

  it('splits a segment that late samples made too long, and joins those that deletions made small', async () => {
    await append(a, 0, 8192);
    await compactAll();
    const halves = seconds(0, 4096);
    await bed.write((tx) =>
      bed.samples.append(tx, ORGANISATION, [{ ...a, ...halves, timeMs: halves.timeMs.map((time) => time + 500) }]),
    );
    await append(a, 20_000, 24_096);
    await compactAll();
    expect((await rowsOf()).map(({ sampleCount }) => sampleCount)).toEqual([8191, 4097, 4096]);
    const deleted = { fromMs: 10_000, untilMs: 4_000_000 };
    const none = new Float64Array(0);
    await bed.write((tx) => bed.samples.append(tx, ORGANISATION, [{ ...a, timeMs: none, value: none, deleted }]));
    await compactAll();
    const [first, ...others] = (await rowsOf()).map(({ sampleCount }) => sampleCount);
    expect(first).toBe(8191 - 7980 + 4097);
    expect(others).toEqual([4096]);
  });
});

it.each([1, 1000, 10_001, 65_536, 100_001])(
  'a read of %i samples reads few segments more than they fill',
  async (limit) => {
    await append(a, 0, 200_000);
    await compactAll();
    for (const isDescending of [false, true]) {
      let samples = 0;
      const { timeMs, value } = seconds(1000, 199_000);
      const found = await bed.read((tx) => {
        const find = async (...asked: Parameters<typeof tx.find>) => {
          const rows = await tx.find(...asked);
          if ((asked[0] as unknown) === segments)
            for (const row of rows as unknown as SegmentRow[]) samples += row.sampleCount;
          return rows;
        };
        const range = { fromMs: timeMs[0]!, untilMs: timeMs.at(-1)! + 1, limit, isDescending };
        return bed.samples.read({ ...tx, find } as typeof tx, ORGANISATION, a, range);
      });
      const from = isDescending ? timeMs.length - limit : 0;
      expect(found).toEqual({ timeMs: timeMs.slice(from, from + limit), value: value.slice(from, from + limit) });
      // Those at both ends are read in part; short reads do not look for how full segments are.
      expect(samples).toBeLessThanOrEqual(1.1 * limit + 4 * 4096 + (limit > 10_000 ? 0 : limit));
    }
  },
);

it('deleting the first samples while appending later ones moves both ends of the range', async () => {
  await append(a, 0, 100);
  await compactAll();
  const change = { ...a, ...seconds(200, 210), deleted: { fromMs: -Infinity, untilMs: 50_000 } };
  await bed.write((tx) => bed.samples.append(tx, ORGANISATION, [change]));
  const expected = { ...a, itemId: null, sampleCount: 60, firstMs: 50_000, lastMs: 209_000 };
  expect(await bed.read((tx) => bed.samples.info(tx, ORGANISATION, a))).toEqual(expected);
  await compactAll();
  expect(await bed.read((tx) => bed.samples.info(tx, ORGANISATION, a))).toEqual(expected);
});

describe('the compactor', () => {
  it('moves what live items have absorbed, in short steps, reports errors, and stops when told', async () => {
    const errors: unknown[] = [];
    const waiting: { readonly dueMs: number; readonly work: () => void }[] = [];
    let nowMs = 0;
    const clock = { monotonicMs: () => nowMs };
    const scheduler = {
      after: (delayMs: number, work: () => void) => {
        const timer = { dueMs: nowMs + delayMs, work };
        waiting.push(timer);
        return () => waiting.splice(waiting.indexOf(timer), 1);
      },
    };
    // Lets everything that waits for the database finish, then the pause elapse.
    const pass = async () => {
      while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
      const { dueMs, work } = waiting.shift()!;
      nowMs = dueMs;
      work();
    };
    const { storage, samples } = bed;
    const compactor = new Compactor({
      storage,
      samples,
      scheduler,
      clock,
      pollIntervalMs: 1000,
      onError: (error) => errors.push(error),
    });
    const absorb = (absorbedCommit: number) => bed.write((tx) => tx.put(logProgress, { name: 'log', absorbedCommit }));
    await absorb(0);
    await append(a, 0, 300_000);
    compactor.start();
    await pass();
    expect(await rowsOf()).toEqual([]);
    await absorb(2);
    bed.failCommit();
    await pass();
    await pass();
    expect(errors).toHaveLength(1);
    // It is retried after ten intervals.
    for (let step = 0; step < 10 + 16; step++) await pass();
    expect((await rowsOf()).reduce((sum, { sampleCount }) => sum + sampleCount, 0)).toBe(300_000);
    await compactor.stop();
    expect(waiting).toEqual([]);
    expect(columnsOf(await read(a))).toEqual(columnsOf(seconds(0, 300_000)));
  });
});

it('a list is given in parts where it takes long, so that others get their turn', async () => {
  for (const of of [a, b]) await append(of, 0, 2);
  let nowMs = 0;
  const slow = createSampleStore({ clock: { nowMs: () => (nowMs += 10) } });
  const partAfter = (after?: SeriesReference) =>
    bed.read((tx) => slow.list(tx, ORGANISATION, after === undefined ? {} : { after }));
  const describedAs = (of: SeriesReference) => [{ ...of, itemId: null, sampleCount: 2, firstMs: 0, lastMs: 1000 }];
  expect(await partAfter()).toEqual({ infos: describedAs(a), isAll: false });
  expect(await partAfter(a)).toEqual({ infos: describedAs(b), isAll: true });
  expect(await bed.read((tx) => listAll(slow, tx, ORGANISATION))).toEqual([...describedAs(a), ...describedAs(b)]);
});

it('series belong to the shard they were written to', async () => {
  await append(a, 0, 10);
  expect(await bed.storage.read(SHARD + 1, (tx) => listAll(bed.samples, tx, ORGANISATION))).toEqual([]);
});
