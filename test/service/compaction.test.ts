import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createCompactionThread } from '../../src/service/compaction/thread.js';
import { openSqliteStorage } from '../../src/storage/index.js';
import { storeMove } from '../../src/storage/samples/compaction/move.js';
import { createSampleStore } from '../../src/storage/samples/store.js';
import type { Storage } from '../../src/storage/storage.js';
import { temporaryDirectory } from '../storage/open-temporary.js';

// The published script of the thread, which `npm test` has built.
const url = new URL('../../dist/cli/compaction-worker.js', import.meta.url);
const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => performance.now() };
const SHARD = 3;
const ORGANISATION = 'acme';
const of = { timeseriesId: 'meter', metric: 'Raw' };

describe('the thread of compaction', () => {
  let directory: { readonly path: string; remove(): void };
  let storage: Storage;
  const samples = createSampleStore({ clock });
  beforeEach(async () => {
    directory = temporaryDirectory();
    storage = await openSqliteStorage({ directory: directory.path, clock, reserveBytes: 0 });
  });
  afterEach(async () => {
    await storage.close();
    directory.remove();
  });
  const append = (fromS: number, count: number) => {
    const timeMs = Float64Array.from({ length: count }, (_, i) => (fromS + i) * 1000);
    return storage.transaction(SHARD, (tx) =>
      samples.append(tx, ORGANISATION, [{ ...of, timeMs, value: timeMs.map(Math.sin) }]),
    );
  };
  const read = () => storage.read(SHARD, (tx) => samples.read(tx, ORGANISATION, of));
  const lastCommit = () => storage.lastCommit(SHARD);

  it('prepares the moves that would be prepared here, from what this process has committed', async () => {
    const thread = createCompactionThread(url, directory.path);
    await append(0, 50_000);
    const before = await read();
    let moveCount = 0;
    for (let isMore = true; isMore; moveCount++) {
      const there = await thread.prepare(SHARD, await lastCommit());
      const here = await storage.read(SHARD, (tx) => samples.prepareMove(tx, tx.lastCommit));
      expect(there).toEqual(here);
      isMore = await storage.transaction(SHARD, (tx) => storeMove(tx, there!));
    }
    expect(moveCount).toBeGreaterThan(1);
    expect(await read()).toEqual(before);
    expect(await thread.prepare(SHARD, await lastCommit())).toBeUndefined();
    await append(50_000, 20_000);
    expect((await thread.prepare(SHARD, await lastCommit()))?.series).toHaveLength(1);
    await thread.close();
    await expect(async () => thread.prepare(SHARD, 1)).rejects.toThrow('the service is stopping');
  });

  it('reports a store that it cannot open, and opens it once it can', async () => {
    const later = join(directory.path, 'later');
    writeFileSync(later, 'not a folder');
    const thread = createCompactionThread(url, later);
    await expect(thread.prepare(SHARD, 1)).rejects.toThrow('EEXIST');
    rmSync(later);
    expect(await thread.prepare(SHARD, 1)).toBeUndefined();
    await thread.close();
  });
});
