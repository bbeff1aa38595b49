import { OutputLimitError } from '../../../core/errors.js';
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
    const { checkpoints, results, plan, sources } = this.#parts;
    const progress = checkpoints.last ?? this.#start();
    // Nothing is deleted that the base has not taken.
    if (checkpoints.base !== undefined) return progress;
    const lacksUntilMs = await sources.lacksUntilMs(session, progress.positions);
    if (lacksUntilMs === null) return progress;
    if (checkpoints.last === undefined && (await results.isEmpty(session))) {
      // It begins with what is left, and may always begin so again.
      await checkpoints.setBase(session, progress, openAt(plan, undefined, limitsOf(session)).checkpoint());
      return progress;
    }
    return { ...progress, lacksUntilMs: Math.max(lacksUntilMs, progress.lacksUntilMs ?? lacksUntilMs) };
  }

  #start(): Progress {
    const positions = startPositions(this.#parts.plan.sources.length);
    return { positions, emittedMs: null, sampleCount: 0, lacksUntilMs: null };
  }

  /** The part of a change that the item can still take; undefined if it has none. */
  async takeable(session: BaseSession, source: number, change: SourceChange): Promise<SourceChange | undefined> {
    const { checkpoints, sources } = this.#parts;
    const positionMs = checkpoints.base?.positions[source];
    // Until something is deleted, the item can start without its base.
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

  /**
   * Moves the base to where samples are about to be deleted, as far as the item has come.
   *
   * @param lastMs the time of the last sample of a source that is to be deleted.
   * @returns a step to compute outside of the transaction, if it takes one.
   */
  async move(session: BaseSession, lastMs: number): Promise<BaseMove | undefined> {
    const { plan, schedule, sources } = this.#parts;
    const untilMs = Math.min(nextDouble(lastMs), this.#reachedMs(session.context.clock.nowMs()));
    if (untilMs === Number.NEGATIVE_INFINITY || this.#running !== undefined) return undefined;
    try {
      for (;;) {
        const { from, state } = await this.#originUntil(session, lastMs);
        const slice = await sources.readSlice(session, from.positions, session.sizes.sliceSamples, untilMs);
        if (slice.sampleCount === 0 && from === this.#parts.checkpoints.base) return undefined;
        const move: BaseMove = { item: schedule.row, plan, state, slice, from };
        session.replayRoom -= slice.sampleCount;
        const result = slice.sampleCount > session.sizes.inlineSamplesMax ? undefined : computeInline(session, move);
        this.#running = move;
        if (result === undefined) return move;
        await this.endMove(session, move, result);
        if (slice.isLast) return undefined;
      }
    } catch (error) {
      if (!(error instanceof DamagedSamplesError)) throw error;
      this.failMove(session, error);
      return undefined;
    }
  }

  /** The instant before which all results are stored. */
  #reachedMs(nowMs: number): number {
    const { schedule } = this.#parts;
    const { row, dueMs, isOver } = schedule;
    if (isOver) return Number.NEGATIVE_INFINITY;
    if (row.processingType === 'stream') return dueMs === null ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
    return schedule.isBetweenRuns(nowMs) ? row.boundaryMs! : Number.NEGATIVE_INFINITY;
  }

  /** The newest checkpoint that has taken nothing after an instant, and its state. */
  async #originUntil(session: BaseSession, lastMs: number) {
    const { checkpoints, sources } = this.#parts;
    // A source in which the base has come further is read from there.
    const ofBase = checkpoints.base?.positions;
    const untilMs = sources.series.map((_, source) => Math.max(lastMs, ofBase?.[source] ?? lastMs));
    for (;;) {
      const found: Checkpoint | undefined = checkpoints.lastUntil(untilMs);
      if (found === undefined) {
        const from = this.#start();
        return {
          from: { ...from, lacksUntilMs: await sources.lacksUntilMs(session, from.positions) },
          state: undefined,
        };
      }
      const state = await checkpoints.readState(session, found);
      if (state !== undefined) return { from: found, state };
      await checkpoints.drop(session, found);
    }
  }

  /** Stores what was computed, unless it is outdated. */
  async endMove(session: BaseSession, move: BaseMove, { results, state }: Pick<StepResult, 'results' | 'state'>) {
    const isValid = this.#running === move && this.#reachedMs(session.context.clock.nowMs()) > Number.NEGATIVE_INFINITY;
    this.#running = undefined;
    if (isValid) await this.#parts.checkpoints.setBase(session, progressAfter(move.from, move.slice, results), state);
  }

  /** Notes that the item cannot take samples into its base; they stay. */
  failMove({ context }: Pick<BaseSession, 'context'>, err: unknown): void {
    this.#running = undefined;
    const { organisation, itemId } = this.#parts.schedule.row;
    const text = 'samples are kept longer than their rule: an item that reads them could not prepare for it';
    context.log.warn({ err, organisation, itemId }, text);
  }
}

/** Undefined if it makes too many results for a transaction. */
function computeInline(session: BaseSession, { plan, state, slice }: BaseMove): StepResult | undefined {
  try {
    return step(plan, state, slice.chunks, limitsOf(session));
  } catch (error) {
    if (error instanceof OutputLimitError) return undefined;
    throw error;
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
