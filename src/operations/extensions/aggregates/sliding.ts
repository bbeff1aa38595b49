import { DAY_MS } from '../../../core/calendar.js';
import { formatDuration } from '../../../core/duration.js';
import { type CalendarName, longestMs } from '../../../core/interval.js';
import { firstStartFrom, type Windows } from '../../../core/windows.js';
import { zoneOf } from '../../../core/zone.js';
import { calendarMove } from '../../calendar-move.js';
import { type Parameters, type Report, textIn, within } from '../../parameters.js';
import { checkedInterval, checkInterval, interval, openWindows } from '../../windowing.js';
import { heldMoving } from './held-functions.js';
import { moving } from './moving-functions.js';
import { slidingRunner, trailingRunner } from './sliding-runner.js';
import type { Bounds, WindowKind } from './window-kind.js';

/** Sliding windows: of one size, one at each boundary of an interval, or one for each sample. */
export const sliding: WindowKind = {
  type: 'sliding',
  fields: {
    size: interval(),
    every: interval({ optional: true }),
  },
  check: checkSliding,
  canFill: (window) => window.every !== undefined,
  windows: (window, timezone) =>
    window.every === undefined ? undefined : { window: textIn(window, 'every'), timezone },
  boundsOf: (window, timezone, label, timeMs) => {
    if (window.every === undefined) return undefined;
    const { startFor, ends } = openSliding(window, timezone);
    return label === 'end' ? { startMs: startFor(timeMs), endMs: timeMs } : boundsFrom(timeMs, startFor, ends);
  },
  describe: (window, { does, zone, keeps, isCarriedIn }) => {
    const lengthMsMax = longestMs(checkedInterval(textIn(window, 'size')));
    const size = textIn(window, 'size');
    const kept = `the samples of one window, and ${keeps}`;
    if (window.every === undefined) {
      const reads = { kind: 'trailing', lengthMs: lengthMsMax } as const;
      return { does: `${does} of the ${size} window up to each sample`, reads, keeps: kept, final: 'with its sample' };
    }
    return {
      does: `${does} of the ${size} window up to each boundary of ${textIn(window, 'every')}${zone}`,
      reads: { kind: 'window', lengthMsMax, isCarriedIn },
      keeps: kept,
      final: `when time has passed the end of its window, at most ${formatDuration(lengthMsMax)} after a sample`,
    };
  },
  open: (window, { name, parameters, code, timezone, label, closed, empty }) => {
    const own = 'held' in code ? heldMoving(code) : moving(name, code.accumulator, parameters);
    if (window.every === undefined) return trailingRunner(own, longestMs(checkedInterval(textIn(window, 'size'))));
    const isRight = closed === 'right' && own.heldUntilMs === undefined;
    return slidingRunner(own, { ...openSliding(window, timezone), label, isRight, empty });
  },
};

/** A number of calendar units. */
interface Days {
  readonly unit: CalendarName | 'Daily';
  readonly count: number;
}

// The calendar units that a size or an interval is made of; undefined if it is not whole days.
function daysOf(text: string): Days | undefined {
  const found = checkedInterval(text);
  if (found.kind === 'calendar') return { unit: found.unit, count: 1 };
  return found.lengthMs % DAY_MS === 0 ? { unit: 'Daily', count: found.lengthMs / DAY_MS } : undefined;
}

function isElapsed({ unit }: Days): boolean {
  return unit === 'Daily' || unit === 'Weekly';
}

function checkSliding(window: Parameters, timezone: string, report: Report): void {
  const size = textIn(window, 'size');
  const every = window.every === undefined ? undefined : textIn(window, 'every');
  if (every !== undefined) checkInterval(every, timezone, within(report, '/every'));
  const days = daysOf(size);
  if (days === undefined || isElapsed(days)) return;
  if (every !== undefined && daysOf(every) !== undefined) return;
  const received = every === undefined ? 'windows for each sample' : `windows every \`${every}\``;
  const expected = `an \`every\` of whole days, weeks, months or years with the size \`${size}\``;
  report('/size', 'request.conflict', expected, received, 'or take a size of fixed length, such as P30D');
}

/** Where windows end, and where the window with a given end begins. */
interface Sliding {
  readonly ends: Windows;
  readonly startFor: (endMs: number) => number;
}

function openSliding(window: Parameters, timezone: string): Sliding {
  const every = textIn(window, 'every');
  const size = textIn(window, 'size');
  const ends = openWindows(every, timezone);
  const days = daysOf(size);
  if (days !== undefined && daysOf(every) !== undefined) {
    const move = calendarMove(days.unit, -days.count, timezone === 'UTC' ? undefined : zoneOf(timezone));
    // A day that the zone skipped has no length, but a window must have one.
    const startFor = (endMs: number): number => {
      const startMs = move.moved(endMs);
      return startMs < endMs ? startMs : ends.previous(endMs);
    };
    return { ends, startFor };
  }
  const lengthMs = longestMs(checkedInterval(size));
  // A size of some windows begins at a boundary, also where boundaries lie at fractions of a millisecond.
  const gridMs = ends.gridMs ?? 0;
  const count = Math.round(lengthMs / gridMs);
  const isEven = Math.abs(count * gridMs - lengthMs) < 1e-7;
  return { ends, startFor: (endMs) => (isEven ? ends.step(endMs, -count) : endMs - lengthMs) };
}

// The bounds of the last window that begins at `startMs`.
function boundsFrom(startMs: number, startFor: (endMs: number) => number, ends: Windows): Bounds | undefined {
  let endMs = firstStartFrom(ends, startMs);
  while (startFor(ends.next(endMs)) <= startMs) endMs = ends.next(endMs);
  return startFor(endMs) === startMs ? { startMs, endMs } : undefined;
}
