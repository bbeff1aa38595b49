import { afterEach, describe, expect, it, vi } from 'vitest';
import { ENGINE_VERSION } from '../../../src/engine/version.js';
import { createInlinePool, type StepPool } from '../../../src/service/operations/compute/pool.js';
import { deleteItem } from '../../../src/service/operations/end.js';
import { itemRecords } from '../../../src/service/operations/records.js';
import { changeItems } from '../../../src/service/operations/register.js';
import { checkpointHeads } from '../../../src/service/operations/worker/checkpoints.js';
import { Worker } from '../../../src/service/operations/worker/worker.js';
import { joinParts } from '../../../src/service/status/request-states.js';
import { StorageError } from '../../../src/storage/errors.js';
import { nextTurn } from '../../../src/storage/next-turn.js';
import { deleteExpired } from '../../../src/storage/samples/compaction/retention.js';
import type { Storage } from '../../../src/storage/storage.js';
import {
  checkpointChecksum,
  type ItemRow,
  itemCheckpoints,
  items,
  type RequestTransactionRow,
  requestTransactions,
} from '../../../src/storage/tables/operations.js';
import { series } from '../../../src/storage/tables/samples.js';
import { expectSame } from '../../laws/running.js';
import { compactNow } from '../../storage/samples/compact-now.js';
import { failingStorage, type Trouble } from '../failing-storage.js';
import { change, item, minutes, START_MS } from './posted.js';
import { openRig, type Rig, type RigOptions, smallSizes, waitingWork } from './rig.js';

let rig: Rig;
const open = async (options: RigOptions = {}): Promise<void> => {
  rig = await openRig(options);
};
afterEach(() => rig.close());

const room = minutes('room', 240, (i) => (i * 37) % 100);
const hourly = [item('Aggregate', { function: 'Average', interval: 'Hourly' }, ['room'], 'hourly')];
const doubled = [item('Mul', { scalar: 2 }, ['room'], 'doubled')];

/** A pool whose first steps fail. */
function failing(times: number): () => StepPool {
  let left = times;
  const pool = createInlinePool();
  const run: StepPool['run'] = (...step) => {
    return left-- > 0 ? Promise.reject(new Error(`simulated: ${left} left`)) : pool.run(...step);
  };
  return () => ({ ...pool, run });
}

async function expectBatch(): Promise<void> {
  const { expected, found } = await rig.compare();
  expectSame(found, expected);
  expect(found.every(({ timeMs }) => timeMs.length > 0)).toBe(true);
}

async function checkpointsOf() {
  return rig.context.storage.read(rig.shardOf('room'), (tx) => tx.find(checkpointHeads));
}

async function childOf(row: { transactionId: string } | undefined): Promise<RequestTransactionRow> {
  const { organisation, context } = rig;
  const key = { organisation, transactionId: row!.transactionId };
  const { shards } = await context.placements.of(organisation);
  const parts = await Promise.all(
    shards.map((shard) => context.storage.read(shard, (tx) => tx.get(requestTransactions, key))),
  );
  return joinParts(parts.filter((part) => part !== undefined));
}

describe('after retention has deleted samples', () => {
  it('results stay that were computed with them, wherever the item starts again', async () => {
    // Several steps, each with a checkpoint.
    await open({ groups: 1, sizes: { inlineSamplesMax: 100, sliceSamples: 1000, sourceSamplesMin: 1000 } });
    const { storage, samples } = rig.context;
    const shard = rig.shardOf('room');
    const long = minutes('room', 10_010, (i) => i % 97);
    const sum = { function: 'Sum', window: { type: 'running', since: 'Yearly' } };
    await rig.append(change(long, 0, 10_000));
    await rig.register([item('Aggregate', sum, ['room'], 'sum')]);
    await rig.worker().onIdle();
    const results = () => rig.stored({ timeseriesId: 'sum', metric: 'Result' }, true);
    const before = await results();
    const sources = await storage.transaction(shard, async (tx) => {
      while (await compactNow(samples, tx, tx.lastCommit, { isEager: true }));
      await tx.delete(itemCheckpoints, []);
      return tx.find(series, { where: [['timeseriesId', '=', 'room']] });
    });
    const expired = sources.map((row) => ({ row, beforeMs: START_MS + 5000 * 60_000, lateMs: -Infinity }));
    await storage.transaction(shard, (tx) => deleteExpired(tx, expired));
    await rig.kill();
    await rig.append(change(long, 10_000, 10_010));
    await rig.worker().onIdle();
    const checkpoints = await checkpointsOf();
    expect(checkpoints.length).toBeGreaterThan(2);
    for (const { lacksUntilMs } of checkpoints) expect(lacksUntilMs).toBe(Number.MAX_VALUE);
    // A late sample behind one of them.
    const [positionMs = 0] = JSON.parse(checkpoints.at(-3)!.positions) as number[];
    await rig.kill();
    await rig.append({ ...change(long, 0, 1), timeMs: Float64Array.of(positionMs + 30_000) });
    await rig.worker().onIdle();
    const after = await results();
    expect(after.timeMs.length).toBeGreaterThan(before.timeMs.length);
    for (const column of ['timeMs', 'value'] as const) {
      expect(after[column].slice(0, before.timeMs.length)).toEqual(before[column]);
    }
  });
});

