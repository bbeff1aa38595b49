/** Times as people read them, in any zone. */

const DAY_MS = 86_400_000;
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone);
  if (known !== undefined) return known;
  const numeric = 'numeric';
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: numeric,
    month: numeric,
    day: numeric,
    hour: numeric,
    minute: numeric,
    second: numeric,
  });
  formats.set(timezone, format);
  return format;
}

/** Whether the browser knows a zone of this name. */
export function isZone(timezone: string): boolean {
  try {
    formatOf(timezone);
    return true;
  } catch {
    return false;
  }
}

export const zoneNames: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')];

/** Local time written as if it were UTC. */
function localMs(timeMs: number, timezone: string): number {
  if (timezone === 'UTC') return timeMs;
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = (
    formatOf(timezone).format(timeMs).match(/\d+/g) ?? []
  ).map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((timeMs % 1000) + 1000) % 1000);
}

/** `2024-03-01 08:30:00` in a zone, with milliseconds where there are some. */
export function timeText(timeMs: number, timezone: string): string {
  if (!Number.isFinite(timeMs)) return '–';
  const text = new Date(localMs(timeMs, timezone)).toISOString().replace('T', ' ').replace('Z', '');
  return text.endsWith('.000') ? text.slice(0, -4) : text;
}

export function spanText(
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
  zone: string,
): string {
  return `${timeText(fromMs, zone)} to ${timeText(untilMs, zone)} (${zone})`;
}

export interface TimeMark {
  readonly timeMs: number;
  readonly label: string;
}

const STEPS_MS = [
  1,
  10,
  100,
  1000,
  5000,
  15_000,
  60_000,
  300_000,
  900_000,
  1_800_000,
  3_600_000,
  10_800_000,
  21_600_000,
  43_200_000,
  DAY_MS,
  2 * DAY_MS,
  7 * DAY_MS,
  14 * DAY_MS,
];
const MONTH_STEPS = [1, 2, 3, 6, 12, 24, 60, 120];

/** At most so many marks at round local times. */
export function timeMarks(fromMs: number, untilMs: number, countMax: number, timezone: string): TimeMark[] {
  const spanMs = untilMs - fromMs;
  const stepMs = STEPS_MS.find((step) => spanMs / step <= countMax);
  const marks: TimeMark[] = [];
  // The offset is looked up as if local time were UTC, which is off within hours of a change alone.
  const utcOf = (local: number): number => local - (localMs(local, timezone) - local);
  if (stepMs !== undefined) {
    for (let local = Math.ceil(localMs(fromMs, timezone) / stepMs) * stepMs; ; local += stepMs) {
      const timeMs = utcOf(local);
      if (timeMs > untilMs) return marks;
      if (timeMs >= fromMs) marks.push({ timeMs, label: labelOf(local, stepMs) });
    }
  }
  const months = MONTH_STEPS.find((count) => spanMs / (count * 30 * DAY_MS) <= countMax) ?? 1200;
  const start = new Date(localMs(fromMs, timezone));
  let index = Math.ceil((start.getUTCFullYear() * 12 + start.getUTCMonth()) / months) * months;
  for (; ; index += months) {
    const local = Date.UTC(Math.floor(index / 12), index % 12);
    const timeMs = utcOf(local);
    if (timeMs > untilMs) return marks;
    if (timeMs >= fromMs) marks.push({ timeMs, label: new Date(local).toISOString().slice(0, months < 12 ? 7 : 4) });
  }
}

function labelOf(local: number, stepMs: number): string {
  const text = new Date(local).toISOString();
  if (stepMs >= DAY_MS) return text.slice(0, 10);
  const clock = text.slice(11, stepMs >= 60_000 ? 16 : stepMs >= 1000 ? 19 : 23);
  return clock === '00:00' ? text.slice(5, 10) : clock;
}

const MONTH_MS = 27 * DAY_MS;

/** Labels of evenly spaced times, with the day or the year below where a new one begins. */
export function axisLabels(timesMs: readonly number[], timezone: string): string[] {
  const stepMs = (timesMs[1] ?? 0) - (timesMs[0] ?? 0);
  let context = '';
  return timesMs.map((timeMs) => {
    const text = new Date(localMs(timeMs, timezone)).toISOString();
    const isDated = stepMs >= DAY_MS;
    const next = isDated ? text.slice(0, 4) : text.slice(0, 10);
    const clockEnd = stepMs >= 60_000 ? 16 : stepMs >= 1000 ? 19 : 23;
    const month = MONTHS[Number(text.slice(5, 7)) - 1] ?? '';
    const day = stepMs >= MONTH_MS ? month : `${Number(text.slice(8, 10))} ${month}`;
    const label = isDated ? day : text.slice(11, clockEnd);
    const isNew = next !== context;
    context = next;
    return isNew ? `${label}\n${next}` : label;
  });
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** A value to about six digits, thousands apart. */
export function valueText(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e12 || size < 1e-4)) return value.toExponential(4);
  return Number(value.toPrecision(7)).toLocaleString('en-US', { maximumFractionDigits: 10 });
}

export function countText(count: number): string {
  return count.toLocaleString('en-US');
}

/** `1 sample`, `7,267 samples`. */
export function counted(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;
}
