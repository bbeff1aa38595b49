// The operations on one input except Aggregate: ranges, rounding, cleansing, shifting, grids (semantics §3).

import { roundTo } from './numbers.js';
import {
  earliestAfter,
  heldValue,
  latestAtOrBefore,
  linearValue,
  type Outcome,
  type Sample,
  settle,
} from './series.js';
import { DAY_MS, parseDuration, parseInstant, YEARS_END_MS, YEARS_START_MS } from './time.js';
import { type Windows, windowsOf } from './windows.js';
import { civilMs, clockOf, firstInstantFrom, zoneOrNone } from './zones.js';

export function mapValues(samples: readonly Sample[], f: (value: number) => number): Outcome {
  return settle(
    samples.map(({ timeMs, value }) => ({ timeMs, value: f(value) })),
    {},
  );
}

export interface RangeParameters {
  readonly valuerangelist?: readonly { readonly lower?: number | undefined; readonly upper?: number | undefined }[];
  readonly timerangelist?: readonly {
    readonly starttime?: string | undefined;
    readonly endtime?: string | undefined;
  }[];
}

/** Mask removes and Where keeps what lies inside any range: values [lower, upper], times [starttime, endtime). */
export function byRanges(
  samples: readonly Sample[],
  parameters: RangeParameters,
  keepsInside: boolean,
  timezone: string | undefined,
): Outcome {
  const valueRanges = (parameters.valuerangelist ?? []).map(({ lower, upper }) => ({
    lower: lower ?? Number.NEGATIVE_INFINITY,
    upper: upper ?? Number.POSITIVE_INFINITY,
  }));
  const timeRanges = (parameters.timerangelist ?? []).map(({ starttime, endtime }) => ({
    startMs: starttime === undefined ? Number.NEGATIVE_INFINITY : parseInstant(starttime, timezone),
    endMs: endtime === undefined ? Number.POSITIVE_INFINITY : parseInstant(endtime, timezone),
  }));
  const isInside = ({ timeMs, value }: Sample): boolean =>
    valueRanges.some(({ lower, upper }) => lower <= value && value <= upper) ||
    timeRanges.some(({ startMs, endMs }) => startMs <= timeMs && timeMs < endMs);
  return { samples: samples.filter((sample) => isInside(sample) === keepsInside), dropped: {} };
}

export function round(samples: readonly Sample[], digits: number, mode = 'halfaway'): Outcome {
  const tie = mode.toLowerCase() === 'halfeven' ? 'halfeven' : 'halfaway';
  return mapValues(samples, (value) => roundTo(value, digits, tie));
}

/** BoundsLimitCleanse clamps to the bounds; BoundsLimitAnomaly gives the samples outside them. */
export function cleanse(samples: readonly Sample[], functionName: string, lower: number, upper: number): Outcome {
  if (functionName.toLowerCase() === 'boundslimitanomaly') {
    return { samples: samples.filter(({ value }) => value < lower || value > upper), dropped: {} };
  }
  return mapValues(samples, (value) => {
    if (value < lower) return lower;
    if (value > upper) return upper;
    return value;
  });
}

/** Moves every sample by a fixed duration; `shiftMs` is negative for backward. */
export function shiftByTime(samples: readonly Sample[], shiftMs: number): Outcome {
  return settle(
    samples.map(({ timeMs, value }) => ({ timeMs: timeMs + shiftMs, value })),
    {},
  );
}

/** The months and days of a calendar window. */
const CALENDAR: Readonly<Record<string, readonly [months: number, days: number]>> = {
  daily: [0, 1],
  p1d: [0, 1],
  pt24h: [0, 1],
  weekly: [0, 7],
  p1w: [0, 7],
  monthly: [1, 0],
  p1m: [1, 0],
  yearly: [12, 0],
  p1y: [12, 0],
};

/** Moves every sample by whole windows; `windowCount` is negative for backward. */
export function shiftByWindow(
  samples: readonly Sample[],
  windowCount: number,
  interval: string,
  timezone: string | undefined,
): Outcome {
  const windows = windowsOf(interval, timezone);
  const calendar = CALENDAR[interval.toLowerCase()];
  if (windows.lengthMs !== undefined && Number.isInteger(windows.lengthMs)) {
    return shiftByTime(samples, windowCount * windows.lengthMs);
  }
  const moved = samples.map(({ timeMs, value }) => {
    if (windowCount === 0) return { timeMs, value };
    if (calendar !== undefined) return { timeMs: movedByCalendar(timeMs, windowCount, calendar, timezone), value };
    const startMs = windows.borderAtOrBefore(timeMs);
    const targetMs = borderAway(startMs, windowCount, windows);
    // In this order: one rounding, and none for zero windows. A border moves to a border.
    const movedMs = timeMs === startMs ? targetMs : timeMs + (targetMs - startMs);
    return { timeMs: Math.min(Math.max(movedMs, targetMs), windows.borderAfter(targetMs)), value };
  });
  return settle(
    moved.map((sample, given) => ({ ...sample, given })).sort((a, b) => a.timeMs - b.timeMs || a.given - b.given),
    {},
  );
}

