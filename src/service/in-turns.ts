// As many events are looked up at once, and take some ten milliseconds to store.
const PART_LENGTH = 200;

/** A long list in parts, with a turn of the event loop between two, so that others are answered meanwhile. */
export async function* inTurns<Value>(values: readonly Value[]): AsyncGenerator<readonly Value[]> {
  for (let start = 0; start < values.length; start += PART_LENGTH) {
    if (start > 0) await new Promise((resolve) => setImmediate(resolve));
    yield values.slice(start, start + PART_LENGTH);
  }
}
