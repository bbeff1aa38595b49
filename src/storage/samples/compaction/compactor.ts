import { SHARD_COUNT } from '../../shard.js';
import type { Reader, Storage } from '../../storage.js';
import { logProgress } from '../../tables/samples.js';
import type { SampleStore } from '../store.js';

export interface CompactorOptions {
  readonly storage: Storage;
  readonly samples: SampleStore;
  readonly scheduler: { after(delayMs: number, work: () => void): () => void };
  readonly clock: { monotonicMs(): number };
  /** How long it rests when there is nothing to do. */
  readonly pollIntervalMs: number;
  readonly onError: (error: unknown, shard: number) => void;
  /** The commit up to which nobody needs the log any more; where absent, what live items have absorbed. */
  readonly boundOf?: (tx: Reader) => Promise<number>;
}

/** Compacts the samples of all shards in the background. */
export interface Compactor {
  start(): void;
  /** Resolves when its last transaction has ended. */
  stop(): Promise<void>;
}

/** Commits of other processes are not told of: so often, in intervals of polling, every shard is looked at. */
const POLLS_OF_ALL = 60;
/** After an error a shard rests for so many intervals: a full disk is not emptied by trying. */
const INTERVALS_AFTER_ERROR = 10;

/**
 * Works on one shard after the other, in short transactions, and rests as long as it worked: so ingest and queries
 * get at least half of the time, and the log is moved faster than it can be written. Processes share the shards, as
 * each would read all of the log. It needs no claim: each transaction goes on from what stands in the store, so all of
 * them look at every shard now and then, and nobody relies on one that lives and does nothing.
 */
export function createCompactor(options: CompactorOptions): Compactor {
  const { storage, scheduler, clock, pollIntervalMs, onError } = options;
  const due = new Set<number>();
  /** Shards with an error, and when they are tried again. */
  const pausedUntilMs = new Map<number, number>();
  let isStopping = false;
  let running: Promise<void> | undefined;
  let endRest: (() => void) | undefined;
  let stopListening: (() => void) | undefined;

  async function run(): Promise<void> {
    for (let poll = 0; !isStopping; poll++) {
      if (poll % POLLS_OF_ALL === 0) for (let shard = 0; shard < SHARD_COUNT; shard++) due.add(shard);
      await rest(await workRound(poll % POLLS_OF_ALL === 0));
    }
  }

  /** Gives each shard that may have work one transaction. Returns how long to rest. */
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
    return isMore ? clock.monotonicMs() - startMs : pollIntervalMs;
  }

  function rest(durationMs: number): Promise<void> {
    if (isStopping) return Promise.resolve();
    return new Promise((resolve) => {
      const callOff = scheduler.after(durationMs, resolve);
      endRest = () => {
        callOff();
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
      endRest?.();
      await running;
    },
  };
}

async function compactShard({ storage, samples, boundOf = absorbedCommit }: CompactorOptions, shard: number) {
  while (await storage.read(shard, (tx) => samples.advance(tx)));
  return storage.transaction(shard, async (tx) => samples.compact(tx, await boundOf(tx)), { usesReserve: true });
}

async function absorbedCommit(tx: Reader): Promise<number> {
  // Where there never was an item nobody waits for the log.
  return (await tx.get(logProgress, { name: 'log' }))?.absorbedCommit ?? tx.lastCommit;
}
