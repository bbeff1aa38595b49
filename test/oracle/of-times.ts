// The extensions about time: Schedule and Gaps.

import { lerp } from './numbers.js';
import { heldValue, type Outcome, type Sample, settle } from './series.js';
import { DAY_MS } from './time.js';
import { stretchesBetween, zoneOrNone } from './zones.js';

export interface ScheduleParameters {
  readonly days?: readonly string[];
  readonly hours?: readonly { readonly start: string; readonly end: string }[];
  readonly holidays?: readonly string[];
  readonly ranges?: readonly { readonly first: string; readonly last: string }[];
}

const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Whether a local time (written as if it were UTC) is a time of the schedule. */
function isOn(localMs: number, { days, hours, holidays = [], ranges }: ScheduleParameters): boolean {
  const isOpen = (dayMs: number): boolean => {
    const date = new Date(dayMs);
    const text = date.toISOString().slice(0, 10);
    const isDay = days === undefined || days.some((name) => name.toLowerCase() === WEEKDAYS[date.getUTCDay()]);
    const isRange = ranges === undefined || ranges.some(({ first, last }) => first <= text && text <= last);
    return isDay && isRange && !holidays.includes(text);
  };
  const todayMs = Math.floor(localMs / DAY_MS) * DAY_MS;
  return (hours ?? [{ start: '00:00', end: '24:00' }]).some(({ start, end }) => {
    // The hours that started today and those that started yesterday.
    return [todayMs, todayMs - DAY_MS].some((dayMs) => {
      const startMs = dayMs + clockMs(start);
      const endMs = dayMs + clockMs(end) + (clockMs(end) <= clockMs(start) ? DAY_MS : 0);
      return isOpen(dayMs) && startMs <= localMs && localMs < endMs;
    });
  });
}

function clockMs(text: string): number {
  const [hours = '0', minutes = '0', seconds = '0'] = text.split(':');
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
}

/** The state at the first sample, then at each change up to the last sample, or before `untilMs`. */
export function schedule(
  samples: readonly Sample[],
  parameters: ScheduleParameters,
  timezone: string | undefined,
  untilMs: number | undefined,
): Outcome {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined) return { samples: [], dropped: {} };
  const endMs = Math.max(last.timeMs, untilMs === undefined ? last.timeMs : Math.ceil(untilMs) - 1);
  const zone = zoneOrNone(timezone);
  const always = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY, offsetMs: 0 };
  const stretches = zone === undefined ? [always] : stretchesBetween(first.timeMs, endMs, zone, 2 * DAY_MS);
  const states = stretches.flatMap((stretch) => {
    // While the offset does not change, the state changes only at times of the schedule and at midnight.
    const fromMs = Math.max(stretch.startMs, first.timeMs);
    const toMs = Math.min(stretch.endMs, endMs + 1);
    if (fromMs >= toMs) return [];
    const times = [fromMs, ...clockTimes(fromMs + stretch.offsetMs, toMs + stretch.offsetMs, parameters)];
    return times.map((localMs, i) => {
      const timeMs = i === 0 ? fromMs : localMs - stretch.offsetMs;
      return { timeMs, value: Number(isOn(timeMs + stretch.offsetMs, parameters)) };
    });
  });
  const inOrder = states.filter(({ timeMs }) => timeMs >= first.timeMs && timeMs <= endMs);
  return settle(
    inOrder.filter(({ value }, i) => value !== inOrder[i - 1]?.value),
    {},
  );
}

/** The local times of midnight and of the schedule between two local times, in order. */
function clockTimes(fromMs: number, toMs: number, { hours = [] }: ScheduleParameters): number[] {
  const clocks = [0, ...hours.flatMap(({ start, end }) => [clockMs(start), clockMs(end)])];
  const times: number[] = [];
  for (let dayMs = Math.floor(fromMs / DAY_MS) * DAY_MS; dayMs < toMs; dayMs += DAY_MS) {
    times.push(...clocks.map((ms) => dayMs + ms).filter((ms) => ms > fromMs && ms < toMs));
  }
  return [...new Set(times)].sort((a, b) => a - b);
}

export interface FillParameters {
  readonly everyMs: number;
  readonly maxgapMs: number;
  readonly method: string;
  readonly value: number | undefined;
}

export function fill(
  samples: readonly Sample[],
  other: readonly Sample[],
  { everyMs, maxgapMs, method, value: constant = 0 }: FillParameters,
): Outcome {
  const results = samples.flatMap((next, i) => {
    const last = samples[i - 1];
    const lengthMs = last === undefined ? 0 : next.timeMs - last.timeMs;
    const missing = Math.round(lengthMs / everyMs) - 1;
    if (last === undefined || missing < 1 || lengthMs > maxgapMs) return [next];
    if (method === 'series') {
      return [...other.filter(({ timeMs }) => timeMs > last.timeMs && timeMs < next.timeMs), next];
    }
    const points = Array.from({ length: missing }, (_, k) => last.timeMs + (k + 1) * everyMs);
    const valueAt = (timeMs: number): number => {
      if (method === 'constant') return constant;
      if (method === 'linear') return lerp(last.value, next.value, (timeMs - last.timeMs) / lengthMs);
      return heldValue([last], timeMs, Number.POSITIVE_INFINITY)!;
    };
    return [...points.map((timeMs) => ({ timeMs, value: valueAt(timeMs) })), next];
  });
  return settle(results, {});
}

export function gaps(samples: readonly Sample[], gapMs: number, unitMs: number): Outcome {
  const results = samples.flatMap(({ timeMs }, i) => {
    const nextMs = samples[i + 1]?.timeMs;
    return nextMs === undefined || nextMs - timeMs <= gapMs ? [] : [{ timeMs, value: (nextMs - timeMs) / unitMs }];
  });
  return settle(results, {});
}
