import { DAY_MS } from './calendar.js';
import { calendarWindows, localDays, utcDays } from './calendar-windows.js';
import { clockWindows } from './clock-windows.js';
import { gridOf } from './grid.js';
import type { Interval } from './interval.js';
import type { Windows } from './windows.js';
import type { Zone } from './zone.js';

/** The windows of an interval, on the epoch grid in UTC or by the clock and the days of a zone. */
export function windowsOf(interval: Interval, zone: Zone | undefined): Windows {
  if (interval.kind === 'calendar')
    return calendarWindows(interval.unit, zone === undefined ? utcDays : localDays(zone));
  if (zone === undefined) return gridWindows(interval.lengthMs);
  const isDays = interval.lengthMs % DAY_MS === 0;
  return isDays ? calendarWindows(interval.lengthMs / DAY_MS, localDays(zone)) : clockWindows(interval.lengthMs, zone);
}

/** Windows of one length on the epoch grid. */
function gridWindows(lengthMs: number): Windows {
  const grid = gridOf(lengthMs);
  // Whole milliseconds add up exactly, so the index need not be computed again.
  const isWhole = Number.isInteger(lengthMs);
  const step = (startMs: number, count: number): number =>
    isWhole ? startMs + count * lengthMs : grid.pointMs(grid.indexOf(startMs, 0) + count, 0);
  return {
    gridMs: lengthMs,
    lengthMsMax: lengthMs,
    startOf: (timeMs) => grid.pointMs(grid.indexOf(timeMs, 0), 0),
    next: (startMs) => step(startMs, 1),
    previous: (startMs) => step(startMs, -1),
    step,
  };
}
