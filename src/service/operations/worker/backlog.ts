import type { LoggedChange } from '../../../storage/samples/samples.js';
import type { Item } from './item.js';

/** A change of a series, for the items that read it. */
export interface Delivery {
  readonly organisation: string;
  readonly change: Pick<LoggedChange, 'timeseriesId' | 'metric' | 'timeMs' | 'value' | 'deleted' | 'damage'>;
  readers: readonly Item[];
  /** How many of the readers have taken it. */
  takenCount: number;
}

/**
 * What a worker has begun to take in of the log. It outlasts a transaction: where a body touches thousands of items,
 * one takes some of them, and others write before the next. It may be forgotten like all that a worker knows: the log
 * is then taken in again from the last commit that was taken in as a whole, which ends in the same results.
 */
export class Backlog {
  /** The log was read up to here. */
  commit = -1;
  /** Commits after the last whole one that are the worker's: their readers know of them. */
  readonly ownCommits = new Set<number>();
  readonly deliveries: Delivery[] = [];
  readonly touched = new TouchedItems();

  get isEmpty(): boolean {
    return this.deliveries.length === 0 && this.touched.isEmpty;
  }

  /** Begins after a commit up to which all was taken in. */
  reset(commit: number): void {
    this.commit = commit;
    this.ownCommits.clear();
    this.deliveries.length = 0;
    this.touched.clear();
  }

  /** All items that it is about. */
  items(): readonly Item[] {
    return [...new Set([...this.deliveries.flatMap(({ readers }) => readers), ...this.touched.items()])];
  }

  /** Goes on with items that were looked up anew: without those that are gone. */
  replace(now: ReadonlyMap<Item, Item | undefined>): void {
    for (const delivery of this.deliveries) {
      const left = delivery.readers.slice(delivery.takenCount);
      delivery.readers = left.flatMap((item) => now.get(item) ?? []);
      delivery.takenCount = 0;
    }
    this.touched.replace(now);
  }
}

/** Items whose sources have changed, in the order in which they are settled: producers before their readers. */
class TouchedItems {
  /** By rank: whether each is replayed. */
  readonly #byRank: Map<Item, boolean>[] = [];
  /** Those of the least rank, that are being settled. */
  #group: (readonly [Item, boolean])[] = [];
  #takenCount = 0;

  get isEmpty(): boolean {
    return this.#takenCount === this.#group.length && this.#byRank.every(({ size }) => size === 0);
  }

  add(item: Item, isReplay: boolean): void {
    const { rank } = item.sources.producers;
    while (this.#byRank.length <= rank) this.#byRank.push(new Map());
    const ofRank = this.#byRank[rank]!;
    ofRank.set(item, isReplay || ofRank.get(item) === true);
  }

  /** The next to be settled. What is touched meanwhile comes in its turn. */
  take(): readonly [Item, boolean] | undefined {
    if (this.#takenCount === this.#group.length) {
      const ofRank = this.#byRank.find(({ size }) => size > 0);
      this.#group = [...(ofRank ?? [])];
      this.#takenCount = 0;
      ofRank?.clear();
    }
    const next = this.#group[this.#takenCount];
    if (next !== undefined) this.#takenCount++;
    return next;
  }

  clear(): void {
    for (const ofRank of this.#byRank) ofRank.clear();
    this.#group = [];
    this.#takenCount = 0;
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
    return [...this.#group.slice(this.#takenCount), ...this.#byRank.flatMap((ofRank) => [...ofRank])];
  }
}
