import { createCompactor } from '../storage/samples/compaction/compactor.js';
import { deleteExpired, findExpired } from '../storage/samples/compaction/retention.js';
import { SHARD_COUNT } from '../storage/shard.js';
import type { ServiceContext } from './context.js';
import { listRetention } from './identity/retention.js';
import { writeReserved } from './store.js';

/** Stops background work; resolves once none of it runs. */
export type StopWork = () => Promise<void>;

const RETENTION_PERIOD_MS = 600_000;

/** Runs `work` periodically. A failure is logged with the text `failure`, and the next run comes as usual. */
export function repeat(
  { scheduler, log }: ServiceContext,
  periodMs: number,
  failure: string,
  work: (isStopped: () => boolean) => Promise<void>,
): StopWork {
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  const run = (): void => {
    running = work(() => isStopped)
      .catch((err: unknown) => log.warn({ err }, `${failure}; will try again later`))
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

/** Moves samples from the log into segments. */
export function startCompaction(context: ServiceContext): StopWork {
  const { storage, samples, scheduler, clock, settings, log, metrics } = context;
  const compactor = createCompactor({
    storage,
    samples,
    scheduler,
    clock,
    pollIntervalMs: settings.pollIntervalMs,
    onError: (err, shard) => {
      metrics.compactionErrors.inc();
      log.warn({ err, shard }, 'samples were not compacted; will try again later');
    },
  });
  compactor.start();
  return () => compactor.stop();
}

/** Deletes samples that have outlived their retention rule, in short transactions. */
export function startRetention(context: ServiceContext): StopWork {
  const { storage, clock } = context;
  return repeat(context, RETENTION_PERIOD_MS, 'old samples were not deleted', async (isStopped) => {
    // Rules lie in the home shard of their organisation, whose series may lie in any shard.
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
