import type { Chunk } from '../../core/chunk.js';
import type { Windows } from '../../core/windows.js';
import { currentArena } from '../../kernels/arena.js';
import { sumOfLength, weightedMeanOf } from '../../kernels/exact/results.js';
import { clearSum, SUM_SLOTS } from '../../kernels/exact/sums.js';
import { firstAtOrAfterGuess } from '../../kernels/search.js';
import { findWindows, holdWindows } from '../../kernels/windows.js';
import type { Output, RegridRunner, State } from '../operation.js';
import { addHeld, type Holding, holdWhole } from './held-values.js';
import { WHOLE_MIN, type WindowOptions } from './windows.js';

/**
 * How the time-weighted functions run. Each sample's value is held until the next sample, and a window integrates these
 * values over the part of it where one is known; the average divides the integral by the length of that part.
 */

const HAS_LAST = 0;
const LAST_MS = 1;
const LAST_VALUE = 2;
const START_MS = 3; // of the current window: the one that holds the last sample, or the one after it
const END_MS = 4;
const IS_DONE = 5; // whether the current window has been emitted, its last value held to its end
const HAS_RESULT = 6;
const RESULT = 7;
const INTEGRAL = 8; // an exact sum of value·length
const KNOWN = INTEGRAL + SUM_SLOTS; // an exact sum of lengths
const SLOT_COUNT = KNOWN + SUM_SLOTS;

type HoldOptions = Omit<WindowOptions, 'closed'> & Holding;

export function timeWeightedRunner(options: HoldOptions, column: () => Float64Array): RegridRunner {
  const { windows, label } = options;
  const emitWhole = wholeWindows(options, column);
  return {
    kind: 'regrid',
    slotCount: SLOT_COUNT,
    listCount: 2,
    push: (state, chunk, out) => {
      const { slots } = state;
      const { timeMs, count } = chunk;
      let length = 0;
      for (let i = 0; i < count; ) {
        const t = timeMs[i]!;
        if (slots[HAS_LAST] === 0) enter(state, windows.startOf(t), windows);
        else if (slots[END_MS]! <= t) {
          passTo(state, t, options, out);
          const from = i > 0 && count - i >= WHOLE_MIN ? emitWhole?.(state, chunk, i, out) : i;
          if (from !== undefined && from > i) {
            i = from;
            continue;
          }
        }
        const next = firstAtOrAfterGuess(timeMs, i, count, slots[END_MS]!, length);
        take(state, chunk, i, next, options);
        length = next - i;
        i = next;
      }
    },
    advance: (state, watermarkMs, out, comingMs) => {
      const { slots } = state;
      // A window after that of the last sample is certain once a sample beyond it is certain to come.
      const certainMs = Math.min(watermarkMs, comingMs);
      if (slots[HAS_LAST] === 1 && certainMs >= slots[END_MS]!) passTo(state, certainMs, options, out);
      if (watermarkMs >= slots[END_MS]!) finish(state, options, out);
    },
    close: (state, _advancedMs, out) => finish(state, options, out),
    watermark: ({ slots }, watermarkMs) => {
      // The next window to emit: the current one, or the one after it.
      const nextMs = slots[IS_DONE] === 1 ? slots[END_MS]! : slots[START_MS]!;
      const startMs = slots[HAS_LAST] === 1 ? nextMs : windows.startOf(watermarkMs);
      return label === 'start' ? startMs : windows.next(startMs);
    },
  };
}

function enter({ slots, lists }: State, startMs: number, windows: Windows): void {
  slots[START_MS] = startMs;
  slots[END_MS] = windows.next(startMs);
  clearSum(slots, INTEGRAL, lists[0]!);
  clearSum(slots, KNOWN, lists[1]!);
  slots[IS_DONE] = 0;
}

// Adds the held value to the current window, up to an instant.
function hold({ slots, lists }: State, untilMs: number, maxHoldMs: number): void {
  const lastMs = slots[LAST_MS]!;
  const fromMs = Math.max(lastMs, slots[START_MS]!);
  addHeld(slots, INTEGRAL, lists[0]!, lists[1]!, slots[LAST_VALUE]!, fromMs, Math.min(untilMs, lastMs + maxHoldMs), 1);
}

// Holds the last value to the end of the current window, and emits the window.
function finish(state: State, options: HoldOptions, out: Output): void {
  const { slots } = state;
  if (slots[HAS_LAST] === 0 || slots[IS_DONE] === 1) return;
  hold(state, slots[END_MS]!, options.maxHoldMs);
  emit(state, options, out);
}

