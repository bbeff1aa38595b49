import { SHARD_COUNT } from '../../shard.js';
import { type Reader, type Storage, writeReserved } from '../../storage.js';
import { logProgress } from '../../tables/samples.js';
import type { SampleStore } from '../store.js';
import type { CompactOptions } from './compact.js';
import { type Move, storeMove } from './move.js';

export interface CompactorOptions {
  readonly storage: Storage;
  readonly samples: SampleStore;
  readonly scheduler: { after(delayMs: number, work: () => void): () => void };
  readonly clock: { monotonicMs(): number };
  /** How long to pause when there is nothing to do. */
  readonly pollIntervalMs: number;
  readonly onError: (error: unknown, shard: number) => void;
  /** Prepares moves, in another thread perhaps; by default in this one. */
  readonly prepare?: PrepareMove | undefined;
}

/** Prepares the next move of a shard's log up to a commit; undefined if none is due. */
export type PrepareMove = (shard: number, untilCommit: number, options?: CompactOptions) => Promise<Move | undefined>;

/** Commits of other processes are not announced, so every this many polls it checks all shards. */
const POLLS_OF_ALL = 60;
/** How many polls a shard is skipped after an error: retrying does not free a full disk. */
const INTERVALS_AFTER_ERROR = 10;

/**
 * Compacts the samples of all shards in the background: one after the other in short transactions, with a pause for as
 * long as it worked. So ingest and queries get at least half of the time, and the log is moved faster than it can be
 * written. Processes share the shards, as each would otherwise read the whole log. No claim is needed: each transaction
 * resumes from what is stored. So every process checks every shard now and then, in case a live one is stuck.
 */
export class Compactor {
  readonly #options: CompactorOptions;
  readonly #prepare: PrepareMove;
  /** Shards that may have work. */
  readonly #due = new Set<number>();
  /** Shards with an error, and when to retry them. */
  readonly #pausedUntilMs = new Map<number, number>();
  #running: Promise<void> | undefined;
  #stopListening: (() => void) | undefined;
  #isStopping = false;
  /** Each ends a pause, or drops a move that is being prepared. */
  readonly #endWaits = new Set<() => void>();

  constructor(options: CompactorOptions) {
    const { storage, samples, prepare = prepareHere(storage, samples) } = options;
    this.#options = options;
    this.#prepare = prepare;
  }

  start(): void {
    if (this.#running !== undefined) return;
    this.#stopListening = this.#options.storage.onCommit((shard) => this.#due.add(shard));
    this.#running = this.#run();
  }

  /** Resolves once its last transaction has ended; a move that is not prepared yet is dropped. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#stopListening?.();
    for (const end of this.#endWaits) end();
    await this.#running;
  }

  /** Moves all of a shard's log up to a commit, even if it is little; ends early at a stop. */
  async moveAll(shard: number, untilCommit: number): Promise<void> {
    while (await this.#move(shard, untilCommit, { isDue: true }));
  }

  async #run(): Promise<void> {
    for (let poll = 0; !this.#isStopping; poll++) {
      const isOfAll = poll % POLLS_OF_ALL === 0;
      if (isOfAll) for (let shard = 0; shard < SHARD_COUNT; shard++) this.#due.add(shard);
      await this.#pause(await this.#workRound(isOfAll));
    }
  }

  /**
   * Runs one transaction for each shard that may have work.
   *
   * @returns how long to pause.
   */
  async #workRound(isOfAll: boolean): Promise<number> {
    const { storage, clock, pollIntervalMs, onError } = this.#options;
    const startMs = clock.monotonicMs();
    let isMore = false;
    for (const shard of [...this.#due].filter((one) => !((this.#pausedUntilMs.get(one) ?? 0) > startMs))) {
      if (this.#isStopping) return 0;
      this.#due.delete(shard);
      try {
        if (!isOfAll && !(await storage.maintains(shard))) continue;
        if (!(await this.#compact(shard))) continue;
        isMore = true;
        this.#due.add(shard);
      } catch (error) {
        this.#due.add(shard);
        this.#pausedUntilMs.set(shard, clock.monotonicMs() + INTERVALS_AFTER_ERROR * pollIntervalMs);
        onError(error, shard);
      }
    }
    return isMore ? clock.monotonicMs() - startMs : pollIntervalMs;
  }

  async #compact(shard: number): Promise<boolean> {
    const { storage, samples } = this.#options;
    // So that readers find in memory what was written since. If there are none, the next one loads it.
    if (samples.log.wasRead(shard)) await samples.log.loadAll(storage, shard, () => !this.#isStopping);
    if (this.#isStopping) return false;
    const untilCommit = await storage.read(shard, async (tx) => {
      await samples.log.dropCompacted(tx);
      const bound = await absorbedCommit(tx);
      return (await samples.log.hasRows(tx, bound)) ? bound : undefined;
    });
    return untilCommit !== undefined && this.#move(shard, untilCommit);
  }

  /**
   * The transaction only stores what was prepared, so that others do not wait long.
   *
   * @returns whether there was something to move; there may be more then.
   */
  async #move(shard: number, untilCommit: number, options?: CompactOptions): Promise<boolean> {
    // A thread that hangs must not hold up a stop.
    const move = await this.#unlessStopped(() => this.#prepare(shard, untilCommit, options));
    if (move !== undefined) await writeReserved(this.#options.storage, shard, (tx) => storeMove(tx, move));
    return move !== undefined;
  }

  async #pause(durationMs: number): Promise<void> {
    let cancel = () => {};
    await this.#unlessStopped(
      () =>
        new Promise<void>((resolve) => {
          cancel = this.#options.scheduler.after(durationMs, resolve);
        }),
    );
    cancel();
  }

  /** What comes of some work; undefined at once if a stop comes before. */
  async #unlessStopped<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    if (this.#isStopping) return undefined;
    let end = () => {};
    const stopped = new Promise<undefined>((resolve) => {
      end = () => resolve(undefined);
    });
    this.#endWaits.add(end);
    try {
      return await Promise.race([work(), stopped]);
    } finally {
      this.#endWaits.delete(end);
    }
  }
}

export function prepareHere(storage: Storage, samples: SampleStore): PrepareMove {
  return async (shard, untilCommit, options) => {
    await samples.log.loadAll(storage, shard);
    return storage.read(shard, (tx) => samples.prepareMove(tx, untilCommit, options));
  };
}

/** The commit up to which items have absorbed the log of a shard. */
export async function absorbedCommit(tx: Reader): Promise<number> {
  // If there never was an item, nobody needs the log.
  return (await tx.get(logProgress, { name: 'log' }))?.absorbedCommit ?? tx.lastCommit;
}
