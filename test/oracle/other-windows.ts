// Aggregate over windows other than intervals: sliding, session, running (semantics, Aggregate).

import { movedByCalendar } from './operations.js';
import { countDropped, type Dropped, type Outcome, type Sample, settle } from './series.js';
import { DAY_MS, parseDuration, parseInstant } from './time.js';
import {
  type AggregateParameters,
  heldResult,
  holdsOf,
  isTimeWeighted,
  type OtherWindow,
  resultOf,
  type WindowResult,
} from './window-result.js';
import { windowsOf } from './windows.js';

/** One window: its bounds, the samples in it, and the time of its result. */
interface Own {
  readonly startMs: number;
  readonly endMs: number;
  readonly stampMs: number;
  readonly has: (timeMs: number) => boolean;
}

export function aggregateOther(
  samples: readonly Sample[],
  parameters: AggregateParameters,
  window: OtherWindow,
): Outcome {
  const dropped: Dropped = {};
  const candidates: Sample[] = [];
  let before: number | undefined;
  const isAtBorders = window.type === 'sliding' && window.every !== undefined;
  const resultIn = isTimeWeighted(parameters) ? timeWeighted(samples, parameters) : plain(samples, parameters);
  for (const own of windowsFor(samples, parameters, window)) {
    const result = resultIn(own);
    // A result at a sample or of a session is never filled.
    if (result === 'insufficient' || (result === 'empty' && !isAtBorders)) countDropped(dropped, 'insufficient');
    else if (result === 'empty') {
      const fill = parameters.empty?.toLowerCase();
      if (fill === 'zero') candidates.push({ timeMs: own.stampMs, value: 0 });
      if (fill === 'hold' && before !== undefined) candidates.push({ timeMs: own.stampMs, value: before });
    } else {
      candidates.push({ timeMs: own.stampMs, value: result });
      if (Number.isFinite(result)) before = result;
    }
  }
  return settle(candidates, dropped);
}

function timeWeighted(samples: readonly Sample[], parameters: AggregateParameters): (own: Own) => WindowResult {
  const held = holdsOf(samples, parameters, Number.POSITIVE_INFINITY);
  return ({ startMs, endMs }) => heldResult(held, startMs, endMs, parameters);
}

function plain(samples: readonly Sample[], parameters: AggregateParameters): (own: Own) => WindowResult {
  return ({ has }) => {
    const inside = samples.filter(({ timeMs }) => has(timeMs));
    const [first] = inside;
    return first === undefined ? 'empty' : resultOf(inside, samples[samples.indexOf(first) - 1], parameters);
  };
}

function windowsFor(samples: readonly Sample[], parameters: AggregateParameters, window: OtherWindow): Own[] {
  const isRight = parameters.closed?.toLowerCase() === 'right' && !isTimeWeighted(parameters);
  switch (window.type) {
    case 'session':
      return sessions(samples, parseDuration(window.gap), parameters.label?.toLowerCase() === 'end');
    case 'running':
      return samples.flatMap(({ timeMs }) => runningAt(timeMs, parameters, window.since, isRight));
    case 'sliding': {
      if (window.every !== undefined) return slidingAtBorders(samples, parameters, window.size, window.every, isRight);
      const sizeMs = lengthOf(window.size);
      return samples.map(({ timeMs }) => trailing(timeMs, sizeMs));
    }
  }
}

function sessions(samples: readonly Sample[], gapMs: number, isEnd: boolean): Own[] {
  const firsts = samples.filter(({ timeMs }, i) => i === 0 || timeMs - (samples[i - 1]?.timeMs ?? 0) > gapMs);
  return firsts.map(({ timeMs: startMs }, i) => {
    const nextMs = firsts[i + 1]?.timeMs ?? Number.POSITIVE_INFINITY;
    const endMs = samples.filter(({ timeMs }) => timeMs < nextMs).at(-1)?.timeMs ?? startMs;
    return { startMs, endMs, stampMs: isEnd ? endMs : startMs, has: (t) => t >= startMs && t <= endMs };
  });
}

