import { CheckpointError } from '../../../core/errors.js';
import { nextDouble } from '../../../core/next-double.js';
import type { Plan } from '../../../plan/plan.js';
import { DamagedSamplesError } from '../../../storage/errors.js';
import type { ItemRow } from '../../../storage/tables/operations.js';
import { changeAfter, lastTimeMs, type SourceChange, startOf } from '../compute/columns.js';
import { type Slice, startPositions } from '../compute/slice.js';
import { openAt, type StepOptions, type StepResult, step } from '../compute/step.js';
import type { Checkpoint, CheckpointSession, Checkpoints, Progress } from './checkpoints.js';
import type { ResultSession, Results } from './results.js';
import type { Schedule } from './schedule.js';
import type { Sources, SourcesSession } from './sources.js';

export interface BaseSession extends CheckpointSession, ResultSession, SourcesSession {
  /** How many more samples may be read again within the transaction. */
  replayRoom: number;
}

/** The parts of an item that the base rests on. */
export interface BaseParts {
  readonly plan: Plan;
  readonly schedule: Schedule;
  readonly checkpoints: Checkpoints;
  readonly results: Results;
  readonly sources: Sources;
}

/** A step that moves the base of an item, to be computed outside of any transaction. */
export interface BaseMove {
  readonly item: Pick<ItemRow, 'organisation' | 'itemId'>;
  readonly plan: Plan;
  readonly state: Uint8Array | undefined;
  readonly slice: Slice;
  readonly from: Progress;
  /** The checkpoint that it starts from; undefined at the start. */
  readonly checkpoint: Checkpoint | undefined;
}

/**
 * Where an item starts again once retention has deleted samples: a checkpoint that has taken what was deleted, and as
 * little as possible of what is left, so that late samples still change the results.
 */
export class Base {
  readonly #parts: BaseParts;
  /** The move that is being computed; unset if samples that it has read change meanwhile. */
  #running: BaseMove | undefined;

  constructor(parts: BaseParts) {
    this.#parts = parts;
  }

  get isMoving(): boolean {
    return this.#running !== undefined;
  }

  /** Where the item continues: at its newest checkpoint, or at the start. */
  async origin(session: BaseSession): Promise<Progress> {
    const { checkpoints, results, plan } = this.#parts;
    const progress = await this.#from(session, checkpoints.last);
    const isNew = progress.lacksUntilMs !== null && checkpoints.last === undefined && (await results.isEmpty(session));
    if (!isNew) return progress;
    // It begins with what is left, and may always begin so again.
    const start = { ...progress, lacksUntilMs: null };
    await checkpoints.setBase(session, start, openAt(plan, undefined, limitsOf(session)).checkpoint());
    return start;
  }