describe('state in memory', () => {
  it('a crash does not lose a sample that replaces the last one of a checkpoint', async () => {
    await open();
    await rig.register(hourly);
    await rig.append(change(room, 0, 100));
    await rig.worker().onIdle();
    // The stop writes a checkpoint at the last sample.
    await rig.restart();
    const last = change(room, 99, 100);
    await rig.append({ ...last, value: last.value.map((x) => x + 1000) });
    await rig.kill();
    await rig.append(change(room, 100, 200));
    await rig.worker().onIdle();
    await expectBatch();
  });

  it('a checkpoint at the stop is that of the item as it is registered, not of one that it has replaced', async () => {
    await open({ groups: 1 });
    await rig.register([item('Add', {}, ['room', 'hall'], 'sum')]);
    await rig.append(change(room, 0, 100));
    const hall = minutes('hall', 60, (i) => i);
    await rig.append(change(hall, 0, 60));
    await rig.worker().onIdle();
    await rig.register([item('Add', {}, ['room', 'room'], 'sum')], false);
    await rig.restart();
    await rig.worker().onIdle();
    await expectBatch();
  });

  it('a checkpoint at the stop is not that of an item that has been deleted', async () => {
    await open({ groups: 1 });
    await rig.register(doubled);
    await rig.append(change(room, 0, 100));
    await rig.worker().onIdle();
    const [row] = await rig.items();
    await changeItems(rig.context, rig.organisation, (over) =>
      deleteItem(rig.context, over.at('doubled'), row!, false),
    );
    await rig.restart();
    expect(await checkpointsOf()).toEqual([]);
  });

  it('of a transaction that was undone is not used', async () => {
    await open({ groups: 1 });
    await rig.register(doubled);
    await rig.append(change(room, 0, 10));
    await rig.worker().onIdle();
    // One group: a work of the worker that is undone, and another that sees the same samples and an unrelated one.
    rig.failFrom(0, 1);
    const { storage, samples } = rig.context;
    const shard = rig.shardOf('room');
    let second: Promise<void> | undefined;
    await storage.transaction(shard, async (tx) => {
      await samples.append(tx, rig.organisation, [change(room, 10, 20)]);
      rig.worker().wake(shard);
      second = rig.append(
        change(
          minutes('other', 1, (i) => i),
          0,
          1,
        ),
      );
    });
    await second;
    // They may be in two groups; the first poll may then wait for the work that is undone, and do nothing else.
    await rig.worker().onIdle();
    await rig.worker().onIdle();
    await expectBatch();
    await rig.append(change(room, 40, 50));
    await rig.worker().onIdle();
    await expectBatch();
  });

  it('new items are seen at once, even if a poll looked for items just before they were committed', async () => {
    await open({ groups: 1 });
    await rig.append(change(room, 0, 100));
    await rig.worker().onIdle();
    const shard = rig.shardOf('room');
    const { begun, end } = rig.holdReads(shard);
    // Until then polls leave out a shard without items.
    rig.advance(10_000);
    const idle = rig.worker().onIdle();
    await begun;
    await rig.register(doubled);
    // Queued after what the registration has begun.
    await rig.context.storage.transaction(shard, async () => {});
    await nextTurn();
    end();
    await idle;
    await expectBatch();
  });

  it('a shard that could not be opened is free for another worker once this one has stopped', async () => {
    await open({ groups: 1 });
    await rig.worker().stop();
    await rig.register(doubled, false);
    const { storage } = rig.context;
    const failing: Storage = {
      ...failingStorage(storage, {}),
      transaction: async (shard, work, options) => {
        if (options?.claim !== undefined) throw new Error('simulated: nothing got to the disk');
        return storage.transaction(shard, work, options);
      },
    };
    const worker = new Worker({ ...rig.context, storage: failing }, createInlinePool());
    worker.start();
    await worker.onIdle();
    await worker.stop();
    expect(await storage.claim(rig.shardOf('doubled'), 'another', 1000)).toBeDefined();
  });

  it('a stop while the store is away gives up with the first shard, as each takes its time to fail', async () => {
    await open({ groups: 32 });
    await rig.worker().stop();
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names) await rig.register([item('Abs', {}, [name], name)], false);
    const trouble: Trouble = {};
    const storage = failingStorage(rig.context.storage, trouble);
    const worker = new Worker({ ...rig.context, storage }, createInlinePool());
    worker.start();
    await worker.onIdle();
    const transaction = vi.spyOn(storage, 'transaction');
    trouble.read = trouble.write = new StorageError('storage.failed', 'simulated: the database does not answer');
    await worker.stop();
    expect(new Set(names.map(rig.shardOf)).size).toBeGreaterThan(1);
    expect(transaction).toHaveBeenCalledTimes(1);
  });

  it('a poll leaves out shards without items, and finds new ones that nobody told of some seconds later', async () => {
    await open({ groups: 1 });
    await rig.append(change(room, 0, 100));
    await rig.worker().onIdle();
    const read = vi.spyOn(rig.context.storage, 'read');
    await rig.worker().onIdle();
    expect(read).not.toHaveBeenCalled();
    await rig.register(doubled, false);
    rig.advance(10_000);
    await rig.worker().onIdle();
    await expectBatch();
  });

  it('live results are in the same commit as the samples they depend on', async () => {
    // Results that read another shard follow later, so there is one shard; and those for which a group has no time.
    await open({ groups: 1, isStoreTimeless: true });
    await rig.register(doubled);
    await rig.append(change(room, 0, 10));
    await rig.worker().onIdle();
    await rig.append(change(room, 10, 20));
    // Without waiting for the worker.
    expect((await rig.stored({ timeseriesId: 'doubled', metric: 'Result' })).timeMs.length).toBe(20);
  });
});

