import { isRefusal, StaleClaimError } from '../../../storage/errors.js';
import type { Deletable } from '../../../storage/samples/compaction/retention.js';
import { SHARD_COUNT } from '../../../storage/shard.js';
import { itemCatalog } from '../../../storage/tables/operations.js';
import { forLog } from '../../background.js';
import { createId, type ServiceContext } from '../../context.js';
import type { StepPool } from '../compute/pool.js';
import type { Kept } from './retention.js';
import { ShardWorker, type WorkerParts } from './shard.js';
import { defaultSizes, type WorkerSizes } from './sizes.js';
import { SourceCache } from './source-cache.js';

interface Holding {
  readonly worker: ShardWorker;
  renewedMs: number;
}

/**
 * How long not to ask again for a shard that another worker holds, apart from polls. If that worker died, work waits
 * for this long.
 */
const REFUSAL_MS = 200;

/**
 * How long polls leave out a shard without items. A registration there is told to its own process, and its commit to
 * the others; only if both fail, the first results come so much later.
 */
const ITEMLESS_MS = 10_000;

/** How long a stop waits for steps that run. */
const STOP_MS_MAX = 2000;

/** Keeps the results of all items up to date. */
export class Worker {
  readonly #context: ServiceContext;
  readonly #parts: WorkerParts;
  readonly #owner: string;
  readonly #held = new Map<number, Holding>();
  /** When another worker was last found to hold a shard. */
  readonly #refusedMs = new Map<number, number>();
  /** When a shard was found to have no items, so that changes there need no work. */
  readonly #itemless = new Map<number, number>();
  /** Increases when items are registered anywhere: what was found before may be outdated. */
  #itemChanges = 0;
  readonly #claiming = new Map<number, Promise<Holding | undefined>>();
  /** Shards that may have items whose work is due. */
  readonly #dueShards = new Set<number>();
  readonly #busy = new Set<string>();
  readonly #running = new Set<Promise<void>>();
  #laneCount = 0;
  #cancelPoll = () => {};
  #stopListening = () => {};
  #polling: Promise<void> | undefined;
  #state: 'new' | 'started' | 'stopping' = 'new';
  /** Increases with all work that is done. */
  #activityCount = 0;

  /** @param pool computes the steps; the worker owns it and closes it. */
  constructor(context: ServiceContext, pool: StepPool, sizes: Partial<WorkerSizes> = {}) {
    this.#context = context;
    const all = { ...defaultSizes, ...sizes };
    this.#parts = { pool, sizes: all, sources: new SourceCache(all.sharedSamplesMax) };
    this.#owner = createId(context);
  }

  start(): void {
    if (this.#state !== 'new') return;
    this.#state = 'started';
    this.#stopListening = this.#context.storage.onCommit((shard, _, isOwn) => {
      // After its own writes this process calls `wake`; for those of others, this is the notification.
      if (!isOwn) this.#forgetItemless(shard);
      if (!isOwn && this.#held.has(shard)) this.wake(shard);
      for (const [reader, { worker }] of this.#held) {
        if (worker.isReaderOf(shard)) this.#track(this.#replicate(reader, worker));
      }
    });
    this.#track(this.#poll());
  }

  /**
   * Notifies the worker, within the transaction or after it, of changes for items of a shard, or of new items. Only a
   * hint.
   */
  wake(shard: number, hasNewItems = false): void {
    if (this.#state !== 'started') return;
    if (hasNewItems) this.#forgetItemless(shard);
    else if (this.#itemless.has(shard)) return;
    const holding = this.#held.get(shard);
    // At once, so that it shares the commit of the changes.
    if (holding !== undefined) this.#track(this.#absorb(shard, holding.worker));
    else if (!this.#wasRefused(shard)) this.#track(this.#visitAfter(shard, hasNewItems));
  }

  #forgetItemless(shard: number): void {
    this.#itemChanges++;
    this.#itemless.delete(shard);
  }

  /** Whether another worker was just found to hold the shard: the store notifies it. */
  #wasRefused(shard: number): boolean {
    const refusedMs = this.#refusedMs.get(shard) ?? Number.NEGATIVE_INFINITY;
    return this.#context.clock.monotonicMs() - refusedMs < REFUSAL_MS;
  }

  async #visitAfter(shard: number, hasNewItems: boolean): Promise<void> {
    // Queued after the writes: where readers run beside writers, they would not see these yet.
    try {
      await this.#context.storage.transaction(shard, async () => {}, { usesReserve: true });
    } finally {
      // A claim that was begun before the commit found no items.
      if (hasNewItems) this.#forgetItemless(shard);
    }
    if (hasNewItems) await this.#claiming.get(shard);
    await this.#visit(shard, false);
  }

