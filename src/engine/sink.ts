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
  readonly timeMs: Float64Array;
  readonly value: Float64Array;
}

const FIRST_CAPACITY = 64;

// Memory that this file has handed out. Results may share the caller's times, which no reuse may write to.
const ownBuffers = new WeakSet<ArrayBufferLike>();

function newColumn(length: number): Float64Array {
  const column = new Float64Array(length);
  ownBuffers.add(column.buffer);
  return column;
}

// The whole column behind a result of an earlier run, when it is ours and large enough.
function spareColumn(column: Float64Array | undefined, length: number): Float64Array | undefined {
  if (column === undefined || !ownBuffers.has(column.buffer)) return undefined;
  return column.buffer.byteLength >= 8 * length ? new Float64Array(column.buffer) : undefined;
}

/**
 * @param capacityHint how many samples are likely to come, so that columns need not grow.
 * @param spare columns to write to, when they are large enough.
 */
export function createSink(output: SeriesReference, capacityHint: number, spare?: SpareColumns): Sink {
  let timeMs: Float64Array = new Float64Array(0);
  let value: Float64Array = new Float64Array(0);
  let count = 0;
  // While every chunk's times follow each other in one array of the caller's, they are not copied.
  let shared: Chunk['timeMs'] | undefined;

  function firstRoom(needed: number): void {
    const capacity = Math.max(needed, capacityHint, FIRST_CAPACITY);
    value = spareColumn(spare?.value, capacity) ?? newColumn(capacity);
  }

  function grow(needed: number): void {
    if (value.length === 0) firstRoom(needed);
    if (needed <= value.length) return;
    const grown = newColumn(Math.max(needed, 2 * value.length));
    grown.set(value.subarray(0, count));
    value = grown;
  }

  function growTimes(needed: number): void {
    if (needed <= timeMs.length) return;
    const room = timeMs.length === 0 ? spareColumn(spare?.timeMs, value.length) : undefined;
    const grown = room ?? newColumn(value.length);
    grown.set(timeMs.subarray(0, count));
    timeMs = grown;
  }

  function inlet(chunk: Chunk): void {
    const end = count + chunk.count;
    grow(end);
    if (count === 0 && chunk.areTimesLasting) shared = chunk.timeMs;
    else if (shared !== undefined && !follows(shared, count, chunk)) {
      growTimes(end);
      timeMs.set(new Float64Array(shared.buffer, shared.byteOffset, count));
      shared = undefined;
    }
    if (shared === undefined) {
      growTimes(end);
      write(timeMs, count, chunk.timeMs, chunk.count);
    }
    write(value, count, chunk.value, chunk.count);
    count = end;
  }

  function take(): Series {
    const times = shared === undefined ? cut(timeMs, count) : new Float64Array(shared.buffer, shared.byteOffset, count);
    const series = {
      timeseriesId: output.timeseriesId,
      metric: output.metric,
      timeMs: times,
      value: cut(value, count),
    };
    timeMs = new Float64Array(0);
    value = new Float64Array(0);
    count = 0;
    shared = undefined;
    return series;
  }

  return { inlet, take, count: () => count };
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
function cut(column: Float64Array, count: number): Float64Array {
  if (count === column.length) return column;
  if (count * 4 >= column.length) return column.subarray(0, count);
  const small = newColumn(count);
  small.set(column.subarray(0, count));
  return small;
}