describe('failures', () => {
  it('by a bug end with one item, and the others of its shard go on', async () => {
    await open({ groups: 1 });
    await rig.append(change(room, 0, 60));
    await rig.register(doubled);
    await rig.register(hourly);
    await rig.worker().onIdle();
    const { organisation } = rig;
    const [row] = await rig.items();
    // Such a checkpoint is never written: the item has one source.
    const own = { organisation, itemId: row!.itemId, ordinal: 9, emittedMs: null, sampleCount: 1, lacksUntilMs: null };
    const bad = { ...own, positions: '[0,0,0]', byteCount: 1, state: Uint8Array.of(0) };
    const checksum = checkpointChecksum(bad);
    await rig.context.storage.transaction(rig.shardOf('room'), (tx) =>
      tx.insert(itemCheckpoints, { ...bad, checksum }),
    );
    await rig.restart();
    await rig.append(change(room, 60, 80));
    for (let attempt = 0; attempt < 6; attempt++) {
      await rig.worker().onIdle();
      rig.advance(3_600_000);
    }
    const states = await Promise.all((await rig.items()).map(async (one) => (await childOf(one)).state));
    expect(states.sort()).toEqual(['Active', 'Failed']);
    expect((await childOf(row)).message).toMatch(/^internal error: .+; please report it$/);
    await rig.append(change(room, 80, 120));
    await rig.worker().onIdle();
    await rig.register(row!.timeseriesId === 'doubled' ? doubled : hourly);
    await rig.worker().onIdle();
    await expectBatch();
  });

  it('are retried after growing pauses, and reported', async () => {
    await open({ sizes: smallSizes, pool: failing(2) });
    await rig.append(change(room, 0, 60));
    await rig.register(doubled);
    await rig.worker().onIdle();
    const [row] = await rig.items();
    expect(await childOf(row)).toMatchObject({ state: 'Running', retryCount: 1, message: 'simulated: 1 left' });
    rig.advance(999);
    await rig.worker().onIdle();
    expect(await childOf(row)).toMatchObject({ retryCount: 1 });
    rig.advance(1);
    await rig.worker().onIdle();
    expect(await childOf(row)).toMatchObject({ state: 'Running', retryCount: 2, message: 'simulated: 0 left' });
    rig.advance(3999);
    await rig.worker().onIdle();
    expect(await childOf(row)).toMatchObject({ retryCount: 2 });
    rig.advance(1);
    await rig.worker().onIdle();
    expect(await childOf(row)).toMatchObject({ state: 'Active', retryCount: 2, message: null });
    await expectBatch();
  });

  it('end after the maximum number of retries, and so does the parent', async () => {
    await open({ sizes: smallSizes, pool: failing(100), settings: { retryCountMax: 2 } });
    await rig.append(change(room, 0, 60));
    await rig.register(doubled);
    for (let k = 0; k < 6; k++) {
      await rig.worker().onIdle();
      rig.advance(60_000);
    }
    const [row] = await rig.items();
    expect(row!.state).toBe('Failed');
    const child = await childOf(row);
    expect(child).toMatchObject({ state: 'Failed', retryCount: 2, message: 'simulated: 97 left' });
    const parent = await childOf({ transactionId: child.parentId! });
    expect(parent).toMatchObject({ state: 'Failed', retryCount: 2, message: child.message });
    expect(await waitingWork(rig)).toEqual([]);
  });

  it('that no retry can fix end at once', async () => {
    await open({ settings: { outputSamplesMax: 1000 } });
    await rig.append(change(room, 0, 60));
    await rig.register([item('Resample', { frequency: 'PT1S' }, ['room'], 'fine')]);
    await rig.worker().onIdle();
    const [row] = await rig.items();
    expect(await childOf(row)).toMatchObject({ state: 'Failed', retryCount: 0 });
    expect((await childOf(row)).message).toMatch(
      /over the limit of 1,000; post the item again with a longer interval$/,
    );
  });

  it('a live item that would make too many samples fails; posted again, it continues', async () => {
    await open({ settings: { outputSamplesMax: 1000 } });
    await rig.register([item('Resample', { frequency: 'PT1M' }, ['room'], 'grid')]);
    await rig.append(change(room, 0, 60));
    await rig.worker().onIdle();
    expect((await rig.items())[0]!.state).toBe('Active');
    await rig.append({ ...change(room, 0, 1), timeMs: Float64Array.of(START_MS + 3e9) });
    await rig.worker().onIdle();
    expect((await rig.items())[0]!.state).toBe('Failed');
    await rig.register([item('Resample', { frequency: 'P1D' }, ['room'], 'grid')]);
    await rig.worker().onIdle();
    expect((await rig.items())[0]!.state).toBe('Active');
    await expectBatch();
  });
});

