import type { Chunk } from '../../core/chunk.js';
import type { Series, SeriesReference } from '../../core/series.js';
import type { Sink } from '../graph/node.js';

const FIRST_CAPACITY = 16;
/** A stream gives back more room than this once it is no longer needed. */
const KEPT_CAPACITY_MAX = 65_536;
/** Fewer numbers are copied as fast one by one. */
const COPIED_MIN = 32;

/** Gathers what becomes final in one call of a stream, in columns that it keeps from call to call. */
export class StreamSink implements Sink {
  readonly #reference: SeriesReference;
  #timeMs = new Float64Array(FIRST_CAPACITY);
  #value = new Float64Array(FIRST_CAPACITY);
  #count = 0;

  constructor(reference: SeriesReference) {
    this.#reference = reference;
  }

  receive(chunk: Chunk): void {
    const count = this.#count;
    const end = count + chunk.count;
    if (end > this.#value.length) {
      this.#timeMs = grown(this.#timeMs, count, end);
      this.#value = grown(this.#value, count, end);
    }
    write(this.#timeMs, count, chunk.timeMs, chunk.count);
    write(this.#value, count, chunk.value, chunk.count);
    this.#count = end;
  }

  take(): Series {
    const { timeseriesId, metric } = this.#reference;
    const timeMs = firstCopied(this.#timeMs, this.#count);
    const value = firstCopied(this.#value, this.#count);
    this.#count = 0;
    if (this.#value.length > KEPT_CAPACITY_MAX) {
      this.#timeMs = new Float64Array(FIRST_CAPACITY);
      this.#value = new Float64Array(FIRST_CAPACITY);
    }
    return { timeseriesId, metric, timeMs, value };
  }

  count(): number {
    return this.#count;
  }
}

function firstCopied(column: Float64Array, count: number): Float64Array {
  if (count >= COPIED_MIN) return column.slice(0, count);
  const copy = new Float64Array(count);
  for (let i = 0; i < count; i++) copy[i] = column[i]!;
  return copy;
}

function grown(column: Float64Array, count: number, needed: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(Math.max(needed, 2 * column.length));
  larger.set(column.subarray(0, count));
  return larger;
}

function write(target: Float64Array, at: number, source: Float64Array, count: number): void {
  if (count < COPIED_MIN) for (let i = 0; i < count; i++) target[at + i] = source[i]!;
  else target.set(source.length === count ? source : source.subarray(0, count), at);
}
