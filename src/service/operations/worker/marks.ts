import { itemCheckpoints, itemWork } from '../../../storage/tables/operations.js';
import { type Mark, markToDrop, type Positions, positionsToText } from './checkpoints.js';
import type { Entry } from './memory.js';
import type { Session } from './session.js';

/** Keeps these of an item's marks, the first ones, and deletes the checkpoints of the others. */
export async function dropMarks(session: Session, entry: Entry, kept: readonly Mark[]): Promise<void> {
  const { organisation, itemId } = entry.row;
  const first = entry.marks[kept.length];
  if (first === undefined) return;
  entry.marks = kept;
  session.hasWritten = true;
  await session.tx.delete(itemCheckpoints, [
    ['organisation', '=', organisation],
    ['itemId', '=', itemId],
    ['ordinal', '>=', first.ordinal],
  ]);
}

/** Where an item stands, to write down or to go on from. */
export interface Standing {
  readonly positions: Positions;
  readonly emittedMs: number | null;
  readonly sampleCount: number;
}

/** Writes a checkpoint behind those that there are, and gives up one where there are too many. */
export async function addMark(session: Session, entry: Entry, standing: Standing, state: Uint8Array): Promise<void> {
  const { organisation, itemId } = entry.row;
  const { positions, emittedMs, sampleCount } = standing;
  const ordinal = (entry.marks.at(-1)?.ordinal ?? -1) + 1;
  const mark: Mark = { ordinal, positions: [...positions], emittedMs, sampleCount, byteCount: state.length };
  const row = { organisation, itemId, ordinal, positions: positionsToText(positions), emittedMs, sampleCount };
  await session.tx.put(itemCheckpoints, { ...row, byteCount: state.length, state });
  entry.marks = [...entry.marks, mark];
  session.hasWritten = true;
  for (;;) {
    const dropped = markToDrop(entry.marks, session.sizes);
    if (dropped === undefined) return;
    entry.marks = entry.marks.filter((one) => one !== dropped);
    await session.tx.delete(itemCheckpoints, [
      ['organisation', '=', organisation],
      ['itemId', '=', itemId],
      ['ordinal', '=', dropped.ordinal],
    ]);
  }
}

export async function readState({ tx }: Session, { row }: Entry, { ordinal }: Mark): Promise<Uint8Array> {
  const { organisation, itemId } = row;
  const found = await tx.get(itemCheckpoints, { organisation, itemId, ordinal });
  if (found === undefined) throw new Error(`assertion failed: item ${itemId} has no checkpoint ${ordinal}`);
  return found.state;
}

/** Leaves an item to a turn of its own, as soon as there is one; not before the end of a pause, if it has failed. */
export async function makeDue(session: Session, entry: Entry): Promise<void> {
  entry.live = undefined;
  const nowMs = session.context.clock.nowMs();
  const isWaiting = entry.dueMs !== null && (entry.attemptCount > 0 || entry.dueMs <= nowMs);
  if (isWaiting) return;
  await setDue(session, entry, nowMs, 0);
  session.isWorkDue = true;
}

export async function setDue(session: Session, entry: Entry, dueMs: number, attemptCount: number): Promise<void> {
  const { organisation, itemId } = entry.row;
  await session.tx.put(itemWork, { organisation, itemId, dueMs, attemptCount });
  Object.assign(entry, { dueMs, attemptCount });
  session.hasWritten = true;
}

export async function endWork(session: Session, entry: Entry): Promise<void> {
  const { organisation, itemId } = entry.row;
  await session.tx.delete(itemWork, [
    ['organisation', '=', organisation],
    ['itemId', '=', itemId],
  ]);
  Object.assign(entry, { dueMs: null, attemptCount: 0 });
  session.hasWritten = true;
}