describe('batches with a frequency', () => {
  it('process the samples before each boundary of UTC once the clock has passed it', async () => {
    await open({ nowMs: START_MS + 90 * 60_000 });
    const every = { processingType: 'Batch', frequency: 'PT1H' };
    await rig.register([item('Mul', { scalar: 2 }, ['room'], 'doubled', every)]);
    await rig.append(change(room, 0, 240));
    await rig.worker().onIdle();
    const result = { timeseriesId: 'doubled', metric: 'Result' };
    expect((await rig.stored(result)).timeMs.length).toBe(60);
    rig.advance(29 * 60_000);
    await rig.worker().onIdle();
    expect((await rig.stored(result)).timeMs.length).toBe(60);
    rig.advance(60_000);
    await rig.worker().onIdle();
    expect((await rig.stored(result)).timeMs.length).toBe(120);
    // Past several boundaries, as after a night: one run covers all of them.
    rig.advance(3 * 3_600_000);
    await rig.worker().onIdle();
    expect((await rig.stored(result)).timeMs.length).toBe(240);
    expect(await waitingWork(rig)).toMatchObject([{ dueMs: START_MS + 6 * 3_600_000, attemptCount: 0 }]);
  });

  it('process a late sample before the last boundary at once', async () => {
    await open({ nowMs: START_MS + 3_600_000 });
    const every = { processingType: 'Batch', frequency: 'PT1H' };
    await rig.register([item('Aggregate', { function: 'Sum', interval: 'QuarterHourly' }, ['room'], 'sums', every)]);
    await rig.append(change(room, 0, 60));
    await rig.worker().onIdle();
    await rig.append({ ...change(room, 0, 1), timeMs: Float64Array.of(START_MS + 90_000) });
    await rig.worker().onIdle();
    await expectBatch();
  });
});

