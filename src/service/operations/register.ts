import packageJson from '../../../package.json' with { type: 'json' };
import { type SeriesReference, seriesName, TIME_MS_END, TIME_MS_MIN } from '../../core/series.js';
import { inTurns } from '../../storage/next-turn.js';
import { NO_COLUMNS } from '../../storage/samples/samples.js';
import type { SampleStore } from '../../storage/samples/store.js';
import type { Placement } from '../../storage/shard.js';
import { equal, type Transaction } from '../../storage/storage.js';
import {
  AFTER_REPLICATION_MS,
  EVERY_SERIES,
  type ItemRow,
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
import { checkConflicts, type ItemScope, itemOfResult } from './conflicts.js';
import { endPattern, forgetWork, MEMBERS_PER_TRANSACTION } from './end.js';
import { addReplicas, dropReplicas } from './replicas.js';
import { ITEMS_PER_TURN, type ItemDefinition, isPattern } from './request.js';
import {
  childTransaction,
  endRequestTransaction,
  type Registration,
  requestTransaction,
} from './request-transactions.js';

/** The version of the engine that computed results and checkpoints. Those of another version are recomputed. */
export const ENGINE_VERSION: string = packageJson.version;

/** The open transactions of an organisation's shards. */
export interface OpenShards {
  readonly placement: Placement;
  readonly txs: readonly Transaction[];
  /** The transaction of the shard of the series with this id. */
  at(timeseriesId: string): Transaction;
}

/** Changes items of an organisation, in all of its shards or in none. */
export async function changeItems<Result>(
  { storage, placements }: ServiceContext,
  organisation: string,
  work: (over: OpenShards) => Promise<Result>,
): Promise<Result> {
  const placement = await placements.of(organisation);
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
    readAt: (id, work) => work(over.at(id)),
    readTogether: (work) => work(scope),
  };
  await checkConflicts(scope, definitions);
  const parentId = createId(context);
  const children: RequestTransactionRow[] = [];
  const counts = new Map<Transaction, number>();
  const patternCount = definitions.filter(({ plan }) => plan.every !== undefined).length;
  const memberRoom = Math.floor(MEMBERS_PER_TRANSACTION / (patternCount * txs.length));
  for await (const definition of inTurns(definitions, ITEMS_PER_TURN)) {
    const { plan, output } = definition;
    // A pattern is registered in each shard, for its members there.
    const places = plan.every === undefined ? [over.at(output.timeseriesId)] : txs;
    let child: RequestTransactionRow | undefined;
    for (const tx of places) {
      if (plan.every === undefined) child = await registerItem(context, tx, registration, definition, parentId);
      else child = await registerPattern(context, tx, registration, definition, parentId, { child, memberRoom });
      counts.set(tx, (counts.get(tx) ?? 0) + 1);
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
      { details: { result: output, source: other } },
    );
  }
}

/** Registers an item, and replaces any existing item with the same result. */
export async function registerItem(
  context: ServiceContext,
  tx: Transaction,
  registration: Registration,
  definition: ItemDefinition,
  parentId: string,
): Promise<RequestTransactionRow> {
  const { organisation } = registration.principal;
  const { output } = definition;
  const existing = await itemOfResult(tx, organisation, output);
  const itemId = existing?.itemId ?? createId(context);
  const child = childTransaction(context, tx, registration, definition, { parentId, itemId, existing });
  await tx.insert(requestTransactions, child);
  let sourcesBefore: readonly SeriesReference[] = [];
  if (existing === undefined) {
    // A series of this name may exist, but has no samples, as was checked: what clients wrote to it is deleted.
    await context.samples.drop(tx, organisation, output);
    await context.samples.append(tx, organisation, [{ ...output, ...NO_COLUMNS }], { itemId });
  } else {
    await endRequestTransaction(tx, existing, `replaced by transaction ${child.transactionId}`);
    sourcesBefore = await forgetWork(tx, existing);
    // Results of the same plan are replaced where they differ; until then they stay readable.
    if (existing.planHash !== definition.planHash) await deleteAll(context.samples, tx, existing);
  }
  const nowMs = context.clock.nowMs();
  await tx.put(items, itemRow(definition, child, { organisation, itemId, nowMs, existing }));
  const { sources } = definition.plan;
  for (const { timeseriesId, metric } of sources) {
    await tx.insert(itemSources, { organisation, timeseriesId, metric, itemId });
  }
  const placement = await context.placements.in(tx, organisation);
  const isWaiting = await addReplicas(tx, placement, organisation, sources);
  await dropReplicas(context, tx, organisation, sourcesBefore);
  const dueMs = isWaiting ? AFTER_REPLICATION_MS : nowMs;
  await tx.put(itemWork, { organisation, itemId, dueMs, attemptCount: 0 });
  return child;
}

function itemRow(
  { output, processingType, frequencyMs, request, posted, planHash }: ItemDefinition,
  { state, transactionId }: RequestTransactionRow,
  own: { organisation: string; itemId: string; nowMs: number; existing: ItemRow | undefined },
): ItemRow {
  const { organisation, itemId, nowMs, existing } = own;
  return {
    organisation,
    itemId,
    timeseriesId: output.timeseriesId,
    metric: output.metric,
    processingType,
    frequencyMs,
    request: JSON.stringify(request),
    posted: JSON.stringify(posted),
    engineVersion: ENGINE_VERSION,
    planHash,
    state,
    boundaryMs: null,
    transactionId,
    revision: (existing?.revision ?? 0) + 1,
    createdMs: existing?.createdMs ?? nowMs,
    updatedMs: nowMs,
  };
}

/**
 * Registers an item whose ids are patterns, and replaces any existing one with the same result. It computes nothing:
 * the worker registers an item for each member, be its series there already or come later.
 *
 * @param elsewhere its transaction in another shard, as `child`, if it is registered there already; and how many
 *   members of the one before to delete at once.
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
  if (existing !== undefined) await endPattern(context, tx, existing, { areResultsKept: false, memberRoom });
  const itemId = elsewhere?.itemId ?? createId(context);
  const own = childTransaction(context, tx, registration, definition, { parentId, itemId, existing });
  const child = { ...own, transactionId: elsewhere?.transactionId ?? own.transactionId };
  // Its state combines the states of its members with its own, which stays active.
  const row = { ...child, childStates: JSON.stringify({ Created: 1 } satisfies ChildStates) };
  await tx.insert(requestTransactions, row);
  await tx.put(items, itemRow(definition, row, { organisation, itemId, nowMs: context.clock.nowMs(), existing }));
  await tx.insert(itemSources, { organisation, ...EVERY_SERIES, itemId });
  await tx.put(itemWork, { organisation, itemId, dueMs: context.clock.nowMs(), attemptCount: 0 });
  return row;
}

/** Deletes the samples of a result, final and provisional; the series stays. */
async function deleteAll(
  samples: SampleStore,
  tx: Transaction,
  { organisation, itemId, timeseriesId, metric }: ItemRow,
): Promise<void> {
  const deleted = { fromMs: TIME_MS_MIN, untilMs: TIME_MS_END };
  const result = { timeseriesId, metric };
  await samples.append(tx, organisation, [{ ...result, ...NO_COLUMNS, deleted }], { itemId });
  await samples.setProvisional(tx, organisation, { ...result, ...NO_COLUMNS });
}
