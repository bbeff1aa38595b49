import type { Output, RegridRunner, State } from '../operation.js';
import { durationMsIn, type Parameters } from '../parameters.js';
import { alignOf } from '../two-inputs.js';

// Pairs any number of inputs. (Two that are combined value by value are paired in the engine, which is faster.)

/** What is known of each input at one time. */
export interface Known {
  /** The time of each input's last sample so far; −Infinity before the first. */
  readonly atMs: Float64Array;
  readonly value: Float64Array;
  /** With `asof`: 1 if the last sample has not been looked up yet, and so still counts as unmatched. */
  readonly isUnused: Float64Array;
}

/** Adds the results of a time at which some input has a sample. False if a value is missing. */
export type AtTime = (timeMs: number, known: Known, out: Output) => boolean;

/** Goes through the times of all inputs, in order. */
export function joined(inputCount: number, at: AtTime): RegridRunner {
  return {
    kind: 'regrid',
    inputCount,
    // Of the last sample of each input: all times, then all values, then whether it is unused.
    slotCount: 3 * inputCount,
    // Times and values of the samples of each input that wait for the others.
    listCount: 2 * inputCount,
    start: ({ slots }) => slots.fill(Number.NEGATIVE_INFINITY, 0, inputCount),
    push: ({ lists }, { timeMs, value, count }, _out, input) => {
      lists[2 * input]!.append(timeMs, 0, count);
      lists[2 * input + 1]!.append(value, 0, count);
    },
    advance: (state, watermarkMs, out) => joinTo(state, inputCount, watermarkMs, at, out),
    close: (state, _advancedMs, out) => {
      joinTo(state, inputCount, Number.POSITIVE_INFINITY, at, out);
      for (const isUnused of knownIn(state, inputCount).isUnused) out.drop('unmatchedSecond', isUnused);
    },
    watermark: (_state, watermarkMs) => watermarkMs,
  };
}

function knownIn({ slots }: State, inputCount: number): Known {
  const [atMs, value, isUnused] = [0, 1, 2].map((k) => slots.subarray(k * inputCount, (k + 1) * inputCount));
  return { atMs: atMs!, value: value!, isUnused: isUnused! };
}

function joinTo(state: State, inputCount: number, endMs: number, at: AtTime, out: Output): void {
  const known = knownIn(state, inputCount);
  const { lists } = state;
  // Views are safe, as nothing is added to the lists in this loop.
  const waiting = Array.from({ length: inputCount }, (_, i) => {
    return { timeMs: lists[2 * i]!.view(), value: lists[2 * i + 1]!.view(), passed: 0 };
  });
  for (;;) {
    let timeMs = Number.POSITIVE_INFINITY;
    for (let i = 0; i < inputCount; i++) {
      const { timeMs: times, passed } = waiting[i]!;
      if (passed < times.length && times[passed]! < timeMs) timeMs = times[passed]!;
    }
    if (!(timeMs < endMs)) break;
    for (let i = 0; i < inputCount; i++) {
      const input = waiting[i]!;
      const { passed } = input;
      if (input.timeMs[passed] !== timeMs) continue;
      known.atMs[i] = timeMs;
      known.value[i] = input.value[passed]!;
      input.passed = passed + 1;
    }
    if (!at(timeMs, known, out)) out.drop(known.atMs[0] === timeMs ? 'unmatchedFirst' : 'unmatchedSecond', 1);
  }
  for (const [index, list] of lists.entries()) list.shift(waiting[index >> 1]!.passed);
}

/** Combines the values of all inputs wherever all have one, aligned by `inner`, `hold` or `asof`. */
export function aligned(
  parameters: Parameters,
  inputCount: number,
  combine: (value: Float64Array) => number | undefined,
): RegridRunner {
  const align = alignOf(parameters);
  const ageMsMax = align === 'inner' ? 0 : (durationMsIn(parameters, 'maxhold') ?? Number.POSITIVE_INFINITY);
  return joined(inputCount, (timeMs, { atMs, value, isUnused }, out) => {
    if (align === 'asof') {
      for (let i = 1; i < inputCount; i++) {
        if (atMs[i] !== timeMs) continue;
        out.drop('unmatchedSecond', isUnused[i]!);
        isUnused[i] = 1;
      }
      if (atMs[0] !== timeMs) return true;
    }
    for (let i = 0; i < inputCount; i++) {
      // NaN if there is no sample yet and any age will do.
      if (!(timeMs <= atMs[i]! + ageMsMax)) return false;
    }
    isUnused.fill(0);
    const result = combine(value);
    if (result !== undefined) out.add(timeMs, result);
    return true;
  });
}