it.each([
  ['stays in the transaction', 100, 0],
  ['is left to a thread where the last one took long', -1, 2],
] as const)('the preview of a stream %s', async (_, inlineMsMax, runs) => {
  const pool = createInlinePool();
  let runCount = 0;
  const run: StepPool['run'] = (...step) => {
    runCount++;
    return pool.run(...step);
  };
  await open({ groups: 1, sizes: { inlineMsMax }, pool: () => ({ ...pool, run }) });
  await rig.register(hourly);
  await rig.append(change(room, 0, 60));
  await rig.worker().onIdle();
  for (let sample = 60; sample < 62; sample++) {
    await rig.append(change(room, sample, sample + 1));
    await rig.worker().onIdle();
    await expectBatch();
  }
  expect(runCount).toBe(runs);
});

describe('a clock that is set back', () => {
  it.each(['stream', 'PT1H'])('delays no work that is due at once: %s', async (kind) => {
    await open({ groups: 1 });
    const frequency = kind === 'stream' ? { processingType: kind } : { processingType: 'Batch', frequency: kind };
    await rig.append(change(room, 0, 200));
    await rig.register([item('Mul', { scalar: 2 }, ['room'], 'doubled', frequency)], false);
    rig.setBack(2 * 3_600_000);
    await rig.restart();
    await rig.worker().onIdle();
    await expectBatch();
    // What comes late makes the item due again.
    await rig.append({ ...change(room, 0, 1), value: Float64Array.of(1000) });
    rig.setBack(3_600_000);
    await rig.restart();
    await rig.worker().onIdle();
    await expectBatch();
  });

  it.each(['a restart', 'a sample'])(
    'ends with %s the pause after a failure, which would last as long',
    async (end) => {
      await open({ groups: 1, sizes: smallSizes, pool: failing(1) });
      await rig.append(change(room, 0, 60));
      await rig.register(doubled);
      await rig.worker().onIdle();
      expect(await waitingWork(rig)).toMatchObject([{ attemptCount: 1 }]);
      rig.setBack(24 * 3_600_000);
      await rig.worker().onIdle();
      expect(await waitingWork(rig)).toMatchObject([{ attemptCount: 1 }]);
      if (end === 'a restart') await rig.restart();
      else await rig.append(change(room, 60, 61));
      await rig.worker().onIdle();
      expect(await waitingWork(rig)).toEqual([]);
      await expectBatch();
    },
  );
});

