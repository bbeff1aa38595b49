import { DateTime } from 'luxon';
import { DAY_MS, dateOfDay, dayOfDate } from '../core/calendar.js';
import { isUtc, zoneOf } from '../core/zone.js';
import type { Extent } from './panels.js';

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
    // A local time that clocks jump over has no mark; of one that comes twice, luxon does not say which it takes.
    const timeMs = zone === undefined ? localMs : zone.instantsOf(localMs)[0];
    if (timeMs === undefined) continue;
    if (timeMs > max) return times;
    if (timeMs >= min) times.push(timeMs);
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

function describe(local: DateTime, { unit, lengthMs }: Step): { label: string; context: string } {
  if (unit === 'month' && lengthMs > 11 * MONTH_MS) return { label: local.toFormat('yyyy'), context: '' };
  if (unit === 'month') return { label: local.toFormat('LLL'), context: local.toFormat('yyyy') };
  if (unit === 'day') return { label: local.toFormat('d LLL'), context: local.toFormat('yyyy') };
  const clock = lengthMs >= MINUTE_MS ? 'HH:mm' : lengthMs >= 1000 ? 'HH:mm:ss' : 'HH:mm:ss.SSS';
  return { label: local.toFormat(clock), context: local.toFormat('d LLL yyyy') };
}

/** `4 Jul 2013 00:15` in a zone. */
export function describeTime(timeMs: number, timezone = 'UTC'): string {
  return localTime(timeMs, timezone).toFormat('d LLL yyyy HH:mm');
}

function localTime(timeMs: number, timezone: string): DateTime {
  return DateTime.fromMillis(Math.floor(timeMs), { zone: timezone, locale: 'en-US' });
}
