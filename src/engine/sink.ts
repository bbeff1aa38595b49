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
    value = spare !== undefined && spare.value.length >= capacity ? wholeOf(spare.value) : new Float64Array(capacity);
  }

  function grow(needed: number): void {
    if (value.length === 0) firstRoom(needed);
    if (needed <= value.length) return;
    const grown = new Float64Array(Math.max(needed, 2 * value.length));
    grown.set(value.subarray(0, count));
    value = grown;
  }

  function growTimes(needed: number): void {
    if (needed <= timeMs.length) return;
    const isSpareLarge = spare !== undefined && spare.timeMs.length >= value.length && timeMs.length === 0;
    const grown = isSpareLarge && shared === undefined ? wholeOf(spare.timeMs) : new Float64Array(value.length);
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
    const series = { timeseriesId: output.timeseriesId, metric: output.metric, timeMs: times, value: cut(value, count) };
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

function wholeOf(view: Float64Array): Float64Array {
  return new Float64Array(view.buffer, view.byteOffset, view.length);
}

function write(target: Float64Array, at: number, source: Float64Array, count: number): void {
  if (count < 32) for (let i = 0; i < count; i++) target[at + i] = source[i]!;
  else target.set(source.length === count ? source : source.subarray(0, count), at);
}

// A view would keep all of the room alive: cut where much of it is empty.
function cut(column: Float64Array, count: number): Float64Array {
  if (count === column.length) return column;
  return count * 8 >= column.length * 7 ? column.subarray(0, count) : column.slice(0, count);
}

