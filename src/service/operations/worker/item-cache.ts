import type { SeriesReference } from '../../../core/series.js';
import { RequestError } from '../../../index.js';
import { nextTurn } from '../../../storage/next-turn.js';
import type { Reader } from '../../../storage/storage.js';
import { type ItemRow, itemSources, items, itemWork } from '../../../storage/tables/operations.js';
import { definitionOf, isPattern } from '../request.js';
import { Item, type ItemSession, type Producers } from './item.js';
import { PatternMembers } from './members.js';
import { Schedule } from './schedule.js';
import type { WorkerSizes } from './sizes.js';

const IDS_LOOKED_UP = 500;
const READERS_MAX = 200_000;
/** The share of the items that may be kept which is left when there are too many. */
const KEPT_SHARE = 0.9;
const NONE: readonly string[] = [];

/** What the worker knows of a shard between its transactions. */
export class ItemCache {
  /** The claim, and the worker's last commit, for which all of this holds. */
  #claimSequence = -1;
  #absorbedCommit = -1;
  #catalogCommit = -1;
  readonly #items = new Map<string, Item>();
  /** By organisation and id, and there by metric: the ids of the items that read a series; as of that commit. */
  readonly #readers = new Map<string, Map<string, string[]>>();
  /** The patterns of organisations, as of the commit of the catalogue. */
  readonly #patterns = new Map<string, PatternMembers>();

  /**
   * Begins a transaction: keeps what is known where that holds for it. Each commit of the worker leaves its number in
   * the store; another one there means that a transaction was undone, or that another worker has been at work.
   *
   * @returns whether items have come, changed or gone.
   */
  begin(claimSequence: number, absorbedCommit: number, catalogCommit: number): boolean {
    if (this.#claimSequence !== claimSequence || this.#absorbedCommit !== absorbedCommit) this.clear();
    const isCatalogNew = this.#catalogCommit !== catalogCommit;
    if (isCatalogNew) {
      this.#readers.clear();
      this.#patterns.clear();
    }
    this.#claimSequence = claimSequence;
    this.#absorbedCommit = absorbedCommit;
    this.#catalogCommit = catalogCommit;
    return isCatalogNew;
  }

  /** Ends a transaction that has written, and will be this commit. */
  end(commit: number): void {
    this.#absorbedCommit = commit;
  }

  clear(): void {
    this.#claimSequence = -1;
    this.#absorbedCommit = -1;
    this.#catalogCommit = -1;
    this.#items.clear();
    this.#readers.clear();
    this.#patterns.clear();
  }

  forgetReaders(): void {
    this.#readers.clear();
  }

  async patternsOf(tx: Reader, organisation: string): Promise<PatternMembers> {
    const known = this.#patterns.get(organisation) ?? (await PatternMembers.load(tx, organisation));
    this.#patterns.set(organisation, known);
    return known;
  }

  /** Between transactions: forgets the items that have not been used for longest where there are too many. */
  trim({ itemsKept }: WorkerSizes): void {
    if (this.#readers.size > READERS_MAX) this.#readers.clear();
    if (this.#items.size <= itemsKept) return;
    for (const [itemId, { isRunning }] of this.#items) {
      if (!isRunning) this.#items.delete(itemId);
      if (this.#items.size <= KEPT_SHARE * itemsKept) return;
    }
  }

  /** Has an item looked up anew. */
  forget(itemId: string): void {
    this.#items.delete(itemId);
  }

  known(): Iterable<Item> {
    return this.#items.values();
  }

  /** Looks up which items read series of these ids, many at once; the answers are then in memory. */
  async findReaders(tx: Reader, organisation: string, series: readonly SeriesReference[]): Promise<void> {
    const ids = [...new Set(series.map(({ timeseriesId }) => timeseriesId))];
    const unknown = ids.filter((id) => !this.#readers.has(readersKey(organisation, id)));
    for (let from = 0; from < unknown.length; from += IDS_LOOKED_UP) {
      if (from > 0) await nextTurn();
      const part = unknown.slice(from, from + IDS_LOOKED_UP);
      for (const id of part) this.#readers.set(readersKey(organisation, id), new Map());
      const ofIds = [['organisation', '=', organisation] as const, ['timeseriesId', 'in', part] as const];
      for (const { timeseriesId, metric, itemId } of await tx.find(itemSources, { where: ofIds })) {
        const ofId = this.#readers.get(readersKey(organisation, timeseriesId))!;
        const readers = ofId.get(metric);
        if (readers === undefined) ofId.set(metric, [itemId]);
        else readers.push(itemId);
      }
    }
  }

  /** The ids of the items that read a series. */
  async readersOf(tx: Reader, organisation: string, series: SeriesReference): Promise<readonly string[]> {
    await this.findReaders(tx, organisation, [series]);
    return this.#readers.get(readersKey(organisation, series.timeseriesId))?.get(series.metric) ?? NONE;
  }

  /** An item, as of now; undefined when there is none. */
  async itemOf(session: ItemSession, organisation: string, itemId: string): Promise<Item | undefined> {
    const known = this.#items.get(itemId);
    // To the end of the line: the first ones are forgotten first.
    this.#items.delete(itemId);
    if (known !== undefined && known.checkedCommit === this.#catalogCommit) {
      this.#items.set(itemId, known);
      return known;
    }
    const row = await session.tx.get(items, { organisation, itemId });
    // An item with patterns computes nothing itself.
    if (row === undefined || isPattern(row)) return undefined;
    const item = known?.schedule.row.revision === row.revision ? known : await load(session, row);
    if (item === undefined) return undefined;
    this.#items.set(itemId, item);
    item.checkedCommit = this.#catalogCommit;
    item.producers = await this.#producersOf(session, item);
    return item;
  }

  // Items never wait for each other in a circle, so this ends.
  async #producersOf(session: ItemSession, { plan, results }: Item): Promise<Producers> {
    const resultSources: number[] = [];
    let rank = 0;
    for (const [index, source] of plan.sources.entries()) {
      const { organisation } = results;
      const [itemId = null] = await session.context.samples.itemIdsOf(session.tx, organisation, [source]);
      if (itemId === null) continue;
      resultSources.push(index);
      // Of a replica it lies in another shard, and is not waited for.
      const item = await this.itemOf(session, organisation, itemId);
      rank = Math.max(rank, 1 + (item?.producers.rank ?? 0));
    }
    return { resultSources, rank };
  }
}

async function load(session: ItemSession, row: ItemRow): Promise<Item | undefined> {
  const { organisation, itemId } = row;
  const schedule = new Schedule(row, await session.tx.get(itemWork, { organisation, itemId }));
  try {
    // Written when it was registered.
    const { plan, output, planHash } = definitionOf(JSON.parse(row.request) as unknown[]);
    const item = new Item(plan, output, schedule);
    await item.checkpoints.load(session);
    if (planHash !== row.planHash) await item.restart(session, { planHash });
    return item;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    // A newer engine does not take it any more.
    await schedule.fail(session, error);
    return undefined;
  }
}

function readersKey(organisation: string, timeseriesId: string): string {
  return `${organisation.length}:${organisation}${timeseriesId}`;
}
