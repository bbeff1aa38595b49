import { CheckpointError, OutputLimitError, RequestError } from '../../../index.js';
import { type ItemRow, items, itemWork } from '../../../storage/tables/operations.js';
import { moveTransaction } from '../../status/transactions.js';
import { dropMarks } from './marks.js';
import type { Entry } from './memory.js';
import type { Session } from './session.js';

const FIRST_PAUSE_MS = 1000;
const PAUSE_GROWTH = 4;

// How long an item that has failed so often in a row waits.
function retryPauseMs(attemptCount: number): number {
  return FIRST_PAUSE_MS * PAUSE_GROWTH ** (attemptCount - 1);
}

/** What the engine threw for an item: it is tried again after a pause, or fails for good. */
export async function failEntry(session: Session, entry: Entry, error: unknown): Promise<void> {
  Object.assign(entry, { live: undefined, running: undefined });
  // Whatever is wrong with the newest checkpoint, the one before it may be sound.
  if (error instanceof CheckpointError) await dropMarks(session, entry, entry.marks.slice(0, -1));
  const { row, dueMs, attemptCount } = await failItem(session, entry.row, entry, error);
  Object.assign(entry, { row, dueMs, attemptCount });
}

/** The same for an item that may not be in memory; gives what has become of it. */
export async function failItem(
  session: Session,
  row: ItemRow,
  { attemptCount }: { readonly attemptCount: number },
  error: unknown,
): Promise<Pick<Entry, 'row' | 'dueMs' | 'attemptCount'>> {
  const { tx, context } = session;
  const { organisation, itemId } = row;
  session.hasWritten = true;
  const where = [
    ['organisation', '=', organisation],
    ['itemId', '=', itemId],
  ] as const;
  const message = error instanceof Error ? error.message : String(error);
  const attempts = attemptCount + 1;
  const isLasting = error instanceof RequestError || error instanceof OutputLimitError;
  const isOver = isLasting || attempts > context.settings.retryCountMax;
  const state = isOver ? 'Failed' : 'Running';
  context.log.warn({ err: error, organisation, itemId, attempts, isOver }, 'an item failed');
  await tx.update(items, where, { state });
  await moveTransaction(tx, organisation, row.transactionId, { state, message, isRetry: !isOver });
  if (isOver) {
    await tx.delete(itemWork, where);
    return { row: { ...row, state }, dueMs: null, attemptCount: 0 };
  }
  const dueMs = context.clock.nowMs() + retryPauseMs(attempts);
  await tx.put(itemWork, { organisation, itemId, dueMs, attemptCount: attempts });
  return { row: { ...row, state }, dueMs, attemptCount: attempts };
}
