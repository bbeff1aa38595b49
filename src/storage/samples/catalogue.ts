import { groupBy } from '../../core/group.js';
import { type SeriesReference, seriesKey } from '../../core/series.js';
import { inTurns } from '../next-turn.js';
import type { Condition, Reader } from '../storage.js';
import { type SeriesRow, series } from '../tables/samples.js';
import type { Progress } from './progress.js';

/** What does not change of a series while it is there. */
export interface KnownSeries extends SeriesReference {
  readonly organisation: string;
  readonly key: number;
  readonly itemId: string | null;
  readonly createdCommit: number;
}

/** The known series of a shard, as of the drops up to one commit. */
interface Shelf {
  droppedCommit: number;
  /** By organisation, id and metric: names that come again need not be put together each time. */
  readonly byName: Map<string, Map<string, Map<string, KnownSeries>>>;
  readonly byKey: Map<number, KnownSeries>;
}

const SERIES_CACHED_MAX = 200_000;
const SERIES_LOOKED_UP = 500;

/**
 * Looks series up, and keeps what it found. Only rows of commits that are on the disk are kept, as others may yet be
 * undone; and only for as long as no series is dropped, which each reader is told by the shard's progress.
 */
export class Catalogue {
  readonly #shelves = new Map<number, Shelf>();

  /** For each reference the series, if it is there. */
  async find(
    tx: Reader,
    progress: Progress,
    organisation: string,
    references: readonly SeriesReference[],
  ): Promise<(KnownSeries | undefined)[]> {
    const shelf = this.#shelfOf(tx, progress);
    const byId = shelf?.byName.get(organisation);
    const found = references.map(({ timeseriesId, metric }) => seenBy(tx, byId?.get(timeseriesId)?.get(metric)));
    if (!found.includes(undefined)) return found;
    const missing = references.filter((_, i) => found[i] === undefined);
    const rows = new Map<string, KnownSeries>();
    for await (const where of inTurns(conditionsOf(missing), 1)) {
      for (const row of await tx.find(series, { where: [['organisation', '=', organisation], ...where] }))
        rows.set(seriesKey(row), this.#keep(tx, shelf, row));
    }
    return found.map((one, i) => one ?? rows.get(seriesKey(references[i]!)));
  }

  /** The series of these keys that are there. */
  async findByKeys(tx: Reader, progress: Progress, keys: Iterable<number>): Promise<Map<number, KnownSeries>> {
    const shelf = this.#shelfOf(tx, progress);
    const found = new Map<number, KnownSeries>();
    const missing = new Set<number>();
    for (const key of keys) {
      const known = seenBy(tx, shelf?.byKey.get(key));
      if (known === undefined) missing.add(key);
      else found.set(key, known);
    }
    for await (const some of inTurns(cut([...missing], SERIES_LOOKED_UP), 1)) {
      // In the order of their index: in that of the primary key SQLite would go through all series of the shard.
      const rows = await tx.find(series, { where: [['seriesKey', 'in', some]], orderBy: [{ column: 'seriesKey' }] });
      for (const row of rows) found.set(row.seriesKey, this.#keep(tx, shelf, row));
    }
    return found;
  }

  /** None for a reader that does not see the same drops as what is kept, or one that may be undone. */
  #shelfOf(tx: Reader, { droppedCommit }: Progress): Shelf | undefined {
    if (droppedCommit > tx.durableCommit) return undefined;
    let shelf = this.#shelves.get(tx.shard);
    const isStale = shelf === undefined || shelf.droppedCommit < droppedCommit;
    if (isStale || shelf!.byKey.size > SERIES_CACHED_MAX) {
      shelf = {
        droppedCommit: Math.max(droppedCommit, shelf?.droppedCommit ?? 0),
        byName: new Map(),
        byKey: new Map(),
      };
      this.#shelves.set(tx.shard, shelf);
    }
    return shelf!.droppedCommit === droppedCommit ? shelf : undefined;
  }

  #keep(tx: Reader, shelf: Shelf | undefined, row: SeriesRow): KnownSeries {
    const { organisation, timeseriesId, metric, seriesKey: key, itemId, createdCommit } = row;
    const known = Object.freeze({ organisation, timeseriesId, metric, key, itemId, createdCommit });
    // A shelf that a drop has replaced meanwhile is no longer looked at: what is put on it is lost, and no harm.
    if (createdCommit <= tx.durableCommit && shelf !== undefined) {
      const byId = entryOf(shelf.byName, organisation, () => new Map<string, Map<string, KnownSeries>>());
      entryOf(byId, timeseriesId, () => new Map<string, KnownSeries>()).set(metric, known);
      shelf.byKey.set(key, known);
    }
    return known;
  }
}

/**
 * Conditions that find these series and no others: together those of one metric or, where ids have many metrics, those
 * of one id.
 */
function conditionsOf(references: readonly SeriesReference[]): (readonly Condition<SeriesRow>[])[] {
  const byMetric = groupBy(references, ({ metric }) => metric);
  const byId = groupBy(references, ({ timeseriesId }) => timeseriesId);
  const [groups, shared, listed] =
    byMetric.size <= byId.size
      ? ([byMetric, 'metric', 'timeseriesId'] as const)
      : ([byId, 'timeseriesId', 'metric'] as const);
  return [...groups].flatMap(([value, group]) => {
    const others = [...new Set(group.map((reference) => reference[listed]))];
    return cut(others, SERIES_LOOKED_UP).map((some): readonly Condition<SeriesRow>[] => [
      [shared, '=', value],
      [listed, 'in', some],
    ]);
  });
}

function seenBy(tx: Reader, known: KnownSeries | undefined): KnownSeries | undefined {
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
