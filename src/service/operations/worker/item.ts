import { CheckpointError, OutputLimitError } from '../../../core/errors.js';
import type { Series, SeriesReference } from '../../../core/series.js';
import type { Stream } from '../../../engine/stream/stream.js';
import { ENGINE_VERSION } from '../../../engine/version.js';
import type { Plan } from '../../../plan/plan.js';
import { DamagedSamplesError } from '../../../storage/errors.js';
import { nextTurn } from '../../../storage/next-turn.js';
import { type Columns, concatenate, NO_COLUMNS, type SampleChange } from '../../../storage/samples/samples.js';
import { dueAtOnce, type ItemRow } from '../../../storage/tables/operations.js';
import { lastTimeMs, type SourceChange, startOf } from '../compute/columns.js';
import { type Positions, type Slice, startPositions } from '../compute/slice.js';
import { openAt, previewOf, pushChunks, type StepOptions, type StepResult } from '../compute/step.js';
import { STEPS_PER_TURN } from '../request.js';
import { Base, type BaseSession, computeInline, progressAfter } from './base.js';
import type { Checkpoints, Progress } from './checkpoints.js';
import { Results } from './results.js';
import type { Schedule, ScheduleSession } from './schedule.js';
import { Sources } from './sources.js';

/** What an item needs from the transaction that it works in. */
export interface ItemSession extends BaseSession, ScheduleSession {
  /** Settles an item, after the items whose results it reads. */
  touch(item: Item, isReplay: boolean): void;
  notifyPreviewReaders(organisation: string, result: SeriesReference, firstMs: number): Promise<void>;
  readersOf(organisation: string, series: SeriesReference): Promise<readonly Item[]>;
  /** Counts the work of an item, and yields now and then: requests are answered while thousands of items work. */
  countWork(stepCount?: number): Promise<void>;
  yieldWhenDue(): Promise<void>;
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

/** A bug that shows in the work of one item. Without its item the other items of the shard can go on. */
export class ItemBugError extends Error {
  readonly item: Pick<ItemRow, 'organisation' | 'itemId'>;

  constructor({ organisation, itemId }: ItemRow, cause: Error) {
    super(`internal error: ${cause.message}; please report it`, { cause });
    this.item = { organisation, itemId };
  }
}

/** Stores and engine throw errors of their own, so these can only come from a bug. */
function isBug(error: unknown): error is Error {
  return error instanceof TypeError || error instanceof RangeError;
}

interface RunningStep {
  readonly from: Progress;
  /** The positions of the sources after the step. */
  readonly positions: Positions;
  /** Whether samples before that have changed since they were read. */
  isSpoiled: boolean;
  /** Whether any samples have changed since, or the preview of a source. */
  hasNews: boolean;
}

/** A stream that has taken all that is stored. */
interface Live extends Progress {
  readonly stream: Stream;
  readonly positions: number[];
  emittedMs: number | null;
  sampleCount: number;
}

/** Of a checkpoint: some 65,000 samples in windows. Until its preview was computed, it counts as long. */
const LONG_STATE_BYTES = 1_048_576;

/** An item lets those pass that come within so many times its last turn: what is short does not wait for all that is long. */
const TURNS_PASSED = 30;

/** A registered item at work. Its state follows from the store, and may be dropped at any time. */
export class Item {
  readonly plan: Plan;
  readonly schedule: Schedule;
  readonly results: Results;
  readonly checkpoints: Checkpoints;
  readonly sources: Sources;
  readonly base: Base;
  /** The commit of the catalogue at which it was last looked up. */
  checkedCommit = -1;
  #live: Live | undefined;
  #running: RunningStep | undefined;
  /** Whether its samples make more results than one transaction should compute. */
  #needsThread = false;
  /** Most likely: a stream then leaves it to a thread. */
  #hasLongPreview: boolean;
  /** How long its last turn took, with its steps in a thread. */
  #turnMs = 0;
  /** Whether samples changed that its last step in a thread had read. */
  #wasOutdated = false;

