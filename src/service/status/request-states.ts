import { groupBy } from '../../core/group.js';
import { inTurns } from '../../storage/next-turn.js';
import { equal, type Transaction } from '../../storage/storage.js';
import type { RowIn } from '../../storage/table.js';
import { type RequestTransactionRow, requestHeads, requestTransactions } from '../../storage/tables/operations.js';
import { joinMessages, withFailure } from './refusals.js';

type Head = RowIn<typeof requestHeads>;

export interface Transition {
  readonly state: TransactionState;
  /** Why it failed or was ended; null for no message. */
  readonly message: string | null;
  /** Whether the item is tried again. */
  readonly isRetry?: boolean;
}

/** A transition of the request transaction with this id. */
export interface Move extends Transition {
  readonly transactionId: string;
}

/** Sets the state of a request transaction, and updates its ancestors. */
export function moveRequestTransaction(
  tx: Transaction,
  organisation: string,
  transactionId: string,
  transition: Transition,
): Promise<void> {
  return moveRequestTransactions(tx, organisation, [{ transactionId, ...transition }]);
}

/** The same for several transitions, one after the other: each row is read and written once. */
export async function moveRequestTransactions(
  tx: Transaction,
  organisation: string,
  moves: readonly Move[],
): Promise<void> {
  const heads = new Heads(tx, organisation);
  await heads.load(moves.map(({ transactionId }) => transactionId));
  for await (const { transactionId, state, message, isRetry = false } of inTurns(moves, MOVES_PER_TURN)) {
    const child = await heads.get(transactionId);
    if (child === undefined) throw new Error(`assertion failed: there is no transaction ${transactionId}`);
    const retryCount = child.retryCount + (isRetry ? 1 : 0);
    if (child.state === state && child.message === message && !isRetry) continue;
    // A pattern that ends has this state whatever its members had: its parts in several shards are added up.
    const childStates = child.childStates === null ? null : JSON.stringify({ [state]: 1 } satisfies ChildStates);
    heads.change(child, { state, message, retryCount, childStates });
    await changeParent(heads, child, { state, message, isRetry });
  }
  await heads.write();
}

const MOVES_PER_TURN = 250;

/** Rows of transactions, as they are to be written. */
class Heads {
  readonly #tx: Transaction;
  readonly #organisation: string;
  /** Undefined for one that is no longer there. */
  readonly #stored = new Map<string, Head | undefined>();
  readonly #changes = new Map<string, Partial<Head>>();

  constructor(tx: Transaction, organisation: string) {
    this.#tx = tx;
    this.#organisation = organisation;
  }

  /** Reads them and their parents, many at once. */
  async load(transactionIds: readonly string[]): Promise<void> {
    const found = await this.#find(transactionIds);
    await this.#find(found.flatMap(({ parentId }) => parentId ?? []));
  }

