import { type Series, type SeriesReference, seriesKey, seriesName } from '../core/series.js';
import type { ChartLine } from './panels.js';
import { createReducer, type Reducer } from './reducer.js';

/** Gathers series for a chart, in memory that does not grow with them. */
export interface ChartData {
  /** Adds samples of any series; series not in `known` follow in order of appearance. */
  readonly add: (series: readonly Series[]) => void;
  /** Removes all samples. */
  readonly reset: () => void;
  readonly lines: () => ChartLine[];
}

/**
 * @param known series that come first, in this order.
 * @param nameOf the name of a series in the legend.
 */
export function createChartData(
  known: readonly SeriesReference[] = [],
  nameOf: (reference: SeriesReference) => string = seriesName,
): ChartData {
  let reducers = new Map<string, Reducer>();

  function reducerOf(reference: SeriesReference): Reducer {
    const key = seriesKey(reference);
    const reducer = reducers.get(key) ?? createReducer(nameOf(reference));
    reducers.set(key, reducer);
    return reducer;
  }

  function reset(): void {
    reducers = new Map();
    for (const reference of known) reducerOf(reference);
  }

  reset();
  return {
    add: (series) => {
      for (const one of series) reducerOf(one).add(one.timeMs, one.value);
    },
    reset,
    lines: () => [...reducers.values()].map((reducer) => reducer.line()),
  };
}