  constructor(plan: Plan, output: SeriesReference, schedule: Schedule, checkpoints: Checkpoints) {
    const { organisation, itemId } = schedule.row;
    this.plan = plan;
    this.schedule = schedule;
    this.results = new Results(organisation, itemId, output);
    this.checkpoints = checkpoints;
    this.sources = new Sources(organisation, plan);
    this.base = new Base(this);
    this.#hasLongPreview = (checkpoints.last?.byteCount ?? 0) > LONG_STATE_BYTES;
  }

  get isRunning(): boolean {
    return this.#running !== undefined || this.base.isMoving;
  }

  /** Takes a change of a source: pushes it into the live stream, or leaves it to a replay or to a turn. */
  async push(session: ItemSession, logged: SourceChange): Promise<void> {
    const source = this.sources.indexOf(logged);
    const change = await this.base.takeable(session, source, logged);
    if (change === undefined) return;
    const firstMs = startOf(change);
    this.base.changed(source, firstMs);
    await this.checkpoints.dropInvalid(session, source, firstMs);
    const running = this.#running;
    if (running !== undefined) {
      running.hasNews = true;
      running.isSpoiled ||= firstMs <= running.positions[source]!;
    }
    const { row, dueMs } = this.schedule;
    if (row.processingType === 'batch') {
      // A batch without a frequency, or before its first run, has everything still to read.
      if (row.boundaryMs !== null && firstMs < row.boundaryMs) await this.makeDue(session);
      return;
    }
    // A turn that is due reads all that is stored; the pause after a failure may have become too long.
    if (dueMs !== null) return this.schedule.makeDue(session, this.#passedMs);
    const live = this.#live;
    // Damaged samples cannot be pushed: whoever reads them gets an error.
    if (live === undefined || change.damage !== undefined || isBehind(live, source, change, firstMs)) {
      this.#live = undefined;
      session.touch(this, true);
      return;
    }
    session.touch(this, false);
    // A deletion before the position of the stream changes no state, but the preview may rest on deleted samples.
    if (change.timeMs.length > 0) await this.#pushLive(session, live, source, change);
  }

  async #pushLive(session: ItemSession, live: Live, source: number, change: SampleChange): Promise<void> {
    const { timeseriesId, metric, timeMs, value } = change;
    let results: Columns;
    try {
      results = pushChunks(this.plan, live.stream, [{ timeseriesId, metric, timeMs, value }]);
    } catch (error) {
      return this.#refuse(session, error);
    }
    live.positions[source] = timeMs[timeMs.length - 1]!;
    live.sampleCount += timeMs.length;
    live.emittedMs = lastTimeMs(results) ?? live.emittedMs;
    if (results.timeMs.length > 0) await session.publish(this.results, results);
  }

  /** Brings the results up to date with all stored samples, or leaves that to a turn. */
  async settle(session: ItemSession, isReplay: boolean): Promise<void> {
    if (this.#running !== undefined) this.#running.hasNews = true;
    if (this.schedule.dueMs !== null || this.schedule.isOver) return;
    await this.#orFail(session, () =>
      isReplay || this.#live === undefined ? this.#replay(session) : this.#renewPreview(session, this.#live),
    );
  }

