import type { Series, SeriesReference } from '../../index.js';
import { keyOf } from './protocol.js';

/** Series that come in parts, which are valid only while they are handed over. */
export class SeriesParts {
  readonly #parts = new Map<string, { reference: SeriesReference; timeMs: Float64Array[]; value: Float64Array[] }>();

  add(chunk: readonly Series[]): void {
    for (const { timeseriesId, metric, timeMs, value } of chunk) {
      const reference = { timeseriesId, metric };
      const part = this.#parts.get(keyOf(reference)) ?? { reference, timeMs: [], value: [] };
      this.#parts.set(keyOf(reference), part);
      part.timeMs.push(timeMs.slice());
      part.value.push(value.slice());
    }
  }

  joined(): Series[] {
    return [...this.#parts.values()].map(({ reference, timeMs, value }) => ({
      ...reference,
      timeMs: concatenated(timeMs),
      value: concatenated(value),
    }));
  }
}

export function concatenated(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
