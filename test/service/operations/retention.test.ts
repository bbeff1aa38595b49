import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { planEvery, runEvery } from '../../../src/engine/every/index.js';
import { runBatch, type Series } from '../../../src/index.js';
import { setRetention } from '../../../src/service/identity/retention.js';
import { createInlinePool, type StepPool } from '../../../src/service/operations/compute/pool.js';
import { definitionOf, readOperations } from '../../../src/service/operations/request.js';
import { Worker } from '../../../src/service/operations/worker/worker.js';
import { deleteOldSamples } from '../../../src/service/retention.js';
import { StaleClaimError } from '../../../src/storage/errors.js';
import { createExpiries, deleteExpired, findExpired } from '../../../src/storage/samples/compaction/retention.js';
import type { Columns } from '../../../src/storage/samples/samples.js';
import type { Reader, Storage, Transaction } from '../../../src/storage/storage.js';
import { checkpointChecksum, itemCheckpoints } from '../../../src/storage/tables/operations.js';
import { segments } from '../../../src/storage/tables/samples.js';
import { expectSame, sceneArbitrary } from '../../laws/running.js';
import { compactNow } from '../../storage/samples/compact-now.js';
import { failingStorage } from '../failing-storage.js';
import { silentLog } from '../silent-log.js';
import { bodyOf, share } from './drawn.js';
import { change, item, minutes, START_MS } from './posted.js';
import { drawnSizes, openRig, type Rig, type RigOptions, waitingWork } from './rig.js';

// Whatever retention deletes, each stored result equals one batch over all samples that were ever stored, as long as
// none comes later than what retention has deleted.

type Action =
  | {
      readonly kind: 'next' | 'late' | 'delete';
      readonly source: number;
      readonly from: number;
      readonly count: number;
    }
  | { readonly kind: 'advance'; readonly share: number }
  | { readonly kind: 'fail'; readonly count: number }
  | { readonly kind: 'idle' | 'restart' | 'kill' | 'compact' | 'register' };

const writing = (kind: string, weight: number, max: number) => ({
  weight,
  arbitrary: fc.record({ kind: fc.constant(kind), source: fc.nat(2), from: share, count: fc.integer({ min: 1, max }) }),
});
const upkeep = fc.constantFrom('idle', 'idle', 'restart', 'kill', 'compact', 'register');
const action: fc.Arbitrary<Action> = fc.oneof(
  writing('next', 3, 12),
  writing('late', 3, 4),
  writing('delete', 1, 4),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('advance'), share }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail'), count: fc.nat(4) }) },
  { weight: 4, arbitrary: fc.record({ kind: upkeep }) },
) as fc.Arbitrary<Action>;
/** Each source goes on by some samples, some of the others happen, and then retention has its turn. */
const round = fc.record({
  counts: fc.array(fc.nat(12), { minLength: 3, maxLength: 3 }),
  actions: fc.array(action, { maxLength: 6 }),
  isIdle: fc.boolean(),
  retained: share,
});

const retaining = (rig: Rig) => ({ worker: rig.worker(), compactor: rig.compactor, isStopped: () => false });

const value = fc.oneof(fc.integer({ min: -50, max: 50 }), fc.double({ min: -1e6, max: 1e6, noNaN: true }));
const values = fc.array(value, { minLength: 60, maxLength: 60 });
const scene = fc
  .tuple(
    sceneArbitrary(5, value).filter(({ samples }) =>
      samples.some(({ timeMs }) => timeMs.length > 1 && timeMs[0]! < 2e14),
    ),
    fc.tuple(values, values, values),
  )
  .map(([{ request, samples }, drawn]) => ({
    request,
    samples: evenly(
      samples.flatMap(({ timeMs }) => [...timeMs]),
      drawn,
    ),
  }));

/** Samples of three series at even times, from the first of these times to the last. */
function evenly(times: readonly number[], drawn: readonly (readonly number[])[]): readonly Columns[] {
  const startMs = Math.min(...times);
  const stepMs = Math.max(1, Math.floor((Math.max(...times) - startMs) / 120));
  return drawn.map((value, source) => ({
    timeMs: Float64Array.from(value, (_, i) => Math.floor(startMs) + i * stepMs * (1 + source / 2)),
    value: Float64Array.from(value),
  }));
}
const scheduled = fc.constantFrom('stream', 'PT15M', 'PT1H', 'PT24H');
const kind = fc.oneof({ weight: 4, arbitrary: fc.constant('stream') }, scheduled);
const kinds = fc.array(kind, { minLength: 6, maxLength: 6 });

it('results equal one batch over all samples ever stored, after retention, late samples, crashes', async () => {
  await fc.assert(
    fc.asyncProperty(
      scene,
      kinds,
      fc.array(round, { minLength: 2, maxLength: 5 }),
      share,
      drawnSizes,
      fc.constantFrom(1, 8),
      fc.boolean(),
      async ({ request, samples }, processing, rounds, nowShare, sizes, groups, isExact) => {
        const body = await bodyOf(request, samples, processing);
        const times = samples.flatMap(({ timeMs }) => [...timeMs]);
        const startMs = Math.min(...times);
        const nowMs = Math.ceil(startMs + (0.5 + nowShare) * (Math.max(...times) - startMs));
        const settings = isExact ? { retentionSlackShare: 0 } : {};
        const rig = await openRig({ nowMs, groups, segmentSamples: isExact ? 8 : 2, settings, ...sizes });
        const ledger = new Ledger(rig, samples, isExact);
        try {
          await rig.register(body);
          for (const { counts, actions, isIdle, retained } of rounds) {
            for (const [source, count] of counts.entries()) await ledger.sendNext(source, count);
            for (const one of actions) await act(ledger, one, body);
            if (isIdle) await rig.worker().onIdle();
            await ledger.retain(retained);
          }
          await rig.kill();
          await rig.worker().onIdle();
          await ledger.expectResults();
        } finally {
          await rig.close();
        }
      },
    ),
    { numRuns: Number(process.env.WINDROW_RUNS ?? 40) },
  );
}, 600_000);

