import { CheckpointError, OutputLimitError } from '../../../core/errors.js';
import type { Series, SeriesReference } from '../../../core/series.js';
import type { Stream } from '../../../engine/stream/stream.js';
import { ENGINE_VERSION } from '../../../engine/version.js';
import type { Plan } from '../../../plan/plan.js';
import { DamagedSamplesError } from '../../../storage/errors.js';
import { nextTurn } from '../../../storage/next-turn.js';
import { type Columns, concatenate, NO_COLUMNS, type SampleChange } from '../../../storage/samples/samples.js';
import type { ItemRow } from '../../../storage/tables/operations.js';
import { lastTimeMs, type SourceChange, startOf } from '../compute/columns.js';
import { type Positions, type Slice, startPositions } from '../compute/slice.js';
import { openAt, previewOf, pushChunks, type StepOptions } from '../compute/step.js';
import { STEPS_PER_TURN } from '../request.js';
import { Base, progressAfter } from './base.js';
import type { Checkpoints, Progress } from './checkpoints.js';
import { Results } from './results.js';
import type { Schedule } from './schedule.js';
import { Sources } from './sources.js';
import { type PendingStep, type StepOutcome, type TurnSession, Turns } from './turns.js';

/** What an item needs from the transaction that it works in. */
export interface ItemSession extends TurnSession {
  /** Settles an item, after the items whose results it reads. */
  touch(item: Item, isReplay: boolean): void;
  readersOf(organisation: string, series: SeriesReference): Promise<readonly Item[]>;
  /** Counts the work of an item, and yields now and then: requests are answered while thousands of items work. */
  countWork(stepCount?: number): Promise<void>;
  yieldWhenDue(): Promise<void>;
}

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

/** A stream that has taken all that is stored. */
interface Live extends Progress {
  readonly stream: Stream;
  readonly positions: number[];
  emittedMs: number | null;
  sampleCount: number;
}

