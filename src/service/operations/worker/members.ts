import { groupBy } from '../../../core/group.js';
import { filled } from '../../../core/pattern.js';
import { type SeriesReference, seriesKey, seriesName } from '../../../core/series.js';
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
  type RequestTransactionRow,
  requestTransactions,
} from '../../../storage/tables/operations.js';
import { series } from '../../../storage/tables/samples.js';
import type { ServiceContext } from '../../context.js';
import { ServiceError } from '../../http/errors.js';
import { withoutRefusal, withRefusal } from '../../status/refusals.js';
import { moveOwnState } from '../../status/request-states.js';
import { nameProblem } from '../../timeseries/names.js';
import { noteChange } from '../catalog.js';
import { checkConflicts, type ItemScope, itemsOfResults } from '../conflicts.js';
import { memberDefinition, registerMembers } from '../member.js';
import { type ItemDefinition, storedPattern } from '../request.js';
import type { ItemSession } from './item.js';

/** An item with patterns, as of the catalogue's commit. */
interface Pattern {
  readonly row: ItemRow;
  readonly request: readonly unknown[];
  /** Finds the members that read a series. */
  readonly sources: SourceMatcher;
  /** Finds the member whose result a series is. */
  readonly results: SourceMatcher;
}

/** A member of a pattern, by what stands for its placeholder. */
interface Member {
  readonly pattern: Pattern;
  readonly member: string;
  readonly result: SeriesReference;
}

/** A series that appeared, or of which something was deleted. */
export type SeriesChange = SeriesReference & Pick<SampleChange, 'deleted'>;

export interface MemberSession extends ItemSession {
  readonly context: ServiceContext;
  /** How many more members may be registered within the transaction. */
  memberRoom: number;
  writeTransitions(): Promise<void>;
  countWork(): Promise<void>;
}

type Place = readonly [timeseriesId: string, metric: string];

/** How long a pattern waits for a version of the engine that takes it, before it is looked at again. */
const LEFT_MS = 60_000;
const LEFT_REASON = 'this version of windrow cannot plan the request; start one that can, or register the pattern anew';
const SERIES_READ = 250;

