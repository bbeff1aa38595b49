import { type SeriesReference, seriesKey } from '../../core/series.js';
import type { Reader } from '../storage.js';
import type { SeriesRow } from '../tables/samples.js';

/** What a transaction knows of a series that it has looked up. */
interface SeenSeries {
  /** Null if there is none of the name. */
  readonly row: SeriesRow | null;
  /** Whether it has provisional samples. */
  readonly isPreviewed: boolean;
}

/**
 * The series that transactions have looked up, many at once, so that what they do with each of them needs no look-up.
 * It holds for the transaction alone, until that writes to the series.
 */
export class LookedUp {
  readonly #ofReaders = new WeakMap<Reader, Map<string, SeenSeries>>();

  keep(
    tx: Reader,
    organisation: string,
    references: readonly SeriesReference[],
    rows: ReadonlyMap<string, SeriesRow>,
    previewed: ReadonlySet<number>,
  ): void {
    const seen = this.#ofReaders.get(tx) ?? new Map<string, SeenSeries>();
    this.#ofReaders.set(tx, seen);
    for (const reference of references) {
      const row = rows.get(seriesKey(reference)) ?? null;
      seen.set(keyOf(organisation, reference), { row, isPreviewed: row !== null && previewed.has(row.seriesKey) });
    }
  }

  of(tx: Reader, organisation: string, reference: SeriesReference): SeenSeries | undefined {
    return this.#ofReaders.get(tx)?.get(keyOf(organisation, reference));
  }

  /** Forgets those that were not there, as they are created. */
  forgetMissing(tx: Reader, organisation: string, references: readonly SeriesReference[]): void {
    const seen = this.#ofReaders.get(tx);
    if (seen === undefined) return;
    for (const reference of references) {
      const key = keyOf(organisation, reference);
      if (seen.get(key)?.row === null) seen.delete(key);
    }
  }

  forget(tx: Reader, organisation: string, references: readonly SeriesReference[]): void {
    const seen = this.#ofReaders.get(tx);
    if (seen === undefined) return;
    for (const reference of references) seen.delete(keyOf(organisation, reference));
  }
}

function keyOf(organisation: string, reference: SeriesReference): string {
  return `${organisation.length}:${organisation}${seriesKey(reference)}`;
}
