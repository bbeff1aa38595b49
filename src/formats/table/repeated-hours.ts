import type { Zone } from '../../core/zone.js';

/** The last time of a series near a clock change. */
interface Last {
  timeMs: number;
  isFalling: boolean;
}

/**
 * Tells apart local times that occur twice, when clocks go back, by the order of each series: the second 02:15 comes
 * after the first 02:45, or before it if times fall. Must get all local times near a change, in order.
 */
export class RepeatedHours {
  readonly #zone: Zone;
  readonly #last = new Map<number, Last>();

  constructor(zone: Zone) {
    this.#zone = zone;
  }

  /** The instant of a local time that was read as its first occurrence. */
  settle(series: number, firstMs: number): number {
    const last = this.#last.get(series);
    const timeMs = last === undefined ? firstMs : this.#choose(firstMs, last);
    if (last === undefined) this.#last.set(series, { timeMs, isFalling: false });
    else {
      if (timeMs !== last.timeMs) last.isFalling = timeMs < last.timeMs;
      last.timeMs = timeMs;
    }
    return timeMs;
  }

  #choose(firstMs: number, last: Last): number {
    if (firstMs > last.timeMs) return firstMs;
    const [, secondMs = firstMs] = this.#zone.instantsOf(firstMs + this.#zone.offsetMsAt(firstMs));
    return secondMs >= last.timeMs && last.isFalling ? firstMs : secondMs;
  }
}
