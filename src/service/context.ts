import type { FastifyBaseLogger } from 'fastify';
import { v7 } from 'uuid';
import type { PrepareMove } from '../storage/samples/compaction/compactor.js';
import type { SampleStore } from '../storage/samples/store.js';
import type { Storage } from '../storage/storage.js';
import type { SearchEvents } from './events/page.js';
import type { Metrics } from './http/metrics.js';
import type { Placements } from './placements.js';
import type { ServiceSettings } from './settings.js';

/** The service's source of time; tests control it. */
export interface Clock {
  /** Epoch milliseconds. */
  nowMs(): number;
  /** A monotonic clock, in milliseconds; for durations and expiry within one process. */
  monotonicMs(): number;
}

export interface Random {
  bytes(count: number): Uint8Array;
  /** A UUID version 4: where the order does not matter, as it takes a fraction of the time of `createId`. */
  uuid(): string;
}

export interface Scheduler {
  /** Runs `work` once after `delayMs`; the returned function cancels it. */
  after(delayMs: number, work: () => void): () => void;
}

/** What every part of the service works with. All access to the world outside is injected. */
export interface ServiceContext {
  readonly storage: Storage;
  readonly placements: Placements;
  readonly samples: SampleStore;
  /** Prepares compaction in another thread; undefined if this one does it. */
  readonly prepareMove?: PrepareMove | undefined;
  /** Searches events in another thread; undefined if this one does it. */
  readonly searchEvents?: SearchEvents | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly log: FastifyBaseLogger;
  readonly settings: ServiceSettings;
  readonly metrics: Metrics;
}

let lastMs = Number.NaN;
let sequence = 0;

/** An unguessable id that sorts by time: a UUID version 7. Those of one millisecond sort as they were made here. */
export function createId({ clock, random }: Pick<ServiceContext, 'clock' | 'random'>): string {
  const msecs = Math.max(0, Math.floor(clock.nowMs()));
  const bytes = random.bytes(16);
  // A counter that begins at a random number (RFC 9562, section 6.2, method 1), low enough to count on.
  sequence = msecs === lastMs ? sequence + 1 : Buffer.from(bytes).readUInt32BE(6) >>> 1;
  lastMs = msecs;
  return v7({ msecs, random: bytes, seq: sequence });
}
