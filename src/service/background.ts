import { isRefusal } from '../storage/errors.js';
import { Compactor } from '../storage/samples/compaction/compactor.js';
import type { ServiceContext } from './context.js';

/** Stops background work; resolves once none of it runs. */
export type StopWork = () => Promise<void>;

/** Why work failed, as fields of the log: a sentence for what the store refuses, a stack for faults of ours. */
export function forLog(error: unknown): { readonly reason: string } | { readonly err: unknown } {
  return isRefusal(error) ? { reason: error.message } : { err: error };
}

/** A process that is restarted before its first period ends does its work all the same. */
const FIRST_RUN_MS_MAX = 60_000;

/**
 * Runs `work` periodically, and first within a minute. A failure is logged with the text `failure`, and the next run
 * comes as usual.
 */
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
      .catch((error: unknown) => log.warn(forLog(error), `${failure}; will try again later`))
      .then(() => {
        if (!isStopped) cancel = scheduler.after(periodMs, run);
      });
  };
  let cancel = scheduler.after(Math.min(periodMs, FIRST_RUN_MS_MAX), run);
  return () => {
    isStopped = true;
    cancel();
    return running;
  };
}

/** Moves samples from the log into segments, once it is started. */
export function createCompactor(context: ServiceContext): Compactor {
  const { storage, samples, prepareMove, scheduler, clock, settings, log, metrics } = context;
  return new Compactor({
    storage,
    samples,
    prepare: prepareMove,
    scheduler,
    clock,
    pollIntervalMs: settings.pollIntervalMs,
    onError: (error, shard) => {
      metrics.compactionErrors.inc();
      log.warn({ ...forLog(error), shard }, 'samples were not compacted; will try again later');
    },
  });
}
