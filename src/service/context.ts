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

/** An unguessable id that sorts by time: a UUID version 7. */
export function createId({ clock, random }: Pick<ServiceContext, 'clock' | 'random'>): string {
  return v7({ msecs: Math.max(0, Math.floor(clock.nowMs())), random: random.bytes(16) });
}
