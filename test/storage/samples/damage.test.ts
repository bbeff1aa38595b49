import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SeriesReference } from '../../../src/core/series.js';
import { Compactor } from '../../../src/storage/samples/compaction/compactor.js';
import type { SampleRange, TimeRange } from '../../../src/storage/samples/samples.js';
import { unpackIfSound } from '../../../src/storage/samples/segments.js';
import type { SampleStore } from '../../../src/storage/samples/store.js';
import type { Reader } from '../../../src/storage/storage.js';
import { type SegmentRow, sampleLog, segments } from '../../../src/storage/tables/samples.js';
import { type Bed, ORGANISATION, openBed } from './bed.js';
import { compactNow } from './compact-now.js';
import { listAll } from './list-all.js';

// A bit flips in a row of the log: what it may have changed is named and refused, and nothing else.

const a: SeriesReference = { timeseriesId: 'a', metric: 'Raw' };
const b: SeriesReference = { timeseriesId: 'b', metric: 'Raw' };
const c: SeriesReference = { timeseriesId: 'c', metric: 'Raw' };

let bed: Bed;
beforeEach(async () => {
  bed = await openBed();
});
afterEach(() => bed.close());

const seconds = (fromS: number, untilS: number) => {
  const timeMs = Float64Array.from({ length: untilS - fromS }, (_, i) => (fromS + i) * 1000);
  return { timeMs, value: timeMs.map(Math.sin) };
};
const append = (of: SeriesReference, fromS: number, untilS: number, organisation = ORGANISATION) =>
  bed.write((tx) => bed.samples.append(tx, organisation, [{ ...of, ...seconds(fromS, untilS) }]));
const remove = (of: SeriesReference, fromS: number, untilS: number) =>
  bed.write((tx) => {
    const deleted = { fromMs: fromS * 1000, untilMs: untilS * 1000 };
    return bed.samples.append(tx, ORGANISATION, [{ ...of, ...seconds(0, 0), deleted }]);
  });
/** Reads a range; what is read without an error is found sound by `check`, and what is refused is not. */
async function countOf(of: SeriesReference, range: SampleRange = {}, organisation = ORGANISATION): Promise<number> {
  const reading = bed.read((tx) => bed.samples.read(tx, organisation, of, range));
  if (range.limit !== undefined) return (await reading).timeMs.length;
  const [read, checked] = await Promise.allSettled([reading, check(of, range, organisation)]);
  expect(checked).toEqual(read.status === 'rejected' ? read : { status: 'fulfilled', value: undefined });
  return (await reading).timeMs.length;
}
async function check(of: SeriesReference, range: SampleRange, organisation: string): Promise<void> {
  const { fromMs = -Infinity, untilMs = Infinity } = range;
  for (let atMs: number | undefined = fromMs; atMs !== undefined; ) {
    const rest: TimeRange = { fromMs: atMs, untilMs };
    atMs = await bed.read((tx) => bed.samples.check(tx, organisation, of, rest));
  }
}
const compact = () => bed.write((tx) => compactNow(bed.samples, tx, tx.lastCommit, { isEager: true }));

/** Flips a bit of a row on the disk; the process that reads it next has not seen the row before. */
async function flip(commit: number, placeOf: (bytes: Uint8Array) => number): Promise<void> {
  await bed.write(async (tx) => {
    const [row] = await tx.find(sampleLog, { where: [['commit', '=', commit]] });
    const changes = row!.changes.slice();
    changes[placeOf(changes)]! ^= 0x04;
    await tx.update(sampleLog, [['commit', '=', commit]], { changes });
  });
  await bed.reopen();
}
const inSamples = (bytes: Uint8Array) => bytes.length - 3;
const inHeads = () => 7;

const damaged = { code: 'storage.damaged', message: expect.stringContaining('part 0 of commit 2') };

async function fill(): Promise<void> {
  await append(a, 0, 100);
  await bed.write((tx) =>
    bed.samples.append(tx, ORGANISATION, [
      { ...a, ...seconds(100, 200) },
      { ...b, ...seconds(150, 250) },
    ]),
  );
  await append(a, 300, 400);
  await append(c, 0, 50);
  await append(a, 0, 60, 'other');
}