const long = minutes('room', 400, (i) => (i * 37) % 101);
/** @param shard which may have a copy of the series. */
const firstLeft = async ({ context, organisation, shardOf }: Rig, shard = shardOf('room')) => {
  const { storage, samples } = context;
  const read = (tx: Reader) => samples.read(tx, organisation, { timeseriesId: 'room', metric: 'Raw' });
  return (await storage.read(shard, read)).timeMs[0];
};
const RUNNING = { function: 'Sum', window: { type: 'running', since: 'Yearly' } };
const HOUR_MS = 3_600_000;
/** The values, with another one at an index. */
const with1000 = (index: number) => long.value.map((x, i) => (i === index ? 1000 : x));

describe('retention waits', () => {
  let rig: Rig;
  const open = async (options: RigOptions = {}): Promise<void> => {
    rig = await openRig({ groups: 1, segmentSamples: 10, nowMs: START_MS + 10 * HOUR_MS, ...options });
  };
  afterEach(() => rig.close());
  const isBatch = async (output: string, value: Float64Array = long.value) => {
    const plan = (await readOperations([item('Aggregate', RUNNING, ['room'], output)])).plan;
    const [expected] = runBatch(plan, [{ ...long, value }]).series;
    expectSame([{ ...expected!, ...(await rig.stored(expected!)) }], [expected!]);
  };

  /** An item that reads `room`, in another shard. @returns the id of its result. */
  const registerElsewhere = async (): Promise<string> => {
    const output = ['a', 'b', 'c', 'd'].find((name) => rig.shardOf(name) !== rig.shardOf('room'))!;
    await rig.register([item('Aggregate', RUNNING, ['room'], output)]);
    return output;
  };
  /** A sample of another series in the shard of `room`. */
  const appendBeside = async (): Promise<void> => {
    const names = Array.from({ length: 200 }, (_, i) => `beside-${i}`);
    const timeseriesId = names.find((name) => rig.shardOf(name) === rig.shardOf('room'))!;
    await rig.append({ ...change(long, 0, 1), timeseriesId });
  };

  it('for items of other shards, until these have copied the samples', async () => {
    await open({ groups: 32 });
    const output = await registerElsewhere();
    await rig.worker().onIdle();
    await rig.worker().stop();
    await rig.append(change(long, 0, 400));
    await rig.deleteBefore(START_MS + 5 * HOUR_MS);
    expect(await firstLeft(rig)).toBe(START_MS);
    await rig.restart();
    await rig.worker().onIdle();
    // What follows in their shard, but is of no interest to the items, keeps nobody waiting.
    await appendBeside();
    await rig.worker().onIdle();
    await rig.deleteBefore(START_MS + 5 * HOUR_MS);
    expect(await firstLeft(rig)).toBe(START_MS + 5 * HOUR_MS);
    await isBatch(output);
  });

  it('for items of other shards no longer than until their processes have seen what was compacted', async () => {
    await open({ groups: 32 });
    const output = await registerElsewhere();
    await rig.append(change(long, 0, 400));
    await rig.worker().onIdle();
    await appendBeside();
    await rig.compact();
    await rig.worker().onIdle();
    // The process that deletes knows of the others only what they have stored.
    const worker = rig.worker();
    const beyond = { notePositions: async () => {}, deleteExpired: worker.deleteExpired.bind(worker) };
    await rig.retain(START_MS + 5 * HOUR_MS, beyond);
    expect(await firstLeft(rig)).toBe(START_MS + 5 * HOUR_MS);
    await isBatch(output);
  });

  it('for items of other shards, also for what is compacted while it is at work', async () => {
    await open({ groups: 32 });
    await registerElsewhere();
    await rig.append(change(long, 0, 400));
    await rig.worker().onIdle();
    await rig.compact();
    const { context } = rig;
    const { storage, samples } = context;
    const scope = { organisation: 'acme', kind: 'samples' as const, timeseriesId: '', metric: '' };
    await setRetention(context, { ...scope, keepMs: 5 * HOUR_MS });
    const room = rig.shardOf('room');
    const late = { ...change(long, 30, 31), value: Float64Array.of(1000) };
    // While it waits for its transaction, a late sample comes, and its shard is compacted.
    let held: ReturnType<Rig['holdReads']> | undefined;
    const transaction: Storage['transaction'] = async (shard, work, options) => {
      if (shard !== room || held !== undefined) return storage.transaction(shard, work, options);
      held = rig.holdReads(room);
      await storage.transaction(room, (tx) => samples.append(tx, 'acme', [late]));
      while (await storage.transaction(room, (tx) => compactNow(samples, tx, tx.lastCommit, { isEager: true })));
      return storage.transaction(shard, work, options).finally(held.end);
    };
    const read: Storage['read'] = (shard, work) => storage.read(shard, work);
    const check = () => storage.check();
    const beside = { ...context, storage: { ...storage, read, transaction, check } };
    await deleteOldSamples({ context: beside, ...retaining(rig) });
    expect(await firstLeft(rig)).toBe(START_MS);
  });

  it('for items whose bases a late sample takes from them, whichever transaction it comes before', async () => {
    for (let before = 0; ; before++) {
      await open({ sizes: { workPerTransaction: 2 } });
      for (let i = 0; i < 3; i++) await rig.register([item('Aggregate', RUNNING, ['room'], `sum-${i}`)]);
      await rig.append(change(long, 0, 400));
      await rig.worker().onIdle();
      await rig.compact();
      let count = 0;
      let isInTime = false;
      rig.beforeTransactions(async () => {
        if (count++ !== before) return;
        // What comes after the deletion is too late.
        isInTime = (await firstLeft(rig)) === START_MS;
        const { storage, samples } = rig.context;
        const late = { ...change(long, 7, 8), value: Float64Array.of(1000) };
        await storage.transaction(rig.shardOf('room'), (tx) => samples.append(tx, 'acme', [late]));
      });
      await rig.deleteBefore(START_MS + 5 * HOUR_MS);
      rig.beforeTransactions(async () => {});
      // An item without a base would compute this from what is left.
      await rig.restart();
      await rig.append({ ...change(long, 390, 391), value: Float64Array.of(-1) });
      await rig.worker().onIdle();
      const value = (isInTime ? with1000(7) : long.value).map((x, i) => (i === 390 ? -1 : x));
      for (let i = 0; i < 3; i++) await isBatch(`sum-${i}`, value);
      if (before >= count) break;
      await rig.close();
    }
  });

  it('for items to copy what was written in other shards before', async () => {
    await open({ groups: 32 });
    const output = await registerElsewhere();
    await rig.append(change(long, 0, 400));
    await rig.worker().onIdle();
    await rig.deleteBefore(START_MS + 2 * HOUR_MS);
    await rig.worker().onIdle();
    await rig.compact();
    const held = rig.holdReads(rig.shardOf('room'));
    await rig.append({ ...change(long, 200, 201), value: Float64Array.of(1000) });
    await held.begun;
    const worker = rig.worker();
    const deleteExpired = worker.deleteExpired.bind(worker);
    const retained = rig.retain(START_MS + 5 * HOUR_MS, { notePositions: async () => {}, deleteExpired });
    // Who does not wait is done by then.
    await Promise.race([retained, new Promise((resolve) => setTimeout(resolve, 200))]);
    held.end();
    await retained;
    await worker.onIdle();
    await isBatch(output, with1000(200));
  });

  it('for the next run of an item with a frequency', async () => {
    await open();
    await rig.register([item('Aggregate', RUNNING, ['room'], 'sum', { processingType: 'Batch', frequency: 'PT24H' })]);
    await rig.append(change(long, 0, 400));
    await rig.worker().onIdle();
    await rig.deleteBefore(START_MS + 5 * HOUR_MS);
    expect(await firstLeft(rig)).toBe(START_MS);
    rig.advance(24 * HOUR_MS);
    await rig.worker().onIdle();
    await rig.deleteBefore(START_MS + 5 * HOUR_MS);
    expect(await firstLeft(rig)).toBe(START_MS + 5 * HOUR_MS);
    await isBatch('sum');
  });

  const resultOf = (timeseriesId: string) => ({ timeseriesId, metric: 'Result' });
  const streamed = (operation: string, input: readonly object[], output: string) => ({
    metric: 'Result',
    processingType: 'stream',
    operations: [{ operation, input, output: [resultOf(output)], parameters: {} }],
  });
  const everyHour = item('Aggregate', RUNNING, ['room'], 'sum', { processingType: 'Batch', frequency: 'PT1H' });

  it.each([
    ['a stream', 1, []],
    ['a stream, and its readers,', 1, [['sum', 'copy']]],
    ['a stream, and its readers in another shard,', 32, [['sum', 'copy']]],
    [
      'a stream, and readers of its readers,',
      1,
      [
        ['sum', 'copy'],
        ['copy', 'other'],
      ],
    ],
  ] as const)(
    'not for %s where it is always at work: what its last checkpoint has taken may go',
    async (_, groups, readers) => {
      const inline = createInlinePool();
      let deleting: (() => Promise<void>) | undefined;
      const run: StepPool['run'] = async (...step) => {
        const work = deleting;
        deleting = undefined;
        await work?.();
        return inline.run(...step);
      };
      await open({ groups, sizes: { inlineMsMax: -1, checkpointSamples: 50 }, pool: () => ({ ...inline, run }) });
      await rig.append(change(long, 0, 399));
      await rig.register([item('CumulativeSum', {}, ['room'], 'sum')]);
      await rig.worker().onIdle();
      for (const [from, to] of readers) {
        await rig.register([streamed('Add', [{ timeseriesId: 'room', metric: 'Raw' }, resultOf(from)], to)]);
        await rig.worker().onIdle();
      }
      deleting = async () => {
        await rig.deleteBefore(START_MS + 5 * HOUR_MS);
        for (const id of ['room', ...readers.map(([, to]) => to)]) {
          expect([id, await firstLeft(rig, rig.shardOf(id))]).toEqual([id, START_MS + 5 * HOUR_MS]);
        }
      };
      await rig.append(change(long, 399, 400));
      await rig.worker().onIdle();
      expect(deleting).toBeUndefined();
      const { value } = await rig.stored({ timeseriesId: 'sum', metric: 'Result' });
      expect(value.at(-1)).toBe(long.value.reduce((sum, one) => sum + one, 0));
    },
  );

  it('for a late sample that an item with a frequency could not compute at once', async () => {
    let isFailing = false;
    const inline = createInlinePool();
    const run: StepPool['run'] = (...step) =>
      isFailing ? Promise.reject(new Error('simulated: no thread')) : inline.run(...step);
    await open({ sizes: { inlineSamplesMax: 20 }, pool: () => ({ ...inline, run }) });
    await rig.append(change(long, 0, 400));
    await rig.register([everyHour]);
    await rig.worker().onIdle();
    isFailing = true;
    await rig.append({ ...change(long, 30, 31), value: Float64Array.of(1000) });
    await rig.worker().onIdle();
    isFailing = false;
    await rig.deleteBefore(START_MS + 5 * HOUR_MS);
    expect(await firstLeft(rig)).toBe(START_MS);
    rig.advance(5000);
    await rig.worker().onIdle();
    await isBatch('sum', with1000(30));
  });

  it.each([
    [1, 'sum'],
    [32, 'sum'],
    [32, 'copy'],
  ])(
    'for results that items have still to compute, where others rest on them, in %d groups, by way of %s',
    async (groups, read) => {
      const readAndRoom = streamed('Add', [{ timeseriesId: 'room', metric: 'Raw' }, resultOf(read)], 'both');
      let isFailing = false;
      const inline = createInlinePool();
      const run: StepPool['run'] = (plan, ...step) =>
        isFailing && plan.steps[0]!.operation === 'Aggregate'
          ? Promise.reject(new Error('simulated: no thread'))
          : inline.run(plan, ...step);
      await open({ groups, sizes: { inlineSamplesMax: 20 }, pool: () => ({ ...inline, run }) });
      expect(new Set(['sum', 'copy', 'both'].map(rig.shardOf)).size).toBe(groups === 1 ? 1 : 3);
      await rig.append(change(long, 0, 400));
      await rig.register([everyHour]);
      if (read === 'copy') await rig.register([streamed('Abs', [resultOf('sum')], 'copy')]);
      await rig.register([readAndRoom]);
      await rig.worker().onIdle();
      await rig.deleteBefore(START_MS + 2 * HOUR_MS);
      isFailing = true;
      await rig.append({ ...change(long, 200, 201), value: Float64Array.of(1000) });
      await rig.worker().onIdle();
      isFailing = false;
      await rig.deleteBefore(START_MS + 5 * HOUR_MS);
      rig.advance(5000);
      await rig.worker().onIdle();
      await isBatch('sum', with1000(200));
      const sources = [
        { ...long, value: with1000(200) },
        { ...resultOf(read), ...(await rig.stored(resultOf(read))) },
      ];
      const [expected] = runBatch((await readOperations([readAndRoom])).plan, sources).series;
      expectSame([{ ...expected!, ...(await rig.stored(expected!)) }], [expected!]);
    },
  );

  it('for a late sample that is not computed yet when the clock is set back', async () => {
    await open({ sizes: { inlineSamplesMax: 20 } });
    await rig.append(change(long, 0, 400));
    await rig.register([everyHour]);
    await rig.worker().onIdle();
    rig.advance(60_000);
    await rig.append({ ...change(long, 30, 31), value: Float64Array.of(1000) });
    rig.advance(-50_000);
    await rig.deleteBefore(START_MS + 5 * HOUR_MS);
    rig.advance(50_000);
    await rig.worker().onIdle();
    await isBatch('sum', with1000(30));
  });

  it('while an item cannot prepare for it, but not for one that has failed', async () => {
    let isFailing = false;
    const inline = createInlinePool();
    const run: StepPool['run'] = (...step) =>
      isFailing ? Promise.reject(new Error('simulated: no thread')) : inline.run(...step);
    await open({ sizes: { inlineSamplesMax: 20 }, pool: () => ({ ...inline, run }), settings: { retryCountMax: 0 } });
    await rig.register([item('Aggregate', RUNNING, ['room'], 'sum')]);
    await rig.append(change(long, 0, 400));
    await rig.worker().onIdle();
    isFailing = true;
    await rig.deleteBefore(START_MS + 5 * HOUR_MS);
    expect(await firstLeft(rig)).toBe(START_MS);
    // A sample before all others is work for a thread, too.
    await rig.append({ ...change(long, 0, 1), timeMs: Float64Array.of(START_MS - 1) });
    await rig.worker().onIdle();
    expect((await rig.items()).map(({ state }) => state)).toEqual(['Failed']);
    await rig.deleteBefore(START_MS + 5 * HOUR_MS);
    expect(await firstLeft(rig)).toBe(START_MS + 5 * HOUR_MS);
  });

  it('not for an item that has failed, whose results stay as they are when it is posted again', async () => {
    let isFailing = false;
    const inline = createInlinePool();
    const run: StepPool['run'] = (...step) =>
      isFailing ? Promise.reject(new Error('simulated: no thread')) : inline.run(...step);
    await open({ sizes: { inlineSamplesMax: 20 }, pool: () => ({ ...inline, run }), settings: { retryCountMax: 0 } });
    const request = [item('Aggregate', RUNNING, ['room'], 'sum')];
    await rig.register(request);
    await rig.append(change(long, 0, 400));
    await rig.worker().onIdle();
    await rig.deleteBefore(START_MS + 2 * HOUR_MS);
    const before = await rig.stored({ timeseriesId: 'sum', metric: 'Result' }, true);
    isFailing = true;
    await rig.append({ ...change(long, 200, 201), value: Float64Array.of(1000) });
    await rig.worker().onIdle();
    expect((await rig.items()).map(({ state }) => state)).toEqual(['Failed']);
    await rig.deleteBefore(START_MS + 5 * HOUR_MS);
    expect(await firstLeft(rig)).toBe(START_MS + 5 * HOUR_MS);
    isFailing = false;
    await rig.register(request);
    await rig.worker().onIdle();
    expect(await rig.stored({ timeseriesId: 'sum', metric: 'Result' }, true)).toEqual(before);
  });

  it('for no pattern that is posted again: its members have the results of what was deleted', async () => {
    await open();
    const request = [item('Aggregate', { function: 'Sum', interval: 'PT30M' }, ['{n}'], '{n}-sum')];
    await rig.register(request);
    await rig.append(change(long, 0, 300));
    await rig.worker().onIdle();
    await rig.deleteBefore(START_MS + 3 * HOUR_MS);
    expect(await firstLeft(rig)).toBe(START_MS + 3 * HOUR_MS);
    const sum = { timeseriesId: `${long.timeseriesId}-sum`, metric: 'Result' };
    const before = await rig.stored(sum, true);
    expect(before.timeMs[0]).toBe(START_MS);
    for (let time = 0; time < 2; time++) {
      await rig.register(request);
      await rig.kill();
      await rig.worker().onIdle();
      expect(await rig.stored(sum, true)).toEqual(before);
    }
    await rig.append(change(long, 300, 400));
    await rig.worker().onIdle();
    const [expected] = runEvery(planEvery(request), [long]).series;
    expectSame([{ ...sum, ...(await rig.stored(sum)) }], [expected!]);
  });

  it('for an item to begin again whose samples change while a thread prepares it', async () => {
    let meanwhile = async (): Promise<void> => {};
    const inline = createInlinePool();
    const run: StepPool['run'] = async (...step) => {
      const result = await inline.run(...step);
      await meanwhile();
      return result;
    };
    await open({ sizes: { inlineSamplesMax: 20 }, pool: () => ({ ...inline, run }) });
    await rig.register([item('Aggregate', RUNNING, ['room'], 'sum')]);
    await rig.append(change(long, 0, 400));
    await rig.worker().onIdle();
    meanwhile = async () => {
      meanwhile = async () => {};
      await rig.append({ ...change(long, 30, 31), value: Float64Array.of(1000) });
      // The item takes it before the older step ends.
      await expect.poll(() => waitingWork(rig)).not.toEqual([]);
      await expect.poll(() => waitingWork(rig)).toEqual([]);
    };
    await rig.deleteBefore(START_MS + 5 * HOUR_MS);
    // The new one is in the log.
    expect(await firstLeft(rig)).toBe(START_MS + 30 * 60_000);
    await rig.kill();
    await rig.append({ ...change(long, 320, 321), value: Float64Array.of(2000) });
    await rig.worker().onIdle();
    await isBatch(
      'sum',
      long.value.map((x, i) => (i === 30 ? 1000 : i === 320 ? 2000 : x)),
    );
  });
});

