import { localTime, timeTicks } from '../../plot/time-ticks.js';

/** Times and values as text, for people. */

/** Less than the last instant of a Date, so that there is room for a zone and for marks beside a range. */
export const TIME_MS_MAX = 8e15;

export const zoneNames: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')];

/** `2024-03-01 08:30:00` in a zone, with milliseconds if there are any. */
export function timeText(timeMs: number, timezone: string): string {
  if (!(Math.abs(timeMs) < TIME_MS_MAX)) return '–';
  const text = localTime(timeMs, timezone).toISOString().replace('T', ' ').replace('Z', '');
  return text.endsWith('.000') ? text.slice(0, -4) : text;
}

export function spanText(
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
  zone: string,
): string {
  return `${timeText(fromMs, zone)} to ${timeText(untilMs, zone)} (${zone})`;
}

/** Ticks of a time axis with labels, and the day or the year where a new one begins. */
export function timeMarks(fromMs: number, untilMs: number, countMax: number, timezone: string) {
  return timeTicks({ min: fromMs, max: untilMs }, countMax, timezone).map(({ timeMs, label, context }) => {
    return { timeMs, label: context ? `${label}\n${context}` : label };
  });
}

/** A value with nine digits at most, or all of a whole number below 10¹², and thousands separated. */
export function valueText(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e12 || size < 1e-4)) return value.toExponential(4);
  return value.toLocaleString('en-US', { maximumSignificantDigits: size >= 1e9 ? 12 : 9 });
}

export function countText(count: number): string {
  return count.toLocaleString('en-US');
}

/** `1 sample`, `7,267 samples`. */
export function counted(count: number, noun: string, plural = 's'): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : plural}`;
}
