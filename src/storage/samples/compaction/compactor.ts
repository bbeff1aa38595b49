import { SHARD_COUNT } from '../../shard.js';
import type { Reader, Storage } from '../../storage.js';
import { logProgress } from '../../tables/samples.js';
import type { SampleStore } from '../store.js';
import type { ReadShard } from './compact.js';

export interface CompactorOptions {
  readonly storage: Storage;
  readonly samples: SampleStore;
  readonly scheduler: { after(delayMs: number, work: () => void): () => void };
  readonly clock: { monotonicMs(): number };
  /** How long to pause when there is nothing to do. */
  readonly pollIntervalMs: number;
  readonly onError: (error: unknown, shard: number) => void;
  /** The commit up to which nobody needs the log any more; by default, what items have absorbed. */
  readonly boundOf?: (tx: Reader) => Promise<number>;
}

/** Compacts the samples of all shards in the background. */
export interface Compactor {
  start(): void;
  /** Resolves once its last transaction has ended. */
  stop(): Promise<void>;
}

/** Commits of other processes are not announced, so every this many polls it checks all shards. */
const POLLS_OF_ALL = 60;
/** How many polls a shard is skipped after an error: retrying does not free a full disk. */
const INTERVALS_AFTER_ERROR = 10;

/**
 * Compacts one shard after the other in steps: computed in turns of the event loop that leave requests half of the
 * time, and stored in a short transaction. So the log is moved faster than it can be written. Processes share the
 * shards, as each would otherwise read the whole log. No claim is needed: a step is stored only if the store is still
 * where the step began. So every process checks every shard now and then, in case a live one is stuck.
 */
export function createCompactor(options: CompactorOptions): Compactor {
  const { storage, scheduler, clock, pollIntervalMs, onError } = options;
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
    const shards = [...due].filter((shard) => !((pausedUntilMs.get(shard) ?? 0) > startMs));
    let isMore = false;
    for (const shard of shards) {
      if (isStopping) return 0;
      due.delete(shard);
      try {
        if (!isOfAll && !(await storage.maintains(shard))) continue;
        if (!(await compactShard(options, shard))) continue;
        isMore = true;
        due.add(shard);
      } catch (error) {
        due.add(shard);
        pausedUntilMs.set(shard, clock.monotonicMs() + INTERVALS_AFTER_ERROR * pollIntervalMs);
        onError(error, shard);
      }
    }
    return isMore ? 0 : pollIntervalMs;
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
      await running;
    },
  };
}

/** @returns whether there may be more to move. */
async function compactShard({ storage, samples, boundOf = absorbedCommit }: CompactorOptions, shard: number) {
  const read: ReadShard = (work) => storage.read(shard, work);
  while (await read((tx) => samples.advance(tx)));
  const step = await samples.prepareCompaction(read, { boundOf });
  if (step === undefined) return false;
  await storage.transaction(shard, (tx) => samples.storeCompaction(tx, step), { usesReserve: true });
  return true;
}

async function absorbedCommit(tx: Reader): Promise<number> {
  // If there never was an item, nobody needs the log.
  return (await tx.get(logProgress, { name: 'log' }))?.absorbedCommit ?? tx.lastCommit;
}
