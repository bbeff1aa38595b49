import { DAY_MS } from '../../../core/calendar.js';
import { firstInstantAfterChange, type Zone } from '../../../core/zone.js';

/** Hours of each day by the local clock. If they end at or before their start, they go on into the next day. */
export interface Hours {
  /** Milliseconds since midnight. */
  readonly startMs: number;
  readonly endMs: number;
}

/** A schedule in local time. Days are numbered from 1970-01-01. */
export interface LocalHours {
  /** Which days of the week, from Monday (0) on. */
  readonly weekdays: readonly boolean[];
  readonly hours: readonly Hours[];
  readonly holidays: ReadonlySet<number>;
  /** Spans of days, both ends included. If there are none, all days count. */
  readonly ranges: readonly { readonly firstDay: number; readonly lastDay: number }[];
  /** Undefined for UTC. */
  readonly zone: Zone | undefined;
}

/** Whether the local clock shows a time within the schedule. */
export function isWithin(schedule: LocalHours, timeMs: number): boolean {
  const localMs = timeMs + offsetMsAt(schedule, timeMs);
  const day = Math.floor(localMs / DAY_MS);
  const clockMs = localMs - day * DAY_MS;
  return schedule.hours.some(({ startMs, endMs }) => {
    if (startMs < endMs) return clockMs >= startMs && clockMs < endMs && isOpen(schedule, day);
    return (clockMs >= startMs && isOpen(schedule, day)) || (clockMs < endMs && isOpen(schedule, day - 1));
  });
}

// 1970-01-01 was a Thursday.
function isOpen({ weekdays, holidays, ranges }: LocalHours, day: number): boolean {
  if (weekdays[(((day + 3) % 7) + 7) % 7] !== true || holidays.has(day)) return false;
  return ranges.length === 0 || ranges.some(({ firstDay, lastDay }) => day >= firstDay && day <= lastDay);
}

/** The first instant after `timeMs` and before `endMs` at which the answer changes; `endMs` if there is none. */
export function nextChange(schedule: LocalHours, timeMs: number, endMs: number): number {
  const isNow = isWithin(schedule, timeMs);
  const firstDay = Math.floor((timeMs + offsetMsAt(schedule, timeMs)) / DAY_MS) - 1;
  const isChange = (ms: number) => ms > timeMs && ms < endMs && isWithin(schedule, ms) !== isNow;
  for (let day = firstDay; day * DAY_MS < endMs + 2 * DAY_MS; day++) {
    const changeMs = bordersOf(schedule, day).find(isChange);
    if (changeMs === undefined) continue;
    // If the clock goes back over midnight, it shows times of the old day again after the new day has begun.
    const nextMs = bordersOf(schedule, day + 1).find(isChange) ?? endMs;
    return Math.min(changeMs, nextMs);
  }
  return endMs;
}

// All instants of a local day, in order, at which the clock passes a border of the schedule or jumps.
function bordersOf({ hours, zone }: LocalHours, day: number): number[] {
  const clocksMs = new Set([0, ...hours.flatMap(({ startMs, endMs }) => [startMs, endMs])]);
  const localMs = [...clocksMs].map((clockMs) => day * DAY_MS + clockMs);
  if (zone === undefined) return localMs.sort((a, b) => a - b);
  const instants = localMs.flatMap((ms) => [zone.firstInstantFrom(ms), ...zone.instantsOf(ms)]);
  const jumpMs = jumpWithin(zone, zone.firstInstantFrom(day * DAY_MS), zone.firstInstantFrom((day + 1) * DAY_MS));
  return [...new Set(jumpMs === undefined ? instants : [...instants, jumpMs])].sort((a, b) => a - b);
}

// The instant at which the zone changes its offset, which happens at most once in a day.
function jumpWithin(zone: Zone, fromMs: number, toMs: number): number | undefined {
  const offsetMs = zone.offsetMsAt(fromMs);
  if (zone.offsetMsAt(toMs) === offsetMs) return undefined;
  return firstInstantAfterChange(zone.offsetMsAt, fromMs, toMs, offsetMs);
}

function offsetMsAt({ zone }: LocalHours, timeMs: number): number {
  return zone === undefined ? 0 : zone.offsetMsAt(timeMs);
}