  async #find(ids: readonly string[]): Promise<readonly Head[]> {
    const transactionIds = [...new Set(ids)].filter((id) => !this.#stored.has(id));
    if (transactionIds.length === 0) return [];
    for (const id of transactionIds) this.#stored.set(id, undefined);
    const where = [...equal({ organisation: this.#organisation }), ['transactionId', 'in', transactionIds]] as const;
    const found = await this.#tx.find(requestHeads, { where });
    for (const head of found) this.#stored.set(head.transactionId, head);
    return found;
  }

  async get(transactionId: string): Promise<Head | undefined> {
    await this.#find([transactionId]);
    const stored = this.#stored.get(transactionId);
    return stored === undefined ? undefined : { ...stored, ...this.#changes.get(transactionId) };
  }

  change({ transactionId }: Head, changes: Partial<Head>): void {
    this.#changes.set(transactionId, { ...this.#changes.get(transactionId), ...changes });
  }

  /** Rows that change in the same way, as those of items that begin together, are written at once. */
  async write(): Promise<void> {
    const groups = groupBy(this.#changes, ([, changes]) => JSON.stringify(changes));
    const written = [...groups.values()].map((group) => {
      const ids = group.map(([transactionId]) => transactionId);
      const where = [...equal({ organisation: this.#organisation }), ['transactionId', 'in', ids]] as const;
      return this.#tx.update(requestHeads, where, group[0]![1]);
    });
    // Together, so that they travel together to a database elsewhere.
    await Promise.all(written);
  }
}

/** Updates the parent of a transaction after a transition, and that one's parent in turn. */
async function changeParent(heads: Heads, child: Head, { state, message, isRetry = false }: Transition): Promise<void> {
  const parent = child.parentId === null ? undefined : await heads.get(child.parentId);
  if (parent === undefined) return;
  const states = moveChild(childStatesOf(parent), stateOf(child), state);
  const changes = {
    childStates: JSON.stringify(states),
    state: parentState(states),
    retryCount: parent.retryCount + (isRetry ? 1 : 0),
    message: parentMessage(parent, states, state === 'Failed' || isRetry ? message : null),
  };
  heads.change(parent, changes);
  const { state: stateNow, message: messageNow } = changes;
  if (stateNow !== parent.state) await changeParent(heads, parent, { state: stateNow, message: messageNow });
}

/** Updates the ancestors of a transaction after a transition. */
async function updateParent(tx: Transaction, child: Head, transition: Transition): Promise<void> {
  const heads = new Heads(tx, child.organisation);
  await changeParent(heads, child, transition);
  await heads.write();
}

/** The transaction of a request whose items lie in several shards, from its part in each of them. */
export function joinParts(parts: readonly RequestTransactionRow[]): RequestTransactionRow {
  const [first] = parts;
  if (parts.length === 1) return first!;
  const childStates: Partial<Record<TransactionState, number>> = {};
  for (const part of parts) {
    for (const [state, count] of Object.entries(childStatesOf(part))) {
      // `as`: the keys were written by this file.
      childStates[state as TransactionState] = (childStates[state as TransactionState] ?? 0) + count;
    }
  }
  return {
    ...first!,
    childStates: JSON.stringify(childStates),
    state: parentState(childStates),
    retryCount: parts.reduce((sum, { retryCount }) => sum + retryCount, 0),
    message: joinMessages(parts),
  };
}

/** Counts more children of a transaction, in these states, and updates its ancestors. */
export async function addChildren(
  tx: Transaction,
  parent: RequestTransactionRow,
  added: readonly TransactionState[],
): Promise<void> {
  const states: Partial<Record<TransactionState, number>> = { ...childStatesOf(parent) };
  for (const state of added) states[state] = (states[state] ?? 0) + 1;
  const stateNow = parentState(states);
  await update(tx, parent, { childStates: JSON.stringify(states), state: stateNow });
  if (stateNow !== parent.state) await updateParent(tx, parent, { state: stateNow, message: parent.message });
}

/** Changes the state of a transaction that is counted beside its children's, and updates its ancestors. */
export async function moveOwnState(
  tx: Transaction,
  row: RequestTransactionRow,
  from: TransactionState,
  to: TransactionState,
) {
  const states = moveChild(childStatesOf(row), from, to);
  const stateNow = parentState(states);
  await update(tx, row, { childStates: JSON.stringify(states), state: stateNow });
  if (stateNow !== row.state) await updateParent(tx, row, { state: stateNow, message: row.message });
}

// The message of the latest failure, until no child is failed or running, and the refusals of members.
function parentMessage(parent: Head, states: ChildStates, newMessage: string | null): string | null {
  const isOpen = (states.Failed ?? 0) > 0 || (states.Running ?? 0) > 0;
  return withFailure(parent.message, newMessage ?? (isOpen ? parent.message : null));
}

async function update(
  tx: Transaction,
  row: RequestTransactionRow,
  changes: Partial<RequestTransactionRow>,
): Promise<void> {
  const { organisation, transactionId } = row;
  const where = equal({ organisation, transactionId });
  await tx.update(requestTransactions, where, changes);
}

function childStatesOf({ childStates }: Pick<Head, 'childStates'>): ChildStates {
  // Written by this file, or when the transaction was created.
  return childStates === null ? {} : (JSON.parse(childStates) as ChildStates);
}

/** How many children a transaction has; one with a pattern is counted beside its own. */
export function childCount(row: Pick<Head, 'childStates'>): number {
  return Object.values(childStatesOf(row)).reduce((sum, count) => sum + count, 0);
}

/** A row's state: the store holds no other values. */
export function stateOf({ state }: { readonly state: string }): TransactionState {
  return state as TransactionState;
}

/** The states of a transaction, and so of its item. */
export const transactionStates = ['Created', 'Running', 'Active', 'Completed', 'Failed'] as const;
export type TransactionState = (typeof transactionStates)[number];

/** How many children of a transaction are in each state; a missing state means 0. */
export type ChildStates = Readonly<Partial<Record<TransactionState, number>>>;

/** The state of a parent with these children. */
export function parentState(children: ChildStates): TransactionState {
  const { Created = 0, Running = 0, Active = 0, Completed = 0, Failed = 0 } = children;
  if (Running > 0) return 'Running';
  // Some children have not started; if others have, the whole is running.
  if (Created > 0) return Active + Completed + Failed > 0 ? 'Running' : 'Created';
  if (Failed > 0) return 'Failed';
  return Active > 0 ? 'Active' : 'Completed';
}

/** The counts after one child has changed its state. */
export function moveChild(children: ChildStates, from: TransactionState, to: TransactionState): ChildStates {
  const counts: Partial<Record<TransactionState, number>> = { ...children };
  counts[from] = (counts[from] ?? 0) - 1;
  counts[to] = (counts[to] ?? 0) + 1;
  return counts;
}
