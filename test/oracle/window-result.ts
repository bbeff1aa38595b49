// The functions of Aggregate over the samples of one window, whatever its kind (semantics §3).

import {
  averageOf,
  dividedBy,
  type Fraction,
  fractionOf,
  minus,
  nearest,
  nearestRoot,
  percentileOf,
  plus,
  sumOf,
  times,
  total,
  varianceOf,
} from './numbers.js';
import type { Sample } from './series.js';
import { parseDuration } from './time.js';

export interface AggregateParameters {
  readonly function: string;
  readonly interval: string;
  /** The `window`, unless it is an interval. */
  readonly other?: OtherWindow | undefined;
  readonly runTimezone?: string | undefined;
  readonly timezone?: string | undefined;
  readonly label?: string | undefined;
  readonly closed?: string | undefined;
  readonly empty?: string | undefined;
  readonly percentile?: number | undefined;
  readonly maxhold?: string | undefined;
  readonly maxgap?: string | undefined;
  readonly method?: string | undefined;
  readonly unit?: string | undefined;
  readonly max?: number | undefined;
  readonly lower?: number | undefined;
  readonly upper?: number | undefined;
}

export type OtherWindow =
  | { readonly type: 'sliding'; readonly size: string; readonly every?: string | undefined }
  | { readonly type: 'session'; readonly gap: string }
  | { readonly type: 'running'; readonly since: string };

/** The result of a window: a number (perhaps not finite), or why there is none. */
export type WindowResult = number | 'empty' | 'insufficient';

export function isTimeWeighted(parameters: AggregateParameters): boolean {
  const names = ['timeweightedaverage', 'weightedaverage', 'integral', 'coverage', 'timeinstate'];
  return names.includes(parameters.function.toLowerCase());
}

/** The function over the samples of a window, at least one; `before` is the last sample before the window. */
export function resultOf(
  own: readonly Sample[],
  before: Sample | undefined,
  parameters: AggregateParameters,
): WindowResult {
  const values = own.map(({ value }) => value);
  return moreOf(own, before, parameters) ?? functionOf(values, parameters);
}

const unitOf = ({ unit }: AggregateParameters): Fraction => fractionOf(parseDuration(unit ?? 'PT1H'));

const isInState = (value: number, { lower, upper }: AggregateParameters): boolean =>
  (lower === undefined || value >= lower) && (upper === undefined || value <= upper);

/** Functions that also use times or the sample before the window; undefined for all others. */
function moreOf(
  own: readonly Sample[],
  before: Sample | undefined,
  parameters: AggregateParameters,
): WindowResult | undefined {
  const known = before === undefined ? own : [before, ...own];
  const steps = () => known.slice(1).map(({ value }, i) => [known[i]?.value ?? Number.NaN, value] as const);
  switch (parameters.function.toLowerCase()) {
    case 'mode':
      return modeOf(own.map(({ value }) => value));
    case 'distinctcount':
      return new Set(own.map(({ value }) => value)).size;
    case 'timeofmin':
      return own.reduce((best, sample) => (sample.value < best.value ? sample : best)).timeMs;
    case 'timeofmax':
      return own.reduce((best, sample) => (sample.value > best.value ? sample : best)).timeMs;
    case 'transitions':
      return steps().filter(([a, b]) => isInState(a, parameters) !== isInState(b, parameters)).length;
    case 'increase':
      return nearest(increaseOf(steps(), parameters));
    case 'rate': {
      const span = minus(fractionOf(known.at(-1)?.timeMs ?? 0), fractionOf(known[0]?.timeMs ?? 0));
      if (span.numerator === 0n) return 'insufficient';
      return nearest(dividedBy(times(increaseOf(steps(), parameters), unitOf(parameters)), span));
    }
    case 'covariance':
    case 'correlation':
      return ofPairs(own, parameters.function.toLowerCase());
    case 'slope':
      return own.length === 1 ? 'insufficient' : nearest(times(slopeOf(own), unitOf(parameters)));
    default:
      return undefined;
  }
}

/** The most frequent value; of several, the least. 0 and -0 are one value, as they are one key of a Map. */
function modeOf(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const x of values) counts.set(x, (counts.get(x) ?? 0) + 1);
  const count = (x: number): number => counts.get(x) ?? 0;
  return Float64Array.from(values)
    .sort()
    .reduce((best, x) => (count(x) > count(best) ? x : best));
}

function increaseOf(steps: readonly (readonly [number, number])[], { max }: AggregateParameters): Fraction {
  return total(
    steps.map(([a, b]) => {
      const [from, to] = [fractionOf(a), fractionOf(b)];
      if (b >= a) return minus(to, from);
      return max === undefined ? to : plus(minus(fractionOf(max), from), to);
    }),
  );
}

/** Σ(t − mean of t)(x − mean of x) / Σ(t − mean of t)². */
function slopeOf(samples: readonly Sample[]): Fraction {
  const n = fractionOf(samples.length);
  const t = samples.map(({ timeMs }) => fractionOf(timeMs));
  const x = samples.map(({ value }) => fractionOf(value));
  const product = (a: readonly Fraction[], b: readonly Fraction[]): Fraction =>
    minus(times(n, total(a.map((one, i) => times(one, b[i] ?? one)))), times(total(a), total(b)));
  return dividedBy(product(t, x), product(t, t));
}

