import type { Item } from './item.js';

/** Items that a transaction has touched, in the order in which they are settled: producers before their readers. */
export class TouchedItems {
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
