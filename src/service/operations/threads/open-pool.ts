import { existsSync } from 'node:fs';
import { createInlinePool, createThreadPool, type StepPool } from './pool.js';

// The script is built once, beside the command; who runs the sources finds it in dist.
const PLACES = ['./step-worker.js', './cli/step-worker.js', '../../../../dist/cli/step-worker.js'];

/** The threads of a service: so many, or this one where there are to be none, or where their script is not built. */
export function openStepPool(threadCount: number): StepPool {
  const url = PLACES.map((place) => new URL(place, import.meta.url)).find((one) => existsSync(one));
  return url === undefined || threadCount < 1 ? createInlinePool() : createThreadPool(url, threadCount);
}
