import { DAY_MS } from '../../../core/calendar.js';
import type { Zone } from '../../../core/zone.js';

/** A part of each day by the local clock; one that ends where it starts or before goes on into the next day. */
export interface Hours {
  /** Since midnight. */
  readonly startMs: number;
  readonly endMs: number;
}

/** Days are numbered from 1970-01-01. */
export interface LocalHours {
  /** Which days of the week, from Monday (0) on. */
  readonly weekdays: readonly boolean[];
  readonly hours: readonly Hours[];
  readonly holidays: ReadonlySet<number>;
  /** Days from the first to the last, both included; none: all days. */
  readonly ranges: readonly { readonly firstDay: number; readonly lastDay: number }[];
  /** Undefined: UTC. */
  readonly zone: Zone | undefined;
}

/** Whether the local clock shows a time of the schedule. */
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
    // A clock that goes back over midnight shows times of a day once more after the next has begun.
    const nextMs = bordersOf(schedule, day + 1).find(isChange) ?? endMs;
    return Math.min(changeMs, nextMs);
  }
  return endMs;
}

// All instants of a local day at which the clock passes a border of the schedule, or jumps; in order.
function bordersOf({ hours, zone }: LocalHours, day: number): number[] {
  const clocksMs = new Set([0, ...hours.flatMap(({ startMs, endMs }) => [startMs, endMs])]);
  const localMs = [...clocksMs].map((clockMs) => day * DAY_MS + clockMs);
  if (zone === undefined) return localMs.sort((a, b) => a - b);
  const instants = localMs.flatMap((ms) => [zone.firstInstantFrom(ms), ...zone.instantsOf(ms)]);
  const jumpMs = jumpWithin(zone, zone.firstInstantFrom(day * DAY_MS), zone.firstInstantFrom((day + 1) * DAY_MS));
  return [...new Set(jumpMs === undefined ? instants : [...instants, jumpMs])].sort((a, b) => a - b);
}

// The first instant after the zone changed its offset, which it does at whole seconds and at most once in a day.
function jumpWithin(zone: Zone, fromMs: number, toMs: number): number | undefined {
  const offsetMs = zone.offsetMsAt(fromMs);
  if (zone.offsetMsAt(toMs) === offsetMs) return undefined;
  let low = Math.floor(fromMs / 1000);
  let high = Math.ceil(toMs / 1000);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (zone.offsetMsAt(middle * 1000) === offsetMs) low = middle;
    else high = middle;
  }
  return high * 1000;
}

function offsetMsAt({ zone }: LocalHours, timeMs: number): number {
  return zone === undefined ? 0 : zone.offsetMsAt(timeMs);
}
