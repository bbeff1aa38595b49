import type { Clock } from './context.js';

/** By how much the clocks of two machines may differ. */
const AHEAD_MS_MIN = 1000;

/**
 * The machine's clock, set by that of the store's database where the two are a second or more apart: processes that
 * share a store delete old samples and run batches by one time.
 */
export class StoreClock implements Clock {
  readonly #machine: Clock;
  readonly #onSet: (aheadMs: number) => void;
  #aheadMs = 0;

  /** @param onSet called with how far the machine's clock is ahead in milliseconds; negative if it is behind. */
  constructor(machine: Clock, onSet: (aheadMs: number) => void) {
    this.#machine = machine;
    this.#onSet = onSet;
  }

  nowMs(): number {
    return this.#machine.nowMs() - this.#aheadMs;
  }

  monotonicMs(): number {
    return this.#machine.monotonicMs();
  }

  /**
   * Compares it with the database's.
   *
   * @param databaseMs its time, between now and `roundTripMs` ago.
   */
  compare(databaseMs: number, roundTripMs: number): void {
    // Of an answer that took so long, the time is not known well.
    if (roundTripMs >= AHEAD_MS_MIN) return;
    const nowMs = this.nowMs();
    const aheadMs = Math.max(nowMs - roundTripMs - databaseMs, 0) || Math.min(nowMs - databaseMs, 0);
    if (Math.abs(aheadMs) < AHEAD_MS_MIN) return;
    this.#aheadMs += Math.round(aheadMs);
    this.#onSet(this.#aheadMs);
  }
}
