import { DAY_MS, dateOfDay, dayOfDate, daysInMonth } from '../core/calendar.js';
import { clampDay, type Days, localDays, utcDays } from '../core/calendar-windows.js';
import type { CalendarName } from '../core/interval.js';
import { isKnownTime, TIME_MS_END, TIME_MS_MIN } from '../core/series.js';
import type { Zone } from '../core/zone.js';
import type { Output, RegridRunner, State } from './operation.js';

/**
 * Moves times by whole days, weeks, months or years of a zone. The local time of day stays, and a day that the target
 * month lacks becomes its last day, as with pandas' DateOffset. So rising times may no longer rise once moved.
 */
interface CalendarMove {
  moved(timeMs: number): number;
  /** The earliest time that any instant from `timeMs` on can be moved to. */
  earliestFrom(timeMs: number): number;
}

export function calendarMove(unit: CalendarName | 'Daily', count: number, zone: Zone | undefined): CalendarMove {
  const days = zone === undefined ? utcDays : localDays(zone);
  const monthCount = unit === 'Monthly' ? count : unit === 'Yearly' ? 12 * count : 0;
  const dayCount = unit === 'Daily' ? count : unit === 'Weekly' ? 7 * count : 0;

  function targetOf(dayNumber: number): { readonly day: number; readonly isShort: boolean } {
    if (monthCount === 0) return { day: clampDay(dayNumber + dayCount), isShort: false };
    const { year, month, day } = dateOfDay(dayNumber);
    const target = dateOfDay(clampDay(dayOfDate(year, month + monthCount, 1)));
    const last = daysInMonth(target.year, target.month);
    const targetDay = dayOfDate(target.year, target.month, Math.min(day, last));
    return { day: targetDay, isShort: day >= last && daysInMonth(year, month) > last };
  }

  // The time on the local clock in whole milliseconds. The start of a day counts as midnight even if the clock skips
  // midnight.
  function localOf(timeMs: number): number {
    const whole = Math.floor(timeMs);
    if (zone === undefined) return whole;
    const day = days.dayOf(timeMs);
    return days.startOfDay(day) === timeMs ? day * DAY_MS : whole + zone.offsetMsAt(timeMs);
  }

  return {
    moved: (timeMs) => {
      if (count === 0) return timeMs;
      const local = localOf(timeMs);
      const dayNumber = Math.floor(local / DAY_MS);
      const targetMs = local + (targetOf(dayNumber).day - dayNumber) * DAY_MS;
      const toMs = instantOf(targetMs, zone, days);
      return zone !== undefined && zone.instantsOf(targetMs).length === 0 ? toMs : timeMs + (toMs - Math.floor(timeMs));
    },
    earliestFrom: (timeMs) => {
      if (count === 0) return timeMs;
      const span = zone?.spanAt(timeMs);
      // If the clock goes back, it shows some times again.
      const again = span === undefined || zone === undefined ? Infinity : span.endMs + zone.offsetMsAt(span.endMs);
      const local = Math.min(localOf(timeMs), again);
      const dayNumber = Math.floor(local / DAY_MS);
      const { day, isShort } = targetOf(dayNumber);
      return instantOf(isShort ? day * DAY_MS : local + (day - dayNumber) * DAY_MS, zone, days);
    },
  };
}

// The first instant at which the local clock shows a time or, if it jumps over that, the instant of the jump.
function instantOf(localMs: number, zone: Zone | undefined, days: Days): number {
  if (zone === undefined) return localMs;
  return localMs % DAY_MS === 0 ? days.startOfDay(localMs / DAY_MS) : zone.firstInstantFrom(localMs);
}

const TIMES = 0;
const VALUES = 1;

/** Holds moved samples back, in order, until none can come before them. Of two at one time the later given stays. */
export function calendarMover({ moved, earliestFrom }: CalendarMove): RegridRunner {
  function give({ lists }: State, limitMs: number, out: Output): void {
    const times = lists[TIMES]!;
    const values = lists[VALUES]!;
    let count = 0;
    for (; count < times.length && times.at(count) < limitMs; count++) out.add(times.at(count), values.at(count));
    times.shift(count);
    values.shift(count);
  }
  return {
    kind: 'regrid',
    slotCount: 0,
    listCount: 2,
    push: (state, { timeMs, value, count }, out) => {
      const times = state.lists[TIMES]!;
      const values = state.lists[VALUES]!;
      for (let i = 0; i < count; i++) {
        const toMs = moved(timeMs[i]!);
        give(state, earliestFrom(timeMs[i]!), out);
        const at = times.firstAtOrAfter(toMs);
        // Outside the known years nothing is replaced: both samples are counted as out of range.
        if (at < times.length && times.at(at) === toMs && isKnownTime(toMs)) {
          values.set(at, value[i]!);
          out.drop('duplicate', 1);
        } else {
          times.insert(at, toMs);
          values.insert(at, value[i]!);
        }
      }
    },
    advance: (state, watermarkMs, out) => give(state, earliestFrom(watermarkMs), out),
    close: (state, _advancedMs, out) => give(state, Number.POSITIVE_INFINITY, out),
    watermark: ({ lists }, watermarkMs) => {
      const earliestMs = earliestFrom(watermarkMs);
      const nextMs = lists[TIMES]!.length > 0 ? Math.min(earliestMs, lists[TIMES]!.at(0)) : earliestMs;
      return Math.min(Math.max(nextMs, TIME_MS_MIN), TIME_MS_END);
    },
  };
}
