import { deleteExpired, findExpired } from '../storage/samples/compaction/retention.js';
import { SHARD_COUNT } from '../storage/shard.js';
import type { ServiceContext } from './context.js';
import { writeReserved } from './store.js';

const PERIOD_MS = 600_000;

/**
 * Deletes what the rules of retention do not keep, from time to time, in the background.
 *
 * @returns the function that ends it; it resolves once nothing of it runs.
 */
export function startRetention(context: ServiceContext): () => Promise<void> {
  const { scheduler, log } = context;
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  const run = (): void => {
    running = expire(context, () => isStopped)
      .catch((err: unknown) => log.warn({ err }, 'old samples were not deleted; tried again later'))
      .then(() => {
        if (!isStopped) cancel = scheduler.after(PERIOD_MS, run);
      });
  };
  let cancel = scheduler.after(PERIOD_MS, run);
  return () => {
    isStopped = true;
    cancel();
    return running;
  };
}

/** Deletes all that is not kept any more, in short transactions. */
async function expire({ storage, clock }: ServiceContext, isStopped = () => false): Promise<void> {
  for (let shard = 0; shard < SHARD_COUNT && !isStopped(); shard++) {
    const expired = await storage.read(shard, (tx) => findExpired(tx, clock.nowMs()));
    for (const { row, beforeMs } of expired) {
      const work = () => writeReserved(storage, shard, (tx) => deleteExpired(tx, row, beforeMs));
      while (!isStopped() && (await work()));
    }
  }
}
