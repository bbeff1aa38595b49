import type { Duration } from '../core/duration.js';
import type { IntervalName } from '../core/interval.js';
import { firstStartFrom, type Windows } from '../core/windows.js';
import { addPoints, evenPoints, HAS_LAST, LAST_MS, LAST_VALUE, NEXT_MS } from './even-points.js';
import type { Operation, Output, RegridRunner, RunContext, StepDraft } from './operation.js';
import { choice, duration, durationMsIn, textIn, timezone } from './parameters.js';
import { checkIntervalIn, interval, pointsEveryMs, windowsIn } from './windowing.js';

/** `timezone` is an IANA zone, `maxhold` an ISO 8601 duration. */
export interface HoldLastValueParameters {
  readonly function?: 'HoldLastValue';
  readonly interval: IntervalName;
  readonly timezone?: string;
  readonly maxhold?: Duration;
}

export interface HoldLastValueMethods {
  holdLastValue(parameters: HoldLastValueParameters): StepDraft<HoldLastValueParameters>;
}

export const holdLastValue: Operation<HoldLastValueMethods> = {
  name: 'HoldLastValue',
  otherNames: ['ffill', 'locf'],
  shape: 'regrid',
  methods: { holdLastValue: (parameters) => ({ parameters: { function: 'HoldLastValue', ...parameters } }) },
  parameters: {
    function: choice(['HoldLastValue'], { default: 'HoldLastValue' }),
    interval: interval(),
    timezone: timezone({ extension: true }),
    maxhold: duration(0, { optional: true, extension: true }),
  },
  check: checkIntervalIn,
  open: (parameters, run) =>
    holder(windowsIn(parameters), durationMsIn(parameters, 'maxhold') ?? Number.POSITIVE_INFINITY, run),
  endsByAdvance: true,
  windows: (parameters) => ({ window: textIn(parameters, 'interval'), timezone: textIn(parameters, 'timezone') }),
  pointsEveryMs: (parameters) => (parameters.maxhold === undefined ? pointsEveryMs(parameters) : undefined),
};

function holder(
  windows: Windows,
  maxHoldMs: number,
  { untilMs, advancedMs, reachedMs, column }: RunContext,
): RegridRunner {
  // Emits the ticks before `endMs` and, with `isEndTaken`, one at `endMs`.
  function tickTo(slots: Float64Array, endMs: number, isEndTaken: boolean, out: Output): void {
    let tickMs = slots[NEXT_MS]!;
    const stopMs = Math.min(endMs, slots[LAST_MS]! + maxHoldMs);
    out.expect((stopMs - tickMs) / windows.lengthMsMax);
    const isStopTaken = isEndTaken || stopMs < endMs;
    while (tickMs < stopMs || (tickMs === stopMs && isStopTaken)) {
      out.add(tickMs, slots[LAST_VALUE]!);
      tickMs = windows.next(tickMs);
    }
    if (tickMs < endMs) tickMs = firstStartFrom(windows, endMs);
    slots[NEXT_MS] = tickMs;
  }

  const stepMs = windows.gridMs;
  const isPlain = Number.isInteger(stepMs) && maxHoldMs === Number.POSITIVE_INFINITY;

  const points = evenPoints(column);

  return {
    kind: 'regrid',
    slotCount: 4,
    listCount: 0,
    push: ({ slots }, chunk, out) => {
      const { timeMs, value, count } = chunk;
      // The usual case: even ticks, with no limit on how long a value is held.
      if (isPlain && slots[HAS_LAST] === 1) return addPoints(slots, chunk, stepMs!, points, out);
      for (let i = 0; i < count; i++) {
        const t = timeMs[i]!;
        if (slots[HAS_LAST] === 0) slots[NEXT_MS] = firstStartFrom(windows, t);
        else if (slots[NEXT_MS]! < t) tickTo(slots, t, false, out);
        slots[HAS_LAST] = 1;
        slots[LAST_MS] = t;
        slots[LAST_VALUE] = value[i]!;
        if (slots[NEXT_MS] === t) {
          out.add(t, value[i]!);
          slots[NEXT_MS] = windows.next(t);
        }
      }
    },
    advance: ({ slots }, watermarkMs, out, comingMs) => {
      // The series may end with the sample that is held, however far other inputs have come. Only `advance`, `until` or
      // a later sample that is certain to come makes a tick after it certain.
      const certainMs = untilMs === undefined ? Math.max(advancedMs(), comingMs) : Math.min(untilMs, reachedMs());
      if (slots[HAS_LAST] === 1) tickTo(slots, Math.min(watermarkMs, certainMs), false, out);
    },
    close: ({ slots }, lastAdvanceMs, out) => {
      if (slots[HAS_LAST] === 0) return;
      tickTo(slots, untilMs ?? lastAdvanceMs, untilMs === undefined, out);
      tickTo(slots, slots[LAST_MS]!, true, out);
    },
    watermark: ({ slots }, watermarkMs) => (slots[HAS_LAST] === 1 ? slots[NEXT_MS]! : watermarkMs),
  };
}
