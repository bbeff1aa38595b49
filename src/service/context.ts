import type { FastifyBaseLogger } from 'fastify';
import type { SampleStore } from '../storage/samples/samples.js';
import type { Storage } from '../storage/storage.js';
import type { Metrics } from './http/metrics.js';
import type { ServiceSettings } from './settings.js';

/** Time as the service sees it: tests hold it still. */
export interface Clock {
  /** Epoch milliseconds. */
  nowMs(): number;
  /** Milliseconds that never go back, from some start; for durations and expiry within one process. */
  monotonicMs(): number;
}

/** Cryptographic randomness. */
export interface Random {
  bytes(count: number): Uint8Array;
}

/** What runs later. */
export interface Scheduler {
  /** Runs `work` once after `delayMs`; the function given back calls it off. */
  after(delayMs: number, work: () => void): () => void;
}

/** What every part of the service works with; all that touches the world is given in from outside. */
export interface ServiceContext {
  readonly storage: Storage;
  readonly samples: SampleStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly scheduler: Scheduler;
  readonly log: FastifyBaseLogger;
  readonly settings: ServiceSettings;
  readonly metrics: Metrics;
}

/** An id that nobody guesses, in order of time: the millisecond, then 80 random bits (as a UUID, version 7). */
export function createId({ clock, random }: Pick<ServiceContext, 'clock' | 'random'>): string {
  const bytes = random.bytes(16);
  const timeMs = Math.max(0, Math.floor(clock.nowMs()));
  for (let i = 0; i < 6; i++) bytes[i] = Math.floor(timeMs / 2 ** (8 * (5 - i))) % 256;
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
