import type { Series } from '../../../core/series.js';
import type { Plan } from '../../../plan/plan.js';
import { NO_COLUMNS } from '../../../storage/samples/samples.js';
import { dueAtOnce, type ItemRow } from '../../../storage/tables/operations.js';
import type { Positions, Slice } from '../compute/slice.js';
import type { StepResult } from '../compute/step.js';
import { type Base, type BaseParts, type BaseSession, computeInline, progressAfter } from './base.js';
import type { Progress } from './checkpoints.js';
import type { ScheduleSession } from './schedule.js';

/** What a turn needs from the transaction that it works in. */
export interface TurnSession extends BaseSession, ScheduleSession {}

/** The item whose turns these are. */
export interface TurnItem extends BaseParts {
  readonly base: Base;
  /** Up to where what is left to compute has been read. */
  readonly positions: Positions;
  hasLongPreview: boolean;
  /** Computes the last slice within the transaction; false if the engine refused. */
  finish(session: TurnSession, slice: Slice, state: Uint8Array | undefined, untilMs?: number): Promise<boolean>;
  fail(session: TurnSession, error: unknown): Promise<void>;
  /** Leaves the item to another turn. */
  makeDue(session: TurnSession): Promise<void>;
}

/** A step of an item that is to be computed outside of any transaction. */
export interface PendingStep {
  readonly item: Pick<ItemRow, 'organisation' | 'itemId'>;
  readonly plan: Plan;
  readonly state: Uint8Array | undefined;
  readonly slice: Slice;
  /** After the last slice, where the thread computes the preview, too. */
  readonly tail: readonly Series[] | undefined;
  /** Whether a checkpoint follows it. */
  readonly needsState: boolean;
  readonly running: RunningStep;
  readonly turn: Turn;
}

/** How much of its turn an item has had. */
interface Turn {
  readonly steps: number;
  readonly startedMs: number;
}

/** The outcome of a step: its results, or a failure of the engine or of the thread. */
export type StepOutcome = { readonly result: StepResult } | { readonly failure: unknown };

interface RunningStep {
  readonly from: Progress;
  /** The positions of the sources after the step. */
  readonly positions: Positions;
  /** Whether samples before that have changed since they were read. */
  isSpoiled: boolean;
  /** Whether any samples have changed since, or the preview of a source. */
  hasNews: boolean;
}

/** An item lets others pass that come within so many times its last turn: short ones do not wait for all long ones. */
const TURNS_PASSED = 30;

/**
 * The turns of an item: what is left to compute, slice after slice, in steps that a thread computes outside of any
 * transaction, while samples go on to change.
 */
export class Turns {
  /** Whether the samples make more results than one transaction should compute. */
  needsThread = false;
  readonly #item: TurnItem;
  #running: RunningStep | undefined;
  /** How long the last turn took, with its steps in a thread. */
  #turnMs = 0;
  /** Whether samples changed that the last step had read. */
  #wasOutdated = false;

