import type { Series } from '../../index.js';
import type { Line, SeriesInfo, TimeRange } from './protocol.js';

/** The line of a series without samples. */
export const noLine: Line = { timeMs: new Float64Array(0), value: new Float64Array(0) };

/** A distance of more than so many usual steps is a gap. */
const GAP_STEPS = 3;
const STEPS_LOOKED_AT = 4096;

/** The length from which a distance between samples counts as a gap. */
export function gapOf({ timeMs }: Series): number {
  const count = timeMs.length;
  if (count < 3) return Number.POSITIVE_INFINITY;
  const stride = Math.max(1, Math.floor((count - 1) / STEPS_LOOKED_AT));
  const steps: number[] = [];
  for (let i = 1; i < count; i += stride) steps.push(timeMs[i]! - timeMs[i - 1]!);
  steps.sort((a, b) => a - b);
  return GAP_STEPS * (steps[steps.length >> 1] ?? Number.POSITIVE_INFINITY);
}

export function infoOf({ timeseriesId, metric, timeMs, value }: Series): SeriesInfo {
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let isBinary = value.length > 0;
  for (let i = 0; i < value.length; i++) {
    const v = value[i]!;
    if (v < min) min = v;
    if (v > max) max = v;
    if (v !== 0 && v !== 1) isBinary = false;
  }
  const count = timeMs.length;
  const [firstMs = Number.NaN] = timeMs;
  return { timeseriesId, metric, count, firstMs, lastMs: timeMs[count - 1] ?? Number.NaN, min, max, isBinary };
}

/** The first index whose time is at or after `atMs`. */
export function indexAt(timeMs: Float64Array, atMs: number): number {
  let low = 0;
  let high = timeMs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeMs[middle]! < atMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The points of a series that can be seen in a range: all of them or, where they are many, the first, the least, the
 * greatest and the last of each column of pixels, so that extremes are where and what they are in the data.
 * One sample before and one after the range let lines reach the edges.
 *
 * Source: Jugel et al., "M4: A Visualization-Oriented Time Series Data Aggregation", VLDB 2014.
 */
export function thin(series: Series, { fromMs, untilMs }: TimeRange, columns: number, gapMs: number): Line {
  const { timeMs } = series;
  const from = Math.max(0, indexAt(timeMs, fromMs) - 1);
  const until = Math.min(timeMs.length, indexAt(timeMs, untilMs) + 1);
  if (until - from <= 4 * columns) return allPoints(series, from, until, gapMs);
  const points = new Points();
  const columnsPerMs = columns / (untilMs - fromMs);
  const { value } = series;
  let at = from;
  let lastMs = Number.POSITIVE_INFINITY;
  while (at < until) {
    const column = Math.floor((timeMs[at]! - fromMs) * columnsPerMs);
    const first = at;
    let least = at;
    let greatest = at;
    while (at < until && Math.floor((timeMs[at]! - fromMs) * columnsPerMs) === column) {
      if (value[at]! < value[least]!) least = at;
      if (value[at]! > value[greatest]!) greatest = at;
      at++;
    }
    if (timeMs[first]! - lastMs > gapMs) points.addGap(lastMs, timeMs[first]!);
    lastMs = timeMs[at - 1]!;
    const [second, third] = least < greatest ? [least, greatest] : [greatest, least];
    let before = -1;
    for (const index of [first, second, third, at - 1]) {
      if (index === before) continue;
      points.add(timeMs[index]!, value[index]!);
      before = index;
    }
  }
  return points.line();
}

function allPoints({ timeMs, value }: Series, from: number, until: number, gapMs: number): Line {
  const points = new Points();
  for (let i = from; i < until; i++) {
    if (i > from && timeMs[i]! - timeMs[i - 1]! > gapMs) points.addGap(timeMs[i - 1]!, timeMs[i]!);
    points.add(timeMs[i]!, value[i]!);
  }
  return points.line();
}

class Points {
  readonly #timeMs: number[] = [];
  readonly #value: number[] = [];

  add(timeMs: number, value: number): void {
    this.#timeMs.push(timeMs);
    this.#value.push(value);
  }

  addGap(afterMs: number, beforeMs: number): void {
    this.add((afterMs + beforeMs) / 2, Number.NaN);
  }

  line(): Line {
    return { timeMs: Float64Array.from(this.#timeMs), value: Float64Array.from(this.#value) };
  }
}
