import { DAY_MS, dateOfDay, dayOfDate } from './calendar.js';
import { type CalendarName, type Interval, longestMs } from './interval.js';
import { TIME_MS_END, TIME_MS_MIN } from './series.js';
import type { Zone } from './zone.js';

/**
 * A tiling of time: every instant lies in exactly one window `[start, end)`, and the end of a window
 * is the start of the next.
 */
export interface Windows {
  /** The start of the window that holds the instant. */
  startOf(timeMs: number): number;
  /** The start of the window after the one that starts at `startMs`. */
  next(startMs: number): number;
  /** The start of the window before the one that starts at `startMs`. */
  previous(startMs: number): number;
  /** The start of the window `count` windows away (either sign) from the one that starts at `startMs`. */
  step(startMs: number, count: number): number;
  /** The length, if all windows have the same and start at its multiples since the epoch. */
  readonly gridMs: number | undefined;
  /** No window is longer. */
  readonly lengthMsMax: number;
}

// Steps that lead out of the known years end soon after, however many there are.
const DAY_FIRST = Math.floor(TIME_MS_MIN / DAY_MS) - 800;
const DAY_LAST = Math.ceil(TIME_MS_END / DAY_MS) + 800;

// A day is at most this much longer than 24 h: no zone was ever further from UTC.
const DAY_EXCESS_MS = 26 * 3_600_000;

/** The windows of an interval, on the epoch grid in UTC or by the local days of a zone. */
export function windowsOf(interval: Interval, zone: Zone | undefined): Windows {
  if (zone !== undefined) return localWindows(interval, zone);
  if (interval.kind === 'fixed') return gridWindows(interval.lengthMs);
  const dayOf = (timeMs: number): number => Math.floor(timeMs / DAY_MS);
  return calendarWindows(interval.unit, (dayNumber) => dayNumber * DAY_MS, dayOf);
}

/** The first start of a window at or after an instant. */
export function firstStartFrom(windows: Windows, timeMs: number): number {
  const startMs = windows.startOf(timeMs);
  return startMs === timeMs ? startMs : windows.next(startMs);
}

/** Windows of one length on the epoch grid. */
export function gridWindows(lengthMs: number): Windows {
  // The products decide, not the quotient, so that borders of lengths like PT0.1S are the same from either side.
  function indexOf(timeMs: number): number {
    let index = Math.floor(timeMs / lengthMs);
    while (index * lengthMs > timeMs) index--;
    while ((index + 1) * lengthMs <= timeMs) index++;
    return index;
  }
  // Whole milliseconds add up exactly, so the product need not be computed again.
  const isWhole = Number.isInteger(lengthMs);
  const step = (startMs: number, count: number): number =>
    isWhole ? startMs + count * lengthMs : (Math.round(startMs / lengthMs) + count) * lengthMs;
  return {
    gridMs: lengthMs,
    lengthMsMax: lengthMs,
    startOf: (timeMs) => indexOf(timeMs) * lengthMs,
    next: (startMs) => (isWhole ? startMs + lengthMs : step(startMs, 1)),
    previous: (startMs) => step(startMs, -1),
    step,
  };
}

// Weeks, months and years over days numbered from 1970-01-01; the caller says when a day starts.
function calendarWindows(
  unit: CalendarName,
  startOfDay: (dayNumber: number) => number,
  dayOf: (timeMs: number) => number,
): Windows {
  const firstDay = { Weekly: firstDayOfWeek, Monthly: firstDayOfMonth, Yearly: firstDayOfYear }[unit];
  function step(startMs: number, count: number): number {
    const dayNumber = firstDay(indexOfDay(unit, dayOf(startMs)) + count);
    return startOfDay(Math.min(Math.max(dayNumber, DAY_FIRST), DAY_LAST));
  }
  return {
    gridMs: undefined,
    lengthMsMax: longestMs({ kind: 'calendar', unit }) + DAY_EXCESS_MS,
    startOf: (timeMs) => startOfDay(firstDay(indexOfDay(unit, dayOf(timeMs)))),
    next: (startMs) => step(startMs, 1),
    previous: (startMs) => step(startMs, -1),
    step,
  };
}

function indexOfDay(unit: CalendarName, dayNumber: number): number {
  if (unit === 'Weekly') return Math.floor((dayNumber + 3) / 7); // 1970-01-01 was a Thursday
  const { year, month } = dateOfDay(dayNumber);
  return unit === 'Yearly' ? year : year * 12 + month - 1;
}