  constructor(item: TurnItem) {
    this.#item = item;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** How long others may come later than the item, and have their turns before. */
  get passedMs(): number {
    return TURNS_PASSED * this.#turnMs;
  }

  /** Called when samples of a source have changed from an instant on. */
  changed(source: number, firstMs: number): void {
    const running = this.#running;
    if (running === undefined) return;
    running.hasNews = true;
    running.isSpoiled ||= firstMs <= running.positions[source]!;
  }

  /** Called when the preview of a source has changed. */
  noteNews(): void {
    if (this.#running !== undefined) this.#running.hasNews = true;
  }

  /** Drops the step that runs: its outcome is not stored. */
  drop(): void {
    this.#running = undefined;
  }

  /** Returns a step to compute, or undefined if nothing is left to do now. */
  begin(session: TurnSession): Promise<PendingStep | undefined> {
    this.#turnMs = 0;
    return this.#nextStep(session, { steps: 0, startedMs: session.context.clock.monotonicMs() }, undefined);
  }

  /** Stores the outcome of a step; returns the next one, if any. */
  async continue(session: TurnSession, step: PendingStep, outcome: StepOutcome): Promise<PendingStep | undefined> {
    const { running, slice } = step;
    const turn = { ...step.turn, steps: step.turn.steps + 1 };
    this.#turnMs = session.context.clock.monotonicMs() - turn.startedMs;
    const isOwn = this.#running === running;
    // This turn must not end work that another began, or that was restarted.
    if (!isOwn && this.#running !== undefined) return undefined;
    this.#running = undefined;
    const isEnd = step.tail !== undefined;
    const isOutdated = running.isSpoiled && (!isEnd || 'failure' in outcome);
    this.#wasOutdated = isOwn && isOutdated;
    if (!isOwn || isOutdated) return this.#nextStep(session, turn, undefined);
    if ('failure' in outcome) {
      await this.#item.fail(session, outcome.failure);
      return undefined;
    }
    if (isEnd) {
      await this.#endSteps(session, step, outcome.result);
      return undefined;
    }
    await this.#storeStep(session, slice, outcome.result);
    return this.#nextStep(session, turn, outcome.result.state);
  }

  /** Stores the outcome of a step that others follow. */
  async #storeStep(session: TurnSession, slice: Slice, { results, state, workMs }: StepResult): Promise<void> {
    const item = this.#item;
    const from = await item.base.origin(session);
    await item.results.replace(session, from, results, false);
    const progress = progressAfter(from, slice, results);
    item.hasLongPreview ||= workMs > session.sizes.inlineMsMax;
    await item.checkpoints.add(session, progress, state);
    const { emittedMs } = progress;
    // A preview of earlier samples does not lie behind results that have come further.
    if (emittedMs !== null && item.results.hasPreviewUntil(emittedMs))
      await item.results.setPreview(session, NO_COLUMNS);
  }

  /**
   * Stores the outcome of the last step, with the preview. Where what it has read changed meanwhile, it is right as of
   * then, and the next step begins before the change: if it were dropped, samples that change faster than a step is
   * computed would leave no results.
   */
  async #endSteps(session: TurnSession, step: PendingStep, result: StepResult): Promise<void> {
    const item = this.#item;
    const { running, slice, needsState } = step;
    const { isSpoiled, hasNews } = running;
    const from = isSpoiled ? running.from : await item.base.origin(session);
    await item.results.replace(session, from, result.results, true);
    const progress = progressAfter(from, slice, result.results);
    if (needsState && !isSpoiled) await item.checkpoints.add(session, progress, result.state);
    await item.results.setPreview(session, result.preview);
    item.hasLongPreview = result.previewMs > session.sizes.inlineMsMax;
    await this.#endTurn(session, undefined);
    if (isSpoiled || hasNews) await item.makeDue(session);
  }

  async #nextStep(session: TurnSession, turn: Turn, known: Uint8Array | undefined): Promise<PendingStep | undefined> {
    const item = this.#item;
    const { plan, schedule, checkpoints, sources, base } = item;
    const { context, sizes } = session;
    const { row, dueMs } = schedule;
    const nowMs = context.clock.nowMs();
    if (dueMs === null || dueMs > nowMs || this.#running !== undefined) return undefined;
    const isOver = turn.steps >= sizes.stepsMax || context.clock.monotonicMs() - turn.startedMs >= sizes.stepsMsMax;
    if (turn.steps > 0 && isOver) {
      await schedule.setDue(session, dueAtOnce(nowMs + this.passedMs));
      return undefined;
    }
    const untilMs = boundaryOf(row, nowMs);
    const state = known ?? (await checkpoints.readLastState(session));
    const wasOutdated = this.#wasOutdated;
    const limit = wasOutdated ? sizes.checkpointSamples : sizes.sliceSamples;
    const slice = await sources.readSlice(session, item.positions, limit, untilMs);
    const isStream = row.processingType === 'stream';
    const isEnd = isStream && slice.isLast && (item.hasLongPreview || this.needsThread);
    const isSmall = slice.isLast && !isEnd && (slice.sampleCount === 0 || !this.needsThread);
    session.replayRoom -= slice.sampleCount;
    if (isSmall && slice.sampleCount <= sizes.inlineSamplesMax) {
      if (await item.finish(session, slice, state, untilMs)) await this.#endTurn(session, untilMs);
      // Too much for a transaction after all: a thread does it.
      else if (this.needsThread) return this.#nextStep(session, turn, state);
      return undefined;
    }
    if (row.state !== 'Running' && row.state !== 'Active') schedule.setState(session, 'Running');
    // Samples that change faster than a step is computed would hold it up for good. Within a transaction none change.
    const result = wasOutdated && !slice.isLast ? computeInline(session, { plan, state, slice }) : undefined;
    if (result !== undefined) {
      this.#wasOutdated = false;
      await this.#storeStep(session, slice, result);
      return this.#nextStep(session, { ...turn, steps: turn.steps + 1 }, result.state);
    }
    const from = await base.origin(session);
    const running = { from, positions: slice.positions, isSpoiled: false, hasNews: false };
    this.#running = running;
    const tail = isEnd ? await sources.readTail(session, slice.positions) : undefined;
    const needsState = !isEnd || checkpoints.isDue(from.sampleCount + slice.sampleCount, sizes);
    return { item: row, plan, state, slice, tail, needsState, running, turn };
  }

  async #endTurn(session: TurnSession, untilMs: number | undefined): Promise<void> {
    const { schedule } = this.#item;
    const { processingType, frequencyMs, boundaryMs } = schedule.row;
    this.needsThread = false;
    this.#wasOutdated = false;
    const isBatch = processingType !== 'stream';
    if (isBatch && frequencyMs !== null && untilMs !== undefined) {
      await schedule.setDue(session, untilMs + frequencyMs, 0);
      if (boundaryMs !== untilMs) schedule.update(session, { boundaryMs: untilMs });
      return schedule.setState(session, 'Active');
    }
    schedule.end(session);
    if (isBatch) await this.#item.checkpoints.dropAll(session);
    schedule.setState(session, isBatch ? 'Completed' : 'Active');
  }
}

// A batch with a frequency takes the samples before the last of its boundaries; a clock set back undoes none.
function boundaryOf({ frequencyMs, boundaryMs }: ItemRow, nowMs: number): number | undefined {
  if (frequencyMs === null) return undefined;
  return Math.max(boundaryMs ?? Number.NEGATIVE_INFINITY, Math.floor(nowMs / frequencyMs) * frequencyMs);
}