describe('a damaged row of the log', () => {
  it('is refused where it may have samples of a series; all other ranges and series are readable', async () => {
    await fill();
    await flip(2, inSamples);
    expect(await countOf(c)).toBe(50);
    expect(await countOf(a, {}, 'other')).toBe(60);
    expect(await countOf(a, { untilMs: 100_000 })).toBe(100);
    expect(await countOf(a, { fromMs: 250_000 })).toBe(100);
    for (const of of [a, b]) await expect(countOf(of)).rejects.toMatchObject(damaged);
    await expect(countOf(a, { fromMs: 120_000, untilMs: 130_000 })).rejects.toMatchObject(damaged);
    await expect(countOf(a, { limit: 150 })).rejects.toMatchObject(damaged);
    await expect(countOf(a, { limit: 150, isDescending: true })).rejects.toMatchObject(damaged);
    // Lists count what is readable.
    const infos = await bed.read((tx) => listAll(bed.samples, tx, ORGANISATION));
    expect(infos.map(({ timeseriesId, sampleCount }) => [timeseriesId, sampleCount])).toEqual([
      ['a', 200],
      ['b', 0],
      ['c', 50],
    ]);
  });

  it('whose series is unreadable is refused to its whole organisation, and to no other', async () => {
    await fill();
    await flip(2, inHeads);
    for (const of of [a, b, c]) await expect(countOf(of)).rejects.toMatchObject(damaged);
    expect(await countOf(a, {}, 'other')).toBe(60);
    await append(c, 50, 60, 'other');
    expect(await countOf(c, {}, 'other')).toBe(10);
    // Deleting all samples of a series removes the doubt.
    await remove(c, -1e9, 1e9);
    await append(c, 0, 7);
    expect(await countOf(c, { fromMs: -1e12, untilMs: 1e12 })).toBe(7);
  });

  it('can be repaired by deleting its range and sending the samples again', async () => {
    await fill();
    await flip(2, inSamples);
    await remove(a, 100, 200);
    await append(a, 100, 200);
    await expect(countOf(b)).rejects.toMatchObject(damaged);
    // The whole row, which starts with samples of the other series.
    for (const of of [a, b]) await remove(of, 100, 250);
    await append(a, 100, 200);
    await append(b, 150, 250);
    expect([await countOf(a), await countOf(b)]).toEqual([300, 100]);
    while (await compact());
    expect([await countOf(a), await countOf(b), await countOf(c)]).toEqual([300, 100, 50]);
    expect(await bed.read((tx) => tx.count(sampleLog))).toBe(0);
  });

  it('stops compaction before it, and nothing of the log is lost', async () => {
    await fill();
    await flip(2, inSamples);
    await compact();
    expect(await bed.read((tx) => tx.count(segments))).toBe(1);
    await expect(compact()).rejects.toMatchObject(damaged);
    expect((await bed.read((tx) => tx.find(sampleLog))).map(({ commit }) => commit)).toEqual([2, 3, 4, 5]);
    expect(await countOf(a, { untilMs: 100_000 })).toBe(100);
    expect(await countOf(c)).toBe(50);
  });

  it('is reported to followers of the log, who then go on', async () => {
    await fill();
    await flip(2, inSamples);
    const { changes } = await bed.read((tx) => bed.samples.changesAfter(tx, 0));
    expect(
      changes.map(({ commit, timeseriesId, timeMs, damage }) => [commit, timeseriesId, timeMs.length, damage]),
    ).toEqual([
      [1, 'a', 100, undefined],
      [2, 'a', 0, expect.objectContaining({ fromMs: 100_000 })],
      [2, 'b', 0, expect.objectContaining({ fromMs: 100_000 })],
      [3, 'a', 100, undefined],
      [4, 'c', 50, undefined],
      [5, 'a', 60, undefined],
    ]);
  });

  it.each([1, 12, 40])('is not read as samples, whichever byte is damaged (byte %i)', async (at) => {
    await append(a, 0, 200);
    await flip(1, () => at);
    await expect(countOf(a)).rejects.toMatchObject({ code: 'storage.damaged' });
  });
});

