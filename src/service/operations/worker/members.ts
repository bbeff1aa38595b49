import { type SeriesReference, seriesKey } from '../../../core/series.js';
import { SourceMatcher } from '../../../core/source-matcher.js';
import type { SampleChange } from '../../../storage/samples/samples.js';
import { equal, type Reader } from '../../../storage/storage.js';
import {
  dueAtOnce,
  EVERY_SERIES,
  type ItemRow,
  itemSources,
  items,
  itemWork,
  requestTransactions,
} from '../../../storage/tables/operations.js';
import { series } from '../../../storage/tables/samples.js';
import { withoutRefusal, withRefusal } from '../../status/refusals.js';
import { moveOwnState } from '../../status/request-states.js';
import { noteChange } from '../catalog.js';
import { storedPattern } from '../request.js';
import { MemberRegistration, type MemberSession, nameOf, noteRefusal, type Pattern } from './member-registration.js';

/** A series that appeared, or of which something was deleted. */
export type SeriesChange = SeriesReference & Pick<SampleChange, 'deleted'>;

type Place = readonly [timeseriesId: string, metric: string];

/** How long a pattern waits for a version of the engine that takes it, before it is looked at again. */
const LEFT_MS = 60_000;
const LEFT_REASON = 'this version of windrow cannot plan the request; start one that can, or register the pattern anew';
const SERIES_READ = 250;

/** Finds the series that an organisation's patterns have not checked, and has their members registered. */
export class PatternMembers {
  readonly #organisation: string;
  readonly #patterns: readonly Pattern[];
  readonly #registration: MemberRegistration;
  /** The items of patterns that this version of the engine refuses: one that takes them checks all series for them. */
  readonly #refused: readonly ItemRow[];
  /** Series that were checked already. */
  readonly #checked = new Set<string>();
  /** Those of them that were left so. */
  readonly #left: Set<string>;
  /** Patterns that have not checked all series. */
  readonly #behind: Set<Pattern>;
  /** By the id of their items, the last series that they have checked; none if they have just begun. */
  readonly #places: Map<string, Place>;
  /** The ids of those that check all series once more after that, as series were left out meanwhile. */
  readonly #again: Set<string>;

  /** @param before how far it had come when changes of items made it stale. */
  static async load(tx: Reader, organisation: string, before?: PatternMembers): Promise<PatternMembers> {
    const found = await tx.find(itemSources, { where: equal({ organisation, ...EVERY_SERIES }) });
    const patterns: Pattern[] = [];
    const refused: ItemRow[] = [];
    for (const { itemId } of found) {
      const row = await tx.get(items, { organisation, itemId });
      if (row === undefined) continue;
      const definition = storedPattern(row.request);
      if (definition === undefined) refused.push(row);
      else {
        const { request, plan } = definition;
        patterns.push({ row, request, sources: new SourceMatcher(plan.sources), results: new SourceMatcher([row]) });
      }
    }
    return new PatternMembers(organisation, { patterns, refused }, before);
  }

