import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createStoreThreads } from '../../src/service/store-thread/store-thread.js';
import { systemScheduler } from '../../src/service/system.js';
import { openSqliteStorage } from '../../src/storage/index.js';
import { Compactor } from '../../src/storage/samples/compaction/compactor.js';
import { storeMove } from '../../src/storage/samples/compaction/move.js';
import { createSampleStore } from '../../src/storage/samples/store.js';
import type { Storage } from '../../src/storage/storage.js';
import { temporaryDirectory } from '../storage/open-temporary.js';
import { createTestClock } from './app.js';

// The published script of the thread, which `npm test` has built.
const url = new URL('../../dist/cli/store-worker.js', import.meta.url);
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
    const threads = createStoreThreads(url, directory.path, systemScheduler);
    await append(0, 50_000);
    const before = await read();
    let moveCount = 0;
    for (let isMore = true; isMore; moveCount++) {
      const there = await threads.prepareMove(SHARD, await lastCommit());
      const here = await storage.read(SHARD, (tx) => samples.prepareMove(tx, tx.lastCommit));
      expect(there).toEqual(here);
      isMore = there !== undefined;
      if (isMore) await storage.transaction(SHARD, (tx) => storeMove(tx, there!));
    }
    // The last one was none.
    expect(moveCount).toBeGreaterThan(2);
    expect(await read()).toEqual(before);
    await append(50_000, 20_000);
    expect((await threads.prepareMove(SHARD, await lastCommit()))?.series).toHaveLength(1);
    await threads.close();
    await expect(async () => threads.prepareMove(SHARD, 1)).rejects.toThrow('the service is stopping');
  });

  it('loads a long log in several jobs, each within the time limit', async () => {
    const jobs = join(directory.path, 'jobs');
    const script = join(directory.path, 'counting.mjs');
    const lines = [
      "import { appendFileSync } from 'node:fs';",
      `import { loadSomeLog as load } from ${JSON.stringify(url.href)};`,
      `export { closeStore, prepareMove } from ${JSON.stringify(url.href)};`,
      'export function loadSomeLog(message) {',
      `  appendFileSync(${JSON.stringify(jobs)}, '.');`,
      '  return load(message);',
      '}',
    ];
    writeFileSync(script, lines.join('\n'));
    const threads = createStoreThreads(pathToFileURL(script), directory.path, systemScheduler);
    for (let from = 0; from < 4200; from += 300) {
      await Promise.all(Array.from({ length: 300 }, (_, i) => append(from + i, 1)));
    }
    expect((await threads.prepareMove(SHARD, await lastCommit()))?.series).toHaveLength(1);
    expect(readFileSync(jobs, 'utf8').length).toBeGreaterThan(3);
    await threads.close();
  });

  it('reports that there is no store and makes none, and opens it once there is one', async () => {
    const later = join(directory.path, 'later');
    const threads = createStoreThreads(url, later, systemScheduler);
    await expect(threads.prepareMove(SHARD, 1)).rejects.toThrow(`${later}: there is no store of windrow`);
    expect(existsSync(later)).toBe(false);
    await (await openSqliteStorage({ directory: later, clock, reserveBytes: 0 })).close();
    expect(await threads.prepareMove(SHARD, 1)).toBeUndefined();
    await threads.close();
  });

  /** A script whose first move never ends. */
  const hangingScript = () => {
    const script = join(directory.path, 'hanging.mjs');
    const marker = JSON.stringify(join(directory.path, 'hangs'));
    const lines = [
      "import { existsSync, writeFileSync } from 'node:fs';",
      `export { closeStore, loadSomeLog } from ${JSON.stringify(url.href)};`,
      `import { prepareMove as prepare } from ${JSON.stringify(url.href)};`,
      'export function prepareMove(message) {',
      `  if (existsSync(${marker})) return prepare(message);`,
      `  writeFileSync(${marker}, '');`,
      '  for (;;);',
      '}',
    ];
    writeFileSync(script, lines.join('\n'));
    return { script: pathToFileURL(script), isHanging: () => existsSync(join(directory.path, 'hangs')) };
  };

  it('that hangs is ended when its time is over, and another one goes on', async () => {
    const { script, isHanging } = hangingScript();
    const time = createTestClock(0);
    const threads = createStoreThreads(script, directory.path, time.scheduler);
    const hung = threads.prepareMove(SHARD, 1);
    await expect.poll(isHanging, { timeout: 60_000 }).toBe(true);
    time.advance(60_000);
    await expect(hung).rejects.toThrow('prepareMove: the thread did not answer for 60 s and was ended');
    await append(0, 50_000);
    expect((await threads.prepareMove(SHARD, await lastCommit()))?.series).toHaveLength(1);
    await threads.close();
  });

  it('that hangs does not hold up a stop of the service', async () => {
    const { script, isHanging } = hangingScript();
    const time = createTestClock(0);
    const threads = createStoreThreads(script, directory.path, time.scheduler);
    await append(0, 50_000);
    const errors: unknown[] = [];
    const compactor = new Compactor({
      storage,
      samples,
      scheduler: time.scheduler,
      clock,
      pollIntervalMs: 1000,
      onError: (error) => errors.push(error),
      prepare: threads.prepareMove,
    });
    compactor.start();
    await expect.poll(isHanging, { timeout: 60_000 }).toBe(true);
    await compactor.stop();
    const closing = threads.close();
    time.advance(2000);
    await closing;
    expect(errors).toEqual([]);
    await expect(async () => threads.prepareMove(SHARD, 1)).rejects.toThrow('the service is stopping');
  });
});
