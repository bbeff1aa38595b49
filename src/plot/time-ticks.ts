import { DAY_MS, dateOfDay, dayOfDate } from '../core/calendar.js';
import { isUtc, zoneOf } from '../core/zone.js';
import type { Extent } from './panels.js';

/** A tick of a time axis. */
export interface TimeTick {
  readonly timeMs: number;
  readonly label: string;
  /** The day or the year that the labels leave out, at the first tick and where a new one begins. */
  readonly context: string | undefined;
}

type Step = { readonly unit: 'ms' | 'day' | 'month'; readonly count: number; readonly lengthMs: number };

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const MONTH_MS = 30.44 * DAY_MS;

const STEPS: readonly Step[] = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000].map(milliseconds),
  ...[1, 2, 5, 10, 15, 30].map((count) => milliseconds(count * MINUTE_MS)),
  ...[1, 2, 3, 6, 12].map((count) => milliseconds(count * HOUR_MS)),
  ...[1, 2, 7].map((count): Step => ({ unit: 'day', count, lengthMs: count * DAY_MS })),
  ...[1, 2, 3, 6].map(months),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000].map((count) => months(count * 12)),
];

function milliseconds(count: number): Step {
  return { unit: 'ms', count, lengthMs: count };
}

function months(count: number): Step {
  return { unit: 'month', count, lengthMs: count * MONTH_MS };
}

/** At most about `countMax` ticks at round local times of a zone (UTC by default). */
export function timeTicks(extent: Extent, countMax: number, timezone = 'UTC'): TimeTick[] {
  const step = STEPS.find(({ lengthMs }) => (extent.max - extent.min) / lengthMs <= countMax) ?? STEPS.at(-1);
  if (step === undefined) return [];
  let context: string | undefined;
  return localTimes(extent, step, timezone).map((timeMs) => {
    const words = describe(localTime(timeMs, timezone), step);
    const isNew = words.context !== context;
    context = words.context;
    return { timeMs, label: words.label, context: isNew ? context : undefined };
  });
}

function localTimes({ min, max }: Extent, step: Step, timezone: string): number[] {
  const zone = isUtc(timezone) ? undefined : zoneOf(timezone);
  const times: number[] = [];
  const fromLocalMs = min + (zone?.offsetMsAt(min) ?? 0);
  for (let index = Math.floor(indexOf(fromLocalMs, step)); ; index++) {
    const localMs = localMsOf(index, step);
    // A local time that clocks skip has no tick; one that occurs twice has a tick at the first.
    const timeMs = zone === undefined ? localMs : zone.instantsOf(localMs)[0];
    if (timeMs === undefined) continue;
    if (timeMs > max) return times;
    if (timeMs >= min) times.push(timeMs);
  }
}

// Steps of days count from a Monday, so that weeks begin on one.
const MONDAY = 4;

function indexOf(localMs: number, { unit, count }: Step): number {
  if (unit === 'ms') return localMs / count;
  const dayNumber = Math.floor(localMs / DAY_MS);
  if (unit === 'day') return (dayNumber - MONDAY) / count;
  const { year, month } = dateOfDay(dayNumber);
  return (year * 12 + month - 1) / count;
}

function localMsOf(index: number, { unit, count }: Step): number {
  if (unit === 'ms') return index * count;
  if (unit === 'day') return (index * count + MONDAY) * DAY_MS;
  return dayOfDate(0, index * count + 1, 1) * DAY_MS;
}

function describe(local: Date, { unit, lengthMs }: Step): { label: string; context: string } {
  const year = String(local.getUTCFullYear());
  if (unit === 'month' && lengthMs > 11 * MONTH_MS) return { label: year, context: '' };
  if (unit === 'month') return { label: monthOf(local), context: year };
  if (unit === 'day') return { label: dayOf(local), context: year };
  const clock = lengthMs >= MINUTE_MS ? 5 : lengthMs >= 1000 ? 8 : 12;
  return { label: clockOf(local, clock), context: `${dayOf(local)} ${year}` };
}

/** `4 Jul 2013 00:15` in a zone. */
export function describeTime(timeMs: number, timezone = 'UTC'): string {
  const local = localTime(timeMs, timezone);
  return `${dayOf(local)} ${local.getUTCFullYear()} ${clockOf(local, 5)}`;
}

/** The local time of the zone, as if it were UTC. */
export function localTime(timeMs: number, timezone: string): Date {
  const offsetMs = isUtc(timezone) ? 0 : (zoneOf(timezone)?.offsetMsAt(timeMs) ?? 0);
  return new Date(Math.floor(timeMs) + offsetMs);
}

/** Whether there is a zone of this name. */
export function isZone(timezone: string): boolean {
  return isUtc(timezone) || zoneOf(timezone) !== undefined;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function monthOf(local: Date): string {
  return MONTHS[local.getUTCMonth()] ?? '';
}

function dayOf(local: Date): string {
  return `${local.getUTCDate()} ${monthOf(local)}`;
}

/** The first letters of `08:30:00.000`. */
function clockOf(local: Date, length: number): string {
  return local.toISOString().split('T')[1]?.slice(0, length) ?? '';
}