describe('retention of samples that no compaction has moved yet', () => {
  it('deletes them once they are an eighth older than their rule, also where items read them', async () => {
    const rig = await openRig({ groups: 1, nowMs: START_MS + 10 * HOUR_MS });
    const firstOf = async (timeseriesId: string) => (await rig.stored({ timeseriesId, metric: 'Raw' })).timeMs[0];
    await rig.append({ ...change(long, 0, 400), timeseriesId: 'beside' });
    await rig.append(change(long, 0, 400));
    await rig.register([item('Aggregate', RUNNING, ['room'], 'sum')]);
    await rig.worker().onIdle();
    const before = await rig.stored({ timeseriesId: 'sum', metric: 'Result' });
    expect(before.timeMs).toHaveLength(400);
    // 10 hours are no eighth more than 9.
    await rig.retain(START_MS + HOUR_MS);
    expect([await firstOf('room'), await firstOf('beside')]).toEqual([START_MS, START_MS]);
    const cutMs = START_MS + 2 * HOUR_MS;
    await rig.retain(cutMs);
    expect([await firstOf('room'), await firstOf('beside')]).toEqual([cutMs, cutMs]);
    await rig.append({ ...change(long, 399, 400), value: Float64Array.of(1000) });
    await rig.kill();
    await rig.worker().onIdle();
    const after = await rig.stored({ timeseriesId: 'sum', metric: 'Result' });
    const [last, sum] = [before.value.at(-1)!, before.value.at(-2)!];
    expect(after.value.subarray(0, 399)).toEqual(before.value.subarray(0, 399));
    expect(last).not.toBe(sum + 1000);
    expect(after.value[399]).toBe(sum + 1000);
    await rig.close();
  });

  it('leaves a log alone whose old samples are of series without a rule', async () => {
    const rig = await openRig({ groups: 1, nowMs: START_MS + 10 * HOUR_MS });
    await rig.append(change(long, 0, 300));
    await rig.append({ ...change(long, 300, 400), timeseriesId: 'young' });
    const { context } = rig;
    const scope = { organisation: 'acme', kind: 'samples' as const, timeseriesId: 'young', metric: '' };
    await setRetention(context, { ...scope, keepMs: 6 * HOUR_MS });
    await deleteOldSamples({ context, ...retaining(rig) });
    const inSegments = () => context.storage.read(rig.shardOf('room'), (tx) => tx.count(segments));
    expect(await inSegments()).toBe(0);
    await setRetention(context, { ...scope, keepMs: 2 * HOUR_MS });
    await deleteOldSamples({ context, ...retaining(rig) });
    expect(await inSegments()).toBe(1);
    expect((await rig.stored({ timeseriesId: 'young', metric: 'Raw' })).timeMs).toHaveLength(0);
    expect(await firstLeft(rig)).toBe(START_MS);
    await rig.close();
  });
});

