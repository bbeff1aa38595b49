import type { Duration } from '../../../core/duration.js';
import type { Operation, Output, RegridRunner, RunContext, StepDraft } from '../../operation.js';
import { choice, duration, durationMsIn, number, numberIn, textIn } from '../../parameters.js';
import { onePerSample, perSample } from './per-sample.js';

/** Binary states: Hysteresis derives them from values, Delay and Edge from other states. */

export interface HysteresisParameters {
  readonly on: number;
  readonly off: number;
}

export interface HysteresisMethods {
  hysteresis(bounds: HysteresisParameters): StepDraft<HysteresisParameters>;
}

export const hysteresis: Operation<HysteresisMethods> = {
  name: 'Hysteresis',
  shape: 'regrid',
  methods: { hysteresis: (bounds) => ({ parameters: bounds }) },
  parameters: {
    on: number(),
    off: number(),
  },
  check: (parameters, report) => {
    if (numberIn(parameters, 'on') !== numberIn(parameters, 'off')) return;
    const hint = 'for a single bound take Gte or Lte';
    report('/off', 'request.range', 'another bound than `on`', String(numberIn(parameters, 'off')), hint);
  },
  open: (parameters, { column }) => {
    const on = numberIn(parameters, 'on');
    const off = numberIn(parameters, 'off');
    const direction = on > off ? 1 : -1;
    return onePerSample(1, column, ({ slots }, { value, count }, results) => {
      let state = slots[0]!;
      for (let i = 0; i < count; i++) {
        const x = value[i]! * direction;
        // Without a branch, which would be mispredicted if values cross the bounds often.
        state = +(x >= on * direction) | (state & +(x > off * direction));
        results[i] = state;
      }
      slots[0] = state;
      return true;
    });
  },
};

export interface DelayParameters {
  readonly on?: Duration;
  readonly off?: Duration;
}

export interface DelayMethods {
  /** @param parameters ISO 8601 durations. */
  delay(parameters: DelayParameters): StepDraft<DelayParameters>;
}

export const delay: Operation<DelayMethods> = {
  name: 'Delay',
  shape: 'regrid',
  methods: { delay: (parameters) => ({ parameters }) },
  parameters: {
    on: duration(0, { default: 'PT0S' }),
    off: duration(0, { default: 'PT0S' }),
  },
  open: (parameters, run) => {
    const onMs = durationMsIn(parameters, 'on') ?? 0;
    const offMs = durationMsIn(parameters, 'off') ?? 0;
    return delayer(onMs, offMs, run);
  },
};

const STATE = 0;
const INPUT = 1;
const DUE_MS = 2; // when the state is to follow the input, if they differ

function delayer(
  onMs: number,
  offMs: number,
  { untilMs = Number.POSITIVE_INFINITY, reachedMs }: RunContext,
): RegridRunner {
  function turnBefore(slots: Float64Array, timeMs: number, out: Output): void {
    const dueMs = slots[DUE_MS]!;
    if (slots[STATE] === slots[INPUT] || !(dueMs < timeMs)) return;
    slots[STATE] = slots[INPUT]!;
    out.add(dueMs, slots[STATE]!);
  }
  return {
    ...perSample(3, ({ slots }, { timeMs, value, count }, out) => {
      for (let i = 0; i < count; i++) {
        const t = timeMs[i]!;
        const input = value[i]! === 0 ? 0 : 1;
        turnBefore(slots, t, out);
        if (input !== slots[INPUT]) {
          slots[INPUT] = input;
          slots[DUE_MS] = t + (input === 1 ? onMs : offMs);
        }
        if (slots[STATE] !== input && slots[DUE_MS]! <= t) slots[STATE] = input;
        out.add(t, slots[STATE]!);
      }
    }),
    advance: ({ slots }, watermarkMs, out) => turnBefore(slots, Math.min(watermarkMs, untilMs, reachedMs()), out),
    close: ({ slots }, _advancedMs, out) => turnBefore(slots, untilMs, out),
    watermark: ({ slots }, watermarkMs) =>
      slots[STATE] === slots[INPUT] ? watermarkMs : Math.min(watermarkMs, slots[DUE_MS]!),
  };
}

type Direction = 'rising' | 'falling' | 'both';

export interface EdgeMethods {
  edge(direction?: Direction): StepDraft<{ readonly direction?: Direction }>;
}

export const edge: Operation<EdgeMethods> = {
  name: 'Edge',
  shape: 'regrid',
  methods: { edge: (direction) => ({ parameters: direction === undefined ? {} : { direction } }) },
  parameters: {
    direction: choice(['rising', 'falling', 'both'], { default: 'rising' }),
  },
  open: (parameters, { column }) => {
    const direction = textIn(parameters, 'direction');
    const isRising = direction !== 'falling';
    const isFalling = direction !== 'rising';
    return {
      ...onePerSample(1, column, ({ slots }, { value, count }, results) => {
        let last = slots[0]!;
        for (let i = 0; i < count; i++) {
          const state = value[i]! === 0 ? 0 : 1;
          results[i] = last + state === 1 && (state === 1 ? isRising : isFalling) ? 1 : 0;
          last = state;
        }
        slots[0] = last;
        return true;
      }),
      start: ({ slots }) => {
        slots[0] = Number.NaN; // neither 0 nor 1, so the first sample is no change
      },
    };
  },
};
