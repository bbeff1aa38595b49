/**
 * A series of samples in two columns of equal length.
 *
 * `timeMs` holds UTC epoch milliseconds (fractions allowed). In results it is strictly increasing and
 * every `value` is finite; inputs may be in any order, and a value that is not finite counts as missing.
 */
export interface Series {
  readonly timeseriesId: string;
  readonly metric: string;
  readonly timeMs: Float64Array;
  readonly value: Float64Array;
}

/** The samples of a series, without its name. */
export type Columns = Pick<Series, 'timeMs' | 'value'>;

/** Whether two pairs of columns hold the same samples, bit for bit. */
export function areSameColumns(a: Columns, b: Columns): boolean {
  if (a.timeMs.length !== b.timeMs.length) return false;
  for (let i = 0; i < a.timeMs.length; i++) {
    if (!Object.is(a.timeMs[i], b.timeMs[i]) || !Object.is(a.value[i], b.value[i])) return false;
  }
  return true;
}

/** Joins columns end to end. If only one part has samples, its own arrays are returned. */
export function concatenate(parts: readonly Columns[]): Columns {
  const present = parts.filter(({ timeMs }) => timeMs.length > 0);
  if (present.length === 1) return present[0]!;
  const count = present.reduce((sum, { timeMs }) => sum + timeMs.length, 0);
  const timeMs = new Float64Array(count);
  const value = new Float64Array(count);
  let at = 0;
  for (const part of present) {
    timeMs.set(part.timeMs, at);
    value.set(part.value, at);
    at += part.timeMs.length;
  }
  return { timeMs, value };
}

/** Names a series: a request's `input` and `output` entries. The metric `Raw` is what the sensor sent. */
export interface SeriesReference {
  readonly timeseriesId: string;
  readonly metric: string;
}

/** A reference as a key for maps. Both parts may hold any character, so the length comes first. */
export function seriesKey(reference: SeriesReference): string {
  return `${reference.timeseriesId.length}:${reference.timeseriesId}/${reference.metric}`;
}

/** A reference as people read it. */
export function seriesName(reference: SeriesReference): string {
  return `${reference.timeseriesId}/${reference.metric}`;
}

/** The first and last instant that windrow knows: the years 0001 to 9999 in UTC. */
export const TIME_MS_MIN = -62_135_596_800_000;
export const TIME_MS_END = 253_402_300_800_000;

/** Whether a time lies within these years. */
export function isKnownTime(timeMs: number): boolean {
  return timeMs >= TIME_MS_MIN && timeMs < TIME_MS_END;
}
