import { groupBy } from '../../../core/group.js';
import { nextTurn } from '../../../storage/next-turn.js';
import { type Condition, equal, type Transaction } from '../../../storage/storage.js';
import { type ItemRow, items, itemWork } from '../../../storage/tables/operations.js';
import { type Move, moveRequestTransactions, type Transition } from '../../status/request-states.js';

type OfItem = Pick<ItemRow, 'organisation' | 'itemId'>;
type ItemOfMove = Pick<ItemRow, 'organisation' | 'itemId' | 'transactionId'>;

/** What is to be written of the items of an organisation. */
interface Pending {
  /** By item: the columns that change. */
  readonly changes: Map<string, Partial<ItemRow>>;
  /** In their order, as a request's transaction counts each. */
  readonly moves: Move[];
  /** Items without pending work. */
  readonly ended: Set<string>;
}

/**
 * Changes of items, which a transaction of the worker writes together: items that were registered together begin
 * together, and most have the same request.
 */
export class Transitions {
  readonly #pending = new Map<string, Pending>();

  /** Changes the row of an item. */
  change({ organisation, itemId }: ItemOfMove, changes: Partial<ItemRow>): void {
    const pending = this.#of(organisation).changes;
    pending.set(itemId, { ...pending.get(itemId), ...changes });
  }

  /** Sets the state of an item and of its transaction. */
  move(item: ItemOfMove, transition: Transition): void {
    this.change(item, { state: transition.state });
    this.#of(item.organisation).moves.push({ transactionId: item.transactionId, ...transition });
  }

  /** Ends the pending work of an item. */
  end({ organisation, itemId }: ItemOfMove): void {
    this.#of(organisation).ended.add(itemId);
  }

  /** Called before pending work of an item is stored. */
  begin({ organisation, itemId }: ItemOfMove): void {
    this.#pending.get(organisation)?.ended.delete(itemId);
  }

  async write(tx: Transaction): Promise<void> {
    const all = [...this.#pending];
    this.#pending.clear();
    for (const [organisation, { changes, moves, ended }] of all) {
      for (const own of groupBy(changes, ([, change]) => JSON.stringify(change)).values()) {
        const itemIds = own.map(([itemId]) => itemId);
        await forSome(organisation, itemIds, (where) => tx.update(items, where, own[0]![1]));
      }
      if (moves.length > 0) await moveRequestTransactions(tx, organisation, moves);
      await forSome(organisation, [...ended], (where) => tx.delete(itemWork, where));
    }
  }

  #of(organisation: string): Pending {
    let pending = this.#pending.get(organisation);
    if (pending === undefined) {
      pending = { changes: new Map(), moves: [], ended: new Set() };
      this.#pending.set(organisation, pending);
    }
    return pending;
  }
}

/** In one statement, which others wait for. */
const ITEMS_CHANGED = 250;

async function forSome(
  organisation: string,
  itemIds: readonly string[],
  work: (where: readonly Condition<OfItem>[]) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; from < itemIds.length; from += ITEMS_CHANGED) {
    if (from > 0) await nextTurn();
    await work([...equal({ organisation }), ['itemId', 'in', itemIds.slice(from, from + ITEMS_CHANGED)]]);
  }
}
