import type { InTurns } from '../core/turns.js';

/** Yields to the event loop, so that other requests are answered. A transaction may await it, as it always resolves. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const TURN_MS_MIN = 1;
const TURN_MS_MAX = 10;

/**
 * Turns of background work in the event loop: each lasts as long as others had the thread since the one before, within
 * bounds. So the work gets half of the time at most while requests wait, and is not held up by long turns of theirs.
 */
export class BackgroundTurns {
  readonly #clock: { monotonicMs(): number };
  #endMs: number;
  #untilMs = 0;

  constructor(clock: { monotonicMs(): number }) {
    this.#clock = clock;
    this.#endMs = clock.monotonicMs();
  }

  begin(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#untilMs = nowMs + Math.min(Math.max(nowMs - this.#endMs, TURN_MS_MIN), TURN_MS_MAX);
  }

  get isOver(): boolean {
    return this.#clock.monotonicMs() >= this.#untilMs;
  }

  end(): void {
    this.#endMs = this.#clock.monotonicMs();
  }

  /** Lets others have the thread if the turn is over. */
  async pass(): Promise<void> {
    if (!this.isOver) return;
    this.end();
    await nextTurn();
    this.begin();
  }
}

/**
 * Iterates over a long list and yields to the event loop after every `valuesPerTurn` values, which should take about 10
 * ms.
 */
export async function* inTurns<Value>(values: Iterable<Value>, valuesPerTurn: number): AsyncGenerator<Value> {
  let count = 0;
  for (const value of values) {
    if (count > 0 && count % valuesPerTurn === 0) await nextTurn();
    count++;
    yield value;
  }
}

/** Runs a generator to its end, and yields to the event loop at each `yield`. */
export async function inPauses<Result>(work: InTurns<Result>): Promise<Result> {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    await nextTurn();
  }
}
