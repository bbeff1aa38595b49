import { DAY_MS, dayOfDate, daysInMonth } from '../../../core/calendar.js';
import type { Zone } from '../../../core/zone.js';

/**
 * The day of the row before, so that of most rows only the time of day is read. The date's ten bytes stand in three
 * words, as a DataView reads them (little-endian).
 */
export interface Clock {
  readonly zone: Zone | undefined;
  word0: number;
  word1: number;
  word2: number;
  /** Start of the day in UTC, for times with `Z`; in the zone, for times without. NaN where that is not one offset. */
  utcMs: number;
  localMs: number;
}

export function createClock(zone: Zone | undefined): Clock {
  return { zone, word0: 0, word1: 0, word2: 0, utcMs: Number.NaN, localMs: Number.NaN };
}

/** Opens the day whose `YYYY-MM-DD` stands at a place; false where that is no date. */
export function openDay(clock: Clock, view: DataView, at: number): boolean {
  const year = digitsAt(view, at, 4);
  const month = digitsAt(view, at + 5, 2);
  const day = digitsAt(view, at + 8, 2);
  const isDate = view.getUint8(at + 4) === 0x2d && view.getUint8(at + 7) === 0x2d;
  // The first and the last years are left to the general path: an offset may lead out of them.
  if (!isDate || !(year > 1 && year < 9999 && month >= 1 && month <= 12 && day >= 1)) return false;
  if (day > daysInMonth(year, month)) return false;
  clock.word0 = view.getInt32(at, true);
  clock.word1 = view.getInt32(at + 4, true);
  clock.word2 = view.getInt16(at + 8, true);
  clock.utcMs = dayOfDate(year, month, day) * DAY_MS;
  clock.localMs = clock.zone === undefined ? clock.utcMs : localStartMs(clock.zone, clock.utcMs);
  return true;
}

// NaN unless one offset holds all day: no zone changes it twice within three days, so equal ones around tell.
function localStartMs(zone: Zone, dayMs: number): number {
  const before = zone.offsetMsAt(dayMs - DAY_MS);
  const after = zone.offsetMsAt(dayMs + 2 * DAY_MS);
  return before === after ? dayMs - before : Number.NaN;
}

function digitsAt(view: DataView, at: number, count: number): number {
  let number = 0;
  for (let i = 0; i < count; i++) {
    const digit = view.getUint8(at + i) - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
}