/** Of a checkpoint: some 65,000 samples in windows. Until its preview was computed, it counts as long. */
const LONG_STATE_BYTES = 1_048_576;

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
  /** Most likely: a stream then leaves it to a thread. */
  hasLongPreview: boolean;
  readonly #turns: Turns;

  constructor(plan: Plan, output: SeriesReference, schedule: Schedule, checkpoints: Checkpoints) {
    const { organisation, itemId } = schedule.row;
    this.plan = plan;
    this.schedule = schedule;
    this.results = new Results(organisation, itemId, output);
    this.checkpoints = checkpoints;
    this.sources = new Sources(organisation, plan);
    this.base = new Base(this);
    this.#turns = new Turns(this);
    this.hasLongPreview = (checkpoints.last?.byteCount ?? 0) > LONG_STATE_BYTES;
  }

  get isRunning(): boolean {
    return this.#turns.isRunning || this.base.isMoving;
  }

  /** Takes a change of a source: pushes it into the live stream, or leaves it to a replay or to a turn. */
  async push(session: ItemSession, logged: SourceChange): Promise<void> {
    const source = this.sources.indexOf(logged);
    const change = await this.base.takeable(session, source, logged);
    if (change === undefined) return;
    const firstMs = startOf(change);
    this.base.changed(source, firstMs);
    await this.checkpoints.dropInvalid(session, source, firstMs);
    this.#turns.changed(source, firstMs);
    const { row, dueMs } = this.schedule;
    if (row.processingType === 'batch') {
      // A batch without a frequency, or before its first run, has everything still to read.
      if (row.boundaryMs !== null && firstMs < row.boundaryMs) await this.makeDue(session);
      return;
    }
    // A turn that is due reads all that is stored; the pause after a failure may have become too long.
    if (dueMs !== null) return this.schedule.makeDue(session, this.#turns.passedMs);
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
    this.#turns.noteNews();
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
      await this.fail(session, error);
      return undefined;
    }
  }

  async #replay(session: ItemSession): Promise<void> {
    if (this.hasLongPreview) return this.makeDue(session);
    const limit = Math.min(session.sizes.inlineSamplesMax, session.replayRoom);
    // First: where it turns out to be damaged, the samples of one before it are read.
    const state = await this.checkpoints.readLastState(session);
    const slice = await this.sources.readSlice(session, this.positions, limit);
    if (!slice.isLast || slice.sampleCount > limit) return this.makeDue(session);
    session.replayRoom -= slice.sampleCount;
    await this.finish(session, slice, state);
  }

  async #renewPreview(session: ItemSession, live: Live): Promise<void> {
    if (this.hasLongPreview) return this.makeDue(session);
    const tail = await this.sources.readTail(session, live.positions);
    let preview: Columns;
    try {
      preview = this.#preview(session, live.stream, tail, { maxOutputSamples: session.sizes.inlineOutputMax });
    } catch (error) {
      return this.#refuse(session, error);
    }
    await this.results.setPreview(session, preview);
    if (this.checkpoints.isDue(live.sampleCount, session.sizes)) await this.checkpoint(session);
  }

  #preview(session: TurnSession, stream: Stream, tail: readonly Series[], options: StepOptions): Columns {
    const { clock } = session.context;
    const startMs = clock.monotonicMs();
    const preview = previewOf(this.plan, stream, tail, options);
    this.hasLongPreview = clock.monotonicMs() - startMs > session.sizes.inlineMsMax;
    return preview;
  }

  /** Stores a checkpoint of the live stream. */
  async checkpoint(session: ItemSession): Promise<void> {
    const live = this.#live;
    if (live === undefined || live.sampleCount === (this.checkpoints.last?.sampleCount ?? 0)) return;
    await this.checkpoints.add(session, live, live.stream.checkpoint());
  }

  /** Leaves the item to a turn of its own. */
  async makeDue(session: TurnSession): Promise<void> {
    this.#live = undefined;
    await this.schedule.makeDue(session, this.#turns.passedMs);
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
  beginTurn(session: ItemSession): Promise<PendingStep | undefined> {
    return this.#orFail(session, () => this.#turns.begin(session));
  }

  /** Stores the outcome of a step, and continues. */
  continueTurn(session: ItemSession, step: PendingStep, outcome: StepOutcome): Promise<PendingStep | undefined> {
    return this.#orFail(session, () => this.#turns.continue(session, step, outcome));
  }

  /** Replays the stored samples after the last checkpoint within the transaction; false if the engine refused. */
  async finish(session: TurnSession, slice: Slice, state: Uint8Array | undefined, untilMs?: number): Promise<boolean> {
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
    await this.results.setPreview(session, preview);
    const isDue = !isOnce && this.checkpoints.isDue(progress.sampleCount, session.sizes);
    if (isDue) await this.checkpoints.add(session, progress, stream.checkpoint());
    return true;
  }

  /** Yields if the plan is large: each piece of work on it takes a turn of its own. */
  async #pause(): Promise<void> {
    if (this.plan.steps.length >= STEPS_PER_TURN) await nextTurn();
  }

  // Without samples only the preview is left to compute, which a thread does for streams alone.
  #limits({ context, sizes }: TurnSession, { sampleCount }: Slice): StepOptions {
    const { outputSamplesMax } = context.settings;
    const isInlineAlone = sampleCount === 0 && this.schedule.row.processingType !== 'stream';
    return { maxOutputSamples: isInlineAlone ? outputSamplesMax : Math.min(sizes.inlineOutputMax, outputSamplesMax) };
  }

  /** A stream that makes too many results for a transaction is left to a thread; all else is a failure. */
  async #refuse(session: TurnSession, error: unknown): Promise<void> {
    if (!(error instanceof OutputLimitError) || this.#turns.needsThread) return this.fail(session, error);
    this.#turns.needsThread = true;
    await this.makeDue(session);
  }

  async fail(session: TurnSession, error: unknown): Promise<void> {
    this.#live = undefined;
    this.#turns.drop();
    if (error instanceof CheckpointError && this.checkpoints.last !== undefined) {
      // The item has not failed: the checkpoint before may be sound, and without one it starts from the beginning.
      if (this.checkpoints.last === this.checkpoints.base) this.#warnOfBase(session, error);
      await this.checkpoints.dropLast(session);
      return this.schedule.makeDue(session);
    }
    await this.schedule.fail(session, error);
  }

  #warnOfBase({ context }: TurnSession, err: CheckpointError): void {
    const { organisation, itemId } = this.schedule.row;
    const text =
      'an item starts without its base: what it computes from now on lacks samples that retention has deleted';
    context.log.warn({ err, organisation, itemId }, text);
  }

  /** Up to where what is left to compute has been read. */
  get positions(): Positions {
    return this.checkpoints.last?.positions ?? startPositions(this.plan.sources.length);
  }
}

// At its position the stream still takes another value; what is deleted there, or lies before, it has taken in.
function isBehind({ positions }: Live, source: number, { deleted }: SampleChange, firstMs: number): boolean {
  const positionMs = positions[source]!;
  return firstMs < positionMs || (deleted !== undefined && deleted.fromMs <= positionMs);
}
