import type { InTurns } from '../core/turns.js';

/** Yields to the event loop, so that other requests are answered. A transaction may await it, as it always resolves. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
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

/** Maps a list that may be long; yields to the event loop after every `valuesPerTurn` values. */
export async function mapInTurns<Value, Result>(
  values: readonly Value[],
  valuesPerTurn: number,
  resultOf: (value: Value, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let i = 0; i < values.length; i++) {
    if (i > 0 && i % valuesPerTurn === 0) await nextTurn();
    results.push(resultOf(values[i]!, i));
  }
  return results;
}

/**
 * Counts work, in a unit of its caller's, and yields to the event loop once there was enough for a turn, which should
 * take about 10 ms.
 */
export function countWork(workPerTurn: number): (work: number) => Promise<void> | undefined {
  let done = 0;
  return (work) => {
    done += work;
    if (done < workPerTurn) return undefined;
    done = 0;
    return nextTurn();
  };
}

/**
 * Divides the work of many callers among turns of the event loop, each of which does so much of it: whoever comes too
 * late for one waits for the next. With `countWork`, all but one would go on in the same turn.
 */
export function shareTurns(workPerTurn: number): (work: number) => Promise<void> | undefined {
  let done = 0;
  let next: Promise<void> | undefined;
  const begin = async (work: number): Promise<void> => {
    while (done >= workPerTurn) {
      next ??= nextTurn().then(() => {
        done = 0;
        next = undefined;
      });
      await next;
    }
    done += work;
  };
  return (work) => {
    if (done >= workPerTurn) return begin(work);
    done += work;
    return undefined;
  };
}

/** Runs a generator to its end, and yields to the event loop at each `yield`. */
export async function inPauses<Result>(work: InTurns<Result>): Promise<Result> {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    await nextTurn();
  }
}
