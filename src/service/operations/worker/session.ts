import { groupBy } from '../../../core/group.js';
import { type SeriesReference, seriesKey } from '../../../core/series.js';
import { nextTurn } from '../../../storage/next-turn.js';
import type { Columns, LoggedChange, SampleChange } from '../../../storage/samples/samples.js';
import type { Claim, Transaction } from '../../../storage/storage.js';
import { dueAtOnce, itemCatalog } from '../../../storage/tables/operations.js';
import { logProgress } from '../../../storage/tables/samples.js';
import type { ServiceContext } from '../../context.js';
import { startOf } from '../compute/columns.js';
import type { Backlog, Delivery } from './backlog.js';
import type { Item, ItemSession } from './item.js';
import type { ItemCache } from './item-cache.js';
import type { SeriesChange } from './members.js';
import type { ResultChange, Results } from './results.js';
import type { WorkerSizes } from './sizes.js';
import type { SourceCache } from './source-cache.js';
import { Transitions } from './transitions.js';

const CHANGES_READ = 500;
/** How many changes to find the readers of at once. */
const ARRIVAL_CHANGES = 250;
/** Each this many steps of an item count as the work of one more item. */
const STEPS_PER_ITEM = 4;

/** Changes that are delivered to items, and items that are settled. */
export type AbsorbingWork = 'deliveries' | 'settling';

/** One transaction of the worker; the cache agrees with the state that it sees. */
export class Session implements ItemSession {
  readonly context: ServiceContext;
  readonly sizes: WorkerSizes;
  readonly tx: Transaction;
  /** The commit that last registered, replaced or deleted an item of the shard. */
  readonly catalogCommit: number;
  replayRoom: number;
  memberRoom: number;
  readonly #cache: ItemCache;
  readonly #backlog: Backlog;
  /** Changes of results that are not in the log yet, by organisation. */
  readonly #published = new Map<string, { itemId: string; changes: SampleChange[]; keys: Set<string> }>();
  readonly #transitions = new Transitions();
  readonly #forgottenMs = new Map<string, number | undefined>();
  #hasWritten = false;
  #hasPublished = false;
  #isWorkDue: boolean;
  #workCount = 0;
  #turnStartMs: number;

  /** Undefined while the shard never had an item. */
  static async open(
    context: ServiceContext,
    cache: ItemCache,
    sizes: WorkerSizes,
    claim: Claim,
    tx: Transaction,
  ): Promise<Session | undefined> {
    const catalog = await tx.get(itemCatalog, { name: 'items' });
    if (catalog === undefined) return undefined;
    const absorbedCommit = (await tx.get(logProgress, { name: 'log' }))?.absorbedCommit ?? 0;
    const isCatalogNew = cache.begin(claim.sequence, absorbedCommit, catalog.commit);
    const session = new Session(context, cache, sizes, tx, catalog.commit, isCatalogNew);
    if (isCatalogNew && !cache.backlog.isEmpty) await session.#renewBacklog();
    return session;
  }

  private constructor(
    context: ServiceContext,
    cache: ItemCache,
    sizes: WorkerSizes,
    tx: Transaction,
    catalogCommit: number,
    isWorkDue: boolean,
  ) {
    this.context = context;
    this.sizes = sizes;
    this.tx = tx;
    this.replayRoom = sizes.replaySamplesMax;
    this.memberRoom = sizes.membersPerTransaction;
    this.#turnStartMs = context.clock.monotonicMs();
    this.#cache = cache;
    this.#backlog = cache.backlog;
    this.catalogCommit = catalogCommit;
    this.#isWorkDue = isWorkDue;
  }

  get writer(): Transaction {
    this.#hasWritten = true;
    return this.tx;
  }

  get transitions(): Transitions {
    this.#hasWritten = true;
    return this.#transitions;
  }

  /** Before a read or write of states by others. */
  writeTransitions(): Promise<void> {
    return this.#transitions.write(this.tx);
  }

  /** Whether there may be items whose work is due now. */
  get isWorkDue(): boolean {
    return this.#isWorkDue;
  }

  noteDue(): void {
    this.#isWorkDue = true;
  }

