import { groupBy } from '../../../core/group.js';
import { equal, type Transaction } from '../../../storage/storage.js';
import { type ItemRow, items, itemWork } from '../../../storage/tables/operations.js';
import { type Move, moveRequestTransactions, type Transition } from '../../status/request-states.js';

type ItemOfMove = Pick<ItemRow, 'organisation' | 'itemId' | 'transactionId'>;

/** What is to be written of the items of an organisation. */
interface Pending {
  /** By item; the last one counts. */
  readonly states: Map<string, string>;
  /** In their order, as a request's transaction counts each. */
  readonly moves: Move[];
  /** Items without pending work. */
  readonly ended: Set<string>;
}

/**
 * New states of items, which a transaction of the worker writes together: items that were registered together begin
 * together, and most have the same request.
 */
export class Transitions {
  readonly #pending = new Map<string, Pending>();

  /** Sets the state of an item and of its transaction. */
  move({ organisation, itemId, transactionId }: ItemOfMove, transition: Transition): void {
    const { states, moves } = this.#of(organisation);
    states.set(itemId, transition.state);
    moves.push({ transactionId, ...transition });
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
    for (const [organisation, { states, moves, ended }] of all) {
      const where = (itemIds: Iterable<string>) =>
        [...equal({ organisation }), ['itemId', 'in', [...itemIds]] as const] as const;
      for (const [state, own] of groupBy(states.keys(), (itemId) => states.get(itemId)!)) {
        await tx.update(items, where(own), { state });
      }
      if (moves.length > 0) await moveRequestTransactions(tx, organisation, moves);
      if (ended.size > 0) await tx.delete(itemWork, where(ended));
    }
  }

  #of(organisation: string): Pending {
    let pending = this.#pending.get(organisation);
    if (pending === undefined) {
      pending = { states: new Map(), moves: [], ended: new Set() };
      this.#pending.set(organisation, pending);
    }
    return pending;
  }
}
