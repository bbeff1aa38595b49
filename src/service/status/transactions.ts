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
  const { parentId } = child;
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
}

// Of several children that failed, the last one's word; none once all is well.
function parentMessage(parent: TransactionRow, states: ChildStates, said: string | null): string | null {
  if (said !== null) return said;
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
