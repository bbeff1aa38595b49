import type { Plan } from '../../../index.js';
import { NO_COLUMNS } from '../../../storage/samples/columns.js';
import { moveTransaction, type TransactionState } from '../../status/transactions.js';
import { lastTimeMs } from '../compute/columns.js';
import type { Slice } from '../compute/slice.js';
import type { StepResult } from '../compute/step.js';
import { entryOf } from './entries.js';
import { failEntry } from './failure.js';
import { addMark, dropMarks, endWork, readState, setDue } from './marks.js';
import type { Entry, RunningStep } from './memory.js';
import { type Session, updateItem } from './session.js';
import { finish, keepPreview, readSlice, replaceResults, standingOf } from './settle.js';

/** A step of an item that is to be computed outside of any transaction. */
export interface PendingStep {
  readonly organisation: string;
  readonly itemId: string;
  readonly plan: Plan;
  readonly state: Uint8Array | undefined;
  readonly slice: Slice;
  readonly running: RunningStep;
  /** The first of the turn is 0. */
  readonly number: number;
}

/** What came of a step: a failure is that of the engine, or of the thread. */
export type StepOutcome = { readonly result: StepResult } | { readonly failure: unknown };

/** Takes up the work of an item that is due. Undefined when nothing is left to be done now. */
export async function beginTurn(
  session: Session,
  organisation: string,
  itemId: string,
): Promise<PendingStep | undefined> {
  const entry = await entryOf(session, organisation, itemId);
  return entry === undefined ? undefined : nextStep(session, entry, 0);
}

/** Stores what came of a step, and goes on. */
export async function continueTurn(
  session: Session,
  { organisation, itemId, running, slice, number }: PendingStep,
  outcome: StepOutcome,
): Promise<PendingStep | undefined> {
  const entry = await entryOf(session, organisation, itemId);
  if (entry === undefined) return undefined;
  const isOwn = entry.running === running;
  // What has been begun by another, or anew, is not for us to end.
  if (!isOwn && entry.running !== undefined) return undefined;
  entry.running = undefined;
  if (!isOwn || running.isSpoiled) return nextStep(session, entry, number + 1);
  if ('failure' in outcome) {
    await failEntry(session, entry, outcome.failure);
    return undefined;
  }
  const { results, state } = outcome.result;
  const from = standingOf(entry);
  await replaceResults(session, entry, from.emittedMs, results, false);
  const emittedMs = lastTimeMs(results) ?? from.emittedMs;
  const sampleCount = from.sampleCount + slice.sampleCount;
  await addMark(session, entry, { positions: slice.positions, emittedMs, sampleCount }, state);
  await dropOvertaken(session, entry, emittedMs);
  return nextStep(session, entry, number + 1, state);
}

// What was made from the last samples of before is no tail of results that have come further.
async function dropOvertaken(session: Session, entry: Entry, emittedMs: number | null): Promise<void> {
  const firstMs = entry.provisional === undefined ? Number.NEGATIVE_INFINITY : entry.provisional.timeMs[0];
  if (emittedMs !== null && firstMs !== undefined && firstMs <= emittedMs)
    await keepPreview(session, entry, NO_COLUMNS);
}

async function nextStep(
  session: Session,
  entry: Entry,
  number: number,
  state?: Uint8Array,
): Promise<PendingStep | undefined> {
  const { sizes } = session;
  const { row, plan, dueMs, attemptCount } = entry;
  const nowMs = session.context.clock.nowMs();
  if (dueMs === null || dueMs > nowMs || entry.running !== undefined) return undefined;
  if (number >= sizes.stepsMax) {
    await setDue(session, entry, nowMs, attemptCount);
    return undefined;
  }
  const untilMs = boundaryOf(entry, nowMs);
  const from = standingOf(entry);
  const slice = await readSlice(session, entry, from.positions, sizes.sliceSamples, untilMs);
  const isSmall = slice.isLast && (slice.sampleCount === 0 || !entry.needsThread);
  if (isSmall && slice.sampleCount <= sizes.inlineSamplesMax) {
    const options = { ...(untilMs === undefined ? {} : { untilMs }), ...(state === undefined ? {} : { state }) };
    if (await finish(session, entry, slice, options)) await endTurn(session, entry, untilMs);
    // Too much for a transaction after all: a thread does it.
    else if (entry.needsThread) return nextStep(session, entry, number + 1, state);
    return undefined;
  }
  if (row.state !== 'Running' && row.state !== 'Active') await setState(session, entry, 'Running');
  const mark = entry.marks.at(-1);
  const known = state ?? (mark === undefined ? undefined : await readState(session, entry, mark));
  entry.running = { positions: slice.positions, isSpoiled: false };
  const { organisation, itemId } = row;
  return { organisation, itemId, plan, state: known, slice, running: entry.running, number };
}

// A batch with a frequency takes the samples before the last of its boundaries; a clock that is set back undoes none.
function boundaryOf({ row }: Entry, nowMs: number): number | undefined {
  const { frequencyMs, boundaryMs } = row;
  if (frequencyMs === null) return undefined;
  return Math.max(boundaryMs ?? Number.NEGATIVE_INFINITY, Math.floor(nowMs / frequencyMs) * frequencyMs);
}

async function endTurn(session: Session, entry: Entry, untilMs: number | undefined): Promise<void> {
  const { row } = entry;
  entry.needsThread = false;
  if (row.processingType === 'stream') {
    await endWork(session, entry);
    await setState(session, entry, 'Active');
  } else if (row.frequencyMs !== null && untilMs !== undefined) {
    await setDue(session, entry, untilMs + row.frequencyMs, 0);
    if (row.boundaryMs !== untilMs) await updateItem(session, entry, { boundaryMs: untilMs });
    await setState(session, entry, 'Active');
  } else {
    await endWork(session, entry);
    await dropMarks(session, entry, []);
    await setState(session, entry, 'Completed');
  }
}

async function setState(session: Session, entry: Entry, state: TransactionState): Promise<void> {
  const { organisation, transactionId } = entry.row;
  if (entry.row.state === state) return;
  await updateItem(session, entry, { state });
  await moveTransaction(session.tx, organisation, transactionId, { state, message: null });
}
