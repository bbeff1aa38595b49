import type { Transaction } from '../../storage/storage.js';
import { type TransactionRow, transactions } from '../../storage/tables/operations.js';
import { equal } from '../store.js';

export interface Transition {
  readonly state: TransactionState;
  /** Why it failed, or was ended; null where nothing is to be said. */
  readonly message: string | null;
  /** Whether it was tried again. */
  readonly isRetry?: boolean;
}

/** Sets a child's state, and its parent's with it. */
export async function moveTransaction(
  tx: Transaction,
  organisation: string,
  transactionId: string,
  { state, message, isRetry = false }: Transition,
): Promise<void> {
  const child = await tx.get(transactions, { organisation, transactionId });
  if (child === undefined) throw new Error(`assertion failed: there is no transaction ${transactionId}`);
  const retryCount = child.retryCount + (isRetry ? 1 : 0);
  if (child.state === state && child.message === message && !isRetry) return;
  await update(tx, child, { state, message, retryCount });
  await noteChild(tx, child, { state, message, isRetry });
}

/** Tells the parent of a transaction, and that one's, that it has come to a state. */
async function noteChild(tx: Transaction, child: TransactionRow, transition: Transition): Promise<void> {
  const { state, message, isRetry = false } = transition;
  const { organisation, parentId } = child;
  const parent = parentId === null ? undefined : await tx.get(transactions, { organisation, transactionId: parentId });
  if (parent === undefined) return;
  const before = childStatesOf(parent);
  const states = moveChild(before, stateOf(child), state);
  const changes = {
    childStates: JSON.stringify(states),
    state: parentState(states),
    retryCount: parent.retryCount + (isRetry ? 1 : 0),
    message: parentMessage(parent, states, state === 'Failed' || isRetry ? message : null),
  };
  await update(tx, parent, changes);
  const { state: stateNow, message: messageNow } = changes;
  if (stateNow !== parent.state) await noteChild(tx, parent, { state: stateNow, message: messageNow });
}

/** The transaction of a request whose items lie in several shards, each with a part of it. */
export function joinParts(parts: readonly TransactionRow[]): TransactionRow {
  const [first] = parts;
  if (parts.length === 1) return first!;
  const childStates: Partial<Record<TransactionState, number>> = {};
  for (const part of parts) {
    for (const [state, count] of Object.entries(childStatesOf(part))) {
      // `as`: the keys of what was written above.
      childStates[state as TransactionState] = (childStates[state as TransactionState] ?? 0) + count;
    }
  }
  const said = parts.find(({ state, message }) => state === 'Failed' && message !== null);
  return {
    ...first!,
    childStates: JSON.stringify(childStates),
    state: parentState(childStates),
    retryCount: parts.reduce((sum, { retryCount }) => sum + retryCount, 0),
    message: (said ?? parts.find(({ message }) => message !== null))?.message ?? null,
  };
}

/** Adds a child to a transaction that has others. */
export async function addChild(tx: Transaction, parent: TransactionRow, state: TransactionState): Promise<void> {
  const before = childStatesOf(parent);
  const states = { ...before, [state]: (before[state] ?? 0) + 1 };
  const stateNow = parentState(states);
  await update(tx, parent, { childStates: JSON.stringify(states), state: stateNow });
  if (stateNow !== parent.state) await noteChild(tx, parent, { state: stateNow, message: parent.message });
}

/** A transaction with children of its own goes from one state to another itself. */
export async function moveOwn(tx: Transaction, row: TransactionRow, from: TransactionState, to: TransactionState) {
  const states = moveChild(childStatesOf(row), from, to);
  const stateNow = parentState(states);
  await update(tx, row, { childStates: JSON.stringify(states), state: stateNow });
  if (stateNow !== row.state) await noteChild(tx, row, { state: stateNow, message: row.message });
}

/** How a message begins of a member of a pattern that has no item: it stays, as nothing will mend it by itself. */
export const NOT_COMPUTED = 'not computed: ';

// Of several children that failed, the last one's word; none once all is well.
function parentMessage(parent: TransactionRow, states: ChildStates, said: string | null): string | null {
  if (said !== null) return said;
  if (parent.message?.startsWith(NOT_COMPUTED)) return parent.message;
  return (states.Failed ?? 0) > 0 || (states.Running ?? 0) > 0 ? parent.message : null;
}

async function update(tx: Transaction, row: TransactionRow, changes: Partial<TransactionRow>): Promise<void> {
  const { organisation, transactionId } = row;
  const where = equal({ organisation, transactionId });
  await tx.update(transactions, where, changes);
}

function childStatesOf({ childStates }: TransactionRow): ChildStates {
  // Written above, or when the transaction was made.
  return childStates === null ? {} : (JSON.parse(childStates) as ChildStates);
}

/** The state of a row: the store has no other texts there. */
export function stateOf({ state }: { readonly state: string }): TransactionState {
  return state as TransactionState;
}

/** How far a transaction, and the item that it tells of, has come. */
export const transactionStates = ['Created', 'Running', 'Active', 'Completed', 'Failed'] as const;
export type TransactionState = (typeof transactionStates)[number];

/** How many children of a transaction are in each state; what is not named is 0. */
export type ChildStates = Readonly<Partial<Record<TransactionState, number>>>;

/** A parent's state follows its children. */
export function parentState(children: ChildStates): TransactionState {
  const { Created = 0, Running = 0, Active = 0, Completed = 0, Failed = 0 } = children;
  if (Running > 0) return 'Running';
  // Some have not begun: with others done, the request as a whole is under way.
  if (Created > 0) return Active + Completed + Failed > 0 ? 'Running' : 'Created';
  if (Failed > 0) return 'Failed';
  return Active > 0 ? 'Active' : 'Completed';
}

/** The counts after one child has gone from one state to another. */
export function moveChild(children: ChildStates, from: TransactionState, to: TransactionState): ChildStates {
  const counts: Partial<Record<TransactionState, number>> = { ...children };
  counts[from] = (counts[from] ?? 0) - 1;
  counts[to] = (counts[to] ?? 0) + 1;
  return counts;
}
