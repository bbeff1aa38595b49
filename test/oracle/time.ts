// Times as text (semantics §5): instants and durations, exact to the last digit, then rounded once to a double.

import { civilMs, firstInstantFrom, instantOfLocal } from './zones.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** 0001-01-01T00:00:00Z, and the first instant after the year 9999. */
export const YEARS_START_MS = -62_135_596_800_000;
export const YEARS_END_MS = 253_402_300_800_000;

export function liesInYears(timeMs: number): boolean {
  return timeMs >= YEARS_START_MS && timeMs < YEARS_END_MS;
}

/** The double nearest to `wholeMs` plus decimal digits of a second; the sum is taken in integers. */
function nearestDouble(wholeMs: number, fractionOfSecond: string): number {
  const scale = 10n ** BigInt(fractionOfSecond.length);
  const scaledMs = BigInt(wholeMs) * scale + BigInt(`0${fractionOfSecond}`) * 1000n;
  return Number(`${scaledMs}e-${fractionOfSecond.length}`);
}

const INSTANT = new RegExp(
  '^(?<year>\\d{4})-(?<month>\\d{2})-(?<day>\\d{2})' +
    '(?:[T ](?<hour>\\d{2}):(?<minute>\\d{2})(?::(?<second>\\d{2})(?:\\.(?<fraction>\\d+))?)?' +
    '(?<offset>Z|[+-]\\d{2}(?::?\\d{2})?)?)?$',
);

/** Epoch milliseconds of an instant; without an offset it is in UTC, or local in `timezone`. Throws if invalid. */
export function parseInstant(text: string, timezone?: string): number {
  const groups = INSTANT.exec(text)?.groups;
  if (groups === undefined) throw new Error(`not an instant: ${text}`);
  const { hour = '00', minute = '00', second = '00', fraction = '', offset } = groups;

  const dateMs = civilMs(Number(groups.year), Number(groups.month) - 1, Number(groups.day));
  const date = new Date(dateMs);
  const dateExists = date.getUTCMonth() === Number(groups.month) - 1 && date.getUTCDate() === Number(groups.day);
  const endsDay = /^24:00(:00(\.0*)?)?$/.test(text.slice(11).replace(/Z$|[+-][\d:]*$/, ''));
  const timeExists = endsDay || (Number(hour) <= 23 && Number(minute) <= 59 && Number(second) <= 59);
  if (!dateExists || !timeExists) throw new Error(`no such date or time: ${text}`);

  const localMs = dateMs + Number(hour) * HOUR_MS + Number(minute) * MINUTE_MS + Number(second) * 1000;
  const wholeMs =
    offset !== undefined
      ? localMs - parseOffset(offset)
      : endsDay && timezone !== undefined
        ? firstInstantFrom(localMs, timezone)
        : instantOfLocal(localMs, timezone);
  const timeMs = nearestDouble(wholeMs, fraction);
  if (!liesInYears(timeMs)) throw new Error(`outside the years 0001-9999: ${text}`);
  return timeMs;
}

/** `Z`, `±HH`, `±HHMM` or `±HH:MM` in milliseconds east of UTC. */
function parseOffset(offset: string): number {
  if (offset === 'Z') return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(3).replace(':', ''));
  if (hours > 23 || minutes > 59) throw new Error(`no such offset: ${offset}`);
  const distanceMs = hours * HOUR_MS + minutes * MINUTE_MS;
  return offset.startsWith('-') ? -distanceMs : distanceMs;
}

const NUMBER = '(\\d+(?:\\.\\d+)?)';
const DURATION = new RegExp(`^P(?:${NUMBER}W)?(?:${NUMBER}D)?(?:T(?:${NUMBER}H)?(?:${NUMBER}M)?(?:${NUMBER}S)?)?$`);
const UNIT_MS = [7 * DAY_MS, DAY_MS, HOUR_MS, MINUTE_MS, 1000];

/** Milliseconds of `PnWnDTnHnMnS`. Throws if invalid; years and months have no fixed length. */
export function parseDuration(text: string): number {
  const match = DURATION.exec(text);
  if (match === null || text.endsWith('T')) throw new Error(`not a duration: ${text}`);
  const parts = UNIT_MS.flatMap((unitMs, index) => {
    const number = match[index + 1];
    return number === undefined ? [] : [{ unitMs, number }];
  });
  const last = parts.at(-1);
  if (last === undefined) throw new Error(`a duration without parts: ${text}`);
  if (parts.some((part) => part !== last && part.number.includes('.'))) {
    throw new Error(`decimals before the last part: ${text}`);
  }
  const decimals = last.number.split('.')[1] ?? '';
  const scale = 10n ** BigInt(decimals.length);
  let scaledMs = 0n;
  for (const { unitMs, number } of parts) {
    const [whole = '', fraction = ''] = number.split('.');
    scaledMs += BigInt(unitMs) * (BigInt(whole) * scale + BigInt(`0${fraction}`));
  }
  return Number(`${scaledMs}e-${decimals.length}`);
}
