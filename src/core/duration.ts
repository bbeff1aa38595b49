import { DAY_MS } from './calendar.js';

/** An ISO 8601 duration as far as a type can tell: `PT15M`, `P1D`, `P1DT12H`, but not `15M`, `P15M` or `P1M`. */
export type Duration = `P${number}${'W' | 'D'}` | `P${number}W${number}D` | `P${string}T${string}${'H' | 'M' | 'S'}`;

const N = '(\\d+(?:\\.\\d+)?)';
const DURATION = new RegExp(`^P(?!$)(?:${N}W)?(?:${N}D)?(?:T(?=\\d)(?:${N}H)?(?:${N}M)?(?:${N}S)?)?$`);

const WEEK_MS = 7 * DAY_MS;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const UNITS_MS = [WEEK_MS, DAY_MS, HOUR_MS, MINUTE_MS, 1000];

/**
 * The length in milliseconds of an ISO 8601 duration `PnWnDTnHnMnS` (a day is 24 h), the nearest double.
 * Upper case, in this order, no sign, at least one part, decimals only in the last part.
 * Undefined if the text is not a duration, or has years or months, which have no fixed length.
 */
export function parseDuration(text: string): number | undefined {
  const [, ...parts] = DURATION.exec(text) ?? [];
  // Whole numbers of any length, so that even absurd durations come out as the nearest double.
  let wholeMs = 0n;
  let isKnown = false;
  for (const [index, unitMs] of UNITS_MS.entries()) {
    const digits = parts[index];
    if (digits === undefined) continue;
    isKnown = true;
    if (!digits.includes('.')) wholeMs += BigInt(digits) * BigInt(unitMs);
    else if (parts.slice(index + 1).some(Boolean)) return undefined;
    else return finite(addDecimal(wholeMs, digits, unitMs));
  }
  return isKnown ? finite(Number(wholeMs)) : undefined;
}

function finite(ms: number): number | undefined {
  return Number.isFinite(ms) ? ms : undefined;
}

// Exact: the decimal is scaled as an integer and parsed once, so that PT0.1S is 100 and not 100.00000000000001.
function addDecimal(wholeMs: bigint, digits: string, unitMs: number): number {
  const point = digits.indexOf('.');
  const fractionCount = digits.length - point - 1;
  const scaled = BigInt(digits.slice(0, point) + digits.slice(point + 1)) * BigInt(unitMs);
  return decimalOf(scaled + wholeMs * 10n ** BigInt(fractionCount), fractionCount);
}

/** The double nearest to `scaled` / 10^`places`. */
export function decimalOf(scaled: bigint, places: number): number {
  return Number(`${scaled}e-${places}`);
}

/** The shortest text for a duration in milliseconds: `PT15M`, `P1D`, `PT0.5S`. */
export function formatDuration(ms: number): string {
  if (ms > 0 && ms % WEEK_MS === 0) return `P${ms / WEEK_MS}W`;
  const days = Math.floor(ms / DAY_MS);
  const hours = Math.floor((ms % DAY_MS) / HOUR_MS);
  const minutes = Math.floor((ms % HOUR_MS) / MINUTE_MS);
  const seconds = (ms % MINUTE_MS) / 1000;
  const date = days > 0 ? `${days}D` : '';
  const time = [hours && `${hours}H`, minutes && `${minutes}M`, seconds && `${seconds}S`].filter(Boolean).join('');
  if (time !== '') return `P${date}T${time}`;
  return date === '' ? 'PT0S' : `P${date}`;
}