  /** A checkpoint, or the start; with what it lacks if samples after it were deleted. */
  async #from(session: BaseSession, checkpoint: Checkpoint | undefined): Promise<Progress> {
    const { checkpoints, plan, sources } = this.#parts;
    const positions = startPositions(plan.sources.length);
    const from = checkpoint ?? { positions, emittedMs: null, sampleCount: 0, lacksUntilMs: null };
    // Nothing is deleted that the base has not taken.
    if (checkpoints.base !== undefined) return from;
    const lacksUntilMs = await sources.lacksUntilMs(session, from.positions);
    return lacksUntilMs === null
      ? from
      : { ...from, lacksUntilMs: Math.max(lacksUntilMs, from.lacksUntilMs ?? lacksUntilMs) };
  }

  /** The part of a change that the item can still take; undefined if it has none. */
  async takeable(session: BaseSession, source: number, change: SourceChange): Promise<SourceChange | undefined> {
    const { checkpoints, sources } = this.#parts;
    const positionMs = checkpoints.base?.positions[source];
    // Until something is deleted, the item can start without its base. Then no source is read from before it any more.
    if (positionMs === undefined || startOf(change) > positionMs || !(await sources.haveForgotten(session))) {
      return change;
    }
    const left = changeAfter(change, positionMs);
    return startOf(left) === Number.POSITIVE_INFINITY ? undefined : left;
  }

  /** Called when a source has changed from an instant on. */
  changed(source: number, fromMs: number): void {
    if (this.#running !== undefined && fromMs <= this.#running.slice.positions[source]!) this.#running = undefined;
  }

  /** Up to where samples of a source may be deleted, as the item will not need them. */
  takenMs(source: number): number {
    if (this.#parts.schedule.isOver) return Number.POSITIVE_INFINITY;
    return this.#parts.checkpoints.base?.positions[source] ?? Number.NEGATIVE_INFINITY;
  }

  /** Whether samples were deleted that it has not taken: while its item could not be planned, nothing held them. */
  async isBehind(session: BaseSession): Promise<boolean> {
    const { checkpoints, sources, schedule } = this.#parts;
    const { base } = checkpoints;
    for (const [index, source] of base === undefined ? [] : sources.series.entries()) {
      const forgottenMs = await session.forgottenMs(schedule.row.organisation, source);
      if (forgottenMs !== undefined && forgottenMs > base!.positions[index]!) return true;
    }
    return false;
  }

  /**
   * Called of an item that has failed when samples of a source are about to be deleted, up to an instant. It does not
   * hold them: posted again, it must not go on from a base that has not taken them, as if they had never been there.
   */
  async dropBehind(session: BaseSession, source: number, lastMs: number): Promise<void> {
    const { checkpoints } = this.#parts;
    if ((checkpoints.base?.positions[source] ?? lastMs) < lastMs) await checkpoints.dropAll(session);
  }

  /**
   * Moves the base by one step towards where samples are about to be deleted, as far as the item has come.
   *
   * @param lastMs the time of the last sample of a source that is to be deleted.
   * @param told the items of which the log says already that they keep samples.
   * @returns whether steps are left, or a step to compute outside of the transaction.
   */
  async move(session: BaseSession, lastMs: number, told: Set<string>): Promise<BaseMove | 'more' | 'done'> {
    const { plan, schedule, sources, checkpoints } = this.#parts;
    const untilMs = Math.min(nextDouble(lastMs), this.#reachedMs(session.context.clock.nowMs()));
    if (untilMs === Number.NEGATIVE_INFINITY || this.#running !== undefined) return 'done';
    try {
      const { checkpoint, state } = await this.#lastUntil(session, lastMs);
      const from = await this.#from(session, checkpoint);
      const slice = await sources.readSlice(session, from.positions, session.sizes.sliceSamples, untilMs);
      if (slice.sampleCount === 0 && checkpoint !== undefined && checkpoint === checkpoints.base) return 'done';
      const move: BaseMove = { item: schedule.row, plan, state, slice, from, checkpoint };
      session.replayRoom -= slice.sampleCount;
      const result = slice.sampleCount > session.sizes.inlineSamplesMax ? undefined : computeInline(session, move);
      this.#running = move;
      if (result === undefined) return move;
      await this.endMove(session, move, result, true);
      return slice.isLast ? 'done' : 'more';
    } catch (error) {
      if (!(error instanceof DamagedSamplesError)) throw error;
      this.#warn(session, error, told);
      return 'done';
    }
  }

  /** The instant up to which all results are stored: −∞ while any may change, +∞ where no work is left. */
  settledUntilMs(nowMs: number): number {
    const { schedule, checkpoints } = this.#parts;
    const { row, dueMs, isOver } = schedule;
    // What a stream at work computes next follows its newest checkpoint.
    const isAtWork = row.processingType === 'stream' && dueMs !== null;
    if (isAtWork && !isOver) return checkpoints.last?.emittedMs ?? Number.NEGATIVE_INFINITY;
    const isSettled = isOver || this.#reachedMs(nowMs) > Number.NEGATIVE_INFINITY;
    return isSettled ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  }

  /** The instant before which all results are stored. */
  #reachedMs(nowMs: number): number {
    const { schedule, checkpoints } = this.#parts;
    const { row, dueMs, isOver } = schedule;
    if (isOver) return Number.NEGATIVE_INFINITY;
    if (row.processingType === 'stream') {
      // One with long previews may always be due: what its newest checkpoint has taken is stored.
      return dueMs === null ? Number.POSITIVE_INFINITY : takenUntilMs(checkpoints.last);
    }
    return schedule.isBetweenRuns(nowMs) ? row.boundaryMs! : Number.NEGATIVE_INFINITY;
  }

  /** The newest checkpoint that has taken nothing after an instant, and its state; undefined if there is none. */
  async #lastUntil(session: BaseSession, lastMs: number) {
    const { checkpoints, sources } = this.#parts;
    // A source in which the base has come further is read from there.
    const ofBase = checkpoints.base?.positions;
    const untilMs = sources.series.map((_, source) => Math.max(lastMs, ofBase?.[source] ?? lastMs));
    for (;;) {
      const checkpoint: Checkpoint | undefined = checkpoints.lastUntil(untilMs);
      const state = checkpoint === undefined ? undefined : await checkpoints.readState(session, checkpoint);
      if (checkpoint === undefined || state !== undefined) return { checkpoint, state };
      await checkpoints.drop(session, checkpoint);
    }
  }

  /**
   * Stores what was computed. @returns false if it is outdated.
   *
   * @param areSourcesSettled whether no result that the item reads is still to be computed.
   */
  async endMove(
    session: BaseSession,
    move: BaseMove,
    { results, state }: Pick<StepResult, 'results' | 'state'>,
    areSourcesSettled: boolean,
  ): Promise<boolean> {
    const isReached = this.#reachedMs(session.context.clock.nowMs()) > Number.NEGATIVE_INFINITY;
    const isValid = areSourcesSettled && isReached && this.#running === move;
    this.#running = undefined;
    if (isValid) await this.#parts.checkpoints.setBase(session, progressAfter(move.from, move.slice, results), state);
    return isValid;
  }

  /** Ends a step that failed. @returns whether to try again, from the checkpoint before. */
  async failMove(session: BaseSession, move: BaseMove, error: unknown, told: Set<string>): Promise<boolean> {
    const isCurrent = this.#running === move;
    this.#running = undefined;
    if (isCurrent && move.checkpoint !== undefined && error instanceof CheckpointError) {
      await this.#parts.checkpoints.drop(session, move.checkpoint);
      return true;
    }
    this.#warn(session, error, told);
    return false;
  }

  #warn({ context }: BaseSession, err: unknown, told: Set<string>): void {
    const { organisation, itemId } = this.#parts.schedule.row;
    if (told.has(itemId)) return;
    told.add(itemId);
    const text = 'samples are kept longer than their rule: an item that reads them could not prepare for it';
    context.log.warn({ err, organisation, itemId }, text);
  }
}

