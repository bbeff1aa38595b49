import type { Chunk } from '../../core/chunk.js';
import { DoubleList } from '../../core/list.js';
import type { Series, SeriesReference } from '../../core/series.js';
import type { Sink } from '../graph/node.js';

/** Gathers what becomes final in one call of a stream, in lists that keep their memory from call to call. */
export class StreamSink implements Sink {
  readonly #reference: SeriesReference;
  readonly #timeMs = new DoubleList();
  readonly #value = new DoubleList();

  constructor(reference: SeriesReference) {
    this.#reference = reference;
  }

  receive(chunk: Chunk): void {
    this.#timeMs.append(chunk.timeMs, 0, chunk.count);
    this.#value.append(chunk.value, 0, chunk.count);
  }

  take(): Series {
    const { timeseriesId, metric } = this.#reference;
    return { timeseriesId, metric, timeMs: this.#timeMs.take(), value: this.#value.take() };
  }

  count(): number {
    return this.#value.length;
  }
}