it('a shard where retention fails does not keep the others waiting', async () => {
  const rig = await openRig({ groups: 32, segmentSamples: 10, nowMs: START_MS + 10 * HOUR_MS });
  const { shards } = await rig.context.placements.of(rig.organisation);
  const names = Array.from({ length: 200 }, (_, i) => `room-${i}`);
  const ofShard = shards.map((shard) => names.find((name) => rig.shardOf(name) === shard)!);
  for (const timeseriesId of ofShard) await rig.append({ ...change(long, 0, 400), timeseriesId });
  for (const timeseriesId of ofShard) await rig.register([item('Aggregate', RUNNING, [timeseriesId], timeseriesId)]);
  await rig.worker().onIdle();
  const tried: number[] = [];
  const worker = {
    notePositions: async () => {},
    deleteExpired: async (shard: number) => {
      tried.push(shard);
      throw new Error('simulated: this shard fails');
    },
  };
  await rig.deleteBefore(START_MS + 5 * HOUR_MS, worker);
  expect(new Set(tried)).toEqual(new Set(shards));
  await rig.close();
});

it('a shard that another worker has taken is left to that one, which is no failure', async () => {
  const rig = await openRig({ groups: 1, segmentSamples: 10, nowMs: START_MS + 10 * HOUR_MS });
  const { storage, log } = rig.context;
  await rig.worker().stop();
  let isTaken = false;
  const transaction: Storage['transaction'] = async (shard, work, options) => {
    if (isTaken && options?.claim !== undefined) throw new StaleClaimError('simulated: another worker has the shard');
    return storage.transaction(shard, work, options);
  };
  const worker = new Worker(
    { ...rig.context, storage: { ...failingStorage(storage, {}), transaction } },
    createInlinePool(),
  );
  await rig.register([item('Aggregate', RUNNING, ['room'], 'sum')]);
  await rig.append(change(long, 0, 400));
  worker.start();
  await worker.onIdle();
  const warn = vi.spyOn(log, 'warn');
  isTaken = true;
  await rig.deleteBefore(START_MS + 5 * HOUR_MS, worker);
  expect(warn).not.toHaveBeenCalled();
  warn.mockRestore();
  expect(await firstLeft(rig)).toBe(START_MS);
  await worker.stop();
  await rig.close();
});

