import { withRoom } from './names.js';

/** Which series a name and a metric mean, both by their index in a book of names. */
export interface Pairs {
  /** The series met last with each name, and its metric; −1 before the first. */
  series: Int32Array;
  metric: Int32Array;
  readonly all: Map<number, number>;
}

// With 2^27 names the product is still a whole number that a double holds.
const METRICS_MAX = 2 ** 26;

export function createPairs(): Pairs {
  return { series: new Int32Array(0), metric: new Int32Array(0), all: new Map() };
}

/** The series of a pair that was learned, or −1. */
export function findPair(pairs: Pairs, name: number, metric: number): number {
  if (pairs.metric[name] === metric) return pairs.series[name]!;
  const series = pairs.all.get(name * METRICS_MAX + metric);
  if (series === undefined) return -1;
  pairs.metric[name] = metric;
  pairs.series[name] = series;
  return series;
}

export function learnPair(pairs: Pairs, name: number, metric: number, series: number): void {
  const unset = (length: number): Int32Array<ArrayBuffer> => new Int32Array(length).fill(-1);
  pairs.metric = withRoom(pairs.metric, name + 1, unset);
  pairs.series = withRoom(pairs.series, name + 1, unset);
  pairs.all.set(name * METRICS_MAX + metric, series);
}