/**
 * The local time of day stays the same, and so does the day of the month, or it becomes the last of a shorter month.
 */
export function movedByCalendar(
  timeMs: number,
  count: number,
  [months, days]: readonly [number, number],
  timezone: string | undefined,
): number {
  const zone = zoneOrNone(timezone);
  const secondMs = Math.floor(timeMs / 1000) * 1000;
  const shownMs = clockOf(secondMs, zone);
  const midnightMs = Math.floor(shownMs / DAY_MS) * DAY_MS;
  // The start of a day moves to the start of a day, whatever time the clock shows there.
  const localMs = firstInstantFrom(midnightMs, zone) === timeMs ? midnightMs : shownMs;
  const date = new Date(midnightMs);
  const month = date.getUTCMonth() + months * count;
  const lastDay = new Date(civilMs(date.getUTCFullYear(), month + 1, 0)).getUTCDate();
  const day = months === 0 ? date.getUTCDate() + days * count : Math.min(date.getUTCDate(), lastDay);
  const targetMs =
    civilMs(date.getUTCFullYear(), months === 0 ? date.getUTCMonth() : month, day) + localMs - midnightMs;
  const instantMs = firstInstantFrom(targetMs, zone);
  const isShown = clockOf(instantMs, zone) === targetMs;
  return isShown ? timeMs + (instantMs - secondMs) : instantMs;
}

/** The border `windowCount` windows away. The walk ends early once all further results are out of range anyway. */
function borderAway(startMs: number, windowCount: number, windows: Windows): number {
  const isNear = (ms: number) => ms > YEARS_START_MS - 800 * DAY_MS && ms < YEARS_END_MS + 800 * DAY_MS;
  let borderMs = startMs;
  for (let step = 0; step < Math.abs(windowCount) && isNear(borderMs); step += 1) {
    borderMs = windowCount > 0 ? windows.borderAfter(borderMs) : windows.borderBefore(borderMs);
  }
  return borderMs;
}

/** The borders in [firstMs, lastMs]. */
function bordersWithin(windows: Windows, firstMs: number, lastMs: number): number[] {
  const borders: number[] = [];
  let borderMs = windows.borderAtOrBefore(firstMs);
  if (borderMs < firstMs) borderMs = windows.borderAfter(firstMs);
  for (; borderMs <= lastMs; borderMs = windows.borderAfter(borderMs)) borders.push(borderMs);
  return borders;
}

/** The held value at each tick from the first sample to the last, and before `untilMs` if the run has one. */
export function holdLastValue(
  samples: readonly Sample[],
  windows: Windows,
  maxholdMs: number,
  untilMs: number | undefined,
): Outcome {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined) return { samples: [], dropped: {} };
  const endMs = Math.max(last.timeMs, untilMs ?? last.timeMs);
  const ticks = bordersWithin(windows, first.timeMs, endMs).filter((t) => t <= last.timeMs || t < endMs);
  const candidates = ticks.flatMap((tickMs) => {
    const value = heldValue(samples, tickMs, maxholdMs);
    return value === undefined ? [] : [{ timeMs: tickMs, value }];
  });
  return settle(candidates, {});
}

/** The value at each grid point from the first sample to the last; none strictly inside a gap longer than `maxgap`. */
export function resample(samples: readonly Sample[], grid: Windows, method = 'step', maxgapMs: number): Outcome {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined) return { samples: [], dropped: {} };
  const isLinear = method.toLowerCase() === 'linear';
  const candidates = bordersWithin(grid, first.timeMs, last.timeMs).flatMap((pointMs) => {
    if (liesInGap(samples, pointMs, maxgapMs)) return [];
    const value = isLinear ? linearValue(samples, pointMs) : heldValue(samples, pointMs, Number.POSITIVE_INFINITY);
    return value === undefined ? [] : [{ timeMs: pointMs, value }];
  });
  return settle(candidates, {});
}

function liesInGap(samples: readonly Sample[], timeMs: number, maxgapMs: number): boolean {
  const before = latestAtOrBefore(samples, timeMs);
  const after = earliestAfter(samples, timeMs);
  if (before === undefined || after === undefined || before.timeMs === timeMs) return false;
  return after.timeMs - before.timeMs > maxgapMs;
}

export function durationOr(text: string | undefined, otherwiseMs: number): number {
  return text === undefined ? otherwiseMs : parseDuration(text);
}
