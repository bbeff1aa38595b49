import { groupBy } from '../../../core/group.js';
import { filled } from '../../../core/pattern.js';
import { type SeriesReference, seriesKey, seriesName } from '../../../core/series.js';
import type { SourceMatcher } from '../../../core/source-matcher.js';
import { equal } from '../../../storage/storage.js';
import { type ItemRow, type RequestTransactionRow, requestTransactions } from '../../../storage/tables/operations.js';
import { series } from '../../../storage/tables/samples.js';
import type { ServiceContext } from '../../context.js';
import { ServiceError } from '../../http/errors.js';
import { withoutRefusal, withRefusal } from '../../status/refusals.js';
import { nameProblem } from '../../timeseries/names.js';
import { checkConflicts, type ItemScope, itemsOfResults } from '../conflicts.js';
import { memberDefinition, registerMembers } from '../member.js';
import type { ItemDefinition } from '../request.js';
import type { ItemSession } from './item.js';

/** An item with patterns, as of the catalogue's commit. */
export interface Pattern {
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

export interface MemberSession extends ItemSession {
  readonly context: ServiceContext;
  /** How many more members may be registered within the transaction. */
  memberRoom: number;
  writeTransitions(): Promise<void>;
  countWork(): Promise<void>;
}

/** Results that are looked up in one statement, which others wait for. */
const RESULTS_READ = 250;

/** Registers an item for each member of an organisation's patterns. */
export class MemberRegistration {
  readonly #organisation: string;
  readonly #patterns: readonly Pattern[];

  constructor(organisation: string, patterns: readonly Pattern[]) {
    this.#organisation = organisation;
    this.#patterns = patterns;
  }

  /** Registers the members of a result that clients or another item may have written until now. */
  async registerFreed(session: MemberSession, result: SeriesReference): Promise<number> {
    let count = 0;
    const organisation = this.#organisation;
    for (const pattern of this.#patterns) {
      for (const { member } of pattern.results.placesOf(result)) {
        for (const { timeseriesId, metric } of memberDefinition(pattern.request, member!)?.plan.sources ?? []) {
          const source = { timeseriesId, metric };
          const isOfMember = pattern.sources.placesOf(source).some((place) => place.member === member);
          if (!isOfMember || (await session.tx.get(series, { organisation, ...source })) === undefined) continue;
          count += (await this.register(session, [pattern], [source], false)).count;
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
  async register(
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
    for (let from = 0; from < results.length; from += RESULTS_READ) {
      const some = results.slice(from, from + RESULTS_READ);
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
export function nameOf(row: ItemRow): string {
  return `the pattern ${seriesName(row)}`;
}

/** Changes what the message of a pattern's transaction says of what is not computed. */
export async function noteRefusal(
  { writer }: MemberSession,
  { organisation, transactionId, message: before }: RequestTransactionRow,
  change: (message: string | null) => string | null,
): Promise<void> {
  const message = change(before);
  if (message === before) return;
  await writer.update(requestTransactions, equal({ organisation, transactionId }), { message });
}
