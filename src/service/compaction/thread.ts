import { existsSync } from 'node:fs';
import { Piscina } from 'piscina';
import type { PrepareMove } from '../../storage/samples/compaction/compactor.js';
import type { Move } from '../../storage/samples/compaction/move.js';
import type { MoveMessage } from './compaction-worker.js';

/** A thread that prepares moves of samples from the log into segments, so that requests do not wait for it. */
export interface CompactionThread {
  readonly prepare: PrepareMove;
  /** Ends the thread, once it has closed its connection. */
  close(): Promise<void>;
}

// The script is built beside the command; when run from the sources, it is found in dist.
const PLACES = ['./compaction-worker.js', './cli/compaction-worker.js', '../../../dist/cli/compaction-worker.js'];

/** The thread for the embedded store in a directory; undefined if its script is not built. */
export function openCompactionThread(directory: string): CompactionThread | undefined {
  const url = PLACES.map((place) => new URL(place, import.meta.url)).find((one) => existsSync(one));
  return url === undefined ? undefined : createCompactionThread(url, directory);
}

/**
 * The thread starts when it is first needed, and is replaced if it dies.
 *
 * @param url of the script `compaction-worker`.
 */
export function createCompactionThread(url: URL, directory: string): CompactionThread {
  let threads: Piscina | undefined;
  let isClosed = false;
  const open = (): Piscina => {
    const opened = new Piscina({ filename: url.href, minThreads: 1, maxThreads: 1 });
    // Whoever awaits the work gets the error.
    opened.on('error', () => {});
    return opened;
  };
  return {
    prepare: (shard, untilCommit): Promise<Move | undefined> => {
      if (isClosed) throw new Error('the service is stopping');
      threads ??= open();
      const message: MoveMessage = { directory, shard, untilCommit };
      return threads.run(message, { name: 'prepareMove' });
    },
    close: async () => {
      isClosed = true;
      // A thread that died has no connection any more.
      await threads?.run(undefined, { name: 'closeStore' }).catch(() => {});
      await threads?.destroy();
    },
  };
}
