// Windows (semantics §2): a row of borders in time. A window lies between two borders that follow each other.

import { DAY_MS, parseDuration } from './time.js';
import { civilMs, firstInstantFrom, zoneOrNone } from './zones.js';

export interface Windows {
  /** The length, where all windows have the same by definition: no zone, no months. */
  readonly lengthMs: number | undefined;
  borderAtOrBefore(timeMs: number): number;
  borderBefore(timeMs: number): number;
  borderAfter(timeMs: number): number;
}

const NAMED_MS: Readonly<Record<string, number>> = {
  quarterhourly: DAY_MS / 96,
  halfhourly: DAY_MS / 48,
  hourly: DAY_MS / 24,
  daily: DAY_MS,
};

/** The windows of an `interval`, in UTC or in a zone. */
export function windowsOf(interval: string, timezone: string | undefined): Windows {
  const zone = zoneOrNone(timezone);
  const name = interval.toLowerCase();
  if (name === 'weekly') return calendarWindows(WEEKS, zone, zone === undefined ? 7 * DAY_MS : undefined);
  if (name === 'monthly' || interval === 'P1M') return calendarWindows(MONTHS, zone, undefined);
  if (name === 'yearly' || interval === 'P1Y') return calendarWindows(YEARS, zone, undefined);
  const lengthMs = NAMED_MS[name] ?? parseDuration(interval);
  if (!(lengthMs > 0)) throw new Error(`a window needs a length: ${interval}`);
  if (zone === undefined) return tiles(lengthMs);
  if (lengthMs > DAY_MS) throw new Error(`with a zone, no window longer than a day: ${interval}`);
  const days = calendarWindows(DAYS, zone, undefined);
  return lengthMs === DAY_MS ? days : tilesOfDays(lengthMs, days);
}

/** The greatest whole k with origin + k·length at or before the time. */
function tileAtOrBefore(originMs: number, lengthMs: number, timeMs: number): number {
  let k = Math.floor((timeMs - originMs) / lengthMs);
  while (originMs + k * lengthMs > timeMs) k -= 1; // the division may have rounded, either way
  while (originMs + (k + 1) * lengthMs <= timeMs) k += 1;
  return k;
}

/** The epoch grid: borders at the whole multiples of the length. */
function tiles(lengthMs: number): Windows {
  const tile = (timeMs: number) => tileAtOrBefore(0, lengthMs, timeMs);
  return {
    lengthMs,
    borderAtOrBefore: (timeMs) => tile(timeMs) * lengthMs,
    borderBefore(timeMs) {
      const k = tile(timeMs);
      return k * lengthMs === timeMs ? (k - 1) * lengthMs : k * lengthMs;
    },
    borderAfter: (timeMs) => (tile(timeMs) + 1) * lengthMs,
  };
}

/** Windows shorter than a day tile each local day from its midnight; the last one is cut at the next midnight. */
function tilesOfDays(lengthMs: number, days: Windows): Windows {
  return {
    lengthMs: undefined,
    borderAtOrBefore(timeMs) {
      const midnightMs = days.borderAtOrBefore(timeMs);
      return midnightMs + tileAtOrBefore(midnightMs, lengthMs, timeMs) * lengthMs;
    },
    borderBefore(timeMs) {
      const midnightMs = days.borderBefore(timeMs);
      const k = tileAtOrBefore(midnightMs, lengthMs, timeMs);
      const borderMs = midnightMs + k * lengthMs;
      return borderMs === timeMs ? midnightMs + (k - 1) * lengthMs : borderMs;
    },
    borderAfter(timeMs) {
      const midnightMs = days.borderAtOrBefore(timeMs);
      const k = tileAtOrBefore(midnightMs, lengthMs, timeMs);
      return Math.min(midnightMs + (k + 1) * lengthMs, days.borderAfter(timeMs));
    },
  };
}

/** Days, weeks, months or years, numbered through; `startLocalMs` is the local midnight that starts number n. */
interface Periods {
  numberAt(date: Date): number;
  startLocalMs(n: number): number;
}

const DAYS: Periods = {
  numberAt: (date) => Math.floor(date.getTime() / DAY_MS),
  startLocalMs: (n) => n * DAY_MS,
};
/** 1970-01-01 was a Thursday: the Monday before is day -3. */
const WEEKS: Periods = {
  numberAt: (date) => Math.floor((DAYS.numberAt(date) + 3) / 7),
  startLocalMs: (n) => (n * 7 - 3) * DAY_MS,
};
const MONTHS: Periods = {
  numberAt: (date) => date.getUTCFullYear() * 12 + date.getUTCMonth(),
  startLocalMs: (n) => civilMs(Math.floor(n / 12), n - Math.floor(n / 12) * 12, 1),
};
const YEARS: Periods = {
  numberAt: (date) => date.getUTCFullYear(),
  startLocalMs: (n) => civilMs(n, 0, 1),
};

/** A day that a zone skipped starts where the next one does, so its border is there once and it has no window. */
function calendarWindows(periods: Periods, zone: string | undefined, lengthMs: number | undefined): Windows {
  const known = new Map<number, number>();
  const borderMs = (n: number): number => {
    const found = known.get(n) ?? firstInstantFrom(periods.startLocalMs(n), zone);
    known.set(n, found);
    return found;
  };
  // A zone is less than a day from UTC, so two periods either side hold both borders around any instant.
  const bordersNear = (timeMs: number): number[] => {
    const n = periods.numberAt(new Date(Math.floor(timeMs)));
    return [n - 2, n - 1, n, n + 1, n + 2].map(borderMs);
  };
  return {
    lengthMs,
    borderAtOrBefore: (timeMs) => Math.max(...bordersNear(timeMs).filter((border) => border <= timeMs)),
    borderBefore: (timeMs) => Math.max(...bordersNear(timeMs).filter((border) => border < timeMs)),
    borderAfter: (timeMs) => Math.min(...bordersNear(timeMs).filter((border) => border > timeMs)),
  };
}
