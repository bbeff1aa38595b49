import { createCompactor } from '../storage/samples/compaction/compactor.js';
import { deleteExpired, findExpired } from '../storage/samples/compaction/retention.js';
import { SHARD_COUNT } from '../storage/shard.js';
import type { ServiceContext } from './context.js';
import { listRetention } from './identity/retention.js';
import { writeReserved } from './store.js';

/** Ends work in the background; resolves once nothing of it runs. */
export type EndWork = () => Promise<void>;

const RETENTION_PERIOD_MS = 600_000;

/** Does `work` again and again; after a failure, which `failure` tells of in the log, too. */
export function repeat(
  { scheduler, log }: ServiceContext,
  periodMs: number,
  failure: string,
  work: (isStopped: () => boolean) => Promise<void>,
): EndWork {
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  const run = (): void => {
    running = work(() => isStopped)
      .catch((err: unknown) => log.warn({ err }, `${failure}; tried again later`))
      .then(() => {
        if (!isStopped) cancel = scheduler.after(periodMs, run);
      });
  };
  let cancel = scheduler.after(periodMs, run);
  return () => {
    isStopped = true;
    cancel();
    return running;
  };
}

/** Brings the log of samples into segments. */
export function startCompaction(context: ServiceContext): EndWork {
  const { storage, samples, scheduler, clock, settings, log, metrics } = context;
  const compactor = createCompactor({
    storage,
    samples,
    scheduler,
    clock,
    pollIntervalMs: settings.pollIntervalMs,
    onError: (err, shard) => {
      metrics.compactionErrors.inc();
      log.warn({ err, shard }, 'samples were not compacted; tried again later');
    },
  });
  compactor.start();
  return () => compactor.stop();
}

/** Deletes what the rules of retention do not keep, in short transactions. */
export function startRetention(context: ServiceContext): EndWork {
  const { storage, clock } = context;
  return repeat(context, RETENTION_PERIOD_MS, 'old samples were not deleted', async (isStopped) => {
    // They lie in the homes of their organisations, whose series may lie anywhere.
    const rules = await listRetention(context, {});
    for (let shard = 0; shard < SHARD_COUNT && rules.length > 0 && !isStopped(); shard++) {
      const expired = await storage.read(shard, (tx) => findExpired(tx, rules, clock.nowMs()));
      for (const { row, beforeMs } of expired) {
        const work = () => writeReserved(storage, shard, (tx) => deleteExpired(tx, row, beforeMs));
        while (!isStopped() && (await work()));
      }
    }
  });
}
