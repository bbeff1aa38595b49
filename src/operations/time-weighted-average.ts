import type { Chunk } from '../core/chunk.js';
import type { Windows } from '../core/windows.js';
import { firstAtOrAfterGuess } from '../kernels/search.js';
import { addInto } from '../kernels/sum.js';
import type { WindowOptions } from './aggregate-windows.js';
import type { Output, RegridRunner } from './operation.js';

/**
 * The integral of the step function that holds the last sample at or before each instant, over the part of the
 * window where it is known, divided by the length of that part. Each held value is one term of the sum in each
 * window that it reaches into.
 */

const HAS_LAST = 0;
const LAST_MS = 1;
const LAST_VALUE = 2;
const START_MS = 3; // of the window in work: the one that holds the last sample, or the one after it
const END_MS = 4;
const INTEGRAL = 5; // two slots: a compensated sum
const KNOWN_MS = 7;
const IS_DONE = 8; // the window in work has been emitted, its last value held to its end
const HAS_RESULT = 9;
const RESULT = 10;
const SLOT_COUNT = 11;

/** The windows, and how long a value is held. */
interface HoldOptions extends Omit<WindowOptions, 'closed'> {
  readonly maxHoldMs: number;
}

export function timeWeightedRunner(options: HoldOptions): RegridRunner {
  const { windows, label, maxHoldMs } = options;
  return {
    kind: 'regrid',
    slotCount: SLOT_COUNT,
    listCount: 0,
    push: ({ slots }, chunk, out) => {
      const { timeMs, value, count } = chunk;
      let length = 0;
      for (let i = 0; i < count; ) {
        const t = timeMs[i]!;
        if (slots[HAS_LAST] === 0) enter(slots, windows.startOf(t), windows);
        else {
          if (slots[END_MS]! <= t) passTo(slots, t, options, out);
          hold(slots, t, maxHoldMs);
        }
        slots[HAS_LAST] = 1;
        slots[LAST_MS] = t;
        slots[LAST_VALUE] = value[i]!;
        const next = firstAtOrAfterGuess(timeMs, i, count, slots[END_MS]!, length);
        if (next > i + 1) holdEach(slots, chunk, i + 1, next, maxHoldMs);
        length = next - i;
        i = next;
      }
    },
    advance: ({ slots }, watermarkMs, out) => {
      if (watermarkMs >= slots[END_MS]!) finish(slots, options, out);
    },
    close: ({ slots }, _advancedMs, out) => finish(slots, options, out),
    watermark: ({ slots }, watermarkMs) => {
      // The next window to emit: the one in work, or the one after it.
      const nextMs = slots[IS_DONE] === 1 ? slots[END_MS]! : slots[START_MS]!;
      const startMs = slots[HAS_LAST] === 1 ? nextMs : windows.startOf(watermarkMs);
      return label === 'start' ? startMs : windows.next(startMs);
    },
  };
}

function enter(slots: Float64Array, startMs: number, windows: Windows): void {
  slots[START_MS] = startMs;
  slots[END_MS] = windows.next(startMs);
  slots[INTEGRAL] = 0;
  slots[INTEGRAL + 1] = 0;
  slots[KNOWN_MS] = 0;
  slots[IS_DONE] = 0;
}

// Adds the held value's part of the window in work, up to an instant.
function hold(slots: Float64Array, untilMs: number, maxHoldMs: number): void {
  const fromMs = Math.max(slots[LAST_MS]!, slots[START_MS]!);
  const lengthMs = Math.min(untilMs, slots[LAST_MS]! + maxHoldMs) - fromMs;
  if (!(lengthMs > 0)) return;
  addInto(slots, INTEGRAL, slots[LAST_VALUE]! * lengthMs);
  slots[KNOWN_MS] = slots[KNOWN_MS]! + lengthMs;
}

// Holds the last value to the end of the window in work, and emits it.
function finish(slots: Float64Array, options: HoldOptions, out: Output): void {
  if (slots[HAS_LAST] === 0 || slots[IS_DONE] === 1) return;
  hold(slots, slots[END_MS]!, options.maxHoldMs);
  emit(slots, options, out);
}

function emit(slots: Float64Array, { label, empty }: HoldOptions, out: Output): void {
  const timeMs = slots[label === 'start' ? START_MS : END_MS]!;
  slots[IS_DONE] = 1;
  if (slots[KNOWN_MS]! > 0) {
    const result = (slots[INTEGRAL]! + slots[INTEGRAL + 1]!) / slots[KNOWN_MS]!;
    out.add(timeMs, result);
    if (Number.isFinite(result)) {
      slots[HAS_RESULT] = 1;
      slots[RESULT] = result;
    }
  } else if (empty === 'zero' || (empty === 'hold' && slots[HAS_RESULT] === 1)) {
    out.add(timeMs, empty === 'zero' ? 0 : slots[RESULT]!);
  }
}

// Emits the window in work and those after it that end by `t`, so that the one that holds `t` is in work.
function passTo(slots: Float64Array, t: number, options: HoldOptions, out: Output): void {
  const { windows, empty, maxHoldMs } = options;
  const heldUntilMs = slots[LAST_MS]! + maxHoldMs;
  const emittedToMs = empty === 'omit' ? Math.min(t, heldUntilMs) : t;
  out.expect((emittedToMs - slots[END_MS]!) / windows.lengthMsMax);
  while (slots[END_MS]! <= t) {
    finish(slots, options, out);
    const isUnknown = slots[END_MS]! >= heldUntilMs;
    enter(slots, isUnknown && empty === 'omit' ? windows.startOf(t) : slots[END_MS]!, windows);
  }
}

// Samples within the window in work, the first of which has been taken: each ends the value before it.
function holdEach(slots: Float64Array, { timeMs, value }: Chunk, from: number, to: number, maxHoldMs: number): void {
  let lastMs = slots[LAST_MS]!;
  let lastValue = slots[LAST_VALUE]!;
  let sum = slots[INTEGRAL]!;
  let lost = slots[INTEGRAL + 1]!;
  let knownMs = slots[KNOWN_MS]!;
  for (let i = from; i < to; i++) {
    const t = timeMs[i]!;
    // As in `hold`: the same instants give the same bits, however the input is cut into chunks.
    const untilMs = lastMs + maxHoldMs < t ? lastMs + maxHoldMs : t;
    const lengthMs = untilMs - lastMs;
    if (lengthMs > 0) {
      const x = lastValue * lengthMs;
      const next = sum + x;
      const part = next - sum;
      lost += sum - (next - part) + (x - part);
      sum = next;
      knownMs += lengthMs;
    }
    lastMs = t;
    lastValue = value[i]!;
  }
  if (lost - lost !== 0) {
    // Near the largest double the loss can overflow on the way; value by value it is computed in another way.
    for (let i = from; i < to; i++) {
      hold(slots, timeMs[i]!, maxHoldMs);
      slots[LAST_MS] = timeMs[i]!;
      slots[LAST_VALUE] = value[i]!;
    }
    return;
  }
  slots[LAST_MS] = lastMs;
  slots[LAST_VALUE] = lastValue;
  slots[INTEGRAL] = sum;
  slots[INTEGRAL + 1] = lost;
  slots[KNOWN_MS] = knownMs;
}
