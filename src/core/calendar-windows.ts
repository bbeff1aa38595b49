import { DAY_MS, dateOfDay, dayOfDate } from './calendar.js';
import { type CalendarName, longestMs } from './interval.js';
import { TIME_MS_END, TIME_MS_MIN } from './series.js';
import type { Windows } from './windows.js';
import type { Zone } from './zone.js';

/** Calendar days, numbered from 1970-01-01, in UTC or in a zone. */
export interface Days {
  /** The first instant whose date is the day or, if the zone skipped that day, the next one. */
  startOfDay(dayNumber: number): number;
  /** The number of the day that holds the instant. */
  dayOf(timeMs: number): number;
}

export const utcDays: Days = {
  startOfDay: (dayNumber) => dayNumber * DAY_MS,
  dayOf: (timeMs) => Math.floor(timeMs / DAY_MS),
};

export function localDays(zone: Zone): Days {
  const startOfDay = (dayNumber: number): number => zone.firstInstantFrom(dayNumber * DAY_MS);
  // If the clock goes back over midnight, the first midnight counts: from there on it is the new day, though the clock
  // shows the old date again.
  function dayOf(timeMs: number): number {
    const dayNumber = Math.floor((timeMs + zone.offsetMsAt(timeMs)) / DAY_MS);
    return timeMs >= startOfDay(dayNumber + 1) ? dayNumber + 1 : dayNumber;
  }
  return { startOfDay, dayOf };
}

const DAY_FIRST = Math.floor(TIME_MS_MIN / DAY_MS) - 800;
const DAY_LAST = Math.ceil(TIME_MS_END / DAY_MS) + 800;

/** Stops a shift out of the years 0001 to 9999 shortly beyond them, where it cannot come back into them. */
export function clampDay(dayNumber: number): number {
  return Math.min(Math.max(dayNumber, DAY_FIRST), DAY_LAST);
}

// A day is at most this much longer than 24 h: no zone was ever further from UTC.
const DAY_EXCESS_MS = 26 * 3_600_000;

/** Windows of a calendar unit or of a number of days. */
export function calendarWindows(unit: CalendarName | number, days: Days): Windows {
  const { startOfDay, dayOf } = days;
  const lengthMsMax = typeof unit === 'number' ? unit * DAY_MS : longestMs({ kind: 'calendar', unit });
  const periods = typeof unit === 'number' ? runsOfDays(unit) : periodsBy[unit];
  const startOfPeriod = (index: number): number => startOfDay(clampDay(periods.firstDay(index)));
  const indexOf = (timeMs: number): number => periods.indexOf(dayOf(timeMs));
  // A day that the zone skipped has no window: its start is that of the next.
  function next(startMs: number): number {
    let index = indexOf(startMs) + 1;
    while (startOfPeriod(index) === startMs) index++;
    return startOfPeriod(index);
  }
  function previous(startMs: number): number {
    let index = indexOf(startMs) - 1;
    while (startOfPeriod(index) === startMs) index--;
    return startOfPeriod(index);
  }
  function step(startMs: number, count: number): number {
    const target = startOfPeriod(indexOf(startMs) + count);
    return count === 1 ? next(startMs) : count === -1 ? previous(startMs) : target;
  }
  return {
    gridMs: undefined,
    lengthMsMax: lengthMsMax + DAY_EXCESS_MS,
    startOf: (timeMs) => startOfPeriod(indexOf(timeMs)),
    next,
    previous,
    step,
  };
}

/** How days make up numbered periods. */
interface Periods {
  indexOf(dayNumber: number): number;
  firstDay(index: number): number;
}

const runsOfDays = (length: number): Periods => ({
  indexOf: (dayNumber) => Math.floor(dayNumber / length),
  firstDay: (index) => index * length,
});

const periodsBy: Readonly<Record<CalendarName, Periods>> = {
  // 1970-01-01 was a Thursday.
  Weekly: { indexOf: (dayNumber) => Math.floor((dayNumber + 3) / 7), firstDay: (week) => week * 7 - 3 },
  Monthly: {
    indexOf: (dayNumber) => {
      const { year, month } = dateOfDay(dayNumber);
      return year * 12 + month - 1;
    },
    firstDay: (month) => dayOfDate(0, month + 1, 1),
  },
  Yearly: { indexOf: (dayNumber) => dateOfDay(dayNumber).year, firstDay: (year) => dayOfDate(year, 1, 1) },
};
