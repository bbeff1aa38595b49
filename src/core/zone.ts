import { DAY_MS } from './calendar.js';
import { nearestName } from './suggest.js';

/**
 * A time zone as the list of its offsets from UTC. Intl takes some microseconds for one instant, too slow for
 * every sample, so the changes of offset are found once and then looked up.
 */
export interface Zone {
  readonly name: string;
  /** Local time minus UTC at an instant, in milliseconds. */
  offsetMsAt(timeMs: number): number;
  /** A span around the instant, as wide as is known, in which the offset stays the same. */
  spanAt(timeMs: number): Span;
  /** The instants, in order, at which a local clock shows `localMs` (local time written as if it were UTC). */
  instantsOf(localMs: number): number[];
  /** The first instant at which the local clock shows `localMs` or, if it jumps over that, the instant of the jump. */
  firstInstantFrom(localMs: number): number;
}

export interface Span {
  readonly startMs: number;
  readonly endMs: number;
  readonly offsetMs: number;
}

// No zone of the tz database changes its offset twice within three days (the shortest time between two changes is 3.98
// days, Freetown 1939), so looking every three days misses none.
const LOOK_STEP_MS = 3 * DAY_MS;
const YEAR_SPAN_MS = 366 * DAY_MS;

const zones = new Map<string, Zone>();

/** The zone of an IANA name in any case, or undefined if there is none. */
export function zoneOf(name: string): Zone | undefined {
  const known = zones.get(name);
  if (known !== undefined) return known;
  // Intl also accepts offsets like +01:00, which are not names.
  const offsetMsOf = /^[A-Za-z]/.test(name) ? offsetsOf(name) : undefined;
  if (offsetMsOf === undefined) return undefined;
  const zone = createZone(name, offsetMsOf);
  zones.set(name, zone);
  return zone;
}

/** "did you mean `Europe/Berlin`?", for an unknown zone name; the name of a city is enough to find one. */
export function didYouMeanZone(name: string): string | undefined {
  const near = nearestZoneName(name);
  return near === undefined ? undefined : `did you mean \`${near}\`?`;
}

/** The names of all zones. */
export function zoneNames(): string[] {
  return ['UTC', ...Intl.supportedValuesOf('timeZone')];
}

function nearestZoneName(name: string): string | undefined {
  const names = Intl.supportedValuesOf('timeZone');
  const cityOf = (zone: string): string => zone.slice(zone.lastIndexOf('/') + 1);
  const wanted = name.trim().replace(/[\s-]+/g, '_');
  const city = nearestName(cityOf(wanted), names.map(cityOf));
  const ofCity = names.find((zone) => cityOf(zone) === city);
  return nearestName(wanted, names) ?? ofCity;
}

/** Whether the name means UTC itself, so that windows lie on the epoch grid. */
export function isUtc(name: string): boolean {
  return /^(etc\/)?(utc|uct|zulu|universal|gmt|gmt[+-]?0|greenwich)$/i.test(name);
}

/** Spans of constant offset: `startMs[i] <= t < startMs[i + 1]` has `offsetMs[i]`. */
interface Spans {
  readonly startMs: number[];
  readonly offsetMs: number[];
}

/** What tells the offset of a zone at an instant, or undefined if Intl knows no zone of that name. */
function offsetsOf(timeZone: string): ((timeMs: number) => number) | undefined {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-US', { year: 'numeric', timeZoneName: 'longOffset', timeZone });
  } catch {
    return undefined; // a RangeError
  }
  // Looked at in order, instants nearly always have the text of the one before.
  let lastText = '';
  let lastOffsetMs = 0;
  return (timeMs) => {
    const text = format.format(timeMs);
    if (text === lastText) return lastOffsetMs;
    lastText = text;
    lastOffsetMs = offsetMsIn(text);
    return lastOffsetMs;
  };
}

/** The offset in '2024, GMT+05:30'; offsets of before standard time have seconds, and GMT alone is none. */
function offsetMsIn(text: string): number {
  const offset = text.split('GMT')[1] ?? '';
  const [hours = 0, minutes = 0, seconds = 0] = (offset.match(/\d+/g) ?? []).map(Number);
  return (offset.startsWith('-') ? -1000 : 1000) * (3600 * hours + 60 * minutes + seconds);
}

function createZone(name: string, offsetMsOf: (timeMs: number) => number): Zone {
  const years = new Map<number, Spans>();
  let span: Span = { startMs: Number.NaN, endMs: Number.NaN, offsetMs: 0 };

  const offsetMsAt = (timeMs: number): number => spanAt(timeMs).offsetMs;

  function spanAt(timeMs: number): Span {
    if (timeMs >= span.startMs && timeMs < span.endMs) return span;
    const year = Math.floor(timeMs / YEAR_SPAN_MS);
    const spans = years.get(year) ?? findOffsets(offsetMsOf, year * YEAR_SPAN_MS, (year + 1) * YEAR_SPAN_MS);
    years.set(year, spans);
    let index = spans.startMs.length - 1;
    while ((spans.startMs[index] ?? 0) > timeMs) index--;
    const endMs = spans.startMs[index + 1] ?? (year + 1) * YEAR_SPAN_MS;
    span = { startMs: spans.startMs[index] ?? 0, endMs, offsetMs: spans.offsetMs[index] ?? 0 };
    return span;
  }

  function instantsOf(localMs: number): number[] {
    // Offsets lie within a day of UTC, so the offset at the instant is the one a day before or a day after.
    const earlier = offsetMsAt(localMs - DAY_MS);
    const later = offsetMsAt(localMs + DAY_MS);
    if (earlier === later) return [localMs - earlier];
    const candidates = [localMs - Math.max(earlier, later), localMs - Math.min(earlier, later)];
    return candidates.filter((timeMs) => timeMs + offsetMsAt(timeMs) === localMs);
  }

  function firstInstantFrom(localMs: number): number {
    const instant = instantsOf(localMs)[0];
    if (instant !== undefined) return instant;
    return firstInstantAfterChange(offsetMsAt, localMs - DAY_MS, localMs + DAY_MS, offsetMsAt(localMs - DAY_MS));
  }

  return { name, offsetMsAt, spanAt, instantsOf, firstInstantFrom };
}

function findOffsets(offsetMsOf: (timeMs: number) => number, startMs: number, endMs: number): Spans {
  const spans: Spans = { startMs: [startMs], offsetMs: [offsetMsOf(startMs)] };
  let lastMs = startMs;
  let lastOffsetMs = spans.offsetMs[0] ?? 0;
  while (lastMs < endMs - 1) {
    const nextMs = Math.min(lastMs + LOOK_STEP_MS, endMs - 1);
    const offsetMs = offsetMsOf(nextMs);
    if (offsetMs !== lastOffsetMs) {
      spans.startMs.push(firstInstantAfterChange(offsetMsOf, lastMs, nextMs, lastOffsetMs));
      spans.offsetMs.push(offsetMs);
      lastOffsetMs = offsetMs;
    }
    lastMs = nextMs;
  }
  return spans;
}

/** The instant at which the offset changes, the only time between two instants. Changes fall on whole seconds. */
export function firstInstantAfterChange(
  offsetMsOf: (timeMs: number) => number,
  beforeMs: number,
  afterMs: number,
  offsetBeforeMs: number,
): number {
  let low = Math.floor(beforeMs / 1000);
  let high = Math.ceil(afterMs / 1000);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetMsOf(middle * 1000) === offsetBeforeMs) low = middle;
    else high = middle;
  }
  return high * 1000;
}
