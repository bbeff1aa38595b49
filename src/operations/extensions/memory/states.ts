import type { Duration } from '../../../core/duration.js';
import type { Describe, Operation, OperationTexts, Output, RegridRunner, StepDraft } from '../../operation.js';
import { choice, duration, durationMsIn, number, numberIn, textIn } from '../../parameters.js';
import { FROM_THE_PAST, scan, scanEach } from './scan.js';

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
    return scanEach(1, column, ({ slots }, { value, count }, results) => {
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

export const hysteresisTexts: OperationTexts = {
  summary: 'Turns to 1 when values reach one bound, and back to 0 when they reach the other.',
  parameters: {
    on: 'Where the state turns to 1: at this value and beyond, away from `off`.',
    off: 'Where it turns back to 0: at this value and beyond, away from `on`.',
  },
  examples: [
    {
      title: 'An alarm from 26 on, until it is 25 again',
      parameters: { on: 26, off: 25 },
      inputs: ['00:00 25.5, 00:15 26, 00:30 25.5, 00:45 25, 01:00 25.5'],
      output: '00:00 0, 00:15 1, 00:30 1, 00:45 0, 01:00 0',
    },
    {
      title: 'Heating below 19, until it is 21',
      parameters: { on: 19, off: 21 },
      inputs: ['00:00 20, 00:15 18.5, 00:30 20, 00:45 21, 01:00 20'],
      output: '00:00 0, 00:15 1, 00:30 1, 00:45 0, 01:00 0',
    },
    {
      title: 'Between the bounds the state stays; at the start it is 0',
      parameters: { on: 1, off: -1 },
      inputs: ['00:00 0, 00:01 5, 00:02 -0.5, 00:03 -1'],
      output: '00:00 0, 00:01 1, 00:02 1, 00:03 0',
    },
  ],
};

export const describeHysteresis: Describe = (parameters) => ({
  ...FROM_THE_PAST,
  does: `1 from ${numberIn(parameters, 'on')} on until ${numberIn(parameters, 'off')}`,
  keeps: 'the state',
});

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
    return delayer(onMs, offMs, run.untilMs ?? Number.POSITIVE_INFINITY);
  },
};

export const delayTexts: OperationTexts = {
  summary: 'Follows a state only after it has lasted for a time: an on-delay, an off-delay or both.',
  parameters: {
    on: 'How long the input must be true (not 0) for the result to turn to 1.',
    off: 'How long it must be 0 for the result to turn back to 0.',
  },
  examples: [
    {
      title: 'An alarm that must last ten minutes',
      parameters: { on: 'PT10M' },
      inputs: ['00:00 0, 00:05 1, 00:10 0, 00:20 1, 01:00 0'],
      output: '00:00 0, 00:05 0, 00:10 0, 00:20 0, 00:30 1, 01:00 0',
    },
    {
      title: 'A light that stays on for five minutes after the last movement',
      parameters: { off: 'PT5M' },
      inputs: ['00:00 1, 00:01 0, 00:03 1, 00:04 0, 00:30 0'],
      output: '00:00 1, 00:01 1, 00:03 1, 00:04 1, 00:09 0, 00:30 0',
    },
    {
      title: 'A change that is due after the last sample still comes',
      parameters: { on: 'PT1M' },
      inputs: ['00:00 0, 00:01 1'],
      output: '00:00 0, 00:01 0, 00:02 1',
    },
  ],
};

export const describeDelay: Describe = (parameters) => ({
  does: `the state, on after ${textIn(parameters, 'on')} and off after ${textIn(parameters, 'off')}`,
  reads: { kind: 'past' },
  keeps: 'the state, the input and since when it has been so',
  final: 'with its sample or, in between, when time has passed it',
});

const STATE = 0;
const INPUT = 1;
const DUE_MS = 2; // when the state is to follow the input, if they differ

function delayer(onMs: number, offMs: number, untilMs: number): RegridRunner {
  function turnBefore(slots: Float64Array, timeMs: number, out: Output): void {
    const dueMs = slots[DUE_MS]!;
    if (slots[STATE] === slots[INPUT] || !(dueMs < timeMs) || !(dueMs < untilMs)) return;
    slots[STATE] = slots[INPUT]!;
    out.add(dueMs, slots[STATE]!);
  }
  return {
    ...scan(3, ({ slots }, { timeMs, value, count }, out) => {
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
    advance: ({ slots }, watermarkMs, out) => turnBefore(slots, watermarkMs, out),
    close: ({ slots }, _advancedMs, out) => turnBefore(slots, Number.POSITIVE_INFINITY, out),
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
      ...scanEach(1, column, ({ slots }, { value, count }, results) => {
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

export const edgeTexts: OperationTexts = {
  summary: 'Gives 1 where a state changes from the sample before, and 0 elsewhere.',
  parameters: {
    direction: 'Which changes count: to true (not 0), to 0, or both.',
  },
  examples: [
    {
      title: 'When a machine starts',
      parameters: {},
      inputs: ['06:00 0, 07:00 1, 08:00 1, 09:00 0, 10:00 1'],
      output: '06:00 0, 07:00 1, 08:00 0, 09:00 0, 10:00 1',
    },
    {
      title: 'When it stops',
      parameters: { direction: 'falling' },
      inputs: ['06:00 1, 07:00 1, 08:00 0'],
      output: '06:00 0, 07:00 0, 08:00 1',
    },
    {
      title: 'Every change; the first sample is none',
      parameters: { direction: 'both' },
      inputs: ['06:00 1, 07:00 0, 08:00 2, 09:00 3'],
      output: '06:00 0, 07:00 1, 08:00 1, 09:00 0',
    },
  ],
};

export const describeEdge: Describe = (parameters) => ({
  does: `1 at each change of state (${textIn(parameters, 'direction')}), else 0`,
  reads: { kind: 'neighbours', gapMsMax: undefined },
  keeps: 'the last state',
  final: 'with its sample',
});
