/**
 * A long list, with a turn of the event loop after every so many values, so that others are answered meanwhile: what is
 * done with as many should take some ten milliseconds. A transaction may await it, for a turn comes by itself.
 */
export async function* inTurns<Value>(values: Iterable<Value>, valuesATurn: number): AsyncGenerator<Value> {
  let count = 0;
  for (const value of values) {
    if (count > 0 && count % valuesATurn === 0) await new Promise((resolve) => setImmediate(resolve));
    count++;
    yield value;
  }
}