/** n · Σ(x − mean of x)(y − mean of y). */
function spreadOf(x: readonly Fraction[], y: readonly Fraction[]): Fraction {
  const n = fractionOf(x.length);
  return minus(times(n, total(x.map((one, i) => times(one, y[i] ?? one)))), times(total(x), total(y)));
}

function ofPairs(own: readonly Sample[], name: string): WindowResult {
  if (own.length === 1) return 'insufficient';
  const n = own.length;
  const x = own.map(({ value }) => fractionOf(value));
  const y = own.map(({ second }) => fractionOf(second ?? Number.NaN));
  const both = spreadOf(x, y);
  if (name === 'covariance') return nearest(dividedBy(both, fractionOf(n * (n - 1))));
  const spreads = times(spreadOf(x, x), spreadOf(y, y));
  if (spreads.numerator === 0n) return 'insufficient';
  const size = nearestRoot(dividedBy(times(both, both), spreads));
  return both.numerator < 0n ? -size : size;
}

/** The function over the values of a window, at least one, in time order. */
function functionOf(values: readonly number[], parameters: AggregateParameters): WindowResult {
  const first = values[0] ?? Number.NaN;
  const last = values.at(-1) ?? Number.NaN;
  let min = first;
  let max = first;
  for (const x of values) {
    if (x < min) min = x; // of equal values (0 and -0) the first counts; Math.min would not do that
    if (x > max) max = x;
  }
  switch (parameters.function.toLowerCase()) {
    case 'average':
      return averageOf(values);
    case 'sum':
      return sumOf(values);
    case 'count':
      return values.length;
    case 'first':
      return first;
    case 'last':
      return last;
    case 'min':
      return min;
    case 'max':
      return max;
    case 'range':
      return max - min;
    case 'delta':
      return last - first;
    case 'median':
      return percentileOf(values, 50);
    case 'percentile':
      return percentileOf(values, parameters.percentile ?? Number.NaN);
    case 'variance':
      return values.length === 1 ? 'insufficient' : nearest(varianceOf(values));
    case 'standarddeviation':
      return values.length === 1 ? 'insufficient' : nearestRoot(varianceOf(values));
    default:
      throw new Error(`no such function: ${parameters.function}`);
  }
}

/** A value and the time for which it holds. */
export interface Hold {
  readonly value: number;
  readonly fromMs: number;
  readonly toMs: number;
  /** For linear interpolation: the sample towards which the line runs. */
  readonly next?: Sample | undefined;
}

/** What is held when; the last value until `lastToMs`. */
export function holdsOf(samples: readonly Sample[], parameters: AggregateParameters, lastToMs: number): Hold[] {
  const maxholdMs = parameters.maxhold === undefined ? Number.POSITIVE_INFINITY : parseDuration(parameters.maxhold);
  const isState = parameters.function.toLowerCase() === 'timeinstate';
  return samples.map((sample, index) => {
    const next = samples[index + 1];
    const isLinear = parameters.method?.toLowerCase() === 'linear';
    if (isLinear || parameters.maxgap !== undefined) {
      const maxgapMs = parameters.maxgap === undefined ? Number.POSITIVE_INFINITY : parseDuration(parameters.maxgap);
      const isKnown = next !== undefined && next.timeMs - sample.timeMs <= maxgapMs;
      if (!isKnown) return { value: 0, fromMs: sample.timeMs, toMs: sample.timeMs };
      if (isLinear) return { value: sample.value, fromMs: sample.timeMs, toMs: next.timeMs, next };
    }
    const nextMs = next?.timeMs ?? lastToMs;
    const value = isState ? Number(isInState(sample.value, parameters)) : sample.value;
    return { value, fromMs: sample.timeMs, toMs: Math.min(nextMs, sample.timeMs + maxholdMs) };
  });
}

/** The mean of a held value, or of a line, between two instants. */
function meanBetween({ value, fromMs, next }: Hold, from: number, to: number): Fraction {
  if (next === undefined) return fractionOf(value);
  const [start, end] = [fractionOf(fromMs), fractionOf(next.timeMs)];
  const middle = dividedBy(plus(fractionOf(from), fractionOf(to)), fractionOf(2));
  const share = dividedBy(minus(middle, start), minus(end, start));
  return plus(fractionOf(value), times(minus(fractionOf(next.value), fractionOf(value)), share));
}

/** The time-weighted function over the part of a window in which the value is known. */
export function heldResult(
  held: readonly Hold[],
  startMs: number,
  endMs: number,
  parameters: AggregateParameters,
): WindowResult {
  const parts = held
    .map((hold) => ({ hold, from: Math.max(hold.fromMs, startMs), to: Math.min(hold.toMs, endMs) }))
    .filter(({ from, to }) => from < to)
    .map(({ hold, from, to }) => ({
      value: meanBetween(hold, from, to),
      length: minus(fractionOf(to), fractionOf(from)),
    }));
  if (parts.length === 0) return 'empty';
  const areas = parts.map(({ value, length }) => times(value, length));
  const area = areas.some(({ denominator }) => (denominator & (denominator - 1n)) !== 0n)
    ? areas.reduce(plus)
    : total(areas);
  const known = total(parts.map(({ length }) => length));
  switch (parameters.function.toLowerCase()) {
    case 'integral':
    case 'timeinstate':
      return nearest(dividedBy(area, unitOf(parameters)));
    case 'coverage':
      return nearest(dividedBy(known, minus(fractionOf(endMs), fractionOf(startMs))));
    default:
      return nearest(dividedBy(area, known));
  }
}
