/** The proleptic Gregorian calendar as arithmetic: no Date, no zone. */

export const DAY_MS = 86_400_000;

export interface CivilDate {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
}

/**
 * Days from 1970-01-01 to a date. Months outside 1–12 carry into the year.
 * Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil.
 */
export function dayOfDate(year: number, month: number, day: number): number {
  const monthIndex = year * 12 + (month - 1);
  const y0 = Math.floor(monthIndex / 12);
  const m = monthIndex - y0 * 12 + 1;
  const y = m <= 2 ? y0 - 1 : y0;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (m > 2 ? m - 3 : m + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** The date that is `dayNumber` days after 1970-01-01. Source: as above, civil_from_days. */
export function dateOfDay(dayNumber: number): CivilDate {
  const z = dayNumber + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

/** Days in a month (1 to 12) of a year. */
export function daysInMonth(year: number, month: number): number {
  return dayOfDate(year, month + 1, 1) - dayOfDate(year, month, 1);
}
