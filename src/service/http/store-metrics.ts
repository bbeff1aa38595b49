import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { WindrowError } from '../../core/errors.js';
import { readProgress } from '../../storage/samples/progress.js';
import { SHARD_COUNT } from '../../storage/shard.js';
import type { Reader, Storage } from '../../storage/storage.js';
import { items, itemWork } from '../../storage/tables/operations.js';
import { sampleLog } from '../../storage/tables/samples.js';
import type { Clock, Scheduler } from '../context.js';
import type { Metrics } from './metrics.js';

/** Wraps a store to count its errors. */
export function countErrors(storage: Storage, { storeErrors }: Metrics): Storage {
  const count = (error: unknown): never => {
    const code = error instanceof WindrowError ? error.code : 'other';
    // Errors that a job itself throws are not the store's.
    if (code.startsWith('storage.') && code !== 'storage.duplicate') storeErrors.inc({ code });
    throw error;
  };
  const countAny = <Result>(ask: () => Result | Promise<Result>): Result | Promise<Result> => {
    try {
      const answer = ask();
      return answer instanceof Promise ? answer.catch(count) : answer;
    } catch (error) {
      return count(error);
    }
  };
  return {
    read: (shard, work) => storage.read(shard, work).catch(count),
    lastCommit: (shard) => countAny(() => storage.lastCommit(shard)),
    recentCommit: (shard) => countAny(() => storage.recentCommit(shard)),
    transaction: (shard, work, options) => storage.transaction(shard, work, options).catch(count),
    transactionOver: (shards, work, options) => storage.transactionOver(shards, work, options).catch(count),
    claim: (shard, owner, leaseMs) => storage.claim(shard, owner, leaseMs).catch(count),
    release: (claim) => storage.release(claim).catch(count),
    maintains: (shard) => storage.maintains(shard).catch(count),
    onCommit: (listener) => storage.onCommit(listener),
    check: () => storage.check().catch(count),
    close: () => storage.close(),
  };
}

/** How long a gauge may take: Prometheus waits ten seconds for all of them, and a database may not answer. */
const READ_MS_MAX = 2000;

/** Gauges that are read from the store on demand, backlog and failures: NaN if that takes long. */
export function watchStore(metrics: Metrics, storage: Storage, clock: Clock, scheduler: Scheduler): void {
  const total = async (figure: (tx: Reader) => Promise<number>): Promise<number> => {
    let count = 0;
    // One after the other, so that requests are answered in between.
    for (let shard = 0; shard < SHARD_COUNT; shard++) count += await storage.read(shard, figure);
    return count;
  };
  const sum = (figure: (tx: Reader) => Promise<number>): Promise<number> =>
    new Promise((resolve, reject) => {
      const cancel = scheduler.after(READ_MS_MAX, () => resolve(Number.NaN));
      total(figure).then(resolve, reject).finally(cancel);
    });
  metrics.watch('items_failed', 'Items that have failed for good: GET /core/status says why', () =>
    sum((tx) => tx.count(items, [['state', '=', 'Failed']])),
  );
  metrics.watch('items_late', 'Items whose work is due and not done: their results lag behind the samples', () =>
    sum((tx) => tx.count(itemWork, [['dueMs', '<=', Math.floor(clock.nowMs())]])),
  );
  metrics.watch('items_retrying', 'Items whose work has failed and is tried again', () =>
    sum((tx) => tx.count(itemWork, [['attemptCount', '>', 0]])),
  );
  metrics.watch('compacted_commits', 'Commits whose samples are in segments', () =>
    sum(async (tx) => (await readProgress(tx)).compactedCommit),
  );
  metrics.watch('compaction_backlog_commits', 'Commits whose samples are not in segments yet', () => sum(backlogOf));
}

/** Up to the last commit with samples: compaction commits too, and may be done. */
async function backlogOf(tx: Reader): Promise<number> {
  const { compactedCommit } = await readProgress(tx);
  const [last] = await tx.find(sampleLog, {
    where: [['commit', '>', compactedCommit]],
    orderBy: [
      { column: 'commit', isDescending: true },
      { column: 'part', isDescending: true },
    ],
    limit: 1,
  });
  return last === undefined ? 0 : last.commit - compactedCommit;
}

/** The space that the store takes, and what its disk has left. */
export function watchDisk(metrics: Metrics, directory: string): void {
  metrics.watch('disk_free_bytes', 'Free space on the disk of the data directory', async () => {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  });
  metrics.watch('store_bytes', 'Size of the files of the store', async () => {
    let total = 0;
    for (const name of await readdir(directory)) {
      // A file may be deleted meanwhile.
      total += (await stat(join(directory, name)).catch(() => undefined))?.size ?? 0;
    }
    return total;
  });
}
