import type { LoggedChange } from '../../../storage/samples/samples.js';
import type { Item } from './item.js';

/** A change of a series, to be delivered to the items that read it. */
export interface Delivery {
  readonly organisation: string;
  readonly change: Pick<LoggedChange, 'timeseriesId' | 'metric' | 'timeMs' | 'value' | 'deleted' | 'damage'>;
  readers: readonly Item[];
  /** How many of the readers it was delivered to. */
  deliveredCount: number;
}

/** Changes of series of which it is not known yet who reads them. */
export interface Arrival {
  readonly organisation: string;
  readonly changes: readonly Delivery['change'][];
}

/**
 * What a worker has read of the log but not fully absorbed. It outlasts a transaction: if a body affects thousands of
 * items, each transaction serves some of them, and others write in between. It may be lost like all of a worker's
 * memory: absorbing then starts again after the last commit that was absorbed as a whole, with the same results.
 */
export class Backlog {
  /** The commit up to which the log was read. */
  commit = -1;
  /** The worker's own commits since then, whose readers have absorbed them. */
  readonly ownCommits = new Set<number>();
  readonly arrivals: Arrival[] = [];
  readonly deliveries: Delivery[] = [];
  readonly touched = new TouchedItems();

  get isEmpty(): boolean {
    return this.arrivals.length === 0 && this.deliveries.length === 0 && this.touched.isEmpty;
  }

  /** Starts after a commit up to which everything was absorbed. */
  reset(commit: number): void {
    this.commit = commit;
    this.ownCommits.clear();
    this.arrivals.length = 0;
    this.deliveries.length = 0;
    this.touched.clear();
  }

  /** All items in it. */
  items(): readonly Item[] {
    return [...new Set([...this.deliveries.flatMap(({ readers }) => readers), ...this.touched.items()])];
  }

  /** Replaces items that were looked up again, and drops those that are gone. */
  replace(now: ReadonlyMap<Item, Item | undefined>): void {
    for (const delivery of this.deliveries) {
      const left = delivery.readers.slice(delivery.deliveredCount);
      delivery.readers = left.flatMap((item) => now.get(item) ?? []);
      delivery.deliveredCount = 0;
    }
    this.touched.replace(now);
  }
}

/** Items whose sources have changed, in the order of settling: producers before their readers. */
class TouchedItems {
  /** By rank: the items, and whether each is to be replayed. */
  readonly #byRank: Map<Item, boolean>[] = [];
  /** Items of the lowest rank, which are being settled. */
  #group: (readonly [Item, boolean])[] = [];
  /** Of the next of these to settle. */
  #nextIndex = 0;

  get isEmpty(): boolean {
    return this.#nextIndex === this.#group.length && this.#byRank.every(({ size }) => size === 0);
  }

  add(item: Item, isReplay: boolean): void {
    const { rank } = item.sources.producers;
    while (this.#byRank.length <= rank) this.#byRank.push(new Map());
    const ofRank = this.#byRank[rank]!;
    ofRank.set(item, isReplay || ofRank.get(item) === true);
  }

  /** The next item to settle. Items that are touched meanwhile follow. */
  take(): readonly [Item, boolean] | undefined {
    if (this.#nextIndex === this.#group.length) {
      const ofRank = this.#byRank.find(({ size }) => size > 0);
      this.#group = [...(ofRank ?? [])];
      this.#nextIndex = 0;
      ofRank?.clear();
    }
    const next = this.#group[this.#nextIndex];
    if (next !== undefined) this.#nextIndex++;
    return next;
  }

  clear(): void {
    for (const ofRank of this.#byRank) ofRank.clear();
    this.#group = [];
    this.#nextIndex = 0;
  }

  items(): readonly Item[] {
    return this.#all().map(([item]) => item);
  }

  replace(now: ReadonlyMap<Item, Item | undefined>): void {
    const all = this.#all();
    this.clear();
    for (const [item, isReplay] of all) {
      const known = now.get(item);
      if (known !== undefined) this.add(known, isReplay || known !== item);
    }
  }

  #all(): readonly (readonly [Item, boolean])[] {
    return [...this.#group.slice(this.#nextIndex), ...this.#byRank.flatMap((ofRank) => [...ofRank])];
  }
}
