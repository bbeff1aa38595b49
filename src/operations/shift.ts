import { DAY_MS } from '../core/calendar.js';
import { type Duration, parseDuration } from '../core/duration.js';
import { describeValue } from '../core/errors.js';
import type { IntervalName } from '../core/interval.js';
import { isKnownTime, TIME_MS_END, TIME_MS_MIN } from '../core/series.js';
import type { Windows } from '../core/windows.js';
import { zoneOf } from '../core/zone.js';
import { addScalar } from '../kernels/arithmetic.js';
import { isRising } from '../kernels/check.js';
import { copyInto } from '../kernels/columns.js';
import { calendarMove, calendarMover } from './calendar-move.js';
import type { Operation, Output, RegridRunner, StepDraft } from './operation.js';
import {
  choice,
  durationHint,
  numberIn,
  type Parameter,
  type Parameters,
  parameter,
  type Report,
  refuse,
  textIn,
  timezone,
  within,
} from './parameters.js';
import { checkedInterval, checkInterval, interval, openWindows } from './windowing.js';

/** A shift by an ISO 8601 duration, or by a whole number of windows (at least 0). */
export type ShiftParameters = { readonly direction: 'forward' | 'backward' } & (
  | { readonly function: 'ShiftByTime'; readonly shift: Duration }
  | {
      readonly function: 'ShiftByWindow';
      readonly shift: number;
      readonly window?: IntervalName;
      readonly timezone?: string;
    }
);

export interface ShiftMethods {
  shift(parameters: ShiftParameters): StepDraft<ShiftParameters>;
}

export const shift: Operation<ShiftMethods> = {
  name: 'Shift',
  otherNames: ['lag', 'lead'],
  shape: 'regrid',
  methods: { shift: (parameters) => ({ parameters }) },
  inheritsWindows: (parameters) => !isByTime(parameters) && parameters.window === undefined,
  parameters: {
    function: choice(['ShiftByWindow', 'ShiftByTime']),
    shift: shiftAmount(),
    direction: choice(['forward', 'backward']),
    window: interval({
      optional: true,
    }),
    timezone: timezone({ extension: true }),
  },
  check: checkShift,
  open: (parameters, run) => {
    const columns = { moved: run.column(), values: run.column() };
    if (isByTime(parameters)) return mover(fixedMove(shiftMs(parameters)), columns);
    const count = direction(parameters) * numberIn(parameters, 'shift');
    const window = checkedInterval(textIn(parameters, 'window'));
    const zoneName = textIn(parameters, 'timezone');
    const zone = zoneName === 'UTC' ? undefined : zoneOf(zoneName);
    const isWeek = window.kind === 'calendar' && window.unit === 'Weekly' && zone === undefined;
    if (isWeek) return mover(fixedMove(7 * count * DAY_MS), columns);
    if (window.kind === 'calendar') return calendarMover(calendarMove(window.unit, count, zone));
    if (zone !== undefined && window.lengthMs === DAY_MS) return calendarMover(calendarMove('Daily', count, zone));
    const windows = openWindows(textIn(parameters, 'window'), zoneName);
    const gridMs = windows.gridMs ?? Number.NaN;
    return mover(Number.isInteger(gridMs) ? fixedMove(count * gridMs) : windowMove(windows, count), columns);
  },
};

function shiftAmount(): Parameter {
  const expected = 'a whole number of windows (0 or more), or an ISO 8601 duration like PT15M';
  const oneOf = [
    { type: 'integer', minimum: 0 },
    { type: 'string', format: 'duration' },
  ];
  return parameter({}, { oneOf }, (value, report) => {
    if (typeof value === 'string') {
      if (parseDuration(value) !== undefined) return value;
      return refuse(report, 'request.duration', expected, value, durationHint(value));
    }
    if (typeof value !== 'number') return refuse(report, 'request.type', expected, value);
    if (!Number.isSafeInteger(value) && value > 0) return refuse(report, 'request.value', expected, value);
    if (value >= 0) return value;
    return refuse(report, 'request.range', expected, value, 'take the direction `backward`');
  });
}

function checkShift(parameters: Parameters, report: Report): void {
  const amount = parameters.shift;
  if (isByTime(parameters)) {
    if (typeof amount === 'number') {
      const hint = 'write a duration, or take ShiftByWindow';
      report('/shift', 'request.type', 'an ISO 8601 duration with ShiftByTime', describeValue(amount), hint);
    }
    if (parameters.window !== undefined) {
      report('/window', 'request.conflict', 'a window only with ShiftByWindow', describeValue(parameters.window));
    }
    return;
  }
  if (typeof amount === 'string') {
    const hint = 'write a number, or take ShiftByTime';
    report('/shift', 'request.type', 'a whole number of windows with ShiftByWindow', describeValue(amount), hint);
  }
  // The step's own window, or the one that the plan found upstream. The plan reports if there is neither.
  if (parameters.window !== undefined) {
    checkInterval(textIn(parameters, 'window'), textIn(parameters, 'timezone'), within(report, '/window'));
  }
}