  /** Whether an item was added or replaced, or starts from somewhere before its base again, since this was the same. */
  get basesVersion(): string {
    return `${this.catalogCommit} ${this.#cache.lostBaseCount}`;
  }

  noteBaseLost(): void {
    this.#cache.lostBaseCount++;
  }

  touch(item: Item, isReplay: boolean): void {
    this.#backlog.touched.add(item, isReplay);
  }

  get sources(): SourceCache {
    return this.#cache.sources;
  }

  async itemOf(organisation: string, itemId: string): Promise<Item | undefined> {
    return (await this.itemsOf(organisation, [itemId]))[0];
  }

  itemsOf(organisation: string, itemIds: readonly string[]): Promise<readonly Item[]> {
    return this.#cache.itemsOf(this, organisation, itemIds);
  }

  /** Looks up what the items are about to ask for, many at once. */
  async lookUp(organisation: string, items: readonly Item[]): Promise<void> {
    const results = items.map(({ results }) => results.series);
    const read = items.flatMap(({ sources }) => sources.series);
    await this.context.samples.lookUp(this.tx, organisation, [...results, ...read]);
    await this.#cache.findReaders(this.tx, organisation, results);
  }

  async readersOf(organisation: string, series: SeriesReference): Promise<readonly Item[]> {
    return this.itemsOf(organisation, await this.#cache.readersOf(this.tx, organisation, series));
  }

  readerIdsOf(organisation: string, series: SeriesReference): Promise<readonly string[]> {
    return this.#cache.readersOf(this.tx, organisation, series);
  }

  async forgottenMs(organisation: string, source: SeriesReference): Promise<number | undefined> {
    const key = `${organisation.length}:${organisation}${seriesKey(source)}`;
    if (!this.#forgottenMs.has(key)) {
      this.#forgottenMs.set(key, await this.context.samples.forgottenMs(this.tx, organisation, [source]));
    }
    return this.#forgottenMs.get(key);
  }

  /**
   * Absorbs what items have not seen of the log.
   *
   * @param most how much to do in this transaction.
   * @returns what is left.
   */
  async absorb(most: Readonly<Record<AbsorbingWork, number>>): Promise<AbsorbingWork | 'nothing'> {
    // Settling reads what is stored, so all changes are delivered before.
    do {
      if (!(await this.#deliver(most.deliveries))) return 'deliveries';
      if (this.#backlog.arrivals.length > 0 && this.#workCount >= most.deliveries) return 'deliveries';
    } while ((await this.#takeArrival()) || (await this.#readLog()));
    return (await this.settle(this.#workCount + most.settling)) ? 'nothing' : 'settling';
  }

  /** Reads the next changes of the log; false at its end. */
  async #readLog(): Promise<boolean> {
    const backlog = this.#backlog;
    if (backlog.commit >= this.tx.lastCommit) return false;
    const read = await this.context.samples.changesAfter(this.tx, backlog.commit, CHANGES_READ);
    if (read.changes.length === 0) return false;
    this.#hasWritten = true;
    backlog.commit = read.lastCommit;
    const changes = read.changes.filter(({ commit }) => !backlog.ownCommits.has(commit));
    for (const [organisation, own] of groupBy(changes, (change) => change.organisation)) {
      // One row of the log can have the changes of thousands of series.
      for (let from = 0; from < own.length; from += ARRIVAL_CHANGES) {
        backlog.arrivals.push({ organisation, changes: own.slice(from, from + ARRIVAL_CHANGES) });
      }
    }
    return true;
  }

  /** Finds the readers of some changes that were read of the log; false if there are none. */
  async #takeArrival(): Promise<boolean> {
    const arrival = this.#backlog.arrivals.shift();
    if (arrival === undefined) return false;
    await this.#admit(arrival.organisation, arrival.changes);
    await this.#addDeliveries(arrival.organisation, arrival.changes);
    return true;
  }

  // Items were added, changed or removed since it was begun.
  async #renewBacklog(): Promise<void> {
    const now = new Map<Item, Item | undefined>();
    for (const [organisation, own] of groupBy(this.#backlog.items(), ({ results }) => results.organisation)) {
      const found = await this.itemsOf(
        organisation,
        own.map(({ results }) => results.itemId),
      );
      const byId = new Map(found.map((item) => [item.results.itemId, item]));
      for (const item of own) now.set(item, byId.get(item.results.itemId));
    }
    this.#backlog.replace(now);
  }

  /** Applies changes of series of another shard to their replicas, and delivers them to the items that read these. */
  async takeReplicated(organisation: string, itemId: string | null, changes: readonly LoggedChange[]): Promise<void> {
    await this.context.samples.append(this.writer, organisation, changes, itemId === null ? {} : { itemId });
    await this.#addDeliveries(organisation, changes);
    await this.#deliver(Number.POSITIVE_INFINITY);
  }

  /** The same for the provisional samples of a result. */
  async takePreview(organisation: string, result: SeriesReference & Columns): Promise<void> {
    await this.context.samples.setProvisional(this.writer, organisation, result);
    // The previous ones are not known here.
    await this.notifyPreviewReaders(organisation, result, Number.NEGATIVE_INFINITY);
  }

  /** Tells the readers of a result that its provisional samples have changed from an instant on. */
  async notifyPreviewReaders(organisation: string, result: SeriesReference, firstMs: number): Promise<void> {
    // Like those that are published, they may be the first of a result that a pattern reads.
    await this.#admit(organisation, [result]);
    for (const reader of await this.readersOf(organisation, result)) {
      const { row, dueMs, isOver } = reader.schedule;
      if (isOver) continue;
      // One at work reads it again after its step.
      if (row.processingType === 'stream' && (dueMs === null || reader.isRunning)) this.touch(reader, false);
      if (row.boundaryMs !== null && firstMs < row.boundaryMs) await reader.makeDue(this);
    }
  }

  /** Makes the history of an item due whose replicas are complete. */
  async release(organisation: string, itemId: string): Promise<void> {
    await this.writeTransitions();
    this.#cache.forget(itemId);
    const item = await this.itemOf(organisation, itemId);
    await item?.schedule.setDue(this, dueAtOnce(this.context.clock.nowMs()), 0);
    this.noteDue();
  }

  async #admit(organisation: string, changes: readonly SeriesChange[]): Promise<void> {
    const patterns = await this.#cache.patternsOf(this.tx, organisation);
    this.#noteMembers(await patterns.admit(this, changes));
  }

  /** Registers the members of series that patterns have not checked yet, some at a time. */
  async catchUp(organisation: string): Promise<void> {
    const patterns = await this.#cache.patternsOf(this.tx, organisation);
    this.#noteMembers(await patterns.catchUp(this));
  }

  // New members have pending work, and read series that are cached as having no readers.
  #noteMembers(count: number): void {
    if (count === 0) return;
    this.#cache.forgetReaders();
    this.noteDue();
  }

  // Looks up items, and the readers of their results, many at once, before the first change is delivered.
  async #addDeliveries(organisation: string, changes: readonly Delivery['change'][]): Promise<void> {
    // One row of the log can have the changes of thousands of series.
    for (let from = 0; from < changes.length; from += CHANGES_READ) {
      const some = changes.slice(from, from + CHANGES_READ);
      await this.#cache.findReaders(this.tx, organisation, some);
      const ids: string[] = [];
      for (const change of some) ids.push(...(await this.#cache.readersOf(this.tx, organisation, change)));
      await this.itemsOf(organisation, [...new Set(ids)]);
      const outputs: SeriesReference[] = [];
      for (const change of some) {
        const readers = await this.readersOf(organisation, change);
        this.#backlog.deliveries.push({ organisation, change, readers, deliveredCount: 0 });
        for (const { results } of readers) outputs.push(results.series);
        await this.countWork();
      }
      await this.#cache.findReaders(this.tx, organisation, outputs);
    }
  }

  /** Delivers that many pending changes to their readers. @returns whether these were all */
  async #deliver(countMax: number): Promise<boolean> {
    const { deliveries } = this.#backlog;
    let doneCount = 0;
    for (const delivery of deliveries) {
      if (!(await this.#pushTo(delivery, countMax))) break;
      doneCount++;
    }
    deliveries.splice(0, doneCount);
    return deliveries.length === 0;
  }

  async #pushTo(delivery: Delivery, countMax: number): Promise<boolean> {
    const { organisation, change, readers } = delivery;
    const firstMs = startOf(change);
    if (firstMs === Number.POSITIVE_INFINITY) return true;
    if (delivery.deliveredCount === 0) this.sources.changed(this.tx.shard, organisation, change, firstMs);
    while (delivery.deliveredCount < readers.length) {
      if (this.#workCount >= countMax) return false;
      const item = readers[delivery.deliveredCount++]!;
      if (!item.schedule.isOver) await item.push(this, change);
      await this.countWork(item.plan.steps.length);
    }
    return true;
  }

  async publish({ organisation, itemId, series }: Results, change: ResultChange): Promise<void> {
    this.#hasWritten = true;
    this.#hasPublished = true;
    const full = { ...series, ...change };
    const published = this.#published.get(organisation);
    if (published === undefined) {
      this.#published.set(organisation, { itemId, changes: [full], keys: new Set([seriesKey(series)]) });
    } else {
      published.changes.push(full);
      published.keys.add(seriesKey(series));
    }
    // It may be the first of a result that a pattern reads, and the log of the worker's own commits is not read again.
    await this.#admit(organisation, [series]);
    const delivery = {
      organisation,
      change: full,
      readers: await this.readersOf(organisation, series),
      deliveredCount: 0,
    };
    await this.#pushTo(delivery, Number.POSITIVE_INFINITY);
  }

  async flush(organisation: string, read: readonly SeriesReference[]): Promise<void> {
    const published = this.#published.get(organisation);
    if (published !== undefined && read.some((one) => published.keys.has(seriesKey(one)))) await this.#flushAll();
  }

  /** The results of many items are one row of the log. */
  async #flushAll(): Promise<void> {
    for (const [organisation, { itemId, changes }] of this.#published) {
      await this.context.samples.append(this.tx, organisation, changes, { itemId });
    }
    this.#published.clear();
  }

  /**
   * Brings the results of touched items up to date with all that is stored, or leaves them to a turn.
   *
   * @returns whether these were all.
   */
  async settle(countMax = Number.POSITIVE_INFINITY): Promise<boolean> {
    const { touched } = this.#backlog;
    while (!touched.isEmpty) {
      if (this.#workCount >= countMax) return false;
      const [item, isReplay] = touched.take()!;
      await item.settle(this, isReplay);
      await this.countWork(item.plan.steps.length);
    }
    return true;
  }

  /** Ends the transaction. If nothing of the log is left, its commit becomes the worker's last one. */
  async seal(): Promise<void> {
    await this.#flushAll();
    await this.writeTransitions();
    const backlog = this.#backlog;
    if (!backlog.isEmpty) {
      if (this.#hasPublished) backlog.ownCommits.add(this.tx.commit);
      return;
    }
    if (!this.#hasWritten && !this.#cache.isBehind) return;
    await this.tx.put(logProgress, { name: 'log', absorbedCommit: this.tx.commit });
    this.#cache.end(this.tx.commit);
  }

  /** Whether the transaction may start the pending work of another item. */
  get hasRoom(): boolean {
    return this.replayRoom >= this.sizes.inlineSamplesMax && this.#workCount < this.sizes.workPerTransaction;
  }

  /**
   * Counts the work of an item or a change, and yields if it is time.
   *
   * @param stepCount the steps of the item that was worked on; a large item counts as several.
   */
  async countWork(stepCount = 0): Promise<void> {
    this.#workCount += 1 + Math.floor(stepCount / STEPS_PER_ITEM);
    await this.yieldWhenDue();
  }

  /** Yields to the event loop after some milliseconds, so that requests are answered while thousands of items work. */
  async yieldWhenDue(): Promise<void> {
    const { clock } = this.context;
    if (clock.monotonicMs() - this.#turnStartMs < this.sizes.turnMs) return;
    await nextTurn();
    this.#turnStartMs = clock.monotonicMs();
  }
}
