import { equal, type Transaction } from '../../storage/storage.js';
import { type RequestTransactionRow, requestTransactions } from '../../storage/tables/operations.js';

export interface Transition {
  readonly state: TransactionState;
  /** Why it failed or was ended; null for no message. */
  readonly message: string | null;
  /** Whether the item is tried again. */
  readonly isRetry?: boolean;
}

/** Sets the state of a request transaction, and updates its ancestors. */
export async function moveRequestTransaction(
  tx: Transaction,
  organisation: string,
  transactionId: string,
  { state, message, isRetry = false }: Transition,
): Promise<void> {
  const child = await tx.get(requestTransactions, { organisation, transactionId });
  if (child === undefined) throw new Error(`assertion failed: there is no transaction ${transactionId}`);
  const retryCount = child.retryCount + (isRetry ? 1 : 0);
  if (child.state === state && child.message === message && !isRetry) return;
  await update(tx, child, { state, message, retryCount });
  await updateParent(tx, child, { state, message, isRetry });
}

/** Updates the parent of a transaction after a transition, and that one's parent in turn. */
async function updateParent(tx: Transaction, child: RequestTransactionRow, transition: Transition): Promise<void> {
  const { state, message, isRetry = false } = transition;
  const { organisation, parentId } = child;
  const parent =
    parentId === null ? undefined : await tx.get(requestTransactions, { organisation, transactionId: parentId });
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
  if (stateNow !== parent.state) await updateParent(tx, parent, { state: stateNow, message: messageNow });
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
  const failed = parts.find(({ state, message }) => state === 'Failed' && message !== null);
  return {
    ...first!,
    childStates: JSON.stringify(childStates),
    state: parentState(childStates),
    retryCount: parts.reduce((sum, { retryCount }) => sum + retryCount, 0),
    message: (failed ?? parts.find(({ message }) => message !== null))?.message ?? null,
  };
}

/** Counts another child of a transaction, and updates its ancestors. */
export async function addChild(tx: Transaction, parent: RequestTransactionRow, state: TransactionState): Promise<void> {
  const before = childStatesOf(parent);
  const states = { ...before, [state]: (before[state] ?? 0) + 1 };
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

/** The prefix of the message for a member of a pattern that got no item. The message stays until it gets one. */
export const NOT_COMPUTED = 'not computed: ';

// The message of the latest failure; null once no child is failed or running.
function parentMessage(parent: RequestTransactionRow, states: ChildStates, newMessage: string | null): string | null {
  if (newMessage !== null) return newMessage;
  if (parent.message?.startsWith(NOT_COMPUTED)) return parent.message;
  return (states.Failed ?? 0) > 0 || (states.Running ?? 0) > 0 ? parent.message : null;
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

function childStatesOf({ childStates }: RequestTransactionRow): ChildStates {
  // Written by this file, or when the transaction was created.
  return childStates === null ? {} : (JSON.parse(childStates) as ChildStates);
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