describe('a damaged segment', () => {
  const compactAll = async () => {
    while (await compact());
  };
  /** Changes the n-th segment on the disk. */
  const damage = (n: number, change: (row: SegmentRow) => Partial<SegmentRow>) =>
    bed.write(async (tx) => {
      const row = (await tx.find(segments))[n]!;
      await tx.update(segments, [['endMs', '=', row.endMs]], change(row));
    });
  const flipValue = ({ values }: SegmentRow) => ({ values: values.map((byte, i) => (i === 40 ? byte ^ 4 : byte)) });
  const SIZE = 4096;

  it('is refused, not passed over, if what is damaged is where it starts', async () => {
    await append(a, 0, 10 * SIZE);
    await compactAll();
    await damage(1, () => ({ startMs: 9 * SIZE * 1000 }));
    for (const range of [{}, { isDescending: true }, { fromMs: SIZE * 1000, untilMs: 2 * SIZE * 1000 }]) {
      await expect(countOf(a, range)).rejects.toMatchObject({ code: 'storage.damaged' });
    }
    expect(await countOf(a, { untilMs: SIZE * 1000 })).toBe(SIZE);
    expect(await countOf(a, { fromMs: 2 * SIZE * 1000 })).toBe(8 * SIZE);
  });

  it('is told as such whichever bit of its times is damaged, also where they are compressed', async () => {
    const timeMs = Float64Array.from({ length: SIZE }, (_, i) => i * 1000 + ((i * 7919) % 389));
    await bed.write((tx) => bed.samples.append(tx, ORGANISATION, [{ ...a, timeMs, value: timeMs }]));
    await compactAll();
    const [row] = await bed.read((tx) => tx.find(segments));
    for (let at = 0; at < row!.times.length; at += 3) {
      const times = row!.times.slice();
      times[at]! ^= 1 << (at % 8);
      expect([at, unpackIfSound({ ...row!, times })]).toEqual([at, undefined]);
    }
    await damage(0, ({ times }) => ({ times: times.map((byte, i) => (i % 40 === 30 ? byte ^ 1 : byte)) }));
    await expect(countOf(a)).rejects.toMatchObject({ code: 'storage.damaged' });
    await append(a, 10_000, 10_100);
    await compactAll();
    await remove(a, -1e9, 10_000);
    expect(await countOf(a)).toBe(100);
  });

  it('is found behind many sound ones', async () => {
    await append(a, 0, 70 * SIZE);
    await compactAll();
    await damage(69, flipValue);
    await expect(countOf(a)).rejects.toMatchObject({ code: 'storage.damaged' });
    expect(await countOf(a, { untilMs: 69 * SIZE * 1000 })).toBe(69 * SIZE);
  });

  it('at the end of a series keeps nothing from being compacted', async () => {
    await append(a, 0, 1000);
    await compactAll();
    await damage(0, flipValue);
    await append(a, 1000, 2000);
    await append(b, 0, 50);
    await compactAll();
    expect(await bed.read((tx) => tx.count(sampleLog))).toBe(0);
    expect([await countOf(a, { fromMs: 1_000_000 }), await countOf(b)]).toEqual([1000, 50]);
    await expect(countOf(a)).rejects.toMatchObject({ code: 'storage.damaged' });
    await remove(a, 0, 1000);
    await append(a, 0, 1000);
    await compactAll();
    expect(await countOf(a)).toBe(2000);
  });

  it('beside a segment of which little is left keeps nothing from being compacted', async () => {
    await append(a, 0, 3 * SIZE);
    await compactAll();
    await damage(1, flipValue);
    await remove(a, 0, SIZE - 100);
    await append(b, 0, 50);
    await compactAll();
    expect(await bed.read((tx) => tx.count(sampleLog))).toBe(0);
    expect([await countOf(a, { untilMs: SIZE * 1000 }), await countOf(b)]).toEqual([100, 50]);
    expect(await countOf(a, { fromMs: 2 * SIZE * 1000 })).toBe(SIZE);
    await expect(countOf(a)).rejects.toMatchObject({ code: 'storage.damaged' });
  });
});

it('the compactor goes on with other shards while one is blocked', async () => {
  const shards: number[] = [];
  const waiting: (() => void)[] = [];
  let nowMs = 0;
  const look = async (tx: Reader) => {
    shards.push(tx.shard);
    if (tx.shard === 3) throw new Error('damaged');
    return false;
  };
  const compactor = new Compactor({
    storage: bed.storage,
    // `as`: all that the compactor uses.
    samples: {
      log: { wasRead: () => false, dropCompacted: async () => {}, hasRows: look },
    } as unknown as SampleStore,
    scheduler: {
      after: (_, work) => {
        waiting.push(work);
        return () => {};
      },
    },
    clock: { monotonicMs: () => nowMs },
    pollIntervalMs: 1000,
    onError: () => {},
  });
  compactor.start();
  const pass = async (ms: number) => {
    while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
    nowMs += ms;
    waiting.shift()!();
  };
  await pass(1000);
  expect(shards).toEqual(Array.from({ length: 32 }, (_, shard) => shard));
  shards.length = 0;
  // The blocked shard is retried after a while; the others have their turns meanwhile.
  for (let i = 0; i < 4; i++) {
    await append(a, i, i + 1);
    await pass(1000);
  }
  expect(shards.filter((shard) => shard === 5).length).toBeGreaterThan(1);
  expect(shards).not.toContain(3);
  await pass(10_000);
  await pass(1000);
  expect(shards).toContain(3);
  const stopping = compactor.stop();
  while (waiting.length > 0) waiting.shift()!();
  await stopping;
});
