import type { State } from './operation.js';

/** What a matcher works on. The lists of `state` hold the samples of both inputs that are yet to be paired. */
export interface MatchContext {
  readonly state: State;
  /** Takes a pair of values. */
  readonly pair: (timeMs: number, first: number, second: number) => void;
  /** Counts samples of an input (0 or 1) that stay without a partner. */
  readonly unmatched: (input: 0 | 1, count: number) => void;
}

/** Pairs samples as far as that is certain, given that no sample before the watermarks is still to come. */
export type Matcher = (context: MatchContext, firstWatermarkMs: number, secondWatermarkMs: number) => void;

export const FIRST_TIMES = 0;
export const FIRST_VALUES = 1;
export const SECOND_TIMES = 2;
export const SECOND_VALUES = 3;

/** At equal times only: the usual way for two inputs to meet. */
export const matchInner: Matcher = ({ state, pair, unmatched }, firstWatermarkMs, secondWatermarkMs) => {
  const [firstTimes, firstValues, secondTimes, secondValues] = listsOf(state);
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

type Four<T> = readonly [T, T, T, T];

export function listsOf(state: State): Four<State['lists'][number]> {
  const { lists } = state;
  return [lists[FIRST_TIMES]!, lists[FIRST_VALUES]!, lists[SECOND_TIMES]!, lists[SECOND_VALUES]!];
}

/** Forgets the first samples of each input. */
export function drop(state: State, firstCount: number, secondCount: number): void {
  state.lists[FIRST_TIMES]!.shift(firstCount);
  state.lists[FIRST_VALUES]!.shift(firstCount);
  state.lists[SECOND_TIMES]!.shift(secondCount);
  state.lists[SECOND_VALUES]!.shift(secondCount);
}