/** Undefined if it fails: a thread may make more results, and what fails there, fails this item alone. */
export function computeInline(
  session: BaseSession,
  { plan, state, slice }: Pick<BaseMove, 'plan' | 'state' | 'slice'>,
): StepResult | undefined {
  try {
    return step(plan, state, slice.chunks, limitsOf(session));
  } catch {
    return undefined;
  }
}

function limitsOf({ context, sizes }: BaseSession): StepOptions {
  return { maxOutputSamples: Math.min(sizes.inlineOutputMax, context.settings.outputSamplesMax) };
}

/** How far an item has come with a slice. */
export function progressAfter(from: Progress, { positions, sampleCount }: Slice, results: StepResult['results']) {
  const emittedMs = lastTimeMs(results) ?? from.emittedMs;
  return { positions, emittedMs, sampleCount: from.sampleCount + sampleCount, lacksUntilMs: from.lacksUntilMs };
}

/** The instant before which a checkpoint has taken all samples of each source. */
function takenUntilMs(checkpoint: Checkpoint | undefined): number {
  const lastMs = checkpoint === undefined ? Number.NEGATIVE_INFINITY : Math.min(...checkpoint.positions);
  return lastMs === Number.NEGATIVE_INFINITY ? lastMs : nextDouble(lastMs);
}
