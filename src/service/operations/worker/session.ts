import { groupBy } from '../../../core/group.js';
import type { SeriesReference } from '../../../core/series.js';
import { nextTurn } from '../../../storage/next-turn.js';
import type { Columns, LoggedChange, SampleChange } from '../../../storage/samples/samples.js';
import type { Claim, Transaction } from '../../../storage/storage.js';
import { itemCatalog } from '../../../storage/tables/operations.js';
import { logProgress } from '../../../storage/tables/samples.js';
import type { ServiceContext } from '../../context.js';
import type { Item, ItemSession } from './item.js';
import type { ItemCache } from './item-cache.js';
import type { ResultChange, Results } from './results.js';
import type { WorkerSizes } from './sizes.js';

const CHANGES_READ = 1000;

/** Items that a transaction has touched, in the order in which they are settled: producers before their readers. */
class TouchedItems {
  /** By rank: whether each is replayed. */
  readonly #byRank: Map<Item, boolean>[] = [];

  add(item: Item, isReplay: boolean): void {
    const { rank } = item.producers;
    while (this.#byRank.length <= rank) this.#byRank.push(new Map());
    const ofRank = this.#byRank[rank]!;
    ofRank.set(item, isReplay || ofRank.get(item) === true);
  }

  /** The items of the least rank, group after group: what is touched meanwhile comes in its turn. */
  *takeGroups(): Generator<readonly (readonly [Item, boolean])[]> {
    for (;;) {
      const ofRank = this.#byRank.find(({ size }) => size > 0);
      if (ofRank === undefined) return;
      const group = [...ofRank];
      ofRank.clear();
      yield group;
    }
  }
}

/** One transaction of the worker: what the cache knows is true of the state that it sees. */
export class Session implements ItemSession {
  readonly context: ServiceContext;
  readonly sizes: WorkerSizes;
  readonly tx: Transaction;
  /** The commit that last registered, replaced or deleted an item of the shard. */
  readonly catalogCommit: number;
  replayRoom: number;
  readonly #cache: ItemCache;
  /** The log up to this commit had been taken in before. */
  readonly #absorbedCommit: number;
  readonly #touched = new TouchedItems();
  /** Changes of results that are not in the log yet, by organisation. */
  readonly #published = new Map<string, { itemId: string; changes: SampleChange[] }>();
  #hasWritten = false;
  #isWorkDue: boolean;
  #workCount = 0;

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
    return new Session(context, cache, sizes, tx, { absorbedCommit, catalogCommit: catalog.commit }, isCatalogNew);
  }

  private constructor(
    context: ServiceContext,
    cache: ItemCache,
    sizes: WorkerSizes,
    tx: Transaction,
    { absorbedCommit, catalogCommit }: { readonly absorbedCommit: number; readonly catalogCommit: number },
    isWorkDue: boolean,
  ) {
    this.context = context;
    this.sizes = sizes;
    this.tx = tx;
    this.replayRoom = sizes.replaySamplesMax;
    this.#cache = cache;
    this.#absorbedCommit = absorbedCommit;
    this.catalogCommit = catalogCommit;
    this.#isWorkDue = isWorkDue;
  }

  get writer(): Transaction {
    this.#hasWritten = true;
    return this.tx;
  }

  /** Whether there may be items whose work is due now. */
  get isWorkDue(): boolean {
    return this.#isWorkDue;
  }

  noteDue(): void {
    this.#isWorkDue = true;
  }

  touch(item: Item, isReplay: boolean): void {
    this.#touched.add(item, isReplay);
  }

  itemOf(organisation: string, itemId: string): Promise<Item | undefined> {
    return this.#cache.itemOf(this, organisation, itemId);
  }

  async readersOf(organisation: string, series: SeriesReference): Promise<readonly Item[]> {
    const found: Item[] = [];
    for (const itemId of await this.#cache.readersOf(this.tx, organisation, series)) {
      const item = await this.itemOf(organisation, itemId);
      if (item !== undefined) found.push(item);
      await this.giveWay();
    }
    return found;
  }

  /** Takes in what the log holds that items have not seen. */
  async absorb(): Promise<void> {
    for (let after = this.#absorbedCommit; after < this.tx.lastCommit; ) {
      const changes = await this.context.samples.changesAfter(this.tx, after, CHANGES_READ);
      if (changes.length > 0) this.#hasWritten = true;
      for (const [organisation, own] of groupBy(changes, (change) => change.organisation)) {
        const patterns = await this.#cache.patternsOf(this.tx, organisation);
        this.#noteMembers(await patterns.admit(this, own));
        await this.#cache.findReaders(this.tx, organisation, own);
        await this.#tell(organisation, own);
      }
      if (changes.length < CHANGES_READ) return;
      after = changes.at(-1)!.commit;
    }
  }

