import type { Chunk } from '../core/chunk.js';
import { CHUNK_LENGTH } from '../core/chunk.js';
import { isSameTimes } from '../kernels/check.js';
import { scratchColumn } from '../kernels/columns.js';
import { lerp } from '../kernels/interpolate.js';
import type { CombineRunner, State } from '../operations/operation.js';
import type { Align } from '../operations/two-inputs.js';
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

/** What an alignment works on. Lists: times and values not yet met, of the first input and of the second. */
export interface Meeting {
  readonly state: State;
  readonly pairs: Pairs;
  /** Counts samples of an input (0 or 1) that stay without a partner. */
  readonly unmatched: (input: 0 | 1, count: number) => void;
  readonly maxHoldMs: number;
}

/** Brings on what can be decided when no sample before the watermarks will come any more. */
export type Matcher = (meeting: Meeting, firstWatermarkMs: number, secondWatermarkMs: number) => void;

export const FIRST_TIMES = 0;
export const FIRST_VALUES = 1;
export const SECOND_TIMES = 2;
export const SECOND_VALUES = 3;

/** A step with two inputs: samples wait in lists until the other side has come as far. */
export function combineNode(
  runner: CombineRunner,
  align: Align,
  matcher: Matcher,
  maxHoldMs: number,
  context: NodeContext,
): Node {
  const { counts } = context;
  const outlets: Inlet[] = [];
  const state = newState(6, 4);
  const pairs = pairOutput(runner, outlets, context);
  const unmatched = (input: 0 | 1, count: number): void => {
    counts[input === 0 ? 'unmatchedFirst' : 'unmatchedSecond'] += count;
  };
  const meeting: Meeting = { state, pairs, unmatched, maxHoldMs };

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

// State of the held alignments: the last sample of each input that has been passed.
const HAS_FIRST = 0;
const FIRST_MS = 1;
const FIRST_VALUE = 2;
const HAS_SECOND = 3;
const SECOND_MS = 4;
const SECOND_VALUE = 5;

/** Equal times alone. */
const matchInner: Matcher = ({ state, pairs, unmatched }, firstWatermarkMs, secondWatermarkMs) => {
  const [firstTimes, firstValues, secondTimes, secondValues] = lists(state);
  let i = 0;
  let j = 0;
  let alone = 0;
  let otherAlone = 0;
  while (i < firstTimes.length && j < secondTimes.length) {
    const a = firstTimes.at(i);
    const b = secondTimes.at(j);
    if (a === b) pairs.add(a, firstValues.at(i++), secondValues.at(j++));
    else if (a < b) {
      i++;
      alone++;
    } else {
      j++;
      otherAlone++;
    }
  }
  // One list is used up: in the other, what lies before its watermark will meet nobody.
  for (; i < firstTimes.length && firstTimes.at(i) < secondWatermarkMs; i++) alone++;
  for (; j < secondTimes.length && secondTimes.at(j) < firstWatermarkMs; j++) otherAlone++;
  unmatched(0, alone);
  unmatched(1, otherAlone);
  drop(state, i, j);
};

/** At every time of either input, each side holding its last value. */
const matchHold: Matcher = (meeting, firstWatermarkMs, secondWatermarkMs) => {
  const { state, pairs, unmatched, maxHoldMs } = meeting;
  const { slots } = state;
  const [firstTimes, firstValues, secondTimes, secondValues] = lists(state);
  const limitMs = Math.min(firstWatermarkMs, secondWatermarkMs);
  let i = 0;
  let j = 0;
  for (;;) {
    const a = i < firstTimes.length ? firstTimes.at(i) : Number.POSITIVE_INFINITY;
    const b = j < secondTimes.length ? secondTimes.at(j) : Number.POSITIVE_INFINITY;
    const t = Math.min(a, b);
    if (!(t < limitMs)) break;
    if (a === t) pass(slots, HAS_FIRST, t, firstValues.at(i++));
    if (b === t) pass(slots, HAS_SECOND, t, secondValues.at(j++));
    const isKnown = slots[HAS_FIRST] === 1 && slots[HAS_SECOND] === 1;
    const ageMs = t - Math.min(slots[FIRST_MS]!, slots[SECOND_MS]!);
    if (isKnown && ageMs <= maxHoldMs) pairs.add(t, slots[FIRST_VALUE]!, slots[SECOND_VALUE]!);
    else unmatched(a === t ? 0 : 1, 1);
  }
  drop(state, i, j);
};

/** At the times of the first input, with the second's latest sample at or before. */
const matchAsof: Matcher = (meeting, firstWatermarkMs, secondWatermarkMs) => {
  const { state, pairs, unmatched, maxHoldMs } = meeting;
  const { slots } = state;
  const [firstTimes, firstValues, secondTimes, secondValues] = lists(state);
  let i = 0;
  let j = 0;
  const passTo = (t: number): void => {
    while (j < secondTimes.length && secondTimes.at(j) <= t) {
      pass(slots, HAS_SECOND, secondTimes.at(j), secondValues.at(j));
      j++;
    }
  };
  for (; i < firstTimes.length && firstTimes.at(i) < secondWatermarkMs; i++) {
    const t = firstTimes.at(i);
    passTo(t);
    const isKnown = slots[HAS_SECOND] === 1 && t - slots[SECOND_MS]! <= maxHoldMs;
    if (isKnown) pairs.add(t, firstValues.at(i), slots[SECOND_VALUE]!);
    else unmatched(0, 1);
  }
  // Samples of the first input yet to come lie at or after its watermark: before it only the last counts.
  if (i === firstTimes.length) passTo(firstWatermarkMs);
  drop(state, i, j);
};

/** At every time of either input that lies between known samples of the other. */
const matchLinear: Matcher = (meeting, firstWatermarkMs, secondWatermarkMs) => {
  const { state, pairs, unmatched } = meeting;
  const { slots } = state;
  const [firstTimes, firstValues, secondTimes, secondValues] = lists(state);
  let i = 0;
  let j = 0;
  while (i < firstTimes.length || j < secondTimes.length) {
    const a = i < firstTimes.length ? firstTimes.at(i) : Number.POSITIVE_INFINITY;
    const b = j < secondTimes.length ? secondTimes.at(j) : Number.POSITIVE_INFINITY;
    const t = Math.min(a, b);
    if (a === b) {
      pairs.add(t, firstValues.at(i), secondValues.at(j));
    } else {
      const isFirst = a < b;
      const hasOther = slots[isFirst ? HAS_SECOND : HAS_FIRST] === 1;
      const otherNextMs = isFirst ? b : a;
      const otherWatermarkMs = isFirst ? secondWatermarkMs : firstWatermarkMs;
      const isOtherNextKnown = otherNextMs !== Number.POSITIVE_INFINITY;
      const isOtherEnded = otherWatermarkMs === Number.POSITIVE_INFINITY;
      if (!isOtherNextKnown && !isOtherEnded && (hasOther || !(t < otherWatermarkMs))) break;
      if (!hasOther || !isOtherNextKnown) unmatched(isFirst ? 0 : 1, 1);
      else if (isFirst) pairs.add(t, firstValues.at(i), between(slots, HAS_SECOND, b, secondValues.at(j), t));
      else pairs.add(t, between(slots, HAS_FIRST, a, firstValues.at(i), t), secondValues.at(j));
    }
    if (a === t) pass(slots, HAS_FIRST, t, firstValues.at(i++));
    if (b === t) pass(slots, HAS_SECOND, t, secondValues.at(j++));
  }
  drop(state, i, j);
};

export const matchers: Readonly<Record<Align, Matcher>> = {
  inner: matchInner,
  hold: matchHold,
  asof: matchAsof,
  linear: matchLinear,
};

function between(slots: Float64Array, side: number, nextMs: number, nextValue: number, t: number): number {
  const lastMs = slots[side + 1]!;
  return lerp(slots[side + 2]!, nextValue, (t - lastMs) / (nextMs - lastMs));
}

function pass(slots: Float64Array, side: number, timeMs: number, value: number): void {
  slots[side] = 1;
  slots[side + 1] = timeMs;
  slots[side + 2] = value;
}

type Four<T> = readonly [T, T, T, T];

function lists(state: State): Four<State['lists'][number]> {
  const [firstTimes, firstValues, secondTimes, secondValues] = state.lists;
  if (!firstTimes || !firstValues || !secondTimes || !secondValues) throw new Error('assertion failed: four lists');
  return [firstTimes, firstValues, secondTimes, secondValues];
}

function drop(state: State, firstCount: number, secondCount: number): void {
  state.lists[FIRST_TIMES]!.shift(firstCount);
  state.lists[FIRST_VALUES]!.shift(firstCount);
  state.lists[SECOND_TIMES]!.shift(secondCount);
  state.lists[SECOND_VALUES]!.shift(secondCount);
}
