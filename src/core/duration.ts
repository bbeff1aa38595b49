import { DAY_MS } from './calendar.js';

const DECIMAL = '\\d+(?:\\.\\d+)?';
const DATE_PARTS = `(?:(?<weeks>${DECIMAL})W)?(?:(?<days>${DECIMAL})D)?`;
const TIME_PARTS = `(?:(?<hours>${DECIMAL})H)?(?:(?<minutes>${DECIMAL})M)?(?:(?<seconds>${DECIMAL})S)?`;
const DURATION = new RegExp(`^P(?!$)${DATE_PARTS}(?:T(?=\\d)${TIME_PARTS})?$`);

const UNIT_MS = { weeks: 7 * DAY_MS, days: DAY_MS, hours: 3_600_000, minutes: 60_000, seconds: 1000 } as const;
const UNITS = ['weeks', 'days', 'hours', 'minutes', 'seconds'] as const;

/**
 * The length in milliseconds of an ISO 8601 duration `PnWnDTnHnMnS` (a day is 24 h), the nearest double.
 * Upper case, in this order, no sign, at least one part, decimals only in the last part.
 * Undefined if the text is not a duration, or has years or months, which have no fixed length.
 */
export function parseDuration(text: string): number | undefined {
  const groups = DURATION.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const parts = UNITS.filter((unit) => groups[unit] !== undefined);
  if (parts.length === 0) return undefined;
  // Whole numbers of any length, so that even absurd durations come out as the nearest double.
  let wholeMs = 0n;
  for (const [index, unit] of parts.entries()) {
    const digits = groups[unit] ?? '';
    if (!digits.includes('.')) wholeMs += BigInt(digits) * BigInt(UNIT_MS[unit]);
    else if (index === parts.length - 1) return finite(addDecimal(wholeMs, digits, UNIT_MS[unit]));
    else return undefined;
  }
  return finite(Number(wholeMs));
}

function finite(ms: number): number | undefined {
  return Number.isFinite(ms) ? ms : undefined;
}

// Exact: the decimal is scaled as an integer and parsed once, so that PT0.1S is 100 and not 100.00000000000001.
function addDecimal(wholeMs: bigint, digits: string, unitMs: number): number {
  const point = digits.indexOf('.');
  const fractionCount = digits.length - point - 1;
  const scale = 10n ** BigInt(fractionCount);
  const scaledMs = BigInt(digits.slice(0, point) + digits.slice(point + 1)) * BigInt(unitMs) + wholeMs * scale;
  return Number(`${scaledMs / scale}.${String(scaledMs % scale).padStart(fractionCount, '0')}`);
}

/** The shortest text for a duration in milliseconds: `PT15M`, `P1D`, `PT0.5S`. */
export function formatDuration(ms: number): string {
  if (ms > 0 && ms % UNIT_MS.weeks === 0) return `P${ms / UNIT_MS.weeks}W`;
  const days = Math.floor(ms / DAY_MS);
  const hours = Math.floor((ms % DAY_MS) / UNIT_MS.hours);
  const minutes = Math.floor((ms % UNIT_MS.hours) / UNIT_MS.minutes);
  const seconds = (ms % UNIT_MS.minutes) / 1000;
  const date = days > 0 ? `${days}D` : '';
  const time = [hours && `${hours}H`, minutes && `${minutes}M`, seconds && `${seconds}S`].filter(Boolean).join('');
  if (time !== '') return `P${date}T${time}`;
  return date === '' ? 'PT0S' : `P${date}`;
}