const firstDayOfWeek = (week: number): number => week * 7 - 3;
const firstDayOfMonth = (month: number): number => dayOfDate(0, month + 1, 1);
const firstDayOfYear = (year: number): number => dayOfDate(year, 1, 1);

function localWindows(interval: Interval, zone: Zone): Windows {
  const days = localDays(zone);
  if (interval.kind === 'calendar') return calendarWindows(interval.unit, days.startOfDay, days.dayOf);
  return tiledDays(days, interval.lengthMs);
}

interface LocalDays {
  /** The first instant whose local date is the day or, if the zone skipped that day, the next one. */
  startOfDay(dayNumber: number): number;
  /** The number of the local day that holds the instant. */
  dayOf(timeMs: number): number;
}

function localDays(zone: Zone): LocalDays {
  const startOfDay = (dayNumber: number): number => zone.firstInstantFrom(dayNumber * DAY_MS);
  // If the clock goes back over midnight, the first midnight counts: what follows is the new day, though the clock
  // shows the old date again.
  function dayOf(timeMs: number): number {
    const dayNumber = Math.floor((timeMs + zone.offsetMsAt(timeMs)) / DAY_MS);
    return timeMs >= startOfDay(dayNumber + 1) ? dayNumber + 1 : dayNumber;
  }
  return { startOfDay, dayOf };
}

// Each local day is divided from its start by elapsed time; its last window is cut at the next day's start. With
// windows of 24 h and days of 25 h that would leave an hour over, so a whole day is one window.
function tiledDays(days: LocalDays, lengthMs: number): Windows {
  const lengthMsMax = lengthMs === DAY_MS ? DAY_MS + DAY_EXCESS_MS : lengthMs;
  const tileCountMax = Math.ceil((DAY_MS + DAY_EXCESS_MS) / lengthMs);
  const tileMs = lengthMs === DAY_MS ? Number.POSITIVE_INFINITY : lengthMs;
  const tileOf = (elapsedMs: number): number =>
    tileMs === Number.POSITIVE_INFINITY ? 0 : Math.floor(elapsedMs / tileMs);
  const startOfTile = (dayStartMs: number, tile: number): number =>
    tile === 0 ? dayStartMs : dayStartMs + tile * tileMs;

  function startOf(timeMs: number): number {
    const dayStartMs = days.startOfDay(days.dayOf(timeMs));
    return startOfTile(dayStartMs, tileOf(timeMs - dayStartMs));
  }
  function next(startMs: number): number {
    return Math.min(startMs + tileMs, days.startOfDay(days.dayOf(startMs) + 1));
  }
  function previous(startMs: number): number {
    let dayNumber = days.dayOf(startMs);
    const dayStartMs = days.startOfDay(dayNumber);
    if (startMs > dayStartMs) return startMs - tileMs;
    while (days.startOfDay(dayNumber) === startMs) dayNumber--;
    const dayBeforeMs = days.startOfDay(dayNumber);
    const tileCount = tileMs === Number.POSITIVE_INFINITY ? 1 : Math.ceil((startMs - dayBeforeMs) / tileMs);
    return startOfTile(dayBeforeMs, tileCount - 1);
  }
  function tileCountOf(dayNumber: number): number {
    const dayMs = days.startOfDay(dayNumber + 1) - days.startOfDay(dayNumber);
    // A day that the zone skipped has none.
    return dayMs === 0 ? 0 : tileMs === Number.POSITIVE_INFINITY ? 1 : Math.ceil(dayMs / tileMs);
  }
  // Day by day, and then to the tile.
  function step(startMs: number, count: number): number {
    let dayNumber = days.dayOf(startMs);
    // No need to walk if the walk is certain to end outside the known years.
    const dayCountMin = Math.floor(Math.abs(count) / tileCountMax) - 1;
    if (count > 0 && dayNumber + dayCountMin >= DAY_LAST) return days.startOfDay(DAY_LAST);
    if (count < 0 && dayNumber - dayCountMin <= DAY_FIRST) return days.startOfDay(DAY_FIRST);
    const dayStartMs = days.startOfDay(dayNumber);
    let tile = (startMs === dayStartMs ? 0 : Math.round((startMs - dayStartMs) / tileMs)) + count;
    while (tile < 0) tile += tileCountOf(--dayNumber);
    for (let own = tileCountOf(dayNumber); tile >= own; own = tileCountOf(dayNumber)) {
      tile -= own;
      dayNumber++;
    }
    return startOfTile(days.startOfDay(dayNumber), tile);
  }
  return { gridMs: undefined, lengthMsMax, startOf, next, previous, step };
}