  /** Unreadable samples fail this item alone, and so does a bug, but for that the transaction is undone first. */
  async #orFail<Result>(session: ItemSession, work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work();
    } catch (error) {
      if (isBug(error)) throw new ItemBugError(this.schedule.row, error);
      if (!(error instanceof DamagedSamplesError)) throw error;
      await this.#fail(session, error);
      return undefined;
    }
  }

  /** Notes a bug that ended the transaction before this one. */
  async failAfter(session: ItemSession, bug: ItemBugError): Promise<void> {
    await this.#fail(session, bug);
  }

  async #replay(session: ItemSession): Promise<void> {
    if (this.#hasLongPreview) return this.makeDue(session);
    const limit = Math.min(session.sizes.inlineSamplesMax, session.replayRoom);
    // First: where it turns out to be damaged, the samples of one before it are read.
    const state = await this.checkpoints.readLastState(session);
    const slice = await this.sources.readSlice(session, this.#positions, limit);
    if (!slice.isLast || slice.sampleCount > limit) return this.makeDue(session);
    session.replayRoom -= slice.sampleCount;
    await this.#finish(session, slice, state);
  }

  async #renewPreview(session: ItemSession, live: Live): Promise<void> {
    if (this.#hasLongPreview) return this.makeDue(session);
    const tail = await this.sources.readTail(session, live.positions);
    let preview: Columns;
    try {
      preview = this.#preview(session, live.stream, tail, { maxOutputSamples: session.sizes.inlineOutputMax });
    } catch (error) {
      return this.#refuse(session, error);
    }
    await this.#setPreview(session, preview);
    if (this.checkpoints.isDue(live.sampleCount, session.sizes)) await this.checkpoint(session);
  }

  #preview(session: ItemSession, stream: Stream, tail: readonly Series[], options: StepOptions): Columns {
    const { clock } = session.context;
    const startMs = clock.monotonicMs();
    const preview = previewOf(this.plan, stream, tail, options);
    this.#hasLongPreview = clock.monotonicMs() - startMs > session.sizes.inlineMsMax;
    return preview;
  }

  /** Stores a checkpoint of the live stream. */
  async checkpoint(session: ItemSession): Promise<void> {
    const live = this.#live;
    if (live === undefined || live.sampleCount === (this.checkpoints.last?.sampleCount ?? 0)) return;
    await this.checkpoints.add(session, live, live.stream.checkpoint());
  }

  /** Leaves the item to a turn of its own. */
  async makeDue(session: ItemSession): Promise<void> {
    this.#live = undefined;
    await this.schedule.makeDue(session, this.#passedMs);
  }

  get #passedMs(): number {
    return TURNS_PASSED * this.#turnMs;
  }

  /**
   * Makes the item compute again, by this version of the engine, all that it can: from its base, as the samples before
   * are gone. The engine refuses a base of another form, or of another plan; the item starts without one then.
   */
  async takeOver(session: ItemSession, planHash: string): Promise<void> {
    if (await this.base.isBehind(session)) await this.checkpoints.dropAll(session);
    else await this.checkpoints.dropAllButBase(session);
    // Most items are new, and have the same change: they are written together.
    const isSame = planHash === this.schedule.row.planHash;
    this.schedule.update(session, { engineVersion: ENGINE_VERSION, ...(isSame ? {} : { planHash }) });
    if (!this.schedule.isOver) await this.makeDue(session);
  }

  /** Begins the work that is due. Returns a step to compute, or undefined if nothing is left to do now. */
  async beginTurn(session: ItemSession): Promise<PendingStep | undefined> {
    const turn = { steps: 0, startedMs: session.context.clock.monotonicMs() };
    this.#turnMs = 0;
    return this.#orFail(session, () => this.#nextStep(session, turn, undefined));
  }

  /** Stores the outcome of a step, and continues. */
  continueTurn(session: ItemSession, step: PendingStep, outcome: StepOutcome): Promise<PendingStep | undefined> {
    return this.#orFail(session, () => this.#continueTurn(session, step, outcome));
  }

  async #continueTurn(session: ItemSession, step: PendingStep, outcome: StepOutcome): Promise<PendingStep | undefined> {
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
      await this.#fail(session, outcome.failure);
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
  async #storeStep(session: ItemSession, slice: Slice, { results, state, workMs }: StepResult): Promise<void> {
    const from = await this.base.origin(session);
    await this.results.replace(session, from, results, false);
    const progress = progressAfter(from, slice, results);
    this.#hasLongPreview ||= workMs > session.sizes.inlineMsMax;
    await this.checkpoints.add(session, progress, state);
    const { emittedMs } = progress;
    // A preview of earlier samples does not lie behind results that have come further.
    if (emittedMs !== null && this.results.hasPreviewUntil(emittedMs)) await this.#setPreview(session, NO_COLUMNS);
  }

  /**
   * Stores the outcome of the last step, with the preview. Where what it has read changed meanwhile, it is right as of
   * then, and the next step begins before the change: if it were dropped, samples that change faster than a step is
   * computed would leave no results.
   */
  async #endSteps(session: ItemSession, step: PendingStep, result: StepResult): Promise<void> {
    const { running, slice, needsState } = step;
    const { isSpoiled, hasNews } = running;
    const from = isSpoiled ? running.from : await this.base.origin(session);
    await this.results.replace(session, from, result.results, true);
    const progress = progressAfter(from, slice, result.results);
    if (needsState && !isSpoiled) await this.checkpoints.add(session, progress, result.state);
    await this.#setPreview(session, result.preview);
    this.#hasLongPreview = result.previewMs > session.sizes.inlineMsMax;
    await this.#endTurn(session, undefined);
    if (isSpoiled || hasNews) await this.makeDue(session);
  }

  async #nextStep(session: ItemSession, turn: Turn, known: Uint8Array | undefined): Promise<PendingStep | undefined> {
    const { context, sizes } = session;
    const { row, dueMs } = this.schedule;
    const nowMs = context.clock.nowMs();
    if (dueMs === null || dueMs > nowMs || this.#running !== undefined) return undefined;
    const isOver = turn.steps >= sizes.stepsMax || context.clock.monotonicMs() - turn.startedMs >= sizes.stepsMsMax;
    if (turn.steps > 0 && isOver) {
      await this.schedule.setDue(session, dueAtOnce(nowMs + this.#passedMs));
      return undefined;
    }
    const untilMs = boundaryOf(row, nowMs);
    const state = known ?? (await this.checkpoints.readLastState(session));
    const wasOutdated = this.#wasOutdated;
    const limit = wasOutdated ? sizes.checkpointSamples : sizes.sliceSamples;
    const slice = await this.sources.readSlice(session, this.#positions, limit, untilMs);
    const isStream = row.processingType === 'stream';
    const isEnd = isStream && slice.isLast && (this.#hasLongPreview || this.#needsThread);
    const isSmall = slice.isLast && !isEnd && (slice.sampleCount === 0 || !this.#needsThread);
    session.replayRoom -= slice.sampleCount;
    if (isSmall && slice.sampleCount <= sizes.inlineSamplesMax) {
      if (await this.#finish(session, slice, state, untilMs)) await this.#endTurn(session, untilMs);
      // Too much for a transaction after all: a thread does it.
      else if (this.#needsThread) return this.#nextStep(session, turn, state);
      return undefined;
    }
    if (row.state !== 'Running' && row.state !== 'Active') this.schedule.setState(session, 'Running');
    // Nothing changes within the transaction: samples that change faster than a step is computed would hold it up for good.
    const result = wasOutdated && !slice.isLast ? computeInline(session, { plan: this.plan, state, slice }) : undefined;
    if (result !== undefined) {
      this.#wasOutdated = false;
      await this.#storeStep(session, slice, result);
      return this.#nextStep(session, { ...turn, steps: turn.steps + 1 }, result.state);
    }
    const from = await this.base.origin(session);
    const running = { from, positions: slice.positions, isSpoiled: false, hasNews: false };
    this.#running = running;
    const tail = isEnd ? await this.sources.readTail(session, slice.positions) : undefined;
    const needsState = !isEnd || this.checkpoints.isDue(from.sampleCount + slice.sampleCount, sizes);
    return { item: row, plan: this.plan, state, slice, tail, needsState, running, turn };
  }

  async #endTurn(session: ItemSession, untilMs: number | undefined): Promise<void> {
    const { schedule } = this;
    const { processingType, frequencyMs, boundaryMs } = schedule.row;
    this.#needsThread = false;
    const isBatch = processingType !== 'stream';
    if (isBatch && frequencyMs !== null && untilMs !== undefined) {
      await schedule.setDue(session, untilMs + frequencyMs, 0);
      if (boundaryMs !== untilMs) schedule.update(session, { boundaryMs: untilMs });
      return schedule.setState(session, 'Active');
    }
    schedule.end(session);
    if (isBatch) await this.checkpoints.dropAll(session);
    schedule.setState(session, isBatch ? 'Completed' : 'Active');
  }

  /** Replays the stored samples after the last checkpoint within the transaction; false if the engine refused. */
  async #finish(session: ItemSession, slice: Slice, state: Uint8Array | undefined, untilMs?: number): Promise<boolean> {
    const { row } = this.schedule;
    const from = await this.base.origin(session);
    const tail = await this.sources.readTail(session, slice.positions, untilMs);
    let stream: Stream;
    let results: Columns;
    let preview: Columns;
    try {
      const options = this.#limits(session, slice);
      stream = openAt(this.plan, state, options);
      await this.#pause();
      results = pushChunks(this.plan, stream, slice.chunks);
      await this.#pause();
      preview = this.#preview(session, stream, tail, options);
    } catch (error) {
      await this.#refuse(session, error);
      return false;
    }
    const isOnce = row.processingType === 'batch' && row.frequencyMs === null;
    if (isOnce) [results, preview] = [concatenate([results, preview]), NO_COLUMNS];
    await this.results.replace(session, from, results, true);
    const progress = progressAfter(from, slice, results);
    if (row.processingType === 'stream') this.#live = { ...progress, positions: [...slice.positions], stream };
    await this.#setPreview(session, preview);
    const isDue = !isOnce && this.checkpoints.isDue(progress.sampleCount, session.sizes);
    if (isDue) await this.checkpoints.add(session, progress, stream.checkpoint());
    return true;
  }

  /** Yields if the plan is large: each piece of work on it takes a turn of its own. */
  async #pause(): Promise<void> {
    if (this.plan.steps.length >= STEPS_PER_TURN) await nextTurn();
  }

  // Without samples only the preview is left to compute, which a thread does for streams alone.
  #limits({ context, sizes }: ItemSession, { sampleCount }: Slice): StepOptions {
    const { outputSamplesMax } = context.settings;
    const isInlineAlone = sampleCount === 0 && this.schedule.row.processingType !== 'stream';
    return { maxOutputSamples: isInlineAlone ? outputSamplesMax : Math.min(sizes.inlineOutputMax, outputSamplesMax) };
  }

  /** A stream that makes too many results for a transaction is left to a thread; all else is a failure. */
  async #refuse(session: ItemSession, error: unknown): Promise<void> {
    if (!(error instanceof OutputLimitError) || this.#needsThread) return this.#fail(session, error);
    this.#needsThread = true;
    await this.makeDue(session);
  }

  async #fail(session: ItemSession, error: unknown): Promise<void> {
    this.#live = undefined;
    this.#running = undefined;
    if (error instanceof CheckpointError && this.checkpoints.last !== undefined) {
      // The item has not failed: the checkpoint before may be sound, and without one it starts from the beginning.
      if (this.checkpoints.last === this.checkpoints.base) this.#warnOfBase(session, error);
      await this.checkpoints.dropLast(session);
      return this.schedule.makeDue(session);
    }
    await this.schedule.fail(session, error);
  }

  #warnOfBase({ context }: ItemSession, err: CheckpointError): void {
    const { organisation, itemId } = this.schedule.row;
    const text =
      'an item starts without its base: what it computes from now on lacks samples that retention has deleted';
    context.log.warn({ err, organisation, itemId }, text);
  }

  async #setPreview(session: ItemSession, preview: Columns): Promise<void> {
    const firstMs = await this.results.setPreview(session, preview);
    if (firstMs === undefined) return;
    await session.notifyPreviewReaders(this.results.organisation, this.results.series, firstMs);
  }

  // Up to where what is left to compute has been read.
  get #positions(): Positions {
    return this.checkpoints.last?.positions ?? startPositions(this.plan.sources.length);
  }
}

// At its position the stream still takes another value; what is deleted there, or lies before, it has taken in.
function isBehind({ positions }: Live, source: number, { deleted }: SampleChange, firstMs: number): boolean {
  const positionMs = positions[source]!;
  return firstMs < positionMs || (deleted !== undefined && deleted.fromMs <= positionMs);
}

// A batch with a frequency takes the samples before the last of its boundaries; a clock set back undoes none.
function boundaryOf({ frequencyMs, boundaryMs }: ItemRow, nowMs: number): number | undefined {
  if (frequencyMs === null) return undefined;
  return Math.max(boundaryMs ?? Number.NEGATIVE_INFINITY, Math.floor(nowMs / frequencyMs) * frequencyMs);
}
