import type { PrepareMove } from '../../storage/samples/compaction/compactor.js';
import type { Scheduler } from '../context.js';
import { builtScript, Threads } from '../threads.js';
import type { MoveMessage } from './compaction-worker.js';

/** A thread that prepares moves of samples from the log into segments, so that requests do not wait for it. */
export interface CompactionThread {
  readonly prepare: PrepareMove;
  /** Ends the thread, once it has closed its connection or does not answer. */
  close(): Promise<void>;
}

/** A move takes some tenths of a second. */
const PREPARE_MS_MAX = 60_000;
/** The thread only reads, so nothing is lost if it is ended before it has closed its connection. */
const CLOSE_MS_MAX = 2000;

/** The thread for the embedded store in a directory; undefined if its script is not built. */
export function openCompactionThread(directory: string, scheduler: Scheduler): CompactionThread | undefined {
  const script = builtScript('compaction-worker');
  return script === undefined ? undefined : createCompactionThread(script, directory, scheduler);
}

/** @param script `compaction-worker`. */
export function createCompactionThread(script: URL, directory: string, scheduler: Scheduler): CompactionThread {
  const threads = new Threads(script, 1);
  return {
    prepare: (shard, untilCommit) => {
      const message: MoveMessage = { directory, shard, untilCommit };
      return threads.run('prepareMove', message, { scheduler, ms: PREPARE_MS_MAX });
    },
    close: async () => {
      // A thread that died has no connection any more, and one that hangs is ended with it.
      const limit = { scheduler, ms: CLOSE_MS_MAX };
      if (threads.isStarted) await threads.run('closeStore', undefined, limit).catch(() => {});
      await threads.close();
    },
  };
}
