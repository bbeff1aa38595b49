import { groupBy } from '../../core/group.js';
import { seriesName } from '../../core/series.js';
import { nextTurn } from '../../storage/next-turn.js';
import type { Placement } from '../../storage/shard.js';
import { equal, type Transaction } from '../../storage/storage.js';
import {
  dueAtOnce,
  EVERY_SERIES,
  itemSources,
  items,
  itemWork,
  type RequestTransactionRow,
  requestTransactions,
} from '../../storage/tables/operations.js';
import { createId, type ServiceContext } from '../context.js';
import { badRequest } from '../http/errors.js';
import type { ChildStates } from '../status/request-states.js';
import { noteChange } from './catalog.js';
import { checkConflicts, type ItemScope } from './conflicts.js';
import { endPattern, MEMBERS_PER_TRANSACTION } from './end.js';
import { itemRow, registerEach } from './register-each.js';
import { type ItemDefinition, isPattern } from './request.js';
import { childTransaction, type Registration, requestTransaction } from './request-transactions.js';

/** The open transactions of an organisation's shards. */
export interface OpenShards {
  readonly placement: Placement;
  readonly txs: readonly Transaction[];
  /** The transaction of the shard of the series with this id. */
  at(timeseriesId: string): Transaction;
}

/** Changes items of an organisation, in all of its shards or in none. */
export async function changeItems<Result>(
  { storage, samples, placements }: ServiceContext,
  organisation: string,
  work: (over: OpenShards) => Promise<Result>,
): Promise<Result> {
  const placement = await placements.of(organisation);
  // The transactions may read samples, and writers wait for them.
  for (const shard of placement.shards) await samples.log.load(storage, shard);
  return storage.transactionOver(placement.shards, (txs) => {
    const byShard = new Map(txs.map((tx) => [tx.shard, tx]));
    return work({ placement, txs, at: (timeseriesId) => byShard.get(placement.shardOf(timeseriesId))! });
  });
}

/**
 * Registers the items of a request, each of which replaces any existing item with the same result. The worker computes
 * their history later. Returns the transaction of the request.
 *
 * @throws ServiceError 400, 409
 */
export async function registerItems(
  context: ServiceContext,
  over: OpenShards,
  registration: Registration,
  definitions: readonly ItemDefinition[],
): Promise<RequestTransactionRow> {
  const { organisation } = registration.principal;
  const { placement, txs } = over;
  const isSpread = txs.length > 1;
  if (isSpread) checkPatterns(definitions);
  const scope: ItemScope = {
    organisation,
    samples: context.samples,
    isSpread,
    shardOf: (timeseriesId) => placement.shardOf(timeseriesId),
    readIn: (shard, work) => work(txs.find((tx) => tx.shard === shard)!),
    readTogether: (work) => work(scope),
  };
  await checkConflicts(scope, definitions);
  const parentId = createId(context);
  const children: RequestTransactionRow[] = [];
  const counts = new Map<Transaction, number>();
  const count = (tx: Transaction, added: number): void => {
    counts.set(tx, (counts.get(tx) ?? 0) + added);
  };
  const patternCount = definitions.filter(isOfPattern).length;
  const memberRoom = Math.floor(MEMBERS_PER_TRANSACTION / (patternCount * txs.length));
  for (const [index, some] of slicesOf(definitions).entries()) {
    if (index > 0) await nextTurn();
    const [first] = some;
    if (!isOfPattern(first!)) {
      const registered = new Map<ItemDefinition, RequestTransactionRow>();
      // Items are listed in the order of their ids, whatever shards they are in.
      const ids = new Map(some.map((definition) => [definition, createId(context)]));
      for (const [tx, own] of groupBy(some, ({ output }) => over.at(output.timeseriesId))) {
        const rows = await registerEach(context, tx, registration, own, parentId, (definition) => ids.get(definition)!);
        for (const [at, definition] of own.entries()) registered.set(definition, rows[at]!);
        count(tx, own.length);
      }
      children.push(...some.map((definition) => registered.get(definition)!));
      continue;
    }
    // A pattern is registered in each shard, for its members there.
    let child: RequestTransactionRow | undefined;
    for (const tx of txs) {
      child = await registerPattern(context, tx, registration, first!, parentId, { child, memberRoom });
      count(tx, 1);
    }
    children.push(child!);
  }
  const parents = txs.map((tx) => {
    const count = counts.get(tx) ?? 0;
    return requestTransaction(context, tx, registration, definitions, { parentId, children, count });
  });
  // The request's transaction has a part in each shard with items of it, and one in the home, which lists requests.
  for (const [index, tx] of txs.entries()) {
    if (!counts.has(tx) && tx.shard !== placement.home) continue;
    await tx.insert(requestTransactions, parents[index]!);
    if (counts.has(tx)) await noteChange(tx);
  }
  return parents[0]!;
}

