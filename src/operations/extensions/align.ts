import { lerp } from '../../kernels/values.js';
import { drop, listsOf, type Matcher } from '../match.js';
import { choice, duration, durationMsIn, type Parameter, type Parameters, type Report } from '../parameters.js';
import { ALIGNMENTS } from '../two-inputs.js';

/** How two inputs with different times meet: the parameters, their checks and their code. */

/** The parameters that matter only with two inputs. */
export const alignParameters: Readonly<Record<'align' | 'maxhold' | 'maxgap', Parameter>> = {
  align: choice(ALIGNMENTS, { optional: true, extension: true }),
  maxhold: duration(0, { optional: true, extension: true }),
  maxgap: duration(0, { optional: true, extension: true }),
};

/** Reports a `maxhold` or `maxgap` that no alignment uses. */
export function checkAlign(parameters: Parameters, report: Report): void {
  const { align, maxhold, maxgap } = parameters;
  if (maxhold !== undefined && align !== 'hold' && align !== 'asof') {
    report('/maxhold', 'request.conflict', 'maxhold only with align `hold` or `asof`', JSON.stringify(maxhold));
  }
  if (maxgap !== undefined && align !== 'linear') {
    report('/maxgap', 'request.conflict', 'maxgap only with align `linear`', JSON.stringify(maxgap));
  }
}

/** How the inputs of a step meet; undefined if at equal times only. */
export function matcherOf(parameters: Parameters): Matcher | undefined {
  const { align } = parameters;
  const maxHoldMs = durationMsIn(parameters, 'maxhold') ?? Number.POSITIVE_INFINITY;
  if (align === 'hold') return matchHold(maxHoldMs);
  if (align === 'asof') return matchAsof(maxHoldMs);
  if (align === 'linear') return matchLinear(durationMsIn(parameters, 'maxgap') ?? Number.POSITIVE_INFINITY);
  return undefined;
}

// Slots: the last sample of each input that has been passed.
const HAS_FIRST = 0;
const FIRST_MS = 1;
const FIRST_VALUE = 2;
const HAS_SECOND = 3;
const SECOND_MS = 4;
const SECOND_VALUE = 5;
const IS_USED = 0; // with asof: whether the second's last sample was looked up

/** At every time of either input, each side holding its last value. */
const matchHold =
  (maxHoldMs: number): Matcher =>
  ({ state, pair, unmatched }, firstWatermarkMs, secondWatermarkMs) => {
    const { slots } = state;
    const [firstTimes, firstValues, secondTimes, secondValues] = listsOf(state);
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
      const heldUntilMs = Math.min(slots[FIRST_MS]!, slots[SECOND_MS]!) + maxHoldMs;
      if (isKnown && t <= heldUntilMs) pair(t, slots[FIRST_VALUE]!, slots[SECOND_VALUE]!);
      else unmatched(a === t ? 0 : 1, 1);
    }
    drop(state, i, j);
  };

/** At the times of the first input, with the second's latest sample at or before. */
const matchAsof =
  (maxHoldMs: number): Matcher =>
  ({ state, pair, unmatched }, firstWatermarkMs, secondWatermarkMs) => {
    const { slots } = state;
    const [firstTimes, firstValues, secondTimes, secondValues] = listsOf(state);
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
      const isKnown = slots[HAS_SECOND] === 1 && t <= slots[SECOND_MS]! + maxHoldMs;
      if (isKnown) {
        slots[IS_USED] = 1;
        pair(t, firstValues.at(i), slots[SECOND_VALUE]!);
      } else unmatched(0, 1);
    }
    // Samples of the first input that wait, or are to come, lie at or after this time: of those before it only the last
    // counts.
    passTo(i < firstTimes.length ? firstTimes.at(i) : firstWatermarkMs);
    if (firstWatermarkMs === Number.POSITIVE_INFINITY && slots[HAS_SECOND] === 1 && slots[IS_USED] === 0) alone++;
    unmatched(1, alone);
    drop(state, i, j);
  };

/** At every time of either input that lies between known samples of the other. */
const matchLinear =
  (maxGapMs: number): Matcher =>
  ({ state, pair, unmatched }, firstWatermarkMs, secondWatermarkMs) => {
    const { slots } = state;
    const [firstTimes, firstValues, secondTimes, secondValues] = listsOf(state);
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

function between(slots: Float64Array, side: number, nextMs: number, nextValue: number, t: number): number {
  const lastMs = slots[side + 1]!;
  return lerp(slots[side + 2]!, nextValue, (t - lastMs) / (nextMs - lastMs));
}

function pass(slots: Float64Array, side: number, timeMs: number, value: number): void {
  slots[side] = 1;
  slots[side + 1] = timeMs;
  slots[side + 2] = value;
}
