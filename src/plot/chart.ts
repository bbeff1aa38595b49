import { type Series, type SeriesReference, seriesKey, seriesName } from '../core/series.js';
import type { ChartLine } from './panels.js';
import { Reducer } from './reducer.js';

/** Gathers series for a chart, in memory that does not grow with them. */
export class ChartData {
  readonly #known: readonly SeriesReference[];
  readonly #nameOf: (reference: SeriesReference) => string;
  readonly #reducers = new Map<string, Reducer>();

  /**
   * @param known series that come first, in this order.
   * @param nameOf the name of a series in the legend.
   */
  constructor(known: readonly SeriesReference[] = [], nameOf: (reference: SeriesReference) => string = seriesName) {
    this.#known = known;
    this.#nameOf = nameOf;
    this.reset();
  }

  /** Adds samples of any series; series that are not known yet follow in order of appearance. */
  add(series: readonly Series[]): void {
    for (const one of series) this.#reducerOf(one).add(one.timeMs, one.value);
  }

  /** Removes all samples. */
  reset(): void {
    this.#reducers.clear();
    for (const reference of this.#known) this.#reducerOf(reference);
  }

  lines(): ChartLine[] {
    return [...this.#reducers.values()].map((reducer) => reducer.line());
  }

  #reducerOf(reference: SeriesReference): Reducer {
    const key = seriesKey(reference);
    const reducer = this.#reducers.get(key) ?? new Reducer(this.#nameOf(reference));
    this.#reducers.set(key, reducer);
    return reducer;
  }
}