it('the log says once a round what is kept for items, and once of each item that could not prepare', async () => {
  const lines: [level: string, of: Record<string, unknown>, text: string][] = [];
  // `as`: what this code logs.
  const record =
    (level: string) =>
    (...line: unknown[]) =>
      void lines.push([level, ...(line as [Record<string, unknown>, string])]);
  const log = { ...silentLog, info: record('info'), warn: record('warn') };
  let isFailing = false;
  const inline = createInlinePool();
  const run: StepPool['run'] = (...step) =>
    isFailing ? Promise.reject(new Error('simulated: a step fails')) : inline.run(...step);
  const pool = () => ({ ...inline, run, close: () => inline.close() });
  const rig = await openRig({ log, pool, groups: 1, segmentSamples: 10, sizes: { inlineSamplesMax: 0 } });
  // More than a transaction looks at; the item reads the first and the last of them.
  const names = Array.from({ length: 150 }, (_, i) => `room-${String(i).padStart(3, '0')}`);
  const sums = names.map((name) => item('Aggregate', RUNNING, [name], `sum of ${name}`));
  await rig.register([...sums, item('Add', {}, [names[0]!, names.at(-1)!], 'both')]);
  for (const timeseriesId of names) await rig.append({ ...change(long, 0, 30), timeseriesId });
  await rig.worker().onIdle();
  isFailing = true;
  lines.length = 0;
  await rig.deleteBefore(START_MS + 20 * 60_000);
  const shard = rig.shardOf('room');
  const [ofRound, ...ofItems] = [...lines].sort();
  const lead = 'samples are kept longer than their rule: ';
  expect(ofRound).toEqual([
    'info',
    { organisation: 'acme', shard, seriesCount: 150 },
    `${lead}items have still to take them`,
  ]);
  expect(new Set(ofItems.map(([level, , text]) => `${level} ${text}`))).toEqual(
    new Set([`warn ${lead}an item that reads them could not prepare for it`]),
  );
  const told = ofItems.map(([, { itemId }]) => itemId);
  expect(told.sort()).toEqual((await rig.items()).map(({ itemId }) => itemId).sort());
  await rig.close();
});

