import type { PrepareMove } from '../../storage/samples/compaction/compactor.js';
import type { Move } from '../../storage/samples/compaction/move.js';
import type { Scheduler } from '../context.js';
import type { SearchEvents } from '../events/page.js';
import { builtScript, Threads } from '../threads.js';
import { closeSection, createSection } from './critical-section.js';
import type { MoveWork, StoreMessage } from './store-worker.js';

/** Threads that read the embedded store by connections of their own, so that requests do not wait for it. */
export interface StoreThreads {
  /** Prepares moves of samples from the log into segments. */
  readonly prepareMove: PrepareMove;
  readonly searchEvents: SearchEvents;
  /** Ends the threads, once they have closed their connections or do not answer. Waits for a running statement. */
  close(): Promise<void>;
}

/** A move, or some of the log, takes some tenths of a second, a search of a million events some seconds. */
const WORK_MS_MAX = 60_000;
/** A thread only reads, so nothing is lost if it is ended before it has closed its connection. */
const CLOSE_MS_MAX = 2000;

/** The threads for the embedded store in a directory; undefined if their script is not built. */
export function openStoreThreads(directory: string, scheduler: Scheduler): StoreThreads | undefined {
  const script = builtScript('store-worker');
  return script === undefined ? undefined : createStoreThreads(script, directory, scheduler);
}

/** @param script `store-worker`. */
export function createStoreThreads(script: URL, directory: string, scheduler: Scheduler): StoreThreads {
  // One each, so that neither waits for the other.
  const compacting = new Threads(script, 1);
  const searching = new Threads(script, 1);
  const run = <Work, Result>(threads: Threads, name: string, work: Work, ms = WORK_MS_MAX): Promise<Result> => {
    const section = createSection();
    const message: StoreMessage<Work> = { directory, work, section };
    return threads.run(name, message, { scheduler, ms, leave: () => closeSection(section) });
  };
  return {
    prepareMove: async (shard, untilCommit, options) => {
      // Each job has a time limit, and after long there may be more to load than fits into one.
      while (await run<number, boolean>(compacting, 'loadSomeLog', shard));
      return run<MoveWork, Move | undefined>(compacting, 'prepareMove', { shard, untilCommit, options });
    },
    searchEvents: (search) => run(searching, 'searchEvents', search),
    close: async () => {
      // A thread that died has no connection any more, and one that hangs is ended with it.
      const end = async (threads: Threads) => {
        if (threads.isStarted) await run(threads, 'closeStore', undefined, CLOSE_MS_MAX).catch(() => {});
        await threads.close();
      };
      await Promise.all([end(compacting), end(searching)]);
    },
  };
}