  /** Takes changes of series of another shard into their replicas, and to the items that read these. */
  async takeReplicated(organisation: string, itemId: string | null, changes: readonly LoggedChange[]): Promise<void> {
    await this.context.samples.append(this.writer, organisation, changes, itemId === null ? {} : { itemId });
    await this.#cache.findReaders(this.tx, organisation, changes);
    await this.#tell(organisation, changes);
  }

  /** The same of the provisional samples of a result. */
  async takePreview(organisation: string, result: SeriesReference & Columns): Promise<void> {
    await this.context.samples.setProvisional(this.writer, organisation, result);
    // What they were before is not known here.
    await this.tellPreview(organisation, result, Number.NEGATIVE_INFINITY);
  }

  /** Has those who read a result look at its provisional samples again, which have changed from an instant on. */
  async tellPreview(organisation: string, result: SeriesReference, firstMs: number): Promise<void> {
    for (const reader of await this.readersOf(organisation, result)) {
      const { row, dueMs, isOver } = reader.schedule;
      if (isOver) continue;
      if (row.processingType === 'stream' && dueMs === null) this.touch(reader, false);
      if (row.boundaryMs !== null && firstMs < row.boundaryMs) await reader.makeDue(this);
    }
  }

  /** An item whose replicas are here now: its history is due. */
  async release(organisation: string, itemId: string): Promise<void> {
    this.#cache.forget(itemId);
    const item = await this.itemOf(organisation, itemId);
    await item?.schedule.setDue(this, this.context.clock.nowMs(), 0);
    this.noteDue();
  }

  /** Registers members of the series that were there before their patterns, some at a time. */
  async catchUp(organisation: string): Promise<void> {
    const patterns = await this.#cache.patternsOf(this.tx, organisation);
    this.#noteMembers(await patterns.catchUp(this));
  }

  // New members have work that waits, and read series of which it was known that nobody does.
  #noteMembers(count: number): void {
    if (count === 0) return;
    this.#cache.forgetReaders();
    this.noteDue();
  }

  // Items, and who reads their results, are looked up for many at once before the first of them takes its change.
  async #tell(organisation: string, changes: readonly LoggedChange[]): Promise<void> {
    const told: (readonly [LoggedChange, readonly Item[]])[] = [];
    for (const change of changes) told.push([change, await this.readersOf(organisation, change)]);
    const outputs = told.flatMap(([, readers]) => readers.map(({ results }) => results.series));
    if (outputs.length > 0) await this.#cache.findReaders(this.tx, organisation, outputs);
    for (const [change, readers] of told) await this.#pushTo(readers, change);
  }

  async #pushTo(readers: readonly Item[], change: Parameters<Item['push']>[1]): Promise<void> {
    const { deleted, damage, timeMs } = change;
    const starts = [deleted?.fromMs, damage?.fromMs, timeMs[0]];
    const firstMs = Math.min(...starts.map((startMs) => startMs ?? Number.POSITIVE_INFINITY));
    if (firstMs === Number.POSITIVE_INFINITY) return;
    for (const item of readers) {
      if (!item.schedule.isOver) await item.push(this, change, firstMs);
      await this.giveWay();
    }
  }

  async publish({ organisation, itemId, series }: Results, change: ResultChange): Promise<void> {
    this.#hasWritten = true;
    const full = { ...series, ...change };
    const published = this.#published.get(organisation);
    if (published === undefined) this.#published.set(organisation, { itemId, changes: [full] });
    else published.changes.push(full);
    await this.#pushTo(await this.readersOf(organisation, series), full);
  }

  async flush(): Promise<void> {
    for (const [organisation, { itemId, changes }] of this.#published) {
      await this.context.samples.append(this.tx, organisation, changes, { itemId });
    }
    this.#published.clear();
  }

  /** Brings the items that were touched to where their results rest on all that is stored, or leaves them to a turn. */
  async settle(): Promise<void> {
    for (const group of this.#touched.takeGroups()) {
      for (const [item, isReplay] of group) {
        await item.settle(this, isReplay);
        await this.giveWay();
      }
    }
  }

  /** Ends the transaction: what it has taken in and written is the worker's last commit. */
  async seal(): Promise<void> {
    await this.flush();
    if (!this.#hasWritten) return;
    await this.tx.put(logProgress, { name: 'log', absorbedCommit: this.tx.commit });
    this.#cache.end(this.tx.commit);
  }

  /** Whether the transaction may take the waiting work of another item. */
  get hasRoom(): boolean {
    return this.replayRoom >= this.sizes.inlineSamplesMax;
  }

  /** Lets requests be answered while thousands of items are at work. */
  async giveWay(): Promise<void> {
    this.#workCount++;
    if (this.#workCount % this.sizes.itemsATurn === 0) await nextTurn();
  }
}