describe('a copy of a series in another shard', () => {
  const nowMs = START_MS + 10 * HOUR_MS;
  let rig: Rig;
  afterEach(() => rig.close());

  /** Ids of results in another shard than `room`. */
  const idsElsewhere = (): readonly [string, string] => {
    const [first, ...more] = Array.from({ length: 200 }, (_, i) => `id-${i}`).filter(
      (name) => rig.shardOf(name) !== rig.shardOf('room'),
    );
    return [first!, more.find((name) => rig.shardOf(name) === rig.shardOf(first!))!];
  };
  /** A new item over the copy has the result of one batch over what is stored of the series. */
  const expectBatchOf = async (id: string): Promise<Columns> => {
    const request = [item('CumulativeSum', {}, ['room'], id)];
    await rig.register(request);
    await rig.worker().onIdle();
    const stored = await rig.stored({ timeseriesId: 'room', metric: 'Raw' });
    const [expected] = runBatch((await readOperations(request)).plan, [{ ...long, ...stored }]).series;
    expectSame([{ ...expected!, ...(await rig.stored(expected!)) }], [expected!]);
    return stored;
  };

  it('keeps what an item holds of the series', async () => {
    rig = await openRig({ groups: 32, segmentSamples: 10, nowMs });
    const [first, second] = idsElsewhere();
    const holding = { processingType: 'Batch', frequency: 'PT24H' };
    await rig.register([item('Aggregate', RUNNING, ['room'], 'room', holding)]);
    await rig.register([item('Abs', {}, ['room'], first)]);
    await rig.append(change(long, 0, 400));
    await rig.worker().onIdle();
    for (let round = 0; round < 2; round++) await rig.deleteBefore(START_MS + 5 * HOUR_MS);
    expect((await expectBatchOf(second)).timeMs).toHaveLength(400);
  });

  it('ends where the series does, whatever the borders of their segments', async () => {
    rig = await openRig({ groups: 32, segmentSamples: 10, nowMs });
    const [first, second] = idsElsewhere();
    await rig.append(change(long, 0, 397));
    await rig.compact();
    // Its segments are rewritten around these; the copy is filled with all at once.
    const { timeMs, ...late } = change(long, 0, 7);
    await rig.append({ ...late, timeMs: timeMs.map((t) => t + 30_000) });
    await rig.compact();
    await rig.register([item('Abs', {}, ['room'], first)]);
    await rig.worker().onIdle();
    // A series is cut within a segment only where this is an eighth too old.
    const beforeMs = START_MS + 5 * HOUR_MS + 3 * 60_000;
    for (let round = 0; round < 2; round++) await rig.deleteBefore(beforeMs);
    const [firstMs = Number.NaN] = (await expectBatchOf(second)).timeMs;
    expect([firstMs > START_MS, firstMs < beforeMs]).toEqual([true, true]);
  });
});

