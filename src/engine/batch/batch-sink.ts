import type { Chunk } from '../../core/chunk.js';
import type { Series, SeriesReference } from '../../core/series.js';
import { copyInto } from '../../kernels/columns.js';
import type { Inlet, Sink } from '../graph/node.js';
import { takeColumn } from './free-list.js';

/** Gathers the results of one item of a batch in arrays that will belong to the caller. */
export class BatchSink implements Sink {
  readonly #reference: SeriesReference;
  readonly #timeMs: GatheredColumn;
  readonly #value: GatheredColumn;
  readonly #sharesTimes: boolean;
  /** The input's array of times, as long as the results have exactly its times, from the first one on. */
  #inputTimeMs: Float64Array | undefined;
  /** Whether the times that `take` returned are the input's own array. */
  isTimeShared = false;

  /**
   * @param expectedCount the likely number of samples; if it is exact, nothing is copied twice.
   * @param sharesTimes whether a result with all times of its input may use the input's own array of times.
   */
  constructor(reference: SeriesReference, expectedCount: number, sharesTimes: boolean) {
    this.#reference = reference;
    this.#timeMs = new GatheredColumn(expectedCount);
    this.#value = new GatheredColumn(expectedCount);
    this.#sharesTimes = sharesTimes;
  }

  receive(chunk: Chunk): void {
    if (!this.#hasInputTimes(chunk)) {
      const inputTimeMs = this.#inputTimeMs;
      if (inputTimeMs !== undefined) this.#timeMs.add(inputTimeMs, this.count());
      this.#inputTimeMs = undefined;
      this.#timeMs.add(chunk.timeMs, chunk.count);
    }
    this.#value.add(chunk.value, chunk.count);
  }

  count(): number {
    return this.#value.count;
  }

  take(): Series {
    const { timeseriesId, metric } = this.#reference;
    const inputTimeMs = this.#inputTimeMs;
    this.isTimeShared = inputTimeMs?.length === this.count();
    if (inputTimeMs !== undefined && !this.isTimeShared) this.#timeMs.add(inputTimeMs, this.count());
    const timeMs = inputTimeMs !== undefined && this.isTimeShared ? inputTimeMs : this.#timeMs.take();
    return { timeseriesId, metric, timeMs, value: this.#value.take() };
  }

  // Whether all times so far, including those of the chunk, are the input's.
  #hasInputTimes({ inputTimeMs }: Chunk): boolean {
    if (!this.#sharesTimes || inputTimeMs === undefined) return false;
    const count = this.count();
    const known = this.#inputTimeMs;
    if (count === 0) this.#inputTimeMs = inputTimeMs;
    else if (known === undefined) return false;
    else if (inputTimeMs.buffer !== known.buffer || inputTimeMs.byteOffset !== known.byteOffset + 8 * count)
      return false;
    return true;
  }
}

/** Counts the results of one item. */
export class CountingSink implements Inlet {
  #count = 0;

  receive(chunk: Chunk): void {
    this.#count += chunk.count;
  }

  count(): number {
    return this.#count;
  }
}

const FIRST_CAPACITY = 16;

/** One column of a result. */
class GatheredColumn {
  readonly #expectedCount: number;
  #column = new Float64Array(0);
  #count = 0;

  constructor(expectedCount: number) {
    this.#expectedCount = expectedCount;
  }

  get count(): number {
    return this.#count;
  }

  add(column: Float64Array, count: number): void {
    const end = this.#count + count;
    if (end > this.#column.length) this.#grow(end);
    copyInto(this.#count === 0 ? this.#column : this.#column.subarray(this.#count), column, count);
    this.#count = end;
  }

  /** The results in an array exactly as long as they are. */
  take(): Float64Array {
    return this.#column.length === this.#count ? this.#column : this.#column.slice(0, this.#count);
  }

  #grow(needed: number): void {
    const gathered = this.#column;
    const capacity = this.#count === 0 ? this.#expectedCount : 2 * gathered.length;
    this.#column = takeColumn(Math.max(needed, capacity, FIRST_CAPACITY));
    if (this.#count > 0) this.#column.set(gathered.subarray(0, this.#count));
  }
}
