/** How far a transaction, and the item that it tells of, has come. */
export type TransactionState = 'Created' | 'Running' | 'Active' | 'Completed' | 'Failed';

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
