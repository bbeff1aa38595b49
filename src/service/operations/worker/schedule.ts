import { OutputLimitError, RequestError } from '../../../core/errors.js';
import type { Transaction } from '../../../storage/storage.js';
import { AFTER_REPLICATION_MS, dueAtOnce, type ItemRow, itemWork } from '../../../storage/tables/operations.js';
import type { ServiceContext } from '../../context.js';
import type { TransactionState } from '../../status/request-states.js';
import type { Transitions } from './transitions.js';

const FIRST_PAUSE_MS = 1000;
const PAUSE_GROWTH = 4;

export interface ScheduleSession {
  readonly context: ServiceContext;
  readonly writer: Transaction;
  /** What is written at the end of the transaction; getting it marks the session as written. */
  readonly transitions: Transitions;
  /** Notes that there is work due now. */
  noteDue(): void;
}

export class Schedule {
  #row: ItemRow;
  #dueMs: number | null;
  #attemptCount: number;

  constructor(row: ItemRow, work: { readonly dueMs: number; readonly attemptCount: number } | undefined) {
    this.#row = row;
    this.#dueMs = work?.dueMs ?? null;
    this.#attemptCount = work?.attemptCount ?? 0;
  }

  get row(): ItemRow {
    return this.#row;
  }

  /** When work is due; null if there is none. */
  get dueMs(): number | null {
    return this.#dueMs;
  }

  /** Whether the item no longer takes samples. */
  get isOver(): boolean {
    return this.#row.state === 'Completed' || this.#row.state === 'Failed';
  }

  /** Whether all results before the boundary are stored, and nothing is due before the next run. */
  isBetweenRuns(nowMs: number): boolean {
    const { frequencyMs, boundaryMs } = this.#row;
    if (frequencyMs === null || boundaryMs === null) return false;
    const nextMs = boundaryMs + frequencyMs;
    // Not so in the pause after a failure, nor where the clock was set back before a late sample was computed.
    return this.#dueMs === nextMs && nextMs > nowMs && this.#attemptCount === 0;
  }

  update({ transitions }: Pick<ScheduleSession, 'transitions'>, changes: Partial<ItemRow>): void {
    transitions.change(this.#row, changes);
    this.#row = { ...this.#row, ...changes };
  }

  setState({ transitions }: Pick<ScheduleSession, 'transitions'>, state: TransactionState): void {
    if (this.#row.state === state) return;
    transitions.move(this.#row, { state, message: null });
    this.#row = { ...this.#row, state };
  }

  /**
   * Makes the item due now; after a failure, only once the pause is over.
   *
   * @param passedMs it has its turn after those that become due within this time.
   */
  async makeDue(session: ScheduleSession, passedMs = 0): Promise<void> {
    if (this.#dueMs === AFTER_REPLICATION_MS) return;
    const nowMs = session.context.clock.nowMs();
    const isDue = this.#dueMs !== null && this.#dueMs <= nowMs;
    if (isDue || isPause({ dueMs: this.#dueMs, attemptCount: this.#attemptCount }, nowMs)) return;
    await this.setDue(session, dueAtOnce(nowMs + passedMs), 0);
    session.noteDue();
  }

  async setDue(
    { writer, transitions }: Pick<ScheduleSession, 'writer' | 'transitions'>,
    dueMs: number,
    attemptCount = this.#attemptCount,
  ): Promise<void> {
    const { organisation, itemId } = this.#row;
    transitions.begin(this.#row);
    await writer.put(itemWork, { organisation, itemId, dueMs, attemptCount });
    this.#dueMs = dueMs;
    this.#attemptCount = attemptCount;
  }

  end({ transitions }: Pick<ScheduleSession, 'transitions'>): void {
    transitions.end(this.#row);
    this.#dueMs = null;
    this.#attemptCount = 0;
  }

  /** Handles an error of the engine: schedules a retry after a pause, or fails the item for good. */
  async fail(session: ScheduleSession, error: unknown): Promise<void> {
    const { context, transitions } = session;
    const { organisation, itemId } = this.#row;
    const message = messageOf(error);
    const attempts = this.#attemptCount + 1;
    const isLasting = error instanceof RequestError || error instanceof OutputLimitError;
    const isOver = isLasting || attempts > context.settings.retryCountMax;
    const state = isOver ? 'Failed' : 'Running';
    context.log.warn({ err: error, organisation, itemId, attempts, isOver }, 'an item failed');
    transitions.move(this.#row, { state, message, isRetry: !isOver });
    this.#row = { ...this.#row, state };
    if (isOver) this.end(session);
    else await this.setDue(session, context.clock.nowMs() + pauseMsAfter(attempts), attempts);
  }
}

function pauseMsAfter(attempts: number): number {
  return FIRST_PAUSE_MS * PAUSE_GROWTH ** (attempts - 1);
}

/** Whether work waits in the pause after a failure: not so where the clock has been set back by more than the pause. */
export function isPause(
  { dueMs, attemptCount }: { readonly dueMs: number | null; readonly attemptCount: number },
  nowMs: number,
): boolean {
  return dueMs !== null && attemptCount > 0 && dueMs - nowMs <= pauseMsAfter(attemptCount);
}

function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof OutputLimitError)) return message;
  // The engine's mends are options of a run, which items have not.
  return `${message.split('; ')[0]}; post the item again with a longer interval`;
}
