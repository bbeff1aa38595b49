// Time zones by Intl alone: the offset at an instant, and the instants of a local time (semantics §2 and §5).

const HOUR_MS = 3_600_000;

/** Epoch milliseconds of a UTC date; `month` counts from 0. (Date.UTC takes the years 0-99 for 1900-99.) */
export function civilMs(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month, day);
}

/** How far apart offsets are sampled; no zone has changed its clock twice within 95 h. */
const LOOK_MS = 24 * HOUR_MS;

/** More than the greatest offset that a zone has ever had. */
const OFFSET_MS_MAX = 26 * HOUR_MS;

/** `timezone: UTC` equals none (§2). */
export function zoneOrNone(timezone: string | undefined): string | undefined {
  return timezone?.toUpperCase() === 'UTC' ? undefined : timezone;
}

interface Zone {
  readonly format: Intl.DateTimeFormat;
  readonly offsetMsAt: Map<number, number>;
}

const zones = new Map<string, Zone>();

function zoneNamed(timezone: string): Zone {
  const known = zones.get(timezone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    calendar: 'gregory',
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const zone = { format, offsetMsAt: new Map<number, number>() };
  zones.set(timezone, zone);
  return zone;
}

/** Local time minus UTC at an instant in whole seconds. */
function offsetMs(timezone: string, timeMs: number): number {
  const { format, offsetMsAt } = zoneNamed(timezone);
  const known = offsetMsAt.get(timeMs);
  if (known !== undefined) return known;
  const part: Record<string, string> = {};
  for (const { type, value } of format.formatToParts(timeMs)) part[type] = value;
  const year = part.era?.startsWith('B') ? 1 - Number(part.year) : Number(part.year);
  const dateMs = civilMs(year, Number(part.month) - 1, Number(part.day));
  const secondOfDay = (Number(part.hour) * 60 + Number(part.minute)) * 60 + Number(part.second);
  const offset = dateMs + secondOfDay * 1000 - timeMs;
  offsetMsAt.set(timeMs, offset);
  return offset;
}

/** A span [startMs, endMs) in which the zone's offset does not change. */
export interface Stretch {
  readonly startMs: number;
  readonly endMs: number;
  readonly offsetMs: number;
}

/** The spans around a local time, in order, wide enough for every instant that it may mean. */
export function stretchesAround(localMs: number, timezone: string): Stretch[] {
  return stretchesBetween(localMs - OFFSET_MS_MAX, localMs + OFFSET_MS_MAX, timezone, LOOK_MS);
}

/** The spans from the one at `fromMs` to that at `toMs`; the end of the last is not located. */
export function stretchesBetween(fromMs: number, toMs: number, timezone: string, lookMs: number): Stretch[] {
  const stretches: Stretch[] = [];
  let startMs = Math.floor(fromMs / lookMs) * lookMs;
  const lastMs = (Math.floor(toMs / lookMs) + 1) * lookMs;
  for (let atMs = startMs; atMs < lastMs; atMs += lookMs) {
    const before = offsetMs(timezone, atMs);
    if (offsetMs(timezone, atMs + lookMs) === before) continue;
    const endMs = changeBetween(atMs, atMs + lookMs, timezone);
    stretches.push({ startMs, endMs, offsetMs: before });
    startMs = endMs;
  }
  stretches.push({ startMs, endMs: Number.POSITIVE_INFINITY, offsetMs: offsetMs(timezone, lastMs) });
  return stretches;
}

/** What the local clock shows at an instant, in whole milliseconds. */
export function clockOf(timeMs: number, zone: string | undefined): number {
  const wholeMs = Math.floor(timeMs);
  return zone === undefined ? wholeMs : wholeMs + offsetMs(zone, Math.floor(wholeMs / 1000) * 1000);
}

/** The first second whose offset differs from that at `lowMs`, by bisection. */
function changeBetween(lowMs: number, highMs: number, timezone: string): number {
  let [sameMs, otherMs] = [lowMs, highMs];
  while (otherMs - sameMs > 1000) {
    const middleMs = sameMs + Math.floor((otherMs - sameMs) / 2000) * 1000;
    if (offsetMs(timezone, middleMs) === offsetMs(timezone, lowMs)) sameMs = middleMs;
    else otherMs = middleMs;
  }
  return otherMs;
}

/** §5: the instant of a local time; the first, if it comes twice. Throws if the clock never shows it. */
export function instantOfLocal(localMs: number, timezone: string | undefined): number {
  const zone = zoneOrNone(timezone);
  if (zone === undefined) return localMs;
  for (const stretch of stretchesAround(localMs, zone)) {
    const timeMs = localMs - stretch.offsetMs;
    if (timeMs >= stretch.startMs && timeMs < stretch.endMs) return timeMs;
  }
  throw new Error(`a local time that does not exist in ${zone}: ${new Date(localMs).toISOString().slice(0, -1)}`);
}

/** §2: the first instant at which the clock shows the local time, or a later time if it jumps over it. */
export function firstInstantFrom(localMs: number, timezone: string | undefined): number {
  const zone = zoneOrNone(timezone);
  if (zone === undefined) return localMs;
  for (const stretch of stretchesAround(localMs, zone)) {
    const timeMs = Math.max(stretch.startMs, localMs - stretch.offsetMs);
    if (timeMs < stretch.endMs) return timeMs;
  }
  throw new Error('the last stretch has no end');
}