describe('the bases of items', () => {
  let rig: Rig;
  const open = async (sizes: RigOptions['sizes'], pool?: RigOptions['pool']): Promise<void> => {
    const nowMs = START_MS + 10 * HOUR_MS;
    rig = await openRig({
      groups: 1,
      segmentSamples: 10,
      nowMs,
      sizes: sizes!,
      ...(pool === undefined ? {} : { pool }),
    });
    await rig.register([item('Aggregate', RUNNING, ['room'], 'sum')]);
  };
  afterEach(() => rig.close());
  const send = async (from: number, to: number, count = 10): Promise<void> => {
    for (let i = from; i < to; i += count) {
      await rig.append(change(long, i, Math.min(to, i + count)));
      await rig.worker().onIdle();
    }
  };
  const inShard = <Result>(work: (tx: Transaction) => Promise<Result>) =>
    rig.context.storage.transaction(rig.shardOf('room'), work);

  it('are computed in many transactions, so that writers need not wait', async () => {
    await open({ inlineSamplesMax: 20, sliceSamples: 10, sourceSamplesMin: 5, replaySamplesMax: 40 });
    await send(0, 400);
    while (await inShard((tx) => compactNow(rig.context.samples, tx, tx.lastCommit, { isEager: true })));
    const before = await rig.context.storage.lastCommit(rig.shardOf('room'));
    await rig.deleteBefore(START_MS + 5 * HOUR_MS);
    expect(await firstLeft(rig)).toBe(START_MS + 5 * HOUR_MS);
    // 30 slices of 10 samples; a transaction has room for a few of them.
    expect((await rig.context.storage.lastCommit(rig.shardOf('room'))) - before).toBeGreaterThan(8);
  });

  it('are computed from earlier samples if the engine refuses checkpoints', async () => {
    await open({ checkpointSamples: 10 });
    await send(0, 400);
    await rig.worker().stop();
    const state = Uint8Array.of(1, 2, 3);
    await inShard(async (tx) => {
      for (const row of await tx.find(itemCheckpoints)) {
        const refused = { ...row, state };
        await tx.put(itemCheckpoints, { ...refused, checksum: checkpointChecksum(refused) });
      }
    });
    await rig.restart();
    await rig.worker().onIdle();
    await rig.deleteBefore(START_MS + 5 * HOUR_MS);
    expect(await firstLeft(rig)).toBe(START_MS + 5 * HOUR_MS);
    await rig.kill();
    await rig.append({ ...change(long, 399, 400), value: Float64Array.of(1000) });
    await rig.worker().onIdle();
    const plan = (await readOperations([item('Aggregate', RUNNING, ['room'], 'sum')])).plan;
    const [expected] = runBatch(plan, [{ ...long, value: with1000(399) }]).series;
    expectSame([{ ...expected!, ...(await rig.stored(expected!)) }], [expected!]);
  });

  it('change no results where a process of another version has deleted samples meanwhile', async () => {
    await open({ checkpointSamples: 50 });
    await send(0, 100, 55);
    await rig.compact();
    const before = await rig.stored({ timeseriesId: 'sum', metric: 'Result' }, true);
    const scope = { organisation: 'acme', kind: 'samples' as const, timeseriesId: '', metric: '' };
    const expiries = createExpiries([{ ...scope, keepMs: 1, createdMs: 0 }], START_MS + 95 * 60_000, 1 / 8);
    // The last checkpoint has taken 55 of the 100 samples.
    await inShard(async (tx) => {
      const { expired } = await findExpired(tx, 'acme', expiries);
      await deleteExpired(tx, expired);
    });
    await send(100, 200, 100);
    const later = await rig.stored({ timeseriesId: 'sum', metric: 'Result' }, true);
    expect(later.value.subarray(0, before.value.length)).toEqual(before.value);
    await rig.deleteBefore(START_MS + 180 * 60_000);
    await rig.kill();
    await rig.append({ ...change(long, 199, 200), value: Float64Array.of(5000) });
    await rig.worker().onIdle();
    const { value } = await rig.stored({ timeseriesId: 'sum', metric: 'Result' }, true);
    expect(value.subarray(0, later.value.length)).toEqual(later.value);
  });

  it('wait for the next time if samples change again and again while a thread computes them', async () => {
    const inline = createInlinePool();
    let isRetention = false;
    let count = 0;
    const run: StepPool['run'] = async (...step) => {
      const result = await inline.run(...step);
      if (!isRetention || ++count > 20) return result;
      // What the worker computes for this change does not count.
      isRetention = false;
      await rig.append({ ...change(long, 30, 31), value: Float64Array.of(1000 + count) });
      await expect.poll(() => waitingWork(rig)).not.toEqual([]);
      await expect.poll(() => waitingWork(rig)).toEqual([]);
      isRetention = true;
      return result;
    };
    await open({ inlineSamplesMax: 20 }, () => ({ ...inline, run }));
    await rig.append(change(long, 0, 400));
    await rig.worker().onIdle();
    isRetention = true;
    await rig.deleteBefore(START_MS + 5 * HOUR_MS);
    expect(count).toBe(3);
    expect(await firstLeft(rig)).toBe(START_MS);
  });
});

