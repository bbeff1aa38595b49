import { createCompactor } from '../storage/samples/compaction/compactor.js';
import type { ServiceContext } from './context.js';

/**
 * Brings the log of samples into segments, in the background.
 *
 * @returns the function that ends it; it resolves once nothing of it runs.
 */
export function startCompaction(context: ServiceContext): () => Promise<void> {
  const { storage, samples, scheduler, clock, settings, log } = context;
  const compactor = createCompactor({
    storage,
    samples,
    scheduler,
    clock,
    pollIntervalMs: settings.pollIntervalMs,
    onError: (err, shard) => log.warn({ err, shard }, 'samples were not compacted; tried again later'),
  });
  compactor.start();
  return () => compactor.stop();
}