function emit({ slots, lists }: State, options: HoldOptions, out: Output): void {
  const { empty, held } = options;
  slots[IS_DONE] = 1;
  // All lengths are positive, so the sum is empty only if its first slot is 0 and its list is empty.
  if (slots[KNOWN]! > 0 || lists[1]!.length > 0) {
    const window = sumOfLength(slots[START_MS]!, slots[END_MS]!);
    const result = held.result([slots, INTEGRAL, lists[0]!], [slots, KNOWN, lists[1]!], window, weightedMeanOf);
    add(slots, result, options, out);
  } else if (empty === 'zero' || (empty === 'hold' && slots[HAS_RESULT] === 1)) {
    add(slots, empty === 'zero' ? 0 : slots[RESULT]!, options, out);
  }
}

function add(slots: Float64Array, result: number, { label }: HoldOptions, out: Output): void {
  out.add(slots[label === 'start' ? START_MS : END_MS]!, result);
  if (Number.isFinite(result)) {
    slots[HAS_RESULT] = 1;
    slots[RESULT] = result;
  }
}

// Emits the current window and those after it that end by `t`, so that the one that holds `t` becomes current.
function passTo(state: State, t: number, options: HoldOptions, out: Output): void {
  const { slots } = state;
  const { windows, empty, maxHoldMs } = options;
  const heldUntilMs = slots[LAST_MS]! + maxHoldMs;
  const emittedToMs = empty === 'omit' ? Math.min(t, heldUntilMs) : t;
  out.expect((emittedToMs - slots[END_MS]!) / windows.lengthMsMax);
  while (slots[END_MS]! <= t) {
    finish(state, options, out);
    const isUnknown = slots[END_MS]! >= heldUntilMs;
    enter(state, isUnknown && empty === 'omit' ? windows.startOf(t) : slots[END_MS]!, windows);
  }
}

// Takes samples of the current window: each ends the value before it.
function take(state: State, chunk: Chunk, from: number, to: number, options: HoldOptions): void {
  const { slots } = state;
  const { maxHoldMs, held } = options;
  const { weigh } = held;
  for (let i = from; i < to; i++) {
    if (i === from + 1 && holdWhole(state, LAST_MS, INTEGRAL, chunk, i, to, options)) return;
    const t = chunk.timeMs[i]!;
    const x = chunk.value[i]!;
    if (slots[HAS_LAST] === 1) hold(state, t, maxHoldMs);
    slots[HAS_LAST] = 1;
    slots[LAST_MS] = t;
    slots[LAST_VALUE] = weigh === undefined ? x : weigh(x);
  }
}

/** Emits what it can of the windows of a chunk from a sample on, and returns the first sample that is left. */
type EmitWhole = (state: State, chunk: Chunk, first: number, out: Output) => number;

// Emits windows of one length that follow each other and end within the chunk, from the current one on. The sample
// before it must be in the chunk.
function wholeWindows(options: HoldOptions, column: () => Float64Array): EmitWhole | undefined {
  const { windows, maxHoldMs, held } = options;
  const { gridMs: lengthMs = Number.NaN } = windows;
  const { dividesBy = Number.NaN } = held;
  if (![lengthMs, dividesBy, maxHoldMs].every((ms) => Math.floor(ms) === ms)) return undefined;
  if (!(Math.max(lengthMs, dividesBy) < 2 ** 31)) return undefined;
  const startsMs = column();
  const results = column();
  return (state, chunk, first, out) => {
    const { slots } = state;
    const { borders } = currentArena();
    const { timeMs, value, count } = chunk;
    borders[0] = first;
    const windowCount = findWindows(timeMs, count, slots[START_MS]!, lengthMs, borders, 0, startsMs);
    holdWindows(chunk, { borders, windowCount, startsMs, lengthMs }, maxHoldMs, dividesBy, results);
    // Later steps use the same borders.
    const own = borders.slice(0, windowCount + 1);
    const enterAfter = (last: number, startMs: number): void => {
      slots[LAST_MS] = timeMs[last]!;
      slots[LAST_VALUE] = value[last]!;
      enter(state, startMs, windows);
    };
    for (let w = 0; w < windowCount; w++) {
      const result = results[w]!;
      slots[START_MS] = startsMs[w]!;
      slots[END_MS] = startsMs[w]! + lengthMs;
      if (Number.isFinite(result)) add(slots, result, options, out);
      else {
        enterAfter(own[w]! - 1, startsMs[w]!);
        take(state, chunk, own[w]!, own[w + 1]!, options);
        finish(state, options, out);
      }
    }
    if (windowCount > 0) enterAfter(own[windowCount]! - 1, slots[END_MS]!);
    return own[windowCount]!;
  };
}
