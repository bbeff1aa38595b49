import { CHUNK_LENGTH, type Chunk } from '../../core/chunk.js';
import type { Series, SeriesReference } from '../../core/series.js';
import type { Inlet } from '../graph/node.js';
import { lendColumn, takeColumn } from '../lent-columns.js';
import { freeRoom, isRoom, lendRoom, takeRoom } from '../result-rooms.js';

/** Gathers the results of one item. */
export interface Sink extends Inlet {
  /** What has come since this was last asked, in columns of its own (or the caller's times, where they fit). */
  take(): Series;
  count(): number;
}

/** Columns that an earlier run no longer needs: room that the system need not hand out afresh. */
export interface SpareColumns {
  readonly timeMs: Float64Array | undefined;
  readonly value: Float64Array | undefined;
}

const FIRST_CAPACITY = 16;
/** Results that are fewer are copied as fast. */
const ROOM_LENGTH_MIN = CHUNK_LENGTH;
/** A stream gives back more room than this once it is no longer needed. */
const KEPT_CAPACITY_MAX = 65_536;

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
  if (count >= 32) return column.slice(0, count);
  const copy = new Float64Array(count);
  for (let i = 0; i < count; i++) copy[i] = column[i]!;
  return copy;
}

function grown(column: Float64Array, count: number, needed: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(Math.max(needed, 2 * column.length));
  larger.set(column.subarray(0, count));
  return larger;
}

// Results that are whole columns of ours, each to be reused once: then another result lies there.
const handedOut = new WeakSet<Float64Array>();
// What two results hold now, which no reuse may write to.
const sharedBuffers = new WeakSet<ArrayBufferLike>();

// The whole column behind a result of an earlier run, when it is ours and large enough; else a new one.
function roomFor(length: number, spare: Float64Array | undefined): Float64Array {
  if (spare === undefined || freeRoom(spare) || !handedOut.delete(spare)) return columnFor(length);
  const isUsable = !sharedBuffers.has(spare.buffer) && spare.buffer.byteLength >= 8 * length;
  return isUsable ? new Float64Array(spare.buffer) : columnFor(length);
}

function columnFor(length: number): Float64Array {
  return (length >= ROOM_LENGTH_MIN ? takeRoom(length) : undefined) ?? takeColumn(length);
}

/** Gathers the results of a batch, and hands over its columns. */
export class BatchSink implements Sink {
  readonly #reference: SeriesReference;
  readonly #timeMs: GatheredColumn;
  readonly #value: GatheredColumn;

  /**
   * @param capacityHint how many samples may come, so that columns need not grow.
   * @param spare columns to write to, when they are large enough.
   */
  constructor(reference: SeriesReference, capacityHint: number, spare?: SpareColumns) {
    this.#reference = reference;
    this.#timeMs = new GatheredColumn(capacityHint, spare?.timeMs);
    this.#value = new GatheredColumn(capacityHint, spare?.value);
  }

  receive(chunk: Chunk): void {
    this.#timeMs.add(chunk.timeMs, chunk.count, chunk.lastingTimeMs);
    this.#value.add(chunk.value, chunk.count, chunk.lastingValue);
  }

  placeFor(column: 'timeMs' | 'value', count: number): Float64Array | undefined {
    return (column === 'value' ? this.#value : this.#timeMs).place(count);
  }

  take(): Series {
    const { timeseriesId, metric } = this.#reference;
    return { timeseriesId, metric, timeMs: this.#timeMs.take(), value: this.#value.take() };
  }

  count(): number {
    return this.#value.count;
  }
}

const NO_ROOM = new Float64Array(0);

/** One column of a result. While all that comes follows in one array of the caller's, nothing is copied. */
class GatheredColumn {
  readonly #capacityHint: number;
  readonly #spare: Float64Array | undefined;
  #own: Float64Array = NO_ROOM;
  #shared: Float64Array | undefined;
  #placed: Float64Array | undefined;
  #count = 0;

  constructor(capacityHint: number, spare: Float64Array | undefined) {
    this.#capacityHint = capacityHint;
    this.#spare = spare;
  }

  get count(): number {
    return this.#count;
  }

  add(column: Float64Array, added: number, lasting: Float64Array | undefined): void {
    const count = this.#count;
    const end = count + added;
    const shared = count === 0 ? lasting : this.#shared;
    if (shared !== undefined && (count === 0 || follows(shared, count, column, added, lasting))) {
      this.#shared = shared;
    } else {
      this.#makeRoom(end);
      if (shared !== undefined) this.#own.set(firstOf(shared, count));
      this.#shared = undefined;
      if (column !== this.#placed) write(this.#own, count, column, added);
    }
    this.#placed = undefined;
    this.#count = end;
  }

  /** Where so many entries more will lie, in room where kernels can write them. */
  place(added: number): Float64Array | undefined {
    const count = this.#count;
    const end = count + added;
    if (this.#shared !== undefined || Math.max(end, this.#capacityHint) < ROOM_LENGTH_MIN) return undefined;
    if (this.#own.length === 0) this.#makeRoom(end);
    if (end > this.#own.length || !isRoom(this.#own)) return undefined;
    this.#placed = this.#own.subarray(count, end);
    return this.#placed;
  }

  take(): Float64Array {
    const shared = this.#shared;
    if (shared === undefined) return handOver(this.#own, this.#count);
    // It may be a result of an earlier run.
    sharedBuffers.add(shared.buffer);
    return firstOf(shared, this.#count);
  }

  #makeRoom(needed: number): void {
    const own = this.#own;
    if (needed <= own.length) return;
    if (own.length === 0) {
      this.#own = roomFor(Math.max(needed, this.#capacityHint, FIRST_CAPACITY), this.#spare);
      return;
    }
    this.#own = columnFor(Math.max(needed, 2 * own.length));
    this.#own.set(own.subarray(0, this.#count));
  }
}

function firstOf(shared: Float64Array, count: number): Float64Array {
  return new Float64Array(shared.buffer, shared.byteOffset, count);
}

/** So few samples between two chunks of the caller's are looked at one by one. */
const FEW = 4;

// Whether what comes is what follows in the shared array: it lies there, or it is a few numbers and they are the same.
function follows(
  shared: Float64Array,
  count: number,
  column: Float64Array,
  added: number,
  lasting: Float64Array | undefined,
): boolean {
  if (lasting !== undefined) {
    return lasting.buffer === shared.buffer && lasting.byteOffset === shared.byteOffset + 8 * count;
  }
  if (added > FEW || count + added > shared.length) return false;
  for (let i = 0; i < added; i++) if (!Object.is(shared[count + i], column[i])) return false;
  return true;
}

function write(target: Float64Array, at: number, source: Float64Array, count: number): void {
  if (count < 32) for (let i = 0; i < count; i++) target[at + i] = source[i]!;
  else target.set(source.length === count ? source : source.subarray(0, count), at);
}

// Room that was never written takes no memory, so a view is cheap; but small results should not hold large columns.
function handOver(column: Float64Array, count: number): Float64Array {
  if (isRoom(column)) return lendRoom(column, count);
  if (count === 0) return new Float64Array(0);
  const kept = count * 4 >= column.length ? column : column.slice(0, count);
  const view = lendColumn(kept, count);
  handedOut.add(view);
  return view;
}