  /** Has shards store how far they have read the logs of others, as these may delete samples once they are copied. */
  async notePositions(shards: readonly number[]): Promise<void> {
    for (const shard of shards) {
      const worker = this.#held.get(shard)?.worker;
      if (worker === undefined || this.#state !== 'started') continue;
      // Without them, samples wait.
      const done = this.#guard(shard, () => worker.notePositions()).catch((error) => this.#report(error, shard));
      this.#track(done);
      await done;
    }
  }

  /**
   * Deletes expired samples of a shard with items, as far as these no longer need them. Another worker does it if the
   * shard is its own.
   */
  async deleteExpired(shard: number, organisation: string, expired: readonly Deletable[], kept: Kept): Promise<void> {
    const worker = this.#held.get(shard)?.worker;
    const isStopping = () => this.#state !== 'started';
    if (worker === undefined || isStopping()) return;
    const done = this.#guard(shard, () => worker.deleteExpired(organisation, expired, kept, isStopping)).catch(
      (error: unknown) => {
        if (!(error instanceof StaleClaimError)) throw error;
        this.#report(error, shard);
      },
    );
    // The caller reports a failure.
    this.#track(done.catch(() => {}));
    await done;
  }

  /** Does all work that is due, and resolves when none is left. For tests. */
  async onIdle(): Promise<void> {
    for (let before = -1; before !== this.#activityCount && this.#state === 'started'; ) {
      before = this.#activityCount;
      await this.#poll();
      while (this.#running.size > 0) await Promise.all(this.#running);
    }
  }

  /**
   * Takes no new work, finishes running steps and explanations, writes checkpoints, and releases the shards. What does
   * not end soon is dropped: a step has stored nothing, and is computed again after the next start.
   */
  async stop(): Promise<void> {
    if (this.#state === 'stopping') return;
    this.#state = 'stopping';
    this.#stopListening();
    this.#cancelPoll();
    const { pool } = this.#parts;
    const cancel = this.#context.scheduler.after(STOP_MS_MAX, () => void pool.close());
    while (this.#running.size > 0) await Promise.all(this.#running);
    await pool.settled();
    cancel();
    for (const [shard, { worker }] of this.#held) {
      try {
        await worker.checkpoint();
        await this.#context.storage.release(worker.claim);
      } catch (err) {
        // Everything can be recomputed from the store: only the next start takes longer.
        this.#context.log.warn({ ...forLog(err), shard }, 'a shard was not released');
        // If the whole store is away, each of the others would fail as late.
        if (!(await this.#isStoreThere())) break;
      }
    }
    this.#held.clear();
    await pool.close();
  }

  // Running work, so that `stop` can await it.
  #track(work: Promise<unknown>): void {
    const tracked: Promise<void> = work.then(
      () => void this.#running.delete(tracked),
      (error: unknown) => {
        this.#running.delete(tracked);
        this.#report(error);
      },
    );
    this.#running.add(tracked);
  }

  async #isStoreThere(): Promise<boolean> {
    try {
      await this.#context.storage.check();
      return true;
    } catch {
      return false;
    }
  }

  /** What the store refuses now it may accept later, and is no fault of ours: one line, as there may be many. */
  #report(error: unknown, shard?: number): void {
    const { log } = this.#context;
    const place = shard === undefined ? {} : { shard };
    if (error instanceof StaleClaimError) log.info({ ...place, reason: error.message }, 'another worker has the shard');
    else if (isRefusal(error)) log.warn({ ...place, reason: error.message }, 'no results are computed now');
    else log.error({ ...place, err: error }, 'the worker failed; will try again');
  }

  /** Visits every shard that may have items, as notifications may be missed and work becomes due with time. */
  #poll(): Promise<void> {
    this.#polling ??= this.#pollOnce().finally(() => {
      this.#polling = undefined;
      this.#cancelPoll();
      if (this.#state !== 'started') return;
      this.#cancelPoll = this.#context.scheduler.after(this.#context.settings.pollIntervalMs, () =>
        this.#track(this.#poll()),
      );
    });
    return this.#polling;
  }

  async #pollOnce(): Promise<void> {
    for (let shard = 0; shard < SHARD_COUNT && this.#state === 'started'; shard++) {
      const itemlessMs = this.#itemless.get(shard) ?? Number.NEGATIVE_INFINITY;
      if (this.#context.clock.monotonicMs() - itemlessMs < ITEMLESS_MS) continue;
      try {
        await this.#visit(shard, true);
      } catch (error) {
        this.#report(error, shard);
        // If the whole store is away, the other shards need not be tried.
        if (!(await this.#isStoreThere())) return;
      }
    }
  }

  async #visit(shard: number, isPoll: boolean): Promise<void> {
    const wasHeld = this.#held.has(shard);
    const holding = await this.#hold(shard);
    if (holding === undefined) return;
    await this.#absorb(shard, holding.worker);
    // Beside the polls, which renew the claim meanwhile.
    if (isPoll || !wasHeld) this.#track(this.#takeOver(shard, holding.worker));
    if (isPoll || !wasHeld) await this.#replicate(shard, holding.worker);
    // Work becomes due without a notification, and may be older than our claim.
    if (isPoll || !wasHeld) this.#lookForDue(shard);
  }

  /** Claims a shard that has items, or renews the claim. */
  async #hold(shard: number): Promise<Holding | undefined> {
    const { clock, settings } = this.#context;
    const held = this.#held.get(shard);
    if (held !== undefined && clock.monotonicMs() - held.renewedMs < settings.leaseMs / 3) return held;
    let claiming = this.#claiming.get(shard);
    if (claiming === undefined) {
      claiming = this.#claim(shard, held).finally(() => this.#claiming.delete(shard));
      this.#claiming.set(shard, claiming);
    }
    return claiming;
  }

  async #claim(shard: number, held: Holding | undefined): Promise<Holding | undefined> {
    const { storage, samples, clock, settings } = this.#context;
    const changes = this.#itemChanges;
    const lookedMs = clock.monotonicMs();
    const catalog = await storage.read(shard, (tx) => tx.get(itemCatalog, { name: 'items' }));
    if (catalog === undefined) {
      if (changes === this.#itemChanges) this.#itemless.set(shard, lookedMs);
      return undefined;
    }
    this.#itemless.delete(shard);
    const renewedMs = clock.monotonicMs();
    const claim = await storage.claim(shard, this.#owner, settings.leaseMs);
    if (claim === undefined) {
      this.#refusedMs.set(shard, renewedMs);
      this.#held.delete(shard);
      return undefined;
    }
    if (held !== undefined && held.worker.claim.sequence === claim.sequence) {
      held.renewedMs = renewedMs;
      return held;
    }
    // Its transactions read samples, and writers wait for them. The lease must not end meanwhile.
    const loadUntilMs = renewedMs + settings.leaseMs / 3;
    const mayLoad = () => this.#state === 'started' && clock.monotonicMs() < loadUntilMs;
    try {
      await samples.log.loadAll(storage, shard, mayLoad);
      const worker = await ShardWorker.open(this.#context, claim, this.#parts);
      const holding = { worker, renewedMs };
      this.#held.set(shard, holding);
      return holding;
    } catch (error) {
      // A stop releases what is held alone. If this fails too, the lease ends by itself.
      await storage.release(claim).catch(() => {});
      throw error;
    }
  }

  async #absorb(shard: number, worker: ShardWorker): Promise<void> {
    if (!(await this.#guard(shard, () => worker.absorb()))) return;
    this.#lookForDue(shard);
    // New items may read other shards.
    this.#track(this.#replicate(shard, worker));
  }

  async #takeOver(shard: number, worker: ShardWorker): Promise<void> {
    if (worker.isTakenOver) return;
    if (!(await this.#guard(shard, () => worker.takeOver(() => this.#state !== 'started')))) return;
    this.#activityCount++;
    this.#lookForDue(shard);
  }

  async #replicate(shard: number, worker: ShardWorker): Promise<void> {
    if (this.#state !== 'started' || !(await this.#guard(shard, () => worker.replicate()))) return;
    this.#activityCount++;
    this.#lookForDue(shard);
  }

  async #guard<Result>(shard: number, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      // Another worker holds the shard now.
      if (error instanceof StaleClaimError) this.#held.delete(shard);
      throw error;
    }
  }

  /** As many items run at a time as there are threads. */
  #lookForDue(shard: number): void {
    this.#dueShards.add(shard);
    const lanesMax = Math.max(1, this.#context.settings.workerCount);
    while (this.#laneCount < lanesMax) {
      this.#laneCount++;
      this.#track(
        this.#runLane().finally(() => {
          this.#laneCount--;
        }),
      );
    }
  }

  async #runLane(): Promise<void> {
    // The loop includes shards that are added while it runs.
    for (const shard of this.#dueShards) {
      if (this.#state !== 'started') return;
      this.#dueShards.delete(shard);
      const worker = this.#held.get(shard)?.worker;
      if (worker === undefined) continue;
      try {
        await this.#takeTurns(shard, worker);
      } catch (error) {
        // Most likely a failure of the store, not of the items. The next poll tries again.
        this.#dueShards.delete(shard);
        this.#report(error, shard);
      }
    }
  }

  async #takeTurns(shard: number, worker: ShardWorker): Promise<void> {
    const due = (await worker.findDue(this.#busy)).filter(({ itemId }) => !this.#busy.has(itemId));
    if (due.length === 0) return;
    // At the end of the queue, as other shards have items too.
    this.#dueShards.add(shard);
    this.#activityCount++;
    const taken = new Set(due.map(({ itemId }) => itemId));
    for (const itemId of taken) this.#busy.add(itemId);
    try {
      const step = await this.#guard(shard, () => worker.beginTurns(due));
      if (step === undefined) return;
      // Release the others while this one is computed.
      taken.delete(step.item.itemId);
      for (const itemId of taken) this.#busy.delete(itemId);
      taken.clear();
      taken.add(step.item.itemId);
      this.#lookForDue(shard);
      await this.#guard(shard, () => worker.takeSteps(step, () => this.#state !== 'started'));
      this.#dueShards.add(shard);
    } finally {
      for (const itemId of taken) this.#busy.delete(itemId);
    }
  }
}
