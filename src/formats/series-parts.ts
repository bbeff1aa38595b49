import { concatenate, type Series, seriesKey } from '../core/series.js';

/** Collects series that come in parts, each of which is valid only during the call. */
export class SeriesParts {
  readonly #parts = new Map<string, Series[]>();

  readonly add = (chunk: readonly Series[]): void => {
    for (const { timeseriesId, metric, timeMs, value } of chunk) {
      const part = { timeseriesId, metric, timeMs: timeMs.slice(), value: value.slice() };
      const key = seriesKey(part);
      const parts = this.#parts.get(key);
      if (parts === undefined) this.#parts.set(key, [part]);
      else parts.push(part);
    }
  };

  /** Each series in one piece, in the order in which they first came. */
  joined(): Series[] {
    return [...this.#parts.values()].map((parts) => ({ ...parts[0]!, ...concatenate(parts) }));
  }
}
