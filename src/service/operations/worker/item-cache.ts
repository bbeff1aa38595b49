import { RequestError } from '../../../core/errors.js';
import { groupBy } from '../../../core/group.js';
import type { SeriesReference } from '../../../core/series.js';
import { ENGINE_VERSION } from '../../../engine/version.js';
import type { Plan } from '../../../plan/plan.js';
import { nextTurn } from '../../../storage/next-turn.js';
import type { Reader } from '../../../storage/storage.js';
import type { RowIn } from '../../../storage/table.js';
import {
  AFTER_REPLICATION_MS,
  type ItemRow,
  itemSources,
  items,
  itemWork,
  REFUSED,
} from '../../../storage/tables/operations.js';
import { isPattern, storedDefinition } from '../request.js';
import { Backlog } from './backlog.js';
import { type CheckpointHead, Checkpoints, checkpointHeads } from './checkpoints.js';
import { Item, type ItemSession } from './item.js';
import { KeptItems } from './kept-items.js';
import { PatternMembers } from './members.js';
import { Schedule } from './schedule.js';
import type { WorkerSizes } from './sizes.js';
import type { SourceCache } from './source-cache.js';

/** In one statement, which others wait for. */
const IDS_LOOKED_UP = 250;
const READERS_MAX = 200_000;
const NONE: readonly string[] = [];

/** What the worker knows of a shard between its transactions. */
export class ItemCache {
  /** The claim and the worker's last commit for which all of this is valid. */
  #claimSequence = -1;
  #absorbedCommit = -1;
  #catalogCommit = -1;
  readonly #items = new KeptItems<Item>();
  /** By organisation and id, and there by metric: the ids of the items that read a series; as of that commit. */
  readonly #readers = new Map<string, Map<string, string[]>>();
  /** The patterns of organisations, as of a commit of the catalogue. */
  readonly #patterns = new Map<string, { readonly commit: number; readonly members: PatternMembers }>();
  readonly #shard: number;
  /** The part of the log that it has begun to absorb. */
  readonly backlog = new Backlog();
  /** Of all shards. */
  readonly sources: SourceCache;
  /** How often an item has lost its base, or may have, as all was forgotten. */
  lostBaseCount = 0;

  constructor(shard: number, sources: SourceCache) {
    this.#shard = shard;
    this.sources = sources;
  }

  /**
   * Begins a transaction, and keeps what is still valid in it. Each commit of the worker leaves its number in the
   * store; a different number there means that a transaction was rolled back, or that another worker was at work.
   *
   * @returns whether items were added, changed or removed.
   */
  begin(claimSequence: number, absorbedCommit: number, catalogCommit: number): boolean {
    if (this.#claimSequence !== claimSequence || this.#absorbedCommit !== absorbedCommit) {
      this.clear();
      this.backlog.reset(absorbedCommit);
    }
    const isCatalogNew = this.#catalogCommit !== catalogCommit;
    if (isCatalogNew) this.#readers.clear();
    this.#claimSequence = claimSequence;
    this.#absorbedCommit = absorbedCommit;
    this.#catalogCommit = catalogCommit;
    return isCatalogNew;
  }

  /** Ends a transaction that has written and will be this commit. */
  end(commit: number): void {
    this.#absorbedCommit = commit;
    this.backlog.reset(commit);
  }

  /** Whether earlier transactions absorbed what is not marked as absorbed in the store yet. */
  get isBehind(): boolean {
    return this.backlog.commit > this.#absorbedCommit;
  }

