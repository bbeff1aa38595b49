import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SeriesReference } from '../../../src/core/series.js';
import { type Move, storeMove } from '../../../src/storage/samples/compaction/move.js';
import { deleteExpired } from '../../../src/storage/samples/compaction/retention.js';
import { sampleLog, segments, series } from '../../../src/storage/tables/samples.js';
import { type Bed, ORGANISATION, openBed } from './bed.js';

const a: SeriesReference = { timeseriesId: 'a', metric: 'Raw' };

let bed: Bed;
beforeEach(async () => {
  bed = await openBed();
});
afterEach(() => bed.close());

const append = (fromS: number, untilS: number, stepS = 1) => {
  const timeMs = Float64Array.from({ length: (untilS - fromS) / stepS }, (_, i) => (fromS + i * stepS) * 1000);
  return bed.write((tx) => bed.samples.append(tx, ORGANISATION, [{ ...a, timeMs, value: timeMs.map(Math.sin) }]));
};
const prepare = () => bed.read((tx) => bed.samples.prepareMove(tx, tx.lastCommit, { isEager: true }));
const store = (move: Move | undefined) => bed.write((tx) => storeMove(tx, move!));
const segmentsStored = () => bed.read((tx) => tx.find(segments));
const rowOf = async () => (await bed.read((tx) => tx.find(series)))[0]!;
const countOf = async () => (await bed.read((tx) => bed.samples.read(tx, ORGANISATION, a))).timeMs.length;

/** Segments of 10,000 samples, and a change in the log that touches all of them. */
async function fill(): Promise<void> {
  await append(0, 10_000);
  await store(await prepare());
  await append(0.5, 10_000.5, 100);
}

describe('a move', () => {
  it('can be stored while the log grows; what came since stays in the log', async () => {
    await fill();
    const move = await prepare();
    await append(30_000, 30_100);
    await store(move);
    expect((await rowOf()).sampleCount).toBe(10_100);
    expect(await bed.read((tx) => tx.count(sampleLog))).toBe(1);
    expect(await countOf()).toBe(10_200);
  });

  it('that was stored is not stored again', async () => {
    await fill();
    const move = await prepare();
    await store(move);
    const stored = await segmentsStored();
    await store(move);
    expect(await segmentsStored()).toEqual(stored);
    expect(await prepare()).toBeUndefined();
  });

  it('does not bring back what retention deleted since it was prepared', async () => {
    await fill();
    const move = await prepare();
    const row = await rowOf();
    await bed.write((tx) => deleteExpired(tx, [{ row, beforeMs: 5_000_000, lateMs: -Infinity }]));
    const kept = await segmentsStored();
    expect(kept[0]!.startMs).toBeGreaterThan(0);
    await store(move);
    expect(await segmentsStored()).toEqual(kept);
    // Prepared anew, it is stored.
    const count = await countOf();
    await store(await prepare());
    expect(await countOf()).toBe(count);
    expect(await bed.read((tx) => tx.count(sampleLog))).toBe(0);
  });

  it('leaves no segments of a series that was dropped since it was prepared', async () => {
    await fill();
    const move = await prepare();
    await bed.write((tx) => bed.samples.drop(tx, ORGANISATION, a));
    await store(move);
    expect(await segmentsStored()).toEqual([]);
  });
});
