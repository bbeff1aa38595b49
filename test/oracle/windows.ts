// Windows (semantics §2) as borders in time: each window lies between two consecutive borders.

import { nearest } from './numbers.js';
import { DAY_MS, parseDuration } from './time.js';
import { civilMs, clockOf, firstInstantFrom, stretchesAround, zoneOrNone } from './zones.js';

export interface Windows {
  /** The length, if all windows have the same by definition: no zone, no months. */
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
  if (name === 'weekly' || interval === 'P1W')
    return calendarWindows(WEEKS, zone, zone === undefined ? 7 * DAY_MS : undefined);
  if (name === 'monthly' || interval === 'P1M') return calendarWindows(MONTHS, zone, undefined);
  if (name === 'yearly' || interval === 'P1Y') return calendarWindows(YEARS, zone, undefined);
  const lengthMs = NAMED_MS[name] ?? parseDuration(interval);
  if (!(lengthMs > 0)) throw new Error(`a window needs a length: ${interval}`);
  if (zone === undefined) return tiles(lengthMs);
  if (lengthMs % DAY_MS === 0) return calendarWindows(runsOfDays(lengthMs / DAY_MS), zone, undefined);
  if (lengthMs > DAY_MS) throw new Error(`with a zone, no window longer than a day: ${interval}`);
  return clockWindows(lengthMs, zone);
}

/** A length in whole nanoseconds. */
const nanosecondsOf = (ms: number): bigint =>
  Number.isInteger(ms) ? BigInt(ms) * 1_000_000n : BigInt(Math.round(ms * 1_000_000));

/** The double nearest to k lengths after the epoch, on a clock that is `offsetMs` ahead. */
function pointOf(k: number, lengthMs: number, offsetMs: number): number {
  const wholeMs = k * lengthMs;
  if (Number.isInteger(lengthMs) && Number.isSafeInteger(wholeMs)) return wholeMs - offsetMs + 0; // exact, and never -0
  const ns = BigInt(k) * nanosecondsOf(lengthMs) - BigInt(offsetMs) * 1_000_000n;
  return ns % 1_000_000n === 0n ? Number(ns / 1_000_000n) : nearest({ numerator: ns, denominator: 1_000_000n });
}

/** The epoch grid: borders at multiples of the length, each rounded to the nearest double. */
function tiles(lengthMs: number): Windows {
  const near = (timeMs: number): number[] => {
    const k = Math.floor(timeMs / lengthMs);
    return [k - 2, k - 1, k, k + 1, k + 2].map((one) => pointOf(one, lengthMs, 0));
  };
  return { lengthMs, ...amongBorders(near) };
}

function amongBorders(near: (timeMs: number) => number[]): Omit<Windows, 'lengthMs'> {
  return {
    borderAtOrBefore: (timeMs) => Math.max(...near(timeMs).filter((border) => border <= timeMs)),
    borderBefore: (timeMs) => Math.max(...near(timeMs).filter((border) => border < timeMs)),
    borderAfter: (timeMs) => Math.min(...near(timeMs).filter((border) => border > timeMs)),
  };
}

/** A border wherever the local clock shows a multiple of the length or jumps over one. */
function clockWindows(lengthMs: number, zone: string): Windows {
  const near = (timeMs: number): number[] => {
    const stretches = stretchesAround(Math.floor(clockOf(timeMs, zone) / 1000) * 1000, zone);
    return stretches.flatMap(({ startMs, endMs, offsetMs }, index) => {
      const around = [startMs, Math.min(Math.max(timeMs, startMs), endMs), endMs].filter(Number.isFinite);
      const shown = around.flatMap((ms) => {
        const k = Math.floor((ms + offsetMs) / lengthMs);
        return [k - 2, k - 1, k, k + 1, k + 2].map((one) => pointOf(one, lengthMs, offsetMs));
      });
      const borders = shown.filter((border) => border >= startMs && border < endMs);
      const before = stretches[index - 1]?.offsetMs;
      if (before === undefined || before > offsetMs) return borders;
      // From the time that the clock would have shown to the one it shows: the last multiple up to there.
      const last = Math.floor((startMs + offsetMs) / lengthMs);
      return pointOf(last, lengthMs, before) >= startMs ? [...borders, startMs] : borders;
    });
  };
  return { lengthMs: undefined, ...amongBorders(near) };
}

/** Numbered days, weeks, months or years; `startLocalMs` is the local midnight at which number n starts. */
interface Periods {
  numberAt(date: Date): number;
  startLocalMs(n: number): number;
}

const runsOfDays = (length: number): Periods => ({
  numberAt: (date) => Math.floor(date.getTime() / DAY_MS / length),
  startLocalMs: (n) => n * length * DAY_MS,
});
/** 1970-01-01 was a Thursday: the Monday before it is day -3. */
const WEEKS: Periods = {
  numberAt: (date) => Math.floor((Math.floor(date.getTime() / DAY_MS) + 3) / 7),
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

/** A day that a zone skipped starts where the next one does, so its border is listed once and it has no window. */
function calendarWindows(periods: Periods, zone: string | undefined, lengthMs: number | undefined): Windows {
  const known = new Map<number, number>();
  const borderMs = (n: number): number => {
    const found = known.get(n) ?? firstInstantFrom(periods.startLocalMs(n), zone);
    known.set(n, found);
    return found;
  };
  // A zone is less than a day from UTC, so two periods on either side include both borders around any instant.
  const bordersNear = (timeMs: number): number[] => {
    const n = periods.numberAt(new Date(Math.floor(timeMs)));
    return [n - 2, n - 1, n, n + 1, n + 2].map(borderMs);
  };
  return { lengthMs, ...amongBorders(bordersNear) };
}