export function isByTime(parameters: Parameters): boolean {
  return textIn(parameters, 'function') === 'ShiftByTime';
}

function direction(parameters: Parameters): 1 | -1 {
  return textIn(parameters, 'direction') === 'forward' ? 1 : -1;
}

export function shiftMs(parameters: Parameters): number {
  return direction(parameters) * (parseDuration(textIn(parameters, 'shift')) ?? 0);
}

/** Writes the first `count` times, moved, to `moved`. */
type Move = (timeMs: Float64Array, count: number, moved: Float64Array) => void;

function fixedMove(byMs: number): Move {
  return (timeMs, count, moved) => {
    // The kernel needs both columns in one memory.
    const isHere = timeMs.buffer === moved.buffer;
    if (!isHere) copyInto(moved, timeMs, count);
    addScalar(isHere ? timeMs : moved, count, byMs, moved);
  };
}

/**
 * Moves by whole windows. The position inside a window is kept, but limited to the length of the target window. A start
 * moves to a start exactly, which a sum of doubles would miss where windows have fractions of a millisecond.
 */
function windowMove(windows: Windows, count: number): Move {
  let startMs = Number.NaN;
  let endMs = Number.NaN;
  let targetMs = 0;
  let lastMs = 0;
  return (timeMs, sampleCount, moved) => {
    for (let i = 0; i < sampleCount; i++) {
      const t = timeMs[i]!;
      if (!(t >= startMs && t < endMs)) {
        startMs = windows.startOf(t);
        endMs = windows.next(startMs);
        targetMs = windows.step(startMs, count);
        lastMs = windows.next(targetMs);
      }
      const movedMs = t > startMs ? t + (targetMs - startMs) : targetMs;
      moved[i] = Math.min(Math.max(movedMs, targetMs), lastMs);
    }
  };
}

// State: the last moved sample, which the next one replaces if it is moved to the same time. That happens when a long
// window is cut to a shorter one, or when fractions of a millisecond are rounded off.
const HAS_LAST = 0;
const LAST_MS = 1;
const LAST_VALUE = 2;

/** Scratch columns for the current chunk. */
interface MoverColumns {
  readonly moved: Float64Array;
  readonly values: Float64Array;
}

function mover(move: Move, { moved, values }: MoverColumns): RegridRunner {
  const single = new Float64Array(1);
  function movedOne(timeMs: number): number {
    single[0] = timeMs;
    move(single, 1, single);
    return single[0];
  }
  return {
    kind: 'regrid',
    slotCount: 3,
    listCount: 0,
    push: ({ slots }, { timeMs, value, count, isReadOnly }, out) => {
      const lastMs = slots[HAS_LAST] === 1 ? slots[LAST_MS]! : Number.NEGATIVE_INFINITY;
      const isAfter = movedOne(timeMs[0]!) > lastMs;
      if (isAfter) flush(slots, out);
      move(timeMs, count, moved);
      if (isAfter && isRising(moved, 0, count, lastMs)) {
        if (!isReadOnly) copyInto(values, value, count);
        out.addRun(moved, isReadOnly ? value : values, count - 1, isReadOnly);
      } else {
        addDistinct(slots, moved, value, count, out);
      }
      slots[HAS_LAST] = 1;
      slots[LAST_MS] = moved[count - 1]!;
      slots[LAST_VALUE] = value[count - 1]!;
    },
    advance: ({ slots }, watermarkMs, out) => {
      if (slots[HAS_LAST] === 1 && slots[LAST_MS]! < movedOne(watermarkMs)) flush(slots, out);
    },
    close: ({ slots }, _advancedMs, out) => flush(slots, out),
    watermark: ({ slots }, watermarkMs) => {
      const movedMs = movedOne(watermarkMs);
      const nextMs = slots[HAS_LAST] === 1 ? Math.min(movedMs, slots[LAST_MS]!) : movedMs;
      // Limited to the known years: no result lies beyond them, and far out no window can be computed.
      return Math.min(Math.max(nextMs, TIME_MS_MIN), TIME_MS_END);
    },
  };
}

// Adds all but the last sample, without those that a later one of the same time replaces.
function addDistinct(slots: Float64Array, moved: Float64Array, value: Float64Array, count: number, out: Output): void {
  if (slots[HAS_LAST] === 1 && isReplaced(slots[LAST_MS]!, moved[0]!)) out.drop('duplicate', 1);
  else flush(slots, out);
  for (let i = 0; i < count - 1; i++) {
    if (isReplaced(moved[i]!, moved[i + 1]!)) out.drop('duplicate', 1);
    else out.add(moved[i]!, value[i]!);
  }
}

// Outside the known years nothing is replaced: both samples are counted as out of range.
function isReplaced(timeMs: number, nextMs: number): boolean {
  return timeMs === nextMs && isKnownTime(timeMs);
}

function flush(slots: Float64Array, out: Output): void {
  if (slots[HAS_LAST] !== 1) return;
  slots[HAS_LAST] = 0;
  out.add(slots[LAST_MS]!, slots[LAST_VALUE]!);
}