  private constructor(
    organisation: string,
    { patterns, refused }: { readonly patterns: readonly Pattern[]; readonly refused: readonly ItemRow[] },
    before: PatternMembers | undefined,
  ) {
    this.#organisation = organisation;
    this.#patterns = patterns;
    this.#registration = new MemberRegistration(organisation, patterns);
    this.#refused = refused;
    this.#left = new Set(before === undefined ? [] : before.#left);
    const ids = new Set(patterns.map(({ row }) => row.itemId));
    const placesBefore = before === undefined ? [] : [...before.#places];
    this.#places = new Map(placesBefore.filter(([itemId]) => ids.has(itemId)));
    this.#again = new Set(before === undefined ? [] : [...before.#again].filter((itemId) => ids.has(itemId)));
    this.#behind = new Set(patterns.filter(({ row }) => row.state === 'Created'));
  }

  /**
   * Registers the members of new series, and those whose result is free now. What exceeds the room of the transaction
   * is left to `catchUp`.
   *
   * @returns how many there are.
   */
  async admit(session: MemberSession, changes: readonly SeriesChange[]): Promise<number> {
    for (const row of this.#refused) await this.#leave(session, row);
    if (this.#patterns.length === 0) return 0;
    let count = 0;
    const placement = await session.context.placements.in(session.tx, this.#organisation);
    const found = new Map<string, SeriesChange>();
    let left: readonly SeriesChange[] = [];
    for (const [i, one] of changes.entries()) {
      // The members of a replica belong to the shard of the original.
      if (placement.shardOf(one.timeseriesId) !== session.tx.shard) continue;
      const key = seriesKey(one);
      if (one.deleted !== undefined) {
        if (session.memberRoom <= 0) {
          left = changes.slice(i);
          break;
        }
        count += await this.#registration.registerFreed(session, one);
        await session.countWork();
      }
      if (!this.#checked.has(key)) found.set(key, one);
    }
    const registered = await this.#registration.register(session, this.#patterns, [...found.values()], true);
    count += registered.count;
    for (const key of [...found.keys()].slice(0, registered.checkedCount)) this.#checked.add(key);
    left = [...[...found.values()].slice(registered.checkedCount), ...left];
    if (left.length > 0) await this.#fallBehind(session, left);
    if (count > 0) await noteChange(session.writer);
    return count;
  }

  /**
   * Has the patterns that may read one of the series check all series, in transactions to come. One that does so goes
   * on to the last before it begins again: it would never come to those that are new while more and more appear.
   */
  async #fallBehind(session: MemberSession, changes: readonly SeriesChange[]): Promise<void> {
    for (const pattern of this.#patterns) {
      // What a deletion frees may be read by any.
      const mayRead = (one: SeriesChange) => one.deleted !== undefined || pattern.sources.placesOf(one).length > 0;
      if (!changes.some(mayRead)) continue;
      if (this.#behind.has(pattern)) {
        this.#again.add(pattern.row.itemId);
        continue;
      }
      this.#behind.add(pattern);
      await this.#setBehind(session, pattern.row);
      await this.#makeDue(session, pattern.row.itemId);
    }
    session.noteDue();
  }

  /** Leaves a pattern to a version of the engine that takes it. */
  async #leave(session: MemberSession, row: ItemRow): Promise<void> {
    const { organisation, itemId } = row;
    if (this.#left.has(itemId)) return;
    this.#left.add(itemId);
    const { context } = session;
    context.log.warn(
      { organisation, itemId },
      'this version cannot plan the request of a pattern; it waits for another',
    );
    if (row.state !== 'Created') await this.#setBehind(session, row);
    const transaction = await session.tx.get(requestTransactions, { organisation, transactionId: row.transactionId });
    if (transaction !== undefined) {
      await noteRefusal(session, transaction, (message) => withRefusal(message, nameOf(row), LEFT_REASON));
    }
    await this.#makeDue(session, itemId, context.clock.nowMs() + LEFT_MS);
  }

  async #setBehind(session: MemberSession, { organisation, itemId, transactionId }: ItemRow): Promise<void> {
    await session.writeTransitions();
    const transaction = await session.tx.get(requestTransactions, { organisation, transactionId });
    if (transaction !== undefined) await moveOwnState(session.writer, transaction, 'Active', 'Created');
    await session.writer.update(items, equal({ organisation, itemId }), { state: 'Created' });
  }

  async #makeDue(
    { context, writer }: MemberSession,
    itemId: string,
    dueMs = dueAtOnce(context.clock.nowMs()),
  ): Promise<void> {
    await writer.put(itemWork, { organisation: this.#organisation, itemId, dueMs, attemptCount: 0 });
  }

  /**
   * Registers the members of series that patterns which are behind have not checked, as many as the transaction has
   * room for.
   *
   * @returns how many there are.
   */
  async catchUp(session: MemberSession): Promise<number> {
    let count = 0;
    let checkedCount = 0;
    for (const { itemId } of this.#refused) {
      await this.#makeDue(session, itemId, session.context.clock.nowMs() + LEFT_MS);
    }
    const placement = await session.context.placements.in(session.tx, this.#organisation);
    const checkedMax = session.sizes.seriesPerTransaction;
    const limit = Math.min(SERIES_READ, checkedMax);
    for (const pattern of this.#behind) {
      const { itemId } = pattern.row;
      for (let isMore = true; isMore; ) {
        if (session.memberRoom <= 0 || checkedCount >= checkedMax) {
          // Now, not when it began, so that what became due since has its turn.
          await this.#makeDue(session, itemId);
          break;
        }
        const after = this.#places.get(itemId);
        const rows = await session.tx.find(series, {
          where: equal({ organisation: this.#organisation }),
          orderBy: [{ column: 'timeseriesId' }, { column: 'metric' }],
          ...(after === undefined ? {} : { after }),
          limit,
        });
        const own = rows.filter(({ timeseriesId }) => placement.shardOf(timeseriesId) === session.tx.shard);
        const registered = await this.#registration.register(session, [pattern], own, true);
        count += registered.count;
        const firstLeft = own[registered.checkedCount];
        const checked = firstLeft === undefined ? rows : rows.slice(0, rows.indexOf(firstLeft));
        checkedCount += checked.length;
        const last = checked.at(-1);
        if (last !== undefined) this.#places.set(itemId, [last.timeseriesId, last.metric]);
        isMore = rows.length === limit || firstLeft !== undefined;
        if (isMore) continue;
        this.#places.delete(itemId);
        isMore = this.#again.delete(itemId);
        if (!isMore) await this.#finish(session, pattern);
      }
    }
    if (count > 0) await noteChange(session.writer);
    return count;
  }

  async #finish(session: MemberSession, pattern: Pattern): Promise<void> {
    const { organisation, itemId, transactionId } = pattern.row;
    this.#behind.delete(pattern);
    await session.writeTransitions();
    const transaction = await session.tx.get(requestTransactions, { organisation, transactionId });
    if (transaction !== undefined) {
      await moveOwnState(session.writer, transaction, 'Created', 'Active');
      await noteRefusal(session, transaction, (message) => withoutRefusal(message, nameOf(pattern.row)));
    }
    await session.writer.update(items, equal({ organisation, itemId }), { state: 'Active' });
    await session.writer.delete(itemWork, equal({ organisation, itemId }));
  }
}
