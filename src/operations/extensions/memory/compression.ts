import type { Operation, Output, RegridRunner, StepDraft } from '../../operation.js';
import { number, numberIn } from '../../parameters.js';
import { perSample } from './per-sample.js';

/** Lossy compression within a tolerance: Deadband if values are held, SwingingDoor if they are joined by lines. */

export interface CompressionMethods {
  deadband(tolerance: number): StepDraft<{ readonly tolerance: number }>;
  swingingDoor(tolerance: number): StepDraft<{ readonly tolerance: number }>;
}

export const deadband: Operation<Pick<CompressionMethods, 'deadband'>> = {
  name: 'Deadband',
  shape: 'regrid',
  methods: { deadband: (tolerance) => ({ parameters: { tolerance } }) },
  parameters: { tolerance: number({ minimum: 0 }) },
  open: (parameters) => {
    const tolerance = numberIn(parameters, 'tolerance');
    return {
      ...perSample(1, ({ slots }, { timeMs, value, count }, out) => {
        let kept = slots[0]!;
        for (let i = 0; i < count; i++) {
          const x = value[i]!;
          if (Math.abs(x - kept) <= tolerance) continue;
          kept = x;
          out.add(timeMs[i]!, x);
        }
        slots[0] = kept;
      }),
      start: ({ slots }) => {
        slots[0] = Number.NaN; // no value is near NaN, so the first sample is kept
      },
    };
  },
};

export const swingingDoor: Operation<Pick<CompressionMethods, 'swingingDoor'>> = {
  name: 'SwingingDoor',
  shape: 'regrid',
  methods: { swingingDoor: (tolerance) => ({ parameters: { tolerance } }) },
  parameters: { tolerance: number({ minimum: 0 }) },
  open: (parameters) => door(numberIn(parameters, 'tolerance')),
};

const KEPT_COUNT = 0; // 0 or 1: the last sample kept
const KEPT_MS = 1;
const KEPT_VALUE = 2;
const HELD_COUNT = 3; // 0 or 1: the last sample, which is kept if a line past it would miss one since the last kept
const HELD_MS = 4;
const HELD_VALUE = 5;
// The slopes of the lines from the last sample kept that pass all samples since within the tolerance.
const SLOPE_MIN = 6;
const SLOPE_MAX = 7;

// Bristol's swinging door (US patent 4669097), except that the line must end at a sample, so its own slope must lie
// between the doors. So the bound holds for the very line that is drawn.
function door(tolerance: number): RegridRunner {
  function keepHeld(slots: Float64Array, out: Output): void {
    out.add(slots[HELD_MS]!, slots[HELD_VALUE]!);
    slots[KEPT_MS] = slots[HELD_MS]!;
    slots[KEPT_VALUE] = slots[HELD_VALUE]!;
    slots[HELD_COUNT] = 0;
    slots[SLOPE_MIN] = Number.NEGATIVE_INFINITY;
    slots[SLOPE_MAX] = Number.POSITIVE_INFINITY;
  }
  function hold(slots: Float64Array, timeMs: number, x: number): void {
    const sinceMs = timeMs - slots[KEPT_MS]!;
    const difference = x - slots[KEPT_VALUE]!;
    slots[HELD_COUNT] = 1;
    slots[HELD_MS] = timeMs;
    slots[HELD_VALUE] = x;
    slots[SLOPE_MIN] = Math.max(slots[SLOPE_MIN]!, (difference - tolerance) / sinceMs);
    slots[SLOPE_MAX] = Math.min(slots[SLOPE_MAX]!, (difference + tolerance) / sinceMs);
  }
  return {
    ...perSample(8, ({ slots }, { timeMs, value, count }, out) => {
      for (let i = 0; i < count; i++) {
        const t = timeMs[i]!;
        const x = value[i]!;
        if (slots[KEPT_COUNT] === 0) {
          slots[KEPT_COUNT] = 1;
          slots[HELD_MS] = t;
          slots[HELD_VALUE] = x;
          keepHeld(slots, out);
          continue;
        }
        const slope = (x - slots[KEPT_VALUE]!) / (t - slots[KEPT_MS]!);
        // Slopes that overflow are all infinite, however different.
        const isPassing = slope >= slots[SLOPE_MIN]! && slope <= slots[SLOPE_MAX]! && Number.isFinite(slope);
        if (slots[HELD_COUNT] === 1 && !isPassing) keepHeld(slots, out);
        hold(slots, t, x);
      }
    }),
    close: ({ slots }, _advancedMs, out) => {
      if (slots[HELD_COUNT] === 1) keepHeld(slots, out);
    },
    watermark: ({ slots }, watermarkMs) =>
      slots[HELD_COUNT] === 1 ? Math.min(watermarkMs, slots[HELD_MS]!) : watermarkMs,
  };
}
