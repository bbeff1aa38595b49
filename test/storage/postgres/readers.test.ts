import { describe, expect, it, onTestFinished } from 'vitest';
import { createSampleStore } from '../../../src/storage/samples/store.js';
import { compactNow } from '../samples/compact-now.js';
import { hasPostgres, openTemporaryPostgres } from './open.js';

const SHARD = 5;
const ORGANISATION = 'acme';
const SERIES = { timeseriesId: 'a', metric: 'Raw' };

describe.runIf(hasPostgres)('readers of PostgreSQL, each with a snapshot of its own', () => {
  it('see all samples of their commit and none of a later one, while the log is written and compacted', async () => {
    const opened = await openTemporaryPostgres();
    onTestFinished(() => opened.dispose());
    const { storage } = opened;
    const clock = { nowMs: () => 0 };
    // The log in memory is dropped at once, so that readers have to query it again.
    const samples = createSampleStore({ clock, sizes: { samplesMin: 1, rowsEnough: 1 } });
    let appendCount = 0;
    let isWriting = true;
    const write = async (): Promise<void> => {
      // Long enough for readers to meet many states of it.
      for (let i = 0; i < 150 || readCount <= 20; i++) {
        appendCount++;
        await storage.transaction(SHARD, async (tx) => {
          const change = { ...SERIES, timeMs: Float64Array.of(i), value: Float64Array.of(tx.commit) };
          await samples.append(tx, ORGANISATION, [change]);
        });
        if (i % 3 === 2)
          await storage.transaction(SHARD, (tx) => compactNow(samples, tx, tx.lastCommit, { isEager: true }));
      }
      isWriting = false;
    };
    const found: string[] = [];
    let readCount = 0;
    const read = async (): Promise<void> => {
      while (isWriting) {
        await storage.read(SHARD, async (tx) => {
          const first = await samples.read(tx, ORGANISATION, SERIES);
          // Lets writers continue.
          await new Promise((resolve) => setImmediate(resolve));
          const second = await samples.read(tx, ORGANISATION, SERIES);
          readCount++;
          const { length } = first.value;
          const isWhole = first.timeMs.every((time, i) => time === i) && second.value.length === length;
          const isOwn = (first.value.at(-1) ?? 0) <= tx.lastCommit;
          if (!isWhole || !isOwn) found.push(`${length} and ${second.value.length} samples at ${tx.lastCommit}`);
        });
      }
    };
    await Promise.all([write(), read(), read(), read(), read()]);
    expect(found).toEqual([]);
    const all = await storage.read(SHARD, (tx) => samples.read(tx, ORGANISATION, SERIES));
    expect(all.timeMs).toHaveLength(appendCount);
  });
});
