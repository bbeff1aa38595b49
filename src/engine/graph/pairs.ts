import type { Chunk } from '../../core/chunk.js';
import { isSameTimes } from '../../kernels/check.js';
import { copyInto } from '../../kernels/columns.js';
import type { CombineRunner, State } from '../../operations/operation.js';
import { FIRST_TIMES, FIRST_VALUES, SECOND_TIMES, SECOND_VALUES } from './match.js';
import { chunkOver, deliverFinite, type Inlet, isFixed, type NodeContext, placeFor, scratchChunk } from './node.js';

/** Pairs of values that have met, on their way into a combining operation. */
export interface Pairs {
  add(timeMs: number, first: number, second: number): void;
  /** The column that the values of an input's next chunk would be kept in, while it is free. */
  placeFor(input: 0 | 1): Float64Array | undefined;
  /** Keeps a chunk of an input (0 or 1) until its partner comes, which is most often the next call. */
  hold(input: 0 | 1, chunk: Chunk): void;
  /** Pairs the held chunk with one of the other input, if their times are the same; else false. */
  meet(input: 0 | 1, chunk: Chunk): boolean;
  /** Gives the held chunk up to the lists, where samples meet one by one. */
  spill(state: State): void;
  /** Forgets all pairs and the held chunk. */
  clear(): void;
  flush(): void;
}

/** Gathers pairs for a combining operation, and hands its results on. */
export function createPairs(runner: CombineRunner, outlets: readonly Inlet[], context: NodeContext): Pairs {
  const { counts } = context;
  const spare = scratchChunk(context);
  const own = scratchChunk(context);
  const second = context.column();
  const result = chunkOver(own.timeMs, own.value);
  function combine(
    timeMs: Float64Array,
    lastingTimeMs: Float64Array | undefined,
    left: Float64Array,
    right: Float64Array,
    count: number,
  ): void {
    result.value = placeFor(outlets, 'value', count) ?? own.value;
    const isAllFinite = runner.apply(left, right, count, result.value);
    result.timeMs = timeMs;
    result.lastingTimeMs = lastingTimeMs;
    result.count = count;
    deliverFinite(outlets, result, spare, counts, isAllFinite);
  }

  function flush(): void {
    const { count } = own;
    own.count = 0;
    if (count > 0) combine(own.timeMs, undefined, own.value, second, count);
  }

  function add(timeMs: number, first: number, secondValue: number): void {
    // Interpolation can overflow; such a pair has no result under any operation.
    if (!Number.isFinite(first) || !Number.isFinite(secondValue)) {
      counts.nonFinite++;
      return;
    }
    own.timeMs[own.count] = timeMs;
    own.value[own.count] = first;
    second[own.count] = secondValue;
    own.count++;
    if (own.count === own.timeMs.length) flush();
  }

  const held = createHeld(own, second, flush, combine);
  function clear(): void {
    own.count = 0;
    Object.assign(result, own); // the caller's own times are not held on to
    held.clear();
  }

  return { add, flush, clear, placeFor: held.placeFor, hold: held.hold, meet: held.meet, spill: held.spill };
}

type Combine = (
  timeMs: Float64Array,
  lastingTimeMs: Float64Array | undefined,
  left: Float64Array,
  right: Float64Array,
  count: number,
) => void;

// The chunk of one input that waits for its partner. Values that would not last are kept in the columns of the pairs,
// those of the first input in `own`.
function createHeld(
  own: Chunk,
  second: Float64Array,
  flush: () => void,
  combine: Combine,
): Pick<Pairs, 'placeFor' | 'hold' | 'meet' | 'spill' | 'clear'> {
  const columns = [own.value, second] as const;
  let heldInput: 0 | 1 = 0;
  let heldTimes = own.timeMs;
  let heldValues = own.value;
  let heldCount = 0;

  function placeFor(input: 0 | 1): Float64Array | undefined {
    const isFree = own.count === 0 && (heldCount === 0 || heldInput !== input);
    return isFree ? columns[input] : undefined;
  }

  function hold(input: 0 | 1, chunk: Chunk): void {
    flush();
    heldInput = input;
    heldCount = chunk.count;
    heldValues = isFixed(chunk) ? chunk.value : columns[input];
    if (heldValues !== chunk.value) copyInto(heldValues, chunk.value, chunk.count);
    heldTimes = chunk.lastingTimeMs ?? own.timeMs;
    if (chunk.lastingTimeMs === undefined) copyInto(own.timeMs, chunk.timeMs, chunk.count);
  }

  function meet(input: 0 | 1, chunk: Chunk): boolean {
    const { timeMs, lastingTimeMs, value, count } = chunk;
    if (heldCount !== count || heldInput === input) return false;
    const isSameColumn =
      lastingTimeMs?.buffer === heldTimes.buffer && lastingTimeMs.byteOffset === heldTimes.byteOffset;
    if (!isSameColumn && !isSameTimes(heldTimes, timeMs, count)) return false;
    heldCount = 0;
    if (input === 0) combine(timeMs, lastingTimeMs, value, heldValues, count);
    else combine(timeMs, lastingTimeMs, heldValues, value, count);
    return true;
  }

  function spill({ lists }: State): void {
    if (heldCount === 0) return;
    lists[heldInput === 0 ? FIRST_TIMES : SECOND_TIMES]!.append(heldTimes, 0, heldCount);
    lists[heldInput === 0 ? FIRST_VALUES : SECOND_VALUES]!.append(heldValues, 0, heldCount);
    heldCount = 0;
  }

  function clear(): void {
    heldCount = 0;
    heldTimes = own.timeMs;
    heldValues = own.value;
  }

  return { placeFor, hold, meet, spill, clear };
}
