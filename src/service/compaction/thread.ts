import type { PrepareMove } from '../../storage/samples/compaction/compactor.js';
import { builtScript, Threads } from '../threads.js';
import type { MoveMessage } from './compaction-worker.js';

/** A thread that prepares moves of samples from the log into segments, so that requests do not wait for it. */
export interface CompactionThread {
  readonly prepare: PrepareMove;
  /** Ends the thread, once it has closed its connection. */
  close(): Promise<void>;
}

/** The thread for the embedded store in a directory; undefined if its script is not built. */
export function openCompactionThread(directory: string): CompactionThread | undefined {
  const script = builtScript('compaction-worker');
  return script === undefined ? undefined : createCompactionThread(script, directory);
}

/** @param script `compaction-worker`. */
export function createCompactionThread(script: URL, directory: string): CompactionThread {
  const threads = new Threads(script, 1);
  return {
    prepare: (shard, untilCommit) => {
      const message: MoveMessage = { directory, shard, untilCommit };
      return threads.run('prepareMove', message);
    },
    close: async () => {
      // A thread that died has no connection any more.
      if (threads.isStarted) await threads.run('closeStore').catch(() => {});
      await threads.close();
    },
  };
}