/** The result of a member is in the shard of its sources, so that each shard finds its own members. */
function checkPatterns(definitions: readonly ItemDefinition[]): void {
  for (const { plan, output } of definitions) {
    if (plan.every === undefined) continue;
    const other = plan.sources.find((source) => isPattern(source) && source.timeseriesId !== output.timeseriesId);
    if (other === undefined) continue;
    throw badRequest(
      `the result ${seriesName(output)} has a pattern of another id than its source ${seriesName(other)}: where ` +
        'the series of an organisation lie in several groups, expected the same; use an item for each, or results ' +
        'under ids of their sources',
      { result: output, source: other },
    );
  }
}

function isOfPattern({ plan }: ItemDefinition): boolean {
  return plan.every !== undefined;
}

/** Items to register together: a pattern stands alone, since one before it may end members that are registered next. */
function slicesOf(definitions: readonly ItemDefinition[]): readonly (readonly ItemDefinition[])[] {
  const slices: ItemDefinition[][] = [];
  for (const definition of definitions) {
    const last = slices.at(-1);
    const isFull = last === undefined || last.length >= ITEMS_PER_SLICE || isOfPattern(last[0]!);
    if (isFull || isOfPattern(definition)) slices.push([definition]);
    else last.push(definition);
  }
  return slices;
}

/** How many items to register at once. An item may have a thousand steps, so each write is a turn of the event loop. */
const ITEMS_PER_SLICE = 50;

/**
 * Registers an item whose ids are patterns, and replaces any existing one with the same result. It computes nothing:
 * the worker registers an item for each member, be its series there already or come later.
 *
 * @param elsewhere its transaction in another shard, as `child`, if it is registered there already; and how many
 *   members of the one before to take over or delete at once.
 */
async function registerPattern(
  context: ServiceContext,
  tx: Transaction,
  registration: Registration,
  definition: ItemDefinition,
  parentId: string,
  { child: elsewhere, memberRoom }: { readonly child: RequestTransactionRow | undefined; readonly memberRoom: number },
): Promise<RequestTransactionRow> {
  const { organisation } = registration.principal;
  const { timeseriesId, metric } = definition.output;
  const [existing] = await tx.find(items, { where: equal({ organisation, timeseriesId, metric }) });
  const itemId = elsewhere?.itemId ?? createId(context);
  const own = childTransaction(context, tx, registration, definition, { parentId, itemId, existing });
  const child = { ...own, transactionId: elsewhere?.transactionId ?? own.transactionId };
  // Its state combines the states of its members with its own, which stays active.
  const row = { ...child, childStates: JSON.stringify({ Created: 1 } satisfies ChildStates) };
  await tx.insert(requestTransactions, row);
  await tx.put(items, itemRow(definition, row, { organisation, itemId, nowMs: context.clock.nowMs(), existing }));
  await tx.insert(itemSources, { organisation, ...EVERY_SERIES, itemId });
  await tx.put(itemWork, { organisation, itemId, dueMs: dueAtOnce(context.clock.nowMs()), attemptCount: 0 });
  // Now that it can take over members of the one before.
  if (existing !== undefined) await endPattern(context, tx, existing, { areResultsKept: false, memberRoom });
  return row;
}
