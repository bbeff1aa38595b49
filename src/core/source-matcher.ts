import { matchOf, type Pattern, patternOf } from './pattern.js';
import { type SeriesReference, seriesKey } from './series.js';

/** Where the samples of a series go in a plan with patterns: to a source, of one member or of all. */
export interface Place {
  readonly source: number;
  /** The text that fills in the source's name; undefined if the source has none. */
  readonly member: string | undefined;
}

/** Finds the places of series among sources that may be patterns. */
export class SourceMatcher {
  readonly #patterns: readonly { readonly pattern: Pattern; readonly metric: string; readonly source: number }[];
  readonly #plain: ReadonlyMap<string, number>;

  constructor(sources: readonly SeriesReference[]) {
    this.#patterns = sources.flatMap(({ timeseriesId, metric }, source) => {
      const pattern = patternOf(timeseriesId);
      return pattern === undefined ? [] : [{ pattern, metric, source }];
    });
    const plain = [...sources.entries()].filter(([, { timeseriesId }]) => patternOf(timeseriesId) === undefined);
    this.#plain = new Map(plain.map(([source, reference]) => [seriesKey(reference), source]));
  }

  /** Whether any source reads the series. */
  wants(series: SeriesReference): boolean {
    return this.placesOf(series).length > 0;
  }

  /** Whether a source names the series at least in part, rather than reading every series (`*`). */
  names(series: SeriesReference): boolean {
    const isNaming = ({ before, after }: Pattern): boolean => before !== '' || after !== '';
    return this.#plain.has(seriesKey(series)) || this.#patternsOf(series).some(({ pattern }) => isNaming(pattern));
  }

  placesOf(series: SeriesReference): Place[] {
    const places: Place[] = [];
    const plain = this.#plain.get(seriesKey(series));
    if (plain !== undefined) places.push({ source: plain, member: undefined });
    for (const { pattern, source } of this.#patternsOf(series)) {
      places.push({ source, member: matchOf(pattern, series.timeseriesId) });
    }
    return places;
  }

  #patternsOf({ timeseriesId, metric }: SeriesReference) {
    return this.#patterns.filter((one) => one.metric === metric && matchOf(one.pattern, timeseriesId) !== undefined);
  }
}