describe('another engine', () => {
  const setRows = async (changes: Partial<ItemRow>) => {
    const { storage, placements } = rig.context;
    for (const shard of (await placements.of(rig.organisation)).shards) {
      await storage.transaction(shard, async (tx) => {
        for (const row of await tx.find(items)) await tx.put(items, { ...row, ...changes });
      });
    }
  };
  const unknown = () => {
    const [posted] = doubled;
    return JSON.stringify([
      { ...posted, operations: posted!.operations.map((step) => ({ ...step, operation: 'Later' })) },
    ]);
  };

  it('is said by who computes an item, not by who registered it', async () => {
    await open({ groups: 1 });
    await rig.register(doubled, false);
    expect((await rig.items()).map(({ engineVersion }) => engineVersion)).toEqual(['']);
    await rig.restart();
    await rig.append(change(room, 0, 60));
    await rig.worker().onIdle();
    const [row] = await rig.items();
    expect(row).toMatchObject({ engineVersion: ENGINE_VERSION, state: 'Active' });
    // Posted again elsewhere, it is still computed by this one.
    await rig.register(doubled, false);
    expect((await rig.items()).map(({ engineVersion }) => engineVersion)).toEqual([ENGINE_VERSION]);
  });

  it('goes on from the base where retention has deleted the samples before', async () => {
    await open({ groups: 1, segmentSamples: 10, nowMs: START_MS + 24 * 3_600_000 });
    await rig.register([item('CumulativeSum', {}, ['room'], 'sum')]);
    await rig.append(change(room, 0, 200));
    await rig.worker().onIdle();
    const before = await rig.stored({ timeseriesId: 'sum', metric: 'Result' });
    await rig.deleteBefore(START_MS + 100 * 60_000);
    await rig.worker().stop();
    await setRows({ engineVersion: '0.0.0' });
    await rig.restart();
    await rig.append(change(room, 200, 201));
    await rig.worker().onIdle();
    const { timeMs, value } = await rig.stored({ timeseriesId: 'sum', metric: 'Result' });
    expect([...value.subarray(-2)]).toEqual([before.value.at(-1), before.value.at(-1)! + room.value[200]!]);
    expect(timeMs.length).toBe(201);
    expect((await rig.items()).map(({ engineVersion }) => engineVersion)).toEqual([ENGINE_VERSION]);
  });

  it.each([1, 4])('takes an item that an earlier version could not plan, in %i groups', async (groups) => {
    await open({ groups });
    await rig.register(doubled);
    await rig.append(change(room, 0, 60));
    await rig.worker().onIdle();
    const [{ request } = { request: '' }] = await rig.items();
    await rig.worker().stop();
    await setRows({ request: unknown() });
    await rig.restart();
    await rig.append(change(room, 60, 61));
    await rig.worker().onIdle();
    expect(await rig.items()).toMatchObject([{ state: 'Failed', engineVersion: 'refused' }]);
    await rig.worker().stop();
    await setRows({ request });
    await rig.restart();
    await rig.worker().onIdle();
    expect(await rig.items()).toMatchObject([{ state: 'Active', engineVersion: ENGINE_VERSION }]);
    await expectBatch();
  });

  it('leaves results whose samples retention has deleted while nobody could plan the item', async () => {
    await open({ groups: 1, segmentSamples: 10, nowMs: START_MS + 24 * 3_600_000 });
    await rig.register([item('CumulativeSum', {}, ['room'], 'sum')]);
    await rig.append(change(room, 0, 200));
    await rig.worker().onIdle();
    await rig.deleteBefore(START_MS + 100 * 60_000);
    const before = await rig.stored({ timeseriesId: 'sum', metric: 'Result' });
    const [{ request } = { request: '' }] = await rig.items();
    await rig.worker().stop();
    await setRows({ request: unknown() });
    await rig.restart();
    await rig.worker().onIdle();
    await rig.deleteBefore(START_MS + 150 * 60_000);
    await rig.worker().stop();
    await setRows({ request });
    await rig.restart();
    await rig.worker().onIdle();
    expect(await rig.items()).toMatchObject([{ state: 'Active' }]);
    const { timeMs, value } = await rig.stored({ timeseriesId: 'sum', metric: 'Result' });
    expect(timeMs.length).toBe(200);
    expect(value.subarray(0, 150)).toEqual(before.value.subarray(0, 150));
  });

  it('leaves a pattern that it cannot plan to another, and computes all else', async () => {
    await open({ groups: 1 });
    const every = [item('Mul', { scalar: 2 }, ['{n}-room'], '{n}-room')];
    await rig.register(every);
    await rig.append({ ...change(room, 0, 60), timeseriesId: '1-room' });
    await rig.worker().onIdle();
    expect((await rig.items()).map(({ timeseriesId }) => timeseriesId).sort()).toEqual(['1-room', '{n}-room']);
    const pattern = (await rig.items()).find(({ timeseriesId }) => timeseriesId === '{n}-room')!;
    const set = (request: string) =>
      rig.context.storage.transaction(rig.shardOf('room'), (tx) => tx.put(items, { ...pattern, request }));
    const messages = () =>
      rig.context.storage.read(rig.shardOf('room'), async (tx) =>
        (await tx.find(requestTransactions)).flatMap(({ message }) => message ?? []),
      );
    await rig.worker().stop();
    await set(pattern.request.replace('"Mul"', '"Later"'));
    await rig.restart();
    await rig.register(doubled);
    await rig.append(change(room, 0, 60));
    await rig.append({ ...change(room, 0, 60), timeseriesId: '2-room' });
    await rig.worker().onIdle();
    expect((await rig.stored({ timeseriesId: 'doubled', metric: 'Result' })).timeMs.length).toBe(60);
    const records = await rig.context.storage.read(rig.shardOf('room'), async (tx) =>
      itemRecords(tx, rig.organisation, await tx.find(items)),
    );
    expect(records.find(({ timeseriesId }) => timeseriesId === '{n}-room')).toMatchObject({
      sources: [],
      state: 'Running',
    });
    expect(await messages()).toEqual([
      expect.stringMatching(/^not computed: the pattern \{n\}-room\/Result: .* cannot plan/),
    ]);
    await rig.worker().stop();
    const [now] = (await rig.items()).filter(({ timeseriesId }) => timeseriesId === '{n}-room');
    await rig.context.storage.transaction(rig.shardOf('room'), (tx) =>
      tx.put(items, { ...now!, request: pattern.request }),
    );
    rig.advance(60_000);
    await rig.restart();
    await rig.worker().onIdle();
    expect((await rig.stored({ timeseriesId: '2-room', metric: 'Result' })).timeMs.length).toBe(60);
    expect(await messages()).toEqual([]);
  });

  it('recomputes everything', async () => {
    await open();
    await rig.register(doubled);
    await rig.append(change(room, 0, 60));
    await rig.restart();
    const { storage, samples } = rig.context;
    await storage.transaction(rig.shardOf('doubled'), async (tx) => {
      const [row] = await tx.find(items);
      await tx.put(items, { ...row!, engineVersion: '0.0.0' });
      // What it would have computed otherwise.
      const wrong = {
        timeseriesId: 'doubled',
        metric: 'Result',
        timeMs: room.timeMs.slice(0, 5),
        value: new Float64Array(5),
      };
      await samples.append(tx, rig.organisation, [wrong], { itemId: row!.itemId });
    });
    await rig.kill();
    await rig.worker().onIdle();
    await expectBatch();
  });
});

