import { type SeriesReference, seriesKey } from '../../core/series.js';
import { inTurns, mapInTurns } from '../next-turn.js';
import { equal, type Reader } from '../storage.js';
import { type SeriesRow, series } from '../tables/samples.js';
import type { Progress } from './progress.js';

/** The fields of a series that never change while it exists. */
export interface KnownSeries extends SeriesReference {
  readonly organisation: string;
  readonly key: number;
  readonly itemId: string | null;
  readonly createdCommit: number;
}

/** The cached series of a shard, valid for one `droppedCommit`. */
interface ShardCache {
  droppedCommit: number;
  /** By organisation, id and metric: nested, so that a look-up does not have to join the names. */
  readonly byName: Map<string, Map<string, Map<string, KnownSeries>>>;
  readonly byKey: Map<number, KnownSeries>;
}

const SERIES_CACHED_MAX = 200_000;
const SERIES_LOOKED_UP = 500;
const SERIES_PER_TURN = 5000;

/**
 * Looks series up and caches them. It caches only rows of commits that are on the disk, as others may be undone, and
 * only until a series is dropped, which readers see in the shard's progress.
 */
export class Catalogue {
  readonly #caches = new Map<number, ShardCache>();

  /** The series of each reference; undefined if there is none. */
  async find(
    tx: Reader,
    progress: Progress,
    organisation: string,
    references: readonly SeriesReference[],
  ): Promise<(KnownSeries | undefined)[]> {
    const cache = this.#cacheOf(tx, progress);
    const byId = cache?.byName.get(organisation);
    const found = await mapInTurns(references, SERIES_PER_TURN, ({ timeseriesId, metric }) =>
      visibleTo(tx, byId?.get(timeseriesId)?.get(metric)),
    );
    if (!found.includes(undefined)) return found;
    const missing = references.filter((_, i) => found[i] === undefined);
    const named = [...(await seriesNamed(tx, organisation, missing))];
    if (named.length === 0) return found;
    const rows = new Map(
      await mapInTurns(named, SERIES_PER_TURN, ([name, row]) => [name, this.#add(tx, cache, row)] as const),
    );
    return mapInTurns(found, SERIES_PER_TURN, (one, i) => one ?? rows.get(seriesKey(references[i]!)));
  }

  /** The existing series with these keys. */
  async findByKeys(tx: Reader, progress: Progress, keys: Iterable<number>): Promise<Map<number, KnownSeries>> {
    const cache = this.#cacheOf(tx, progress);
    const found = new Map<number, KnownSeries>();
    const missing = new Set<number>();
    for (const key of keys) {
      const known = visibleTo(tx, cache?.byKey.get(key));
      if (known === undefined) missing.add(key);
      else found.set(key, known);
    }
    for await (const some of inTurns(cut([...missing], SERIES_LOOKED_UP), 1)) {
      // Ordered as in their index: in the order of the primary key, SQLite would read all series of the shard.
      const rows = await tx.find(series, { where: [['seriesKey', 'in', some]], orderBy: [{ column: 'seriesKey' }] });
      for (const row of rows) found.set(row.seriesKey, this.#add(tx, cache, row));
    }
    return found;
  }

  /** Keeps rows that this reader has found. */
  keep(tx: Reader, progress: Progress, rows: Iterable<SeriesRow>): void {
    const cache = this.#cacheOf(tx, progress);
    for (const row of rows) this.#add(tx, cache, row);
  }

  /** Undefined if the reader sees other drops than the cache, or one that may be undone. */
  #cacheOf(tx: Reader, { droppedCommit }: Progress): ShardCache | undefined {
    if (droppedCommit > tx.durableCommit) return undefined;
    let cache = this.#caches.get(tx.shard);
    const isStale = cache === undefined || cache.droppedCommit < droppedCommit;
    if (isStale || cache!.byKey.size > SERIES_CACHED_MAX) {
      cache = {
        droppedCommit: Math.max(droppedCommit, cache?.droppedCommit ?? 0),
        byName: new Map(),
        byKey: new Map(),
      };
      this.#caches.set(tx.shard, cache);
    }
    return cache!.droppedCommit === droppedCommit ? cache : undefined;
  }

  #add(tx: Reader, cache: ShardCache | undefined, row: SeriesRow): KnownSeries {
    const { organisation, timeseriesId, metric, seriesKey: key, itemId, createdCommit } = row;
    const known = Object.freeze({ organisation, timeseriesId, metric, key, itemId, createdCommit });
    // If a drop has replaced this cache meanwhile, nobody reads it any more.
    if (createdCommit <= tx.durableCommit && cache !== undefined) {
      const byId = entryOf(cache.byName, organisation, () => new Map<string, Map<string, KnownSeries>>());
      entryOf(byId, timeseriesId, () => new Map<string, KnownSeries>()).set(metric, known);
      cache.byKey.set(key, known);
    }
    return known;
  }
}

/** The rows of those of the series that exist, by name, as this transaction sees them. */
export async function seriesNamed(
  tx: Reader,
  organisation: string,
  references: readonly SeriesReference[],
): Promise<Map<string, SeriesRow>> {
  const rows = new Map<string, SeriesRow>();
  for await (const some of inTurns(cut(references, SERIES_LOOKED_UP), 1)) {
    const anyOf = some.map(({ timeseriesId, metric }) => ({ timeseriesId, metric }));
    for (const row of await tx.find(series, { where: equal({ organisation }), anyOf })) rows.set(seriesKey(row), row);
  }
  return rows;
}

function visibleTo(tx: Reader, known: KnownSeries | undefined): KnownSeries | undefined {
  return known !== undefined && known.createdCommit <= tx.lastCommit ? known : undefined;
}

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, create: () => Value): Value {
  const known = map.get(key) ?? create();
  map.set(key, known);
  return known;
}

function cut<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}
