import { matchOf, type Pattern, patternOf } from '../../core/pattern.js';
import { type SeriesReference, seriesKey } from '../../core/series.js';

/** What a series is to a plan with patterns: a sample of it goes to a source, of one member or of all. */
export interface Place {
  readonly source: number;
  /** What fills the name; undefined where the source has none. */
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

  placesOf(series: SeriesReference): Place[] {
    const places: Place[] = [];
    const plain = this.#plain.get(seriesKey(series));
    if (plain !== undefined) places.push({ source: plain, member: undefined });
    for (const { pattern, metric, source } of this.#patterns) {
      const member = metric === series.metric ? matchOf(pattern, series.timeseriesId) : undefined;
      if (member !== undefined) places.push({ source, member });
    }
    return places;
  }
}
