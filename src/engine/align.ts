import type { Chunk } from '../core/chunk.js';
import { CHUNK_LENGTH } from '../core/chunk.js';
import { isSameTimes } from '../kernels/check.js';
import { scratchColumn } from '../kernels/columns.js';
import type { CombineRunner, State } from '../operations/operation.js';
import type { Align } from '../operations/two-inputs.js';
import { FIRST_TIMES, FIRST_VALUES, type Meeting, matchers, SECOND_TIMES, SECOND_VALUES } from './match.js';
import { copyInto, deliverFinite, type Inlet, type Node, type NodeContext, newState, scratchChunk } from './node.js';

/** Pairs of values that have met, on their way into a combining operation. */
interface Pairs {
  add(timeMs: number, first: number, second: number): void;
  /** Keeps a chunk of an input (0 or 1) until its partner comes, which is most often the next call. */
  hold(input: 0 | 1, chunk: Chunk): void;
  /** Pairs the held chunk with one of the other input, if their times are the same; else false. */
  meet(input: 0 | 1, chunk: Chunk): boolean;
  /** Gives the held chunk up to the lists, where samples meet one by one. */
  spill(state: State): void;
  flush(): void;
}

/** A step with two inputs: samples wait in lists until the other side has come as far. */
export function combineNode(runner: CombineRunner, align: Align, maxHoldMs: number, context: NodeContext): Node {
  const { counts } = context;
  const outlets: Inlet[] = [];
  const state = newState(6, 4);
  const pairs = pairOutput(runner, outlets, context);
  const unmatched = (input: 0 | 1, count: number): void => {
    counts[input === 0 ? 'unmatchedFirst' : 'unmatchedSecond'] += count;
  };
  const meeting: Meeting = { state, pair: pairs.add, unmatched, maxHoldMs };
  const matcher = matchers[align];

  function inletOf(input: 0 | 1): Inlet {
    const times = state.lists[input === 0 ? FIRST_TIMES : SECOND_TIMES]!;
    const values = state.lists[input === 0 ? FIRST_VALUES : SECOND_VALUES]!;
    const otherTimes = state.lists[input === 0 ? SECOND_TIMES : FIRST_TIMES]!;
    return (chunk) => {
      counts.samplesIn += chunk.count;
      if (align === 'inner') {
        if (pairs.meet(input, chunk)) return;
        pairs.spill(state);
        if (times.length === 0 && otherTimes.length === 0) return pairs.hold(input, chunk);
      }
      times.append(chunk.timeMs, 0, chunk.count);
      values.append(chunk.value, 0, chunk.count);
      if (align === 'inner') matcher(meeting, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY);
    };
  }

  function advance(watermarksMs: readonly number[]): number {
    const [first = 0, second = 0] = watermarksMs;
    pairs.spill(state);
    matcher(meeting, first, second);
    pairs.flush();
    const { lists } = state;
    const firstWaits = lists[FIRST_TIMES]!.length > 0 ? lists[FIRST_TIMES]!.at(0) : first;
    const secondWaits = lists[SECOND_TIMES]!.length > 0 ? lists[SECOND_TIMES]!.at(0) : second;
    return Math.min(first, second, firstWaits, secondWaits);
  }

  function close(): void {
    pairs.spill(state);
    matcher(meeting, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
    pairs.flush();
    const { lists } = state;
    unmatched(0, lists[FIRST_TIMES]!.length);
    unmatched(1, align === 'asof' ? 0 : lists[SECOND_TIMES]!.length);
    for (const list of lists) list.clear();
  }

  return { inlets: [inletOf(0), inletOf(1)], outlets, advance, close, state };
}

function pairOutput(runner: CombineRunner, outlets: readonly Inlet[], context: NodeContext): Pairs {
  const { counts } = context;
  const spare = scratchChunk(context);
  const own = scratchChunk(context);
  const second = scratchColumn(context.nextColumn());
  const result: Chunk = { ...own };
  // The held chunk's values lie in the columns above; `heldCount` 0 means that there is none.
  let heldInput: 0 | 1 = 0;
  let heldTimes = own.timeMs;
  let heldCount = 0;

  function combine(timeMs: Float64Array, areTimesLasting: boolean, right: Float64Array, count: number): void {
    const isAllFinite = runner.apply(own.value, right, count);
    result.timeMs = timeMs;
    result.areTimesLasting = areTimesLasting;
    result.count = count;
    deliverFinite(outlets, result, spare, counts, isAllFinite);
  }

  function flush(): void {
    const { count } = own;
    own.count = 0;
    if (count > 0) combine(own.timeMs, false, second, count);
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
    if (own.count === CHUNK_LENGTH) flush();
  }

  function hold(input: 0 | 1, chunk: Chunk): void {
    flush();
    heldInput = input;
    heldCount = chunk.count;
    copyInto(input === 0 ? own.value : second, chunk.value, chunk.count);
    heldTimes = chunk.areTimesLasting ? chunk.timeMs : own.timeMs;
    if (!chunk.areTimesLasting) copyInto(own.timeMs, chunk.timeMs, chunk.count);
  }

  function meet(input: 0 | 1, chunk: Chunk): boolean {
    const { timeMs, value, count } = chunk;
    if (heldCount !== count || heldInput === input) return false;
    const isSameColumn = timeMs.buffer === heldTimes.buffer && timeMs.byteOffset === heldTimes.byteOffset;
    if (!isSameColumn && !isSameTimes(heldTimes, timeMs, count)) return false;
    heldCount = 0;
    if (input === 0) copyInto(own.value, value, count);
    combine(timeMs, chunk.areTimesLasting, input === 0 ? second : value, count);
    return true;
  }

  function spill({ lists }: State): void {
    if (heldCount === 0) return;
    lists[heldInput === 0 ? FIRST_TIMES : SECOND_TIMES]!.append(heldTimes, 0, heldCount);
    lists[heldInput === 0 ? FIRST_VALUES : SECOND_VALUES]!.append(heldInput === 0 ? own.value : second, 0, heldCount);
    heldCount = 0;
  }

  return { add, flush, hold, meet, spill };
}