/** Registers an item for each member of an organisation's patterns, as series appear. */
export class PatternMembers {
  readonly #organisation: string;
  readonly #patterns: readonly Pattern[];
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
        count += await this.#registerFreed(session, one);
        await session.countWork();
      }
      if (!this.#checked.has(key)) found.set(key, one);
    }
    const registered = await this.#register(session, this.#patterns, [...found.values()], true);
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
        const registered = await this.#register(session, [pattern], own, true);
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

  /** Registers the members of a result that clients or another item may have written until now. */
  async #registerFreed(session: MemberSession, result: SeriesReference): Promise<number> {
    let count = 0;
    const organisation = this.#organisation;
    for (const pattern of this.#patterns) {
      for (const { member } of pattern.results.placesOf(result)) {
        for (const { timeseriesId, metric } of memberDefinition(pattern.request, member!)?.plan.sources ?? []) {
          const source = { timeseriesId, metric };
          const isOfMember = pattern.sources.placesOf(source).some((place) => place.member === member);
          if (!isOfMember || (await session.tx.get(series, { organisation, ...source })) === undefined) continue;
          count += (await this.#register(session, [pattern], [source], false)).count;
        }
      }
    }
    return count;
  }

  /**
   * Registers the members of patterns that series belong to, and those of all patterns that their results belong to in
   * turn: many at once, as each question to a database elsewhere takes its time.
   *
   * @param isBounded whether to end where the transaction has no room for more.
   * @returns how many members there are, and how many of the series were checked.
   */
  async #register(
    session: MemberSession,
    patterns: readonly Pattern[],
    all: readonly SeriesReference[],
    isBounded: boolean,
  ): Promise<{ readonly count: number; readonly checkedCount: number }> {
    const { found, checkedCount } = await this.#findMembers(session, patterns, all, isBounded);
    let count = 0;
    for (let members = found; members.length > 0; ) {
      const results = await this.#registerMembers(session, members);
      count += results.length;
      members = (await this.#findMembers(session, this.#patterns, results, false)).found;
    }
    return { count, checkedCount };
  }

  /** The members that series belong to and that are not there yet. A separately registered item takes precedence. */
  async #findMembers(
    session: MemberSession,
    patterns: readonly Pattern[],
    all: readonly SeriesReference[],
    isBounded: boolean,
  ): Promise<{ readonly found: readonly Member[]; readonly checkedCount: number }> {
    if (all.length === 0 || (isBounded && session.memberRoom <= 0)) return { found: [], checkedCount: 0 };
    const membersOf = all.map((series) => patterns.flatMap((pattern) => membersThatRead(pattern, series)));
    const results = membersOf.flat().map(({ result }) => result);
    const existingOf = await this.#itemsOf(session, results);
    const found: Member[] = [];
    let checkedCount = 0;
    for (const members of membersOf) {
      if (isBounded && session.memberRoom <= 0) break;
      for (const member of members) {
        const existing = existingOf.get(seriesKey(member.result));
        if (existing !== undefined) await this.#noteOther(session, member.pattern, existing);
        else {
          found.push(member);
          session.memberRoom--;
        }
      }
      checkedCount++;
      await session.countWork();
    }
    return { found, checkedCount };
  }

  async #itemsOf({ context, tx }: MemberSession, results: readonly SeriesReference[]) {
    const all = new Map<string, ItemRow>();
    for (let from = 0; from < results.length; from += SERIES_READ) {
      const some = results.slice(from, from + SERIES_READ);
      const found = await itemsOfResults(tx, context.samples, this.#organisation, some);
      for (const [name, item] of found) all.set(name, item);
    }
    return all;
  }

  /** @returns the results of those that were registered: of several with one result, the first. */
  async #registerMembers(session: MemberSession, members: readonly Member[]): Promise<readonly SeriesReference[]> {
    const firsts = new Map<string, Member>();
    const others: Member[] = [];
    for (const member of members) {
      const name = seriesKey(member.result);
      const first = firsts.get(name);
      if (first === undefined) firsts.set(name, member);
      else if (first.pattern !== member.pattern) others.push(member);
    }
    const registered: SeriesReference[] = [];
    for (const [pattern, own] of groupBy(firsts.values(), (member) => member.pattern)) {
      registered.push(...(await this.#registerOf(session, pattern, own)));
    }
    for (const member of others) {
      const [existing] = (await this.#itemsOf(session, [member.result])).values();
      if (existing !== undefined) await this.#noteOther(session, member.pattern, existing);
      else registered.push(...(await this.#registerOf(session, member.pattern, [member])));
    }
    return registered;
  }

  /** Says in the transaction of a pattern that a result is already computed for another pattern. */
  async #noteOther(session: MemberSession, pattern: Pattern, existing: ItemRow): Promise<void> {
    const organisation = this.#organisation;
    const mayBeOfOther = this.#patterns.some((one) => one !== pattern && one.results.placesOf(existing).length > 0);
    if (!mayBeOfOther) return;
    const { transactionId } = existing;
    const child = await session.tx.get(requestTransactions, { organisation, transactionId });
    const other = this.#patterns.find(({ row }) => row.transactionId === child?.parentId);
    if (other === undefined || other === pattern) return;
    await session.writeTransitions();
    const transaction = await session.tx.get(requestTransactions, {
      organisation,
      transactionId: pattern.row.transactionId,
    });
    if (transaction === undefined) return;
    const reason = `it is a result of ${nameOf(other.row)}, which was registered before; delete that to have this one`;
    await noteRefusal(session, transaction, (message) => withRefusal(message, seriesName(existing), reason));
  }

  /** @returns the results of those that could be registered; of the others, the pattern's transaction says why. */
  async #registerOf(
    session: MemberSession,
    pattern: Pattern,
    members: readonly Member[],
  ): Promise<readonly SeriesReference[]> {
    const { context, writer } = session;
    await session.writeTransitions();
    const { transactionId } = pattern.row;
    const transaction = await writer.get(requestTransactions, { organisation: this.#organisation, transactionId });
    if (transaction === undefined) return [];
    let { message } = transaction;
    const refuse = (result: SeriesReference, reason: string): void => {
      message = withRefusal(message, seriesName(result), reason);
    };
    const definitions: ItemDefinition[] = [];
    for (const { member, result } of members) {
      const problem = nameProblem(result.timeseriesId);
      const definition = problem === undefined ? memberDefinition(pattern.request, member) : undefined;
      if (problem !== undefined) refuse(result, `its id is not ${problem}`);
      else if (definition !== undefined) definitions.push(definition);
      else refuse(result, 'with the name filled in, an id would itself be a pattern, or have a `*`');
      await session.yieldWhenDue();
    }
    const taken = await this.#withoutConflicts(session, definitions, refuse);
    for (const { output } of taken) message = withoutRefusal(message, seriesName(output));
    await noteRefusal(session, transaction, () => message);
    if (taken.length > 0) await registerMembers(context, writer, transaction, taken);
    return taken.map(({ output }) => output);
  }

  /** Those that have no conflict with what is stored, nor with those before them. */
  async #withoutConflicts(
    { context, writer }: MemberSession,
    definitions: readonly ItemDefinition[],
    refuse: (result: SeriesReference, reason: string) => void,
  ): Promise<readonly ItemDefinition[]> {
    const scope: ItemScope = {
      organisation: this.#organisation,
      samples: context.samples,
      isSpread: false,
      shardOf: () => writer.shard,
      readIn: (_, work) => work(writer),
      readTogether: (work) => work(scope),
    };
    const problemOf = async (some: readonly ItemDefinition[]): Promise<string | undefined> => {
      try {
        // Other shards were checked when the pattern was registered.
        await checkConflicts(scope, some);
        return undefined;
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        return error.message;
      }
    };
    if (definitions.length === 0 || (await problemOf(definitions)) === undefined) return definitions;
    const taken: ItemDefinition[] = [];
    for (const one of definitions) {
      const problem = await problemOf([...taken, one]);
      if (problem === undefined) taken.push(one);
      else refuse(one.output, problem);
    }
    return taken;
  }
}

/** The members of a pattern that read a series. */
function membersThatRead(pattern: Pattern, series: SeriesReference): readonly Member[] {
  const { timeseriesId, metric } = pattern.row;
  const names = pattern.sources.placesOf(series).flatMap(({ member }) => member ?? []);
  return names.map((member) => ({ pattern, member, result: { timeseriesId: filled(timeseriesId, member), metric } }));
}

/** A pattern, for a message: a member may have the pattern itself as its name. */
function nameOf(row: ItemRow): string {
  return `the pattern ${seriesName(row)}`;
}

/** Changes what the message of a pattern's transaction says of what is not computed. */
async function noteRefusal(
  { writer }: MemberSession,
  { organisation, transactionId, message: before }: RequestTransactionRow,
  change: (message: string | null) => string | null,
): Promise<void> {
  const message = change(before);
  if (message === before) return;
  await writer.update(requestTransactions, equal({ organisation, transactionId }), { message });
}