  clear(): void {
    this.lostBaseCount++;
    this.#claimSequence = -1;
    this.#absorbedCommit = -1;
    this.#catalogCommit = -1;
    this.#items.clear();
    this.#readers.clear();
    this.#patterns.clear();
    this.backlog.reset(-1);
    this.sources.clear(this.#shard);
  }

  forgetReaders(): void {
    this.#readers.clear();
  }

  async patternsOf(tx: Reader, organisation: string): Promise<PatternMembers> {
    const known = this.#patterns.get(organisation);
    if (known?.commit === this.#catalogCommit) return known.members;
    const members = await PatternMembers.load(tx, organisation, known?.members);
    this.#patterns.set(organisation, { commit: this.#catalogCommit, members });
    return members;
  }

  /** Between transactions. */
  trim({ itemsKept, requestCharsKept }: WorkerSizes): void {
    if (this.#readers.size > READERS_MAX) this.#readers.clear();
    if (this.backlog.isEmpty) this.#items.trim(itemsKept, requestCharsKept);
  }

  /** Makes the next use look the item up again. */
  forget(itemId: string): void {
    this.#items.delete(itemId);
  }

  /** The items in memory, as they are registered now: one may have been replaced or deleted since its last use. */
  async known(session: ItemSession): Promise<readonly Item[]> {
    const known: Item[] = [];
    for (const [organisation, own] of groupBy(this.#items.values(), ({ results }) => results.organisation)) {
      const ids = own.map(({ results }) => results.itemId);
      known.push(...(await this.itemsOf(session, organisation, ids)));
    }
    return known;
  }

  /** Looks up, many at once, which items read series of these ids, and keeps the answers in memory. */
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
    const key = readersKey(organisation, series.timeseriesId);
    if (!this.#readers.has(key)) await this.findReaders(tx, organisation, [series]);
    return this.#readers.get(key)?.get(series.metric) ?? NONE;
  }

  /** The items of these ids that exist; those that are not in memory are looked up, many at once. */
  async itemsOf(session: ItemSession, organisation: string, itemIds: readonly string[]): Promise<Item[]> {
    const unknown = itemIds.filter((itemId) => this.#items.get(itemId)?.checkedCommit !== this.#catalogCommit);
    for (let from = 0; from < unknown.length; from += IDS_LOOKED_UP) {
      await this.#lookUp(session, organisation, unknown.slice(from, from + IDS_LOOKED_UP));
    }
    const found: Item[] = [];
    for (const itemId of itemIds) {
      const item = this.#items.get(itemId);
      if (item === undefined) continue;
      // Moves it to the end, as the first ones are dropped first.
      this.#items.delete(itemId);
      this.#items.set(itemId, item);
      found.push(item);
    }
    return found;
  }

  async #lookUp(session: ItemSession, organisation: string, itemIds: readonly string[]): Promise<void> {
    const ofIds = (ids: readonly string[]) =>
      [
        ['organisation', '=', organisation],
        ['itemId', 'in', ids],
      ] as const;
    const { tx } = session;
    // An item with patterns computes nothing itself.
    const rows = (await tx.find(items, { where: ofIds(itemIds) })).filter((row) => !isPattern(row));
    const isKnown = ({ itemId, revision }: ItemRow) => this.#items.get(itemId)?.schedule.row.revision === revision;
    const changed = rows.filter((row) => !isKnown(row)).map(({ itemId }) => itemId);
    await session.yieldWhenDue();
    const work = new Map((await tx.find(itemWork, { where: ofIds(changed) })).map((row) => [row.itemId, row]));
    await session.yieldWhenDue();
    const heads = groupBy(await tx.find(checkpointHeads, { where: ofIds(changed) }), ({ itemId }) => itemId);
    const looked: Item[] = [];
    for (const row of rows) {
      const { itemId } = row;
      const loaded = { work: work.get(itemId), heads: heads.get(itemId) ?? [] };
      const item = isKnown(row) ? this.#items.get(itemId) : await load(session, row, loaded);
      if (item !== undefined) looked.push(item);
      await session.countWork(item?.plan.steps.length);
    }
    await session.yieldWhenDue();
    for (const itemId of itemIds) this.#items.delete(itemId);
    for (const item of looked) {
      item.checkedCommit = this.#catalogCommit;
      this.#items.set(item.schedule.row.itemId, item);
    }
    await this.#findProducers(session, organisation, looked);
  }

  /** Tells items which of their sources are results of others. */
  async #findProducers(session: ItemSession, organisation: string, looked: readonly Item[]): Promise<void> {
    const read = looked.flatMap(({ sources }) => sources.series);
    const ids = await session.context.samples.itemIdsOf(session.tx, organisation, read);
    // The item of a replica is in another shard, and need not come first.
    await this.itemsOf(session, organisation, [...new Set(ids.filter((itemId) => typeof itemId === 'string'))]);
    let at = 0;
    const unsettled = new Map(looked.map((item) => [item, item.sources.series.map(() => ids[at++])] as const));
    // Items never depend on each other in a cycle, so this ends.
    const rankOf = (item: Item | undefined): number => {
      const own = item === undefined ? undefined : unsettled.get(item);
      if (item === undefined || own === undefined) return item?.sources.producers.rank ?? 0;
      unsettled.delete(item);
      const resultSources = own.flatMap((itemId, index) => (typeof itemId === 'string' ? [index] : []));
      const ranks = resultSources.map((index) => 1 + rankOf(this.#items.get(own[index]!)));
      item.sources.producers = { resultSources, rank: Math.max(0, ...ranks) };
      return item.sources.producers.rank;
    };
    for (const item of looked) rankOf(item);
  }
}

/** The item of some rows. */
async function load(
  session: ItemSession,
  row: ItemRow,
  { work, heads }: { readonly work: RowIn<typeof itemWork> | undefined; readonly heads: readonly CheckpointHead[] },
): Promise<Item | undefined> {
  const schedule = new Schedule(row, work);
  try {
    const { plan, output, planHash } = await storedDefinition(row.request);
    const item = new Item(plan, output, schedule, new Checkpoints(row, heads));
    const isRefused = row.state === 'Failed' && row.engineVersion === REFUSED;
    if (isRefused) await revive(session, schedule, plan);
    const isOfOther = row.engineVersion !== ENGINE_VERSION || row.planHash !== planHash;
    if (isOfOther) await item.takeOver(session, planHash);
    return item;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    // It was registered by another version: a later one, of which this process is told nothing, or an earlier one.
    if (schedule.isOver) return undefined;
    await schedule.fail(session, error);
    schedule.update(session, { engineVersion: REFUSED });
    return undefined;
  }
}

/** Begins an item anew that another version had refused, whose work ended with that. */
async function revive(session: ItemSession, schedule: Schedule, { sources }: Plan): Promise<void> {
  schedule.setState(session, 'Running');
  const placement = await session.context.placements.in(session.tx, schedule.row.organisation);
  // The copies that it reads may not be complete.
  const isWaiting = sources.some(({ timeseriesId }) => placement.shardOf(timeseriesId) !== session.tx.shard);
  if (isWaiting) await schedule.setDue(session, AFTER_REPLICATION_MS, 0);
}

function readersKey(organisation: string, timeseriesId: string): string {
  return `${organisation.length}:${organisation}${timeseriesId}`;
}
