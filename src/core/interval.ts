import { DAY_MS } from './calendar.js';
import { type Duration, formatDuration, parseDuration } from './duration.js';

/** The interface's names for windows of a fixed length. */
const NAMED_MS = { QuarterHourly: 900_000, HalfHourly: 1_800_000, Hourly: 3_600_000, Daily: DAY_MS } as const;

/** Windows whose length depends on the calendar (that of a week only in a zone). */
const CALENDAR_NAMES = ['Weekly', 'Monthly', 'Yearly'] as const;

export type CalendarName = (typeof CALENDAR_NAMES)[number];

/** A name of the interface, or an ISO 8601 duration. */
export type IntervalName = keyof typeof NAMED_MS | CalendarName | 'P1M' | 'P1Y' | Duration;

/** How long windows are: a fixed length, or a unit of the calendar. `Daily` is fixed until a zone makes it local. */
export type Interval =
  | { readonly kind: 'fixed'; readonly lengthMs: number }
  | { readonly kind: 'calendar'; readonly unit: CalendarName };

/**
 * The shortest window, or distance between points. In the year 9999 doubles are 0.03 ms apart, and the index of a
 * window since the epoch must be a whole number that a double can hold.
 */
export const SHORTEST_MS = 0.1;

/** Every name an interval can have, apart from durations. */
export const intervalNames: readonly string[] = [...Object.keys(NAMED_MS), ...CALENDAR_NAMES];

/**
 * Reads a name (in any case; `P1W`, `P1M` and `P1Y` are names) or an ISO 8601 duration.
 * Undefined when it is neither.
 */
export function parseInterval(text: string): Interval | undefined {
  const wanted = text.toLowerCase();
  for (const [name, lengthMs] of Object.entries(NAMED_MS)) {
    if (name.toLowerCase() === wanted) return { kind: 'fixed', lengthMs };
  }
  const unit = CALENDAR_NAMES.find((name) => name.toLowerCase() === wanted || text === `P1${name[0]}`);
  if (unit !== undefined) return { kind: 'calendar', unit };
  const lengthMs = parseDuration(text);
  return lengthMs === undefined ? undefined : { kind: 'fixed', lengthMs };
}

/** The canonical text of an interval: the interface's name if it has one, else the shortest duration. */
export function formatInterval(interval: Interval): string {
  if (interval.kind === 'calendar') return interval.unit;
  const named = Object.entries(NAMED_MS).find(([, lengthMs]) => lengthMs === interval.lengthMs);
  // `P1W` means Weekly.
  return named?.[0] ?? (interval.lengthMs === 7 * DAY_MS ? 'P7D' : formatDuration(interval.lengthMs));
}

/** The greatest length of a window of the interval in milliseconds, with days of 24 h: a month has 31 days. */
export function longestMs(interval: Interval): number {
  if (interval.kind === 'fixed') return interval.lengthMs;
  return { Weekly: 7, Monthly: 31, Yearly: 366 }[interval.unit] * DAY_MS;
}
