import { lerp } from '../../kernels/interpolate.js';
import type { State } from '../../operations/operation.js';
import type { Align } from '../../operations/two-inputs.js';

/** What a matcher works on. The lists of `state` hold the samples of both inputs that are yet to be paired. */
export interface MatchContext {
  readonly state: State;
  /** Takes a pair of values. */
  readonly pair: (timeMs: number, first: number, second: number) => void;
  /** Counts samples of an input (0 or 1) that stay without a partner. */
  readonly unmatched: (input: 0 | 1, count: number) => void;
  /** The greatest age of a held value. */
  readonly maxHoldMs: number;
  /** The longest gap to interpolate over. */
  readonly maxGapMs: number;
}

/** Pairs samples as far as that is certain, given that no sample before the watermarks is still to come. */
export type Matcher = (context: MatchContext, firstWatermarkMs: number, secondWatermarkMs: number) => void;

export const FIRST_TIMES = 0;
export const FIRST_VALUES = 1;
export const SECOND_TIMES = 2;
export const SECOND_VALUES = 3;

// Slots: the last sample of each input that has been passed.
const HAS_FIRST = 0;
const FIRST_MS = 1;
const FIRST_VALUE = 2;
const HAS_SECOND = 3;
const SECOND_MS = 4;
const SECOND_VALUE = 5;
const IS_USED = 0; // with asof: whether the second's last sample was looked up

/** At equal times only. */
const matchInner: Matcher = ({ state, pair, unmatched }, firstWatermarkMs, secondWatermarkMs) => {
  const [firstTimes, firstValues, secondTimes, secondValues] = lists(state);
  let i = 0;
  let j = 0;
  let alone = 0;
  let otherAlone = 0;
  while (i < firstTimes.length && j < secondTimes.length) {
    const a = firstTimes.at(i);
    const b = secondTimes.at(j);
    if (a === b) pair(a, firstValues.at(i++), secondValues.at(j++));
    else if (a < b) {
      i++;
      alone++;
    } else {
      j++;
      otherAlone++;
    }
  }
  // One list is empty now. Samples in the other that lie before that input's watermark will find no partner.
  for (; i < firstTimes.length && firstTimes.at(i) < secondWatermarkMs; i++) alone++;
  for (; j < secondTimes.length && secondTimes.at(j) < firstWatermarkMs; j++) otherAlone++;
  unmatched(0, alone);
  unmatched(1, otherAlone);
  drop(state, i, j);
};

/** At every time of either input, each side holding its last value. */
const matchHold: Matcher = ({ state, pair, unmatched, maxHoldMs }, firstWatermarkMs, secondWatermarkMs) => {
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
    if (isKnown && ageMs <= maxHoldMs) pair(t, slots[FIRST_VALUE]!, slots[SECOND_VALUE]!);
    else unmatched(a === t ? 0 : 1, 1);
  }
  drop(state, i, j);
};

/** At the times of the first input, with the second's latest sample at or before. */
const matchAsof: Matcher = ({ state, pair, unmatched, maxHoldMs }, firstWatermarkMs, secondWatermarkMs) => {
  const { slots } = state;
  const [firstTimes, firstValues, secondTimes, secondValues] = lists(state);
  let i = 0;
  let j = 0;
  let alone = 0;
  const passTo = (t: number): void => {
    while (j < secondTimes.length && secondTimes.at(j) <= t) {
      if (slots[HAS_SECOND] === 1 && slots[IS_USED] === 0) alone++;
      slots[IS_USED] = 0;
      pass(slots, HAS_SECOND, secondTimes.at(j), secondValues.at(j));
      j++;
    }
  };
  for (; i < firstTimes.length && firstTimes.at(i) < secondWatermarkMs; i++) {
    const t = firstTimes.at(i);
    passTo(t);
    const isKnown = slots[HAS_SECOND] === 1 && t - slots[SECOND_MS]! <= maxHoldMs;
    if (isKnown) {
      slots[IS_USED] = 1;
      pair(t, firstValues.at(i), slots[SECOND_VALUE]!);
    } else unmatched(0, 1);
  }
  // Samples of the first input still to come lie at or after its watermark, so of those before it only the last counts.
  if (i === firstTimes.length) passTo(firstWatermarkMs);
  if (firstWatermarkMs === Number.POSITIVE_INFINITY && slots[HAS_SECOND] === 1 && slots[IS_USED] === 0) alone++;
  unmatched(1, alone);
  drop(state, i, j);
};

/** At every time of either input that lies between known samples of the other. */
const matchLinear: Matcher = ({ state, pair, unmatched, maxGapMs }, firstWatermarkMs, secondWatermarkMs) => {
  const { slots } = state;
  const [firstTimes, firstValues, secondTimes, secondValues] = lists(state);
  let i = 0;
  let j = 0;
  while (i < firstTimes.length || j < secondTimes.length) {
    const a = i < firstTimes.length ? firstTimes.at(i) : Number.POSITIVE_INFINITY;
    const b = j < secondTimes.length ? secondTimes.at(j) : Number.POSITIVE_INFINITY;
    const t = Math.min(a, b);
    if (a === b) {
      pair(t, firstValues.at(i), secondValues.at(j));
    } else {
      const isFirst = a < b;
      const hasOther = slots[isFirst ? HAS_SECOND : HAS_FIRST] === 1;
      const otherNextMs = isFirst ? b : a;
      const otherWatermarkMs = isFirst ? secondWatermarkMs : firstWatermarkMs;
      const isOtherNextKnown = otherNextMs !== Number.POSITIVE_INFINITY;
      const isOtherEnded = otherWatermarkMs === Number.POSITIVE_INFINITY;
      if (!isOtherNextKnown && !isOtherEnded && (hasOther || !(t < otherWatermarkMs))) break;
      const isGap = otherNextMs - slots[isFirst ? SECOND_MS : FIRST_MS]! > maxGapMs;
      if (!hasOther || !isOtherNextKnown || isGap) unmatched(isFirst ? 0 : 1, 1);
      else if (isFirst) pair(t, firstValues.at(i), between(slots, HAS_SECOND, b, secondValues.at(j), t));
      else pair(t, between(slots, HAS_FIRST, a, firstValues.at(i), t), secondValues.at(j));
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