describe('late samples', () => {
  it('change the results that depend on them, and no others', async () => {
    await open();
    await rig.register(hourly);
    await rig.append(change(room, 0, 240));
    await rig.worker().onIdle();
    const { storage, samples } = rig.context;
    const shard = rig.shardOf('hourly');
    const before = await storage.read(shard, async (tx) => tx.lastCommit);
    await rig.append({ ...change(room, 0, 1), timeMs: Float64Array.of(START_MS + 70 * 60_000 + 1) });
    await rig.worker().onIdle();
    const { changes } = await storage.read(shard, (tx) => samples.changesAfter(tx, before));
    const ofResult = changes.filter(({ timeseriesId }) => timeseriesId === 'hourly');
    expect(ofResult.map(({ timeMs }) => [...timeMs])).toEqual([[START_MS + 3_600_000]]);
    await expectBatch();
  });

  it('come faster than a slice of the history is computed, and it comes to an end all the same', async () => {
    let stepCount = 0;
    const inline = createInlinePool();
    const run: StepPool['run'] = async (plan, state, chunks, options) => {
      const result = await inline.run(plan, state, chunks, options);
      const lastMs = chunks[0]?.timeMs.at(-1);
      if (lastMs === undefined || ++stepCount > 100) return result;
      await rig.append({ ...room, timeMs: Float64Array.of(lastMs), value: Float64Array.of(stepCount) });
      return result;
    };
    await open({
      sizes: { inlineSamplesMax: 20, sliceSamples: 60, sourceSamplesMin: 10, checkpointSamples: 10 },
      pool: () => ({ ...inline, run }),
    });
    await rig.append(change(room, 0, 240));
    await rig.register(hourly);
    await rig.worker().onIdle();
    expect(stepCount).toBeLessThan(40);
    await expectBatch();
  });
});
