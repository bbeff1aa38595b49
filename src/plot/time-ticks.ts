import { DAY_MS, dateOfDay, dayOfDate } from '../core/calendar.js';
import { isUtc, type Zone, zoneOf } from '../core/zone.js';
import type { Extent } from './line.js';

/** A mark of a time axis. */
export interface TimeTick {
  readonly timeMs: number;
  readonly label: string;
  /** The day or the year that labels leave out, where a new one begins and at the first mark. */
  readonly context: string | undefined;
}

type Step = { readonly unit: 'ms' | 'day' | 'month'; readonly count: number; readonly lengthMs: number };

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const MONTH_MS = 30.44 * DAY_MS;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

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

/** At most about `countMax` marks at round local times of a zone (UTC without one). */
export function timeTicks(extent: Extent, countMax: number, timezone = 'UTC'): TimeTick[] {
  const zone = isUtc(timezone) ? undefined : zoneOf(timezone);
  const step = STEPS.find(({ lengthMs }) => (extent.max - extent.min) / lengthMs <= countMax) ?? STEPS.at(-1);
  if (step === undefined) return [];
  let context: string | undefined;
  return localTimes(extent, step, zone).map(({ timeMs, localMs }) => {
    const words = describe(localMs, step);
    const isNew = words.context !== context;
    context = words.context;
    return { timeMs, label: words.label, context: isNew ? context : undefined };
  });
}

function localTimes({ min, max }: Extent, step: Step, zone: Zone | undefined): { timeMs: number; localMs: number }[] {
  const times: { timeMs: number; localMs: number }[] = [];
  const fromLocalMs = min + (zone?.offsetMsAt(min) ?? 0);
  for (let index = Math.floor(indexOf(fromLocalMs, step)); ; index++) {
    const localMs = localMsOf(index, step);
    // A local time that clocks jump over has no mark.
    const timeMs = zone === undefined ? localMs : zone.instantsOf(localMs)[0];
    if (timeMs === undefined) continue;
    if (timeMs > max) return times;
    if (timeMs >= min) times.push({ timeMs, localMs });
  }
}

// Steps of days count from a Monday, so that weeks begin there.
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

function describe(localMs: number, { unit, lengthMs }: Step): { label: string; context: string } {
  const dayNumber = Math.floor(localMs / DAY_MS);
  const { year, month, day } = dateOfDay(dayNumber);
  const monthName = MONTHS[month - 1] ?? '';
  if (unit === 'month')
    return lengthMs > 11 * MONTH_MS ? { label: `${year}`, context: '' } : { label: monthName, context: `${year}` };
  if (unit === 'day') return { label: `${day} ${monthName}`, context: `${year}` };
  return { label: clock(localMs - dayNumber * DAY_MS, lengthMs), context: `${day} ${monthName} ${year}` };
}

function clock(msOfDay: number, stepMs: number): string {
  const pad = (value: number, width = 2): string => String(Math.floor(value)).padStart(width, '0');
  const minutes = `${pad(msOfDay / HOUR_MS)}:${pad((msOfDay / MINUTE_MS) % 60)}`;
  if (stepMs >= MINUTE_MS) return minutes;
  const seconds = `${minutes}:${pad((msOfDay / 1000) % 60)}`;
  return stepMs >= 1000 ? seconds : `${seconds}.${pad(msOfDay % 1000, 3)}`;
}

/** `4 Jul 2013 00:15` in a zone. */
export function describeTime(timeMs: number, timezone = 'UTC'): string {
  const zone = isUtc(timezone) ? undefined : zoneOf(timezone);
  const localMs = timeMs + (zone?.offsetMsAt(timeMs) ?? 0);
  const { label, context } = describe(localMs, milliseconds(MINUTE_MS));
  return `${context} ${label}`;
}
