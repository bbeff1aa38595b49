import type { Chunk } from '../core/chunk.js';
import type { Series, SeriesReference } from '../core/series.js';

/** Gathers the results of one item. */
export interface Sink {
  readonly inlet: (chunk: Chunk) => void;
  /** What has come since this was last asked, in columns of its own (or the caller's times, where they fit). */
  readonly take: () => Series;
  readonly count: () => number;
}

/** Columns that an earlier run no longer needs: room that the system need not hand out afresh. */
export interface SpareColumns {
  readonly timeMs: Float64Array | undefined;
  readonly value: Float64Array | undefined;
}

const FIRST_CAPACITY = 16;
/** A stream gives back more room than this once it is no longer needed. */
const KEPT_CAPACITY_MAX = 65_536;

/** Gathers what becomes final in one call of a stream, in columns that it keeps from call to call. */
export function createStreamSink({ timeseriesId, metric }: SeriesReference): Sink {
  let timeMs = new Float64Array(FIRST_CAPACITY);
  let value = new Float64Array(FIRST_CAPACITY);
  let count = 0;

  function inlet(chunk: Chunk): void {
    const end = count + chunk.count;
    if (end > value.length) {
      timeMs = grown(timeMs, count, end);
      value = grown(value, count, end);
    }
    write(timeMs, count, chunk.timeMs, chunk.count);
    write(value, count, chunk.value, chunk.count);
    count = end;
  }

  function take(): Series {
    const series = { timeseriesId, metric, timeMs: timeMs.slice(0, count), value: value.slice(0, count) };
    count = 0;
    if (value.length > KEPT_CAPACITY_MAX) {
      timeMs = new Float64Array(FIRST_CAPACITY);
      value = new Float64Array(FIRST_CAPACITY);
    }
    return series;
  }

  return { inlet, take, count: () => count };
}

function grown(column: Float64Array, count: number, needed: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(Math.max(needed, 2 * column.length));
  larger.set(column.subarray(0, count));
  return larger;
}

// Columns that batches have handed out. Results may share the caller's times, which no reuse may write to.
const handedOut = new WeakSet<ArrayBufferLike>();

// The whole column behind a result of an earlier run, when it is ours and large enough; else a new one.
function roomFor(length: number, spare: Float64Array | undefined): Float64Array {
  const isUsable = spare !== undefined && handedOut.has(spare.buffer) && spare.buffer.byteLength >= 8 * length;
  return isUsable ? new Float64Array(spare.buffer) : new Float64Array(length);
}

/**
 * Gathers the results of a batch, and hands over its columns.
 *
 * @param capacityHint how many samples may come, so that columns need not grow.
 * @param spare columns to write to, when they are large enough.
 */
export function createBatchSink(output: SeriesReference, capacityHint: number, spare?: SpareColumns): Sink {
  let timeMs: Float64Array = new Float64Array(0);
  let value: Float64Array = new Float64Array(0);
  let count = 0;
  // While every chunk's times follow each other in one array of the caller's, they are not copied.
  let shared: Float64Array | undefined;

  function makeRoom(needed: number): void {
    if (value.length === 0) value = roomFor(Math.max(needed, capacityHint, FIRST_CAPACITY), spare?.value);
    if (needed > value.length) value = grown(value, count, needed);
    if (shared !== undefined || timeMs.length >= needed) return;
    timeMs = timeMs.length === 0 ? roomFor(value.length, spare?.timeMs) : grown(timeMs, count, value.length);
  }

  function inlet(chunk: Chunk): void {
    const end = count + chunk.count;
    const before = shared;
    if (count === 0 && chunk.areTimesLasting) shared = chunk.timeMs;
    else if (shared !== undefined && !follows(shared, count, chunk)) shared = undefined;
    makeRoom(end);
    if (before !== undefined && shared === undefined) timeMs.set(firstOf(before, count));
    if (shared === undefined) write(timeMs, count, chunk.timeMs, chunk.count);
    write(value, count, chunk.value, chunk.count);
    count = end;
  }

  function take(): Series {
    const { timeseriesId, metric } = output;
    const times = shared === undefined ? handOver(timeMs, count) : firstOf(shared, count);
    return { timeseriesId, metric, timeMs: times, value: handOver(value, count) };
  }

  return { inlet, take, count: () => count };
}

function firstOf(shared: Float64Array, count: number): Float64Array {
  return new Float64Array(shared.buffer, shared.byteOffset, count);
}

function follows(shared: Float64Array, count: number, chunk: Chunk): boolean {
  const { buffer, byteOffset } = chunk.timeMs;
  return chunk.areTimesLasting && buffer === shared.buffer && byteOffset === shared.byteOffset + 8 * count;
}

function write(target: Float64Array, at: number, source: Float64Array, count: number): void {
  if (count < 32) for (let i = 0; i < count; i++) target[at + i] = source[i]!;
  else target.set(source.length === count ? source : source.subarray(0, count), at);
}

// Room that was never written takes no memory, so a view is cheap; but small results should not hold large columns.
function handOver(column: Float64Array, count: number): Float64Array {
  const kept = count * 4 >= column.length ? column.subarray(0, count) : column.slice(0, count);
  handedOut.add(kept.buffer);
  return kept;
}
