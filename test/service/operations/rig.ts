import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { runBatch, type Series, type SeriesReference } from '../../../src/index.js';
import { createCompactor } from '../../../src/service/background.js';
import type { Scheduler, ServiceContext } from '../../../src/service/context.js';
import { createMetrics } from '../../../src/service/http/metrics.js';
import { setRetention } from '../../../src/service/identity/retention.js';
import { createInlinePool, type StepPool } from '../../../src/service/operations/compute/pool.js';
import { changeItems, registerItems } from '../../../src/service/operations/register.js';
import { definitionOf, readOperations } from '../../../src/service/operations/request.js';
import type { WorkerSizes } from '../../../src/service/operations/worker/sizes.js';
import { Worker } from '../../../src/service/operations/worker/worker.js';
import { Placements } from '../../../src/service/placements.js';
import { deleteOldSamples, type ItemWorker } from '../../../src/service/retention.js';
import { defaultSettings, type ServiceSettings } from '../../../src/service/settings.js';
import { systemRandom } from '../../../src/service/system.js';
import type { Compactor } from '../../../src/storage/samples/compaction/compactor.js';
import type { Columns, SampleChange } from '../../../src/storage/samples/samples.js';
import { createSampleStore } from '../../../src/storage/samples/store.js';
import type { Storage, Transaction } from '../../../src/storage/storage.js';
import { type ItemRow, items, itemWork } from '../../../src/storage/tables/operations.js';
import { logProgress } from '../../../src/storage/tables/samples.js';
import { folderInMemory } from '../../folder-in-memory.js';
import { compactNow } from '../../storage/samples/compact-now.js';
import { type StoreUnderTest, storeUnderTest } from '../../storage/under-test.js';
import { spread } from '../groups-under-test.js';
import { silentLog } from '../silent-log.js';

/** A worker over the real store, which can be killed at any point; its clock moves only when told to. */
export interface Rig {
  readonly compactor: Compactor;
  readonly context: ServiceContext;
  readonly organisation: string;
  /** The shard of a series, and so of the item whose result it is. */
  shardOf(timeseriesId: string): number;
  worker(): Worker;
  advance(byMs: number): void;
  /** Sets the clock of the wall back. */
  setBack(byMs: number): void;
  /** Stores a change and wakes the worker inside the transaction, as ingest does. */
  append(change: SampleChange): Promise<void>;
  /** @param isTold whether the worker is told of it at once; otherwise it learns of it with its next transaction. */
  register(request: unknown, isTold?: boolean): Promise<void>;
  compact(): Promise<void>;
  /** Lets a rule delete samples before an instant: one before now. */
  retain(beforeMs: number, by?: ItemWorker): Promise<void>;
  /** Compacts all that was absorbed first. */
  deleteBefore(beforeMs: number, by?: ItemWorker): Promise<void>;
  /** Stops the worker as a service does, and starts another. */
  restart(): Promise<void>;
  /** Drops the worker as a crash does, and starts another once the lease has ended. */
  kill(): Promise<void>;
  /** From its n-th transaction on, none of the worker's writes reach the disk: `times` times, or for good. */
  failFrom(transactionCount: number, times?: number): void;
  /** Calls something before each transaction of the worker, until it is restarted. */
  beforeTransactions(work: () => Promise<void>): void;
  /** From now on, what the worker reads from the shard reaches it only after `end`; `begun` resolves at the first. */
  holdReads(shard: number): { readonly begun: Promise<void>; readonly end: () => void };
  items(): Promise<ItemRow[]>;
  stored(reference: SeriesReference, isFinalOnly?: boolean): Promise<Columns>;
  /** For each item, the expected and the stored result. */
  compare(): Promise<{ readonly expected: Series[]; readonly found: Series[] }>;
  close(): Promise<void>;
}

export interface RigOptions {
  readonly nowMs?: number;
  readonly sizes?: Partial<WorkerSizes>;
  readonly segmentSamples?: number;
  readonly settings?: Partial<ServiceSettings>;
  readonly pool?: () => StepPool;
  readonly log?: ServiceContext['log'];
  /** Without one nothing runs by itself: tests tell the worker when to look for work. */
  readonly scheduler?: Scheduler;
  /** The number of shards over which series are spread. */
  readonly groups?: number;
  /** Unless it is the one under test. */
  readonly store?: StoreUnderTest;
  /** The store goes by the rig's clock, even a database: a group of commits takes all work that comes meanwhile. */
  readonly isStoreTimeless?: boolean;
}

