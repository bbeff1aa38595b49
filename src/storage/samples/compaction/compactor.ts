import { SHARD_COUNT } from '../../shard.js';
import type { Reader, Storage } from '../../storage.js';
import { logProgress } from '../../tables/samples.js';
import type { SampleStore } from '../store.js';
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
  /** The commit up to which nobody needs the log any more; by default, what items have absorbed. */
  readonly boundOf?: (tx: Reader) => Promise<number>;
}

/** Prepares the next move of a shard's log up to a commit; undefined if none is due. */
export type PrepareMove = (shard: number, untilCommit: number) => Promise<Move | undefined>;

/** Compacts the samples of all shards in the background. */
export interface Compactor {
  start(): void;
  /** Resolves once its last transaction has ended; a move that is not prepared yet is dropped. */
  stop(): Promise<void>;
}

/** Commits of other processes are not announced, so every this many polls it checks all shards. */
const POLLS_OF_ALL = 60;
/** How many polls a shard is skipped after an error: retrying does not free a full disk. */
const INTERVALS_AFTER_ERROR = 10;

/**
 * Compacts one shard after the other in short transactions, and pauses for as long as it worked. So ingest and queries
 * get at least half of the time, and the log is moved faster than it can be written. Processes share the shards, as
 * each would otherwise read the whole log. No claim is needed: each transaction resumes from what is stored. So every
 * process checks every shard now and then, in case a live one is stuck.
 */
export function createCompactor(options: CompactorOptions): Compactor {
  const { storage, samples, scheduler, clock, pollIntervalMs, onError } = options;
  const preparing = createPreparing(options.prepare ?? prepareHere(storage, samples));
  const due = new Set<number>();
  /** Shards with an error, and when to retry them. */
  const pausedUntilMs = new Map<number, number>();
  let isStopping = false;
  let running: Promise<void> | undefined;
  let endPause: (() => void) | undefined;
  let stopListening: (() => void) | undefined;

  async function run(): Promise<void> {
    for (let poll = 0; !isStopping; poll++) {
      if (poll % POLLS_OF_ALL === 0) for (let shard = 0; shard < SHARD_COUNT; shard++) due.add(shard);
      await pause(await workRound(poll % POLLS_OF_ALL === 0));
    }
  }

  /**
   * Runs one transaction for each shard that may have work.
   *
   * @returns how long to pause.
   */
  async function workRound(isOfAll: boolean): Promise<number> {
    const startMs = clock.monotonicMs();
    let isMore = false;
    for (const shard of [...due].filter((one) => !((pausedUntilMs.get(one) ?? 0) > startMs))) {
      if (isStopping) return 0;
      due.delete(shard);
      try {
        if (!isOfAll && !(await storage.maintains(shard))) continue;
        if (!(await compactShard(options, shard, preparing.prepare))) continue;
        isMore = true;
        due.add(shard);
      } catch (error) {
        due.add(shard);
        pausedUntilMs.set(shard, clock.monotonicMs() + INTERVALS_AFTER_ERROR * pollIntervalMs);
        onError(error, shard);
      }
    }
    return isMore ? clock.monotonicMs() - startMs : pollIntervalMs;
  }

  function pause(durationMs: number): Promise<void> {
    if (isStopping) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = scheduler.after(durationMs, resolve);
      endPause = () => {
        cancel();
        resolve();
      };
    });
  }

  return {
    start: () => {
      if (running !== undefined) return;
      stopListening = storage.onCommit((shard) => due.add(shard));
      running = run();
    },
    stop: async () => {
      isStopping = true;
      stopListening?.();
      endPause?.();
      preparing.stop();
      await running;
    },
  };
}

/** Prepares moves until it is stopped, at once: a thread that hangs must not hold up a stop. */
function createPreparing(prepare: PrepareMove): { readonly prepare: PrepareMove; stop(): void } {
  let isStopped = false;
  let drop: (() => void) | undefined;
  return {
    prepare: async (shard, untilCommit) => {
      if (isStopped) return undefined;
      return new Promise((resolve, reject) => {
        drop = () => resolve(undefined);
        prepare(shard, untilCommit).then(resolve, reject);
      });
    },
    stop: () => {
      isStopped = true;
      drop?.();
    },
  };
}

/** The transaction only stores what was prepared, so that others do not wait long. */
async function compactShard(options: CompactorOptions, shard: number, prepare: PrepareMove): Promise<boolean> {
  const { storage, samples, boundOf = absorbedCommit } = options;
  await loadLog(storage, samples, shard);
  const untilCommit = await storage.read(shard, async (tx) => {
    const bound = await boundOf(tx);
    return (await samples.isMoveDue(tx, bound)) ? bound : undefined;
  });
  const move = untilCommit === undefined ? undefined : await prepare(shard, untilCommit);
  if (move === undefined) return false;
  return storage.transaction(shard, (tx) => storeMove(tx, move), { usesReserve: true });
}

/** Loads the log's new rows into memory in short readers, so that a longer one has less to read while writers wait. */
async function loadLog(storage: Storage, samples: SampleStore, shard: number): Promise<void> {
  while (await storage.read(shard, (tx) => samples.advance(tx)));
}

export function prepareHere(storage: Storage, samples: SampleStore): PrepareMove {
  return async (shard, untilCommit) => {
    await loadLog(storage, samples, shard);
    return storage.read(shard, (tx) => samples.prepareMove(tx, untilCommit));
  };
}

async function absorbedCommit(tx: Reader): Promise<number> {
  // If there never was an item, nobody needs the log.
  return (await tx.get(logProgress, { name: 'log' }))?.absorbedCommit ?? tx.lastCommit;
}
