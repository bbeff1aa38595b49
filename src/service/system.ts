import { randomBytes, randomUUID } from 'node:crypto';
import type { Clock, Random, Scheduler } from './context.js';

export const systemClock: Clock = Object.freeze({
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
});

// Most callers want a few bytes for an id, so one call fetches many.
const POOL_BYTES = 8192;
let pool = new Uint8Array(0);
let used = 0;

/** The machine's cryptographic randomness. */
export const systemRandom: Random = Object.freeze({
  bytes: (count: number) => {
    if (count > POOL_BYTES) return new Uint8Array(randomBytes(count));
    if (used + count > pool.length) {
      pool = new Uint8Array(randomBytes(POOL_BYTES));
      used = 0;
    }
    used += count;
    const taken = pool.slice(used - count, used);
    // No copy of a secret stays behind.
    pool.fill(0, used - count, used);
    return taken;
  },
  uuid: randomUUID,
});

/** Timers that do not keep the process alive by themselves. */
export const systemScheduler: Scheduler = Object.freeze({
  after: (delayMs: number, work: () => void) => {
    const timer = setTimeout(work, delayMs);
    timer.unref();
    return () => clearTimeout(timer);
  },
});