/** Sizes so small that even short series take every path of store and worker. */
export const smallSizes: Partial<WorkerSizes> = {
  inlineSamplesMax: 12,
  sliceSamples: 9,
  sourceSamplesMin: 3,
  stepsMax: 3,
  replaySamplesMax: 30,
  checkpointSamples: 4,
  checkpointsMax: 4,
  itemsKept: 2,
  workPerTransaction: 3,
  membersPerTransaction: 2,
  seriesPerTransaction: 3,
  turnMs: 0,
};

/** Usual sizes, small ones, and those with which a thread computes all results of streams. */
export const drawnSizes = fc.constantFrom<RigOptions>(
  {},
  { sizes: smallSizes },
  { sizes: { ...smallSizes, inlineMsMax: -1 } },
);

export async function openRig(options: RigOptions = {}): Promise<Rig> {
  const { sizes = {}, settings = {}, pool = createInlinePool } = options;
  const directory = folderInMemory('windrow-operations-');
  let nowMs = options.nowMs ?? Date.UTC(2026, 0, 1);
  let backMs = 0;
  const clock = { nowMs: () => nowMs - backMs, monotonicMs: () => nowMs };
  const store = options.store ?? (await storeUnderTest(directory));
  const storage = await store.open(clock, options.isStoreTimeless);
  const samples = createSampleStore({
    clock,
    ...(options.segmentSamples === undefined ? {} : { sizes: { segmentSamples: options.segmentSamples } }),
  });
  const context: ServiceContext = {
    storage,
    placements: new Placements(storage),
    samples,
    clock,
    random: systemRandom,
    scheduler: options.scheduler ?? { after: () => () => {} },
    log: options.log ?? silentLog,
    settings: { ...defaultSettings, ...settings },
    metrics: createMetrics(),
  };
  const organisation = 'acme';
  await spread(storage, organisation, options.groups);
  const placement = await context.placements.of(organisation);
  let mortal = mortalStorage(storage);
  const start = (): Worker => {
    mortal = mortalStorage(storage);
    const worker = new Worker({ ...context, storage: mortal.storage }, pool(), sizes);
    worker.start();
    return worker;
  };
  let worker = start();
  const compactor = createCompactor(context);
  const read = (reference: SeriesReference, isFinalOnly: boolean, untilMs = Number.POSITIVE_INFINITY) =>
    storage.read(placement.shardOf(reference.timeseriesId), (tx) =>
      samples.read(tx, organisation, reference, { isFinalOnly, untilMs }),
    );
  const compactSome = (shard: number) =>
    storage.transaction(shard, async (tx) => {
      const absorbed = (await tx.get(logProgress, { name: 'log' }))?.absorbedCommit ?? tx.lastCommit;
      return compactNow(samples, tx, absorbed, { isEager: true });
    });
  const retain = async (beforeMs: number, by: ItemWorker = worker): Promise<void> => {
    const scope = { organisation, kind: 'samples' as const, timeseriesId: '', metric: '' };
    await setRetention(context, { ...scope, keepMs: clock.nowMs() - beforeMs });
    await deleteOldSamples({ context, worker: by, compactor, isStopped: () => false });
  };
  const allItems = async () =>
    (await Promise.all(placement.shards.map((shard) => storage.read(shard, (tx) => tx.find(items))))).flat();
  return {
    context,
    organisation,
    shardOf: (timeseriesId) => placement.shardOf(timeseriesId),
    compactor,
    worker: () => worker,
    advance: (byMs) => {
      nowMs += byMs;
    },
    setBack: (byMs) => {
      backMs += byMs;
    },
    append: (change) =>
      storage.transaction(placement.shardOf(change.timeseriesId), async (tx) => {
        await samples.append(tx, organisation, [change]);
        worker.wake(tx.shard);
      }),
    register: async (request, isTold = true) => {
      const principal = { clientId: 'client', username: null, organisation, scopes: new Set(['core_write']) };
      const { definitions } = await readOperations(request);
      const registration = { principal, correlationId: 'test', receivedMs: clock.nowMs() };
      await changeItems(context, organisation, async (over) => {
        await registerItems(context, over, registration, definitions);
        if (isTold) for (const { shard } of over.txs) worker.wake(shard, true);
      });
    },
    compact: async () => {
      for (const shard of placement.shards) await compactSome(shard);
    },
    retain,
    deleteBefore: async (beforeMs, by) => {
      for (const shard of placement.shards) while (await compactSome(shard));
      await retain(beforeMs, by);
    },
    restart: async () => {
      await worker.stop();
      worker = start();
    },
    kill: async () => {
      mortal.failFrom(0);
      await worker.stop();
      nowMs += context.settings.leaseMs + 1;
      await store.advanceLeases(context.settings.leaseMs + 1);
      worker = start();
    },
    failFrom: (count, times) => mortal.failFrom(count, times),
    beforeTransactions: (before) => mortal.beforeTransactions(before),
    holdReads: (shard) => mortal.holdReads(shard),
    items: allItems,
    stored: (reference, isFinalOnly = false) => read(reference, isFinalOnly),
    compare: async () => {
      const expected: Series[] = [];
      const found: Series[] = [];
      for (const row of await allItems()) {
        const { timeseriesId, metric, boundaryMs } = row;
        const { plan } = definitionOf(JSON.parse(row.request) as unknown[]);
        // Its members have the results.
        if (plan.every !== undefined) continue;
        const untilMs = boundaryMs ?? Number.POSITIVE_INFINITY;
        const inputs = [];
        for (const source of plan.sources) inputs.push({ ...source, ...(await read(source, false, untilMs)) });
        expected.push(runBatch(plan, inputs).series.at(-1)!);
        found.push({ timeseriesId, metric, ...(await read(row, false)) });
      }
      return { expected, found };
    },
    close: async () => {
      await worker.stop();
      await storage.close();
      await store.remove();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Whether there is work scheduled for later. */
export async function waitingWork({ context, organisation }: Rig) {
  const { shards } = await context.placements.of(organisation);
  return (await Promise.all(shards.map((shard) => context.storage.read(shard, (tx) => tx.find(itemWork))))).flat();
}

/** A store that fails one worker: its transactions are undone at their end, as by a crash before the commit. */
function mortalStorage(storage: Storage) {
  let left = Number.POSITIVE_INFINITY;
  let timesLeft = 0;
  const isFailing = (): boolean => left-- <= 0 && timesLeft-- > 0;
  const afterRead = new Map<number, () => Promise<void>>();
  let before = async (): Promise<void> => {};
  const mortal: Storage = {
    read: async (shard, work) => {
      const result = await storage.read(shard, work);
      await afterRead.get(shard)?.();
      return result;
    },
    lastCommit: (shard) => storage.lastCommit(shard),
    recentCommit: (shard) => storage.recentCommit(shard),
    transaction: async (shard, work, claim) => {
      await before();
      const inTransaction = async (tx: Transaction) => {
        const result = await work(tx);
        if (isFailing()) throw new Error('simulated: nothing got to the disk');
        return result;
      };
      return storage.transaction(shard, inTransaction, claim);
    },
    transactionOver: (shards, work, options) => storage.transactionOver(shards, work, options),
    claim: (shard, owner, leaseMs) => storage.claim(shard, owner, leaseMs),
    release: async (claim) => {
      if (left > 0) await storage.release(claim);
    },
    maintains: (shard) => storage.maintains(shard),
    onCommit: (listener) => storage.onCommit(listener),
    check: () => storage.check(),
    close: () => storage.close(),
  };
  return {
    storage: mortal,
    failFrom: (count: number, times = Number.POSITIVE_INFINITY) => {
      left = count;
      timesLeft = times;
    },
    beforeTransactions: (work: () => Promise<void>) => {
      before = work;
    },
    holdReads: (shard: number) => {
      let end = (): void => {};
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      const begun = new Promise<void>((resolve) => {
        afterRead.set(shard, () => {
          resolve();
          return ended;
        });
      });
      return { begun, end };
    },
  };
}
