import type { Windows } from '../core/windows.js';
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

export function timeWeightedRunner(options: Omit<WindowOptions, 'closed'>, maxHoldMs: number): RegridRunner {
  const { windows, label, empty } = options;

  function enter(slots: Float64Array, startMs: number): void {
    slots[START_MS] = startMs;
    slots[END_MS] = windows.next(startMs);
    slots[INTEGRAL] = 0;
    slots[INTEGRAL + 1] = 0;
    slots[KNOWN_MS] = 0;
    slots[IS_DONE] = 0;
  }

  // Adds the held value's part of the window in work, up to an instant.
  function hold(slots: Float64Array, untilMs: number): void {
    const fromMs = Math.max(slots[LAST_MS]!, slots[START_MS]!);
    const lengthMs = Math.min(untilMs, slots[LAST_MS]! + maxHoldMs) - fromMs;
    if (!(lengthMs > 0)) return;
    addInto(slots, INTEGRAL, slots[LAST_VALUE]! * lengthMs);
    slots[KNOWN_MS] = slots[KNOWN_MS]! + lengthMs;
  }

  function emit(slots: Float64Array, out: Output): void {
    const timeMs = label === 'start' ? slots[START_MS]! : slots[END_MS]!;
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
  function passTo(slots: Float64Array, t: number, out: Output): void {
    const emittedToMs = empty === 'omit' ? Math.min(t, slots[LAST_MS]! + maxHoldMs) : t;
    if (windows.gridMs !== undefined) out.expect((emittedToMs - slots[END_MS]!) / windows.gridMs);
    while (slots[END_MS]! <= t) {
      if (slots[IS_DONE] === 0) {
        hold(slots, slots[END_MS]!);
        emit(slots, out);
      }
      const isUnknown = slots[END_MS]! >= slots[LAST_MS]! + maxHoldMs;
      enter(slots, isUnknown && empty === 'omit' ? windows.startOf(t) : slots[END_MS]!);
    }
  }

  return {
    kind: 'regrid',
    slotCount: SLOT_COUNT,
    listCount: 0,
    push: ({ slots }, { timeMs, value, count }, out) => {
      for (let i = 0; i < count; i++) {
        const t = timeMs[i]!;
        if (slots[HAS_LAST] === 0) enter(slots, windows.startOf(t));
        else {
          if (slots[END_MS]! <= t) passTo(slots, t, out);
          hold(slots, t);
        }
        slots[HAS_LAST] = 1;
        slots[LAST_MS] = t;
        slots[LAST_VALUE] = value[i]!;
      }
    },
    advance: ({ slots }, watermarkMs, out) => {
      if (slots[HAS_LAST] === 0 || slots[IS_DONE] === 1 || watermarkMs < slots[END_MS]!) return;
      hold(slots, slots[END_MS]!);
      emit(slots, out);
    },
    close: ({ slots }, _advancedMs, out) => {
      if (slots[HAS_LAST] === 0 || slots[IS_DONE] === 1) return;
      hold(slots, slots[END_MS]!);
      emit(slots, out);
    },
    watermark: ({ slots }, watermarkMs) => {
      if (slots[HAS_LAST] === 1) return labelAt(slots, label, windows);
      const startMs = windows.startOf(watermarkMs);
      return label === 'start' ? startMs : windows.next(startMs);
    },
  };
}

// The next window to be emitted: the one in work, or the one after it.
function labelAt(slots: Float64Array, label: 'start' | 'end', windows: Windows): number {
  const startMs = slots[IS_DONE] === 1 ? slots[END_MS]! : slots[START_MS]!;
  return label === 'start' ? startMs : windows.next(startMs);
}
