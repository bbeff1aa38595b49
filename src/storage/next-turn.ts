import type { InTurns } from '../core/turns.js';

/** A turn of the event loop, in which others are answered. A transaction may await it: it comes by itself. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A long list, with a turn of the event loop after every so many values: as many should take some ten milliseconds. */
export async function* inTurns<Value>(values: Iterable<Value>, valuesATurn: number): AsyncGenerator<Value> {
  let count = 0;
  for (const value of values) {
    if (count > 0 && count % valuesATurn === 0) await nextTurn();
    count++;
    yield value;
  }
}

/** Does work that stops on the way, with a turn of the event loop wherever it does. */
export async function inPauses<Result>(work: InTurns<Result>): Promise<Result> {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    await nextTurn();
  }
}