async function act(ledger: Ledger, one: Action, body: readonly unknown[]): Promise<void> {
  const { rig } = ledger;
  switch (one.kind) {
    case 'next':
      return ledger.sendNext(one.source, one.count);
    case 'late':
      return ledger.sendLate(one.source, one.from, one.count);
    case 'delete':
      return ledger.delete(one.source, one.from, one.count);
    case 'advance':
      return rig.advance(Math.floor(one.share * ledger.spanMs));
    case 'fail':
      return rig.failFrom(one.count, 1);
    case 'idle':
      return rig.worker().onIdle();
    case 'register':
      return rig.register(body);
    default:
      return rig[one.kind]();
  }
}

/** All that was ever sent, of series `s0` to `s2`. */
class Ledger {
  readonly rig: Rig;
  readonly spanMs: number;
  readonly #samples: readonly Columns[];
  readonly #isExact: boolean;
  readonly #sent = new Map<string, Map<number, number>>();
  readonly #sentCounts = [0, 0, 0];
  /** Nothing is sent for a time up to here any more. */
  #cutMs = Number.NEGATIVE_INFINITY;

  /** @param isExact whether retention compacts the log and divides segments; otherwise the log is compacted first. */
  constructor(rig: Rig, samples: readonly Columns[], isExact: boolean) {
    this.rig = rig;
    this.#samples = samples;
    this.#isExact = isExact;
    const times = samples.flatMap(({ timeMs }) => [...timeMs]);
    this.spanMs = Math.min(Math.max(...times) - Math.min(...times), 3e11);
  }

  /** The next samples of a series in the order of time. */
  async sendNext(source: number, count: number): Promise<void> {
    const from = this.#sentCounts[source]!;
    this.#sentCounts[source] = from + count;
    await this.#send(source, from, from + count, 0);
  }

  /** Samples again, with other values. */
  async sendLate(source: number, share: number, count: number): Promise<void> {
    const from = Math.floor(share * this.#sentCounts[source]!);
    await this.#send(source, from, from + count, 1);
  }

  async #send(source: number, from: number, to: number, add: number): Promise<void> {
    const { timeMs, value } = this.#samples[source]!;
    const indexes = Array.from({ length: to - from }, (_, i) => from + i).filter((i) => timeMs[i]! > this.#cutMs);
    if (indexes.length === 0) return;
    const columns = {
      timeMs: Float64Array.from(indexes, (i) => timeMs[i]!),
      value: Float64Array.from(indexes, (i) => value[i]! + add),
    };
    const sent = this.#sentOf(`s${source}`);
    for (const [i, time] of columns.timeMs.entries()) sent.set(time, columns.value[i]!);
    await this.rig.append({ timeseriesId: `s${source}`, metric: 'Raw', ...columns });
  }

  async delete(source: number, share: number, count: number): Promise<void> {
    const { timeMs } = this.#samples[source]!;
    const from = Math.floor(share * timeMs.length);
    const fromMs = timeMs[from];
    const untilMs = timeMs[from + count] ?? 253_402_300_800_000;
    if (fromMs === undefined || fromMs <= this.#cutMs || fromMs >= untilMs) return;
    const sent = this.#sentOf(`s${source}`);
    for (const time of [...sent.keys()]) if (time >= fromMs && time < untilMs) sent.delete(time);
    const none = new Float64Array(0);
    const reference = { timeseriesId: `s${source}`, metric: 'Raw' };
    await this.rig.append({ ...reference, timeMs: none, value: none, deleted: { fromMs, untilMs } });
  }

  /** Has a share of what was sent deleted. */
  async retain(share: number): Promise<void> {
    const times = [...this.#sent.values()].flatMap((sent) => [...sent.keys()]).sort((a, b) => a - b);
    const lastMs = times[Math.floor(share * (times.length - 1))];
    if (lastMs === undefined || lastMs >= this.rig.context.clock.nowMs() - 1) return;
    this.#cutMs = Math.max(this.#cutMs, Math.floor(lastMs) + 1);
    // It may fail, as all that the worker does may here.
    const { rig } = this;
    const beforeMs = Math.floor(lastMs) + 1;
    await (this.#isExact ? rig.retain(beforeMs) : rig.deleteBefore(beforeMs)).catch(() => {});
  }

  #sentOf(timeseriesId: string): Map<number, number> {
    const sent = this.#sent.get(timeseriesId) ?? new Map<number, number>();
    this.#sent.set(timeseriesId, sent);
    return sent;
  }

  async expectResults(): Promise<void> {
    const expected: Series[] = [];
    const found: Series[] = [];
    for (const { request, timeseriesId, metric, boundaryMs } of await this.rig.items()) {
      const { plan } = definitionOf(JSON.parse(request) as unknown[]);
      const untilMs = boundaryMs ?? Number.POSITIVE_INFINITY;
      const inputs: Series[] = [];
      for (const source of plan.sources) {
        const all = /^s\d$/.test(source.timeseriesId) ? this.#all(source.timeseriesId) : await this.rig.stored(source);
        const count = all.timeMs.filter((time) => time < untilMs).length;
        inputs.push({ ...source, timeMs: all.timeMs.slice(0, count), value: all.value.slice(0, count) });
      }
      expected.push(runBatch(plan, inputs).series.at(-1)!);
      found.push({ timeseriesId, metric, ...(await this.rig.stored({ timeseriesId, metric })) });
    }
    expectSame(found, expected);
    expect((await this.rig.items()).map(({ state }) => state)).not.toContain('Failed');
  }

  #all(timeseriesId: string): Columns {
    const rising = [...this.#sentOf(timeseriesId)].sort(([a], [b]) => a - b);
    return { timeMs: Float64Array.from(rising, ([t]) => t), value: Float64Array.from(rising, ([, x]) => x) };
  }
}