function runningAt(timeMs: number, parameters: AggregateParameters, since: string, isRight: boolean): Own[] {
  const isInstant = /^\d/.test(since);
  const windows = isInstant ? undefined : windowsOf(since, parameters.timezone);
  const instantMs = isInstant ? parseInstant(since, parameters.runTimezone) : Number.NaN;
  const startMs =
    windows === undefined ? instantMs : isRight ? windows.borderBefore(timeMs) : windows.borderAtOrBefore(timeMs);
  if (isRight ? timeMs <= startMs : timeMs < startMs) return [];
  return [
    { startMs, endMs: timeMs, stampMs: timeMs, has: (t) => (isRight ? t > startMs : t >= startMs) && t <= timeMs },
  ];
}

function trailing(timeMs: number, sizeMs: number): Own {
  const startMs = timeMs - sizeMs;
  // By the age of a sample: at fractions of a millisecond the start may be rounded.
  return { startMs, endMs: timeMs, stampMs: timeMs, has: (t) => timeMs - t < sizeMs && t <= timeMs };
}

/** Each border whose window has a sample; where empty windows have results too, also each border among the samples. */
function slidingAtBorders(
  samples: readonly Sample[],
  parameters: AggregateParameters,
  size: string,
  every: string,
  isRight: boolean,
): Own[] {
  const [first] = samples;
  const last = samples.at(-1);
  if (first === undefined || last === undefined) return [];
  const ends = windowsOf(every, parameters.timezone);
  const startFor = startsFor(size, every, parameters.timezone);
  const holds = ['zero', 'hold'].includes(parameters.empty?.toLowerCase() ?? 'omit') || isTimeWeighted(parameters);
  const own: Own[] = [];
  let endMs =
    isRight && ends.borderAtOrBefore(first.timeMs) === first.timeMs ? first.timeMs : ends.borderAfter(first.timeMs);
  for (;;) {
    const [from, to] = [startFor(endMs), endMs];
    const has = (t: number): boolean => (isRight ? t > from && t <= to : t >= from && t < to);
    const isAfter = isRight ? from >= last.timeMs : from > last.timeMs;
    if (isAfter) return own;
    const isAmong = isRight ? to < last.timeMs : to <= last.timeMs;
    if (samples.some(({ timeMs }) => has(timeMs)) || (holds && isAmong)) {
      const stampMs = parameters.label?.toLowerCase() === 'end' ? to : from;
      own.push({ startMs: from, endMs: to, stampMs, has });
    }
    endMs = ends.borderAfter(endMs);
  }
}

const NAMED: Readonly<Record<string, readonly [months: number, days: number]>> = {
  daily: [0, 1],
  weekly: [0, 7],
  p1w: [0, 7],
  monthly: [1, 0],
  p1m: [1, 0],
  yearly: [12, 0],
  p1y: [12, 0],
};

const HOURS: Readonly<Record<string, number>> = { quarterhourly: 0.25, halfhourly: 0.5, hourly: 1 };

function calendarOf(text: string): readonly [months: number, days: number] | undefined {
  const named = NAMED[text.toLowerCase()];
  if (named !== undefined || HOURS[text.toLowerCase()] !== undefined) return named;
  const lengthMs = parseDuration(text);
  return lengthMs % DAY_MS === 0 ? [0, lengthMs / DAY_MS] : undefined;
}

function lengthOf(text: string): number {
  const hours = HOURS[text.toLowerCase()];
  if (hours !== undefined) return hours * 3_600_000;
  const [, days] = NAMED[text.toLowerCase()] ?? [];
  return days === undefined ? parseDuration(text) : days * DAY_MS;
}

function startsFor(size: string, every: string, timezone: string | undefined): (endMs: number) => number {
  const calendar = calendarOf(size);
  if (calendar !== undefined && calendarOf(every) !== undefined) {
    const borders = windowsOf(every, timezone);
    return (endMs) => {
      const startMs = movedByCalendar(endMs, -1, calendar, timezone);
      return startMs < endMs ? startMs : borders.borderBefore(endMs); // a day that a zone skipped
    };
  }
  const sizeMs = lengthOf(size);
  const { lengthMs = Number.NaN, borderBefore } = windowsOf(every, timezone);
  const count = nanosecondsOf(sizeMs) / nanosecondsOf(lengthMs);
  // Of whole milliseconds, the difference is the border.
  if ((Number.isInteger(sizeMs) && Number.isInteger(lengthMs)) || !Number.isInteger(count)) {
    return (endMs) => endMs - sizeMs;
  }
  return (endMs) => Array.from({ length: count }).reduce<number>(borderBefore, endMs);
}

function nanosecondsOf(ms: number): number {
  return Math.round(ms * 1_000_000);
}
