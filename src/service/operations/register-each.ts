import { type SeriesReference, seriesKey, TIME_MS_END, TIME_MS_MIN } from '../../core/series.js';
import { nextTurn } from '../../storage/next-turn.js';
import { NO_COLUMNS } from '../../storage/samples/samples.js';
import type { SampleStore } from '../../storage/samples/store.js';
import type { Transaction } from '../../storage/storage.js';
import {
  AFTER_REPLICATION_MS,
  dueAtOnce,
  type ItemRow,
  itemSources,
  items,
  itemWork,
  NOT_COMPUTED,
  type RequestTransactionRow,
  requestTransactions,
} from '../../storage/tables/operations.js';
import { createId, type ServiceContext } from '../context.js';
import { itemsOfResults } from './conflicts.js';
import { forgetWork } from './forget-work.js';
import { addReplicas, dropReplicas } from './replicas.js';
import type { ItemDefinition } from './request.js';
import { childTransaction, endRequestTransactions, type Registration } from './request-transactions.js';

/**
 * Registers items with different results, each of which replaces any existing item with the same result.
 *
 * @param newIdOf the id of an item that replaces none.
 * @returns their transactions.
 */
export async function registerEach(
  context: ServiceContext,
  tx: Transaction,
  registration: Registration,
  definitions: readonly ItemDefinition[],
  parentId: string,
  newIdOf: (definition: ItemDefinition) => string = () => createId(context),
): Promise<readonly RequestTransactionRow[]> {
  const { samples, clock } = context;
  const { organisation } = registration.principal;
  const outputs = definitions.map(({ output }) => output);
  const existingOf = await itemsOfResults(tx, samples, organisation, outputs);
  const registered = definitions.map((definition) => {
    const existing = existingOf.get(seriesKey(definition.output));
    const itemId = existing?.itemId ?? newIdOf(definition);
    const child = childTransaction(context, tx, registration, definition, { parentId, itemId, existing });
    return { definition, existing, itemId, child };
  });
  const children = registered.map(({ child }) => child);
  await tx.insertAll(requestTransactions, children);
  await nextTurn();
  const added = registered.filter(({ existing }) => existing === undefined);
  // A series of this name may exist, but has no samples, as was checked: what clients wrote to it is deleted.
  for (const { definition } of added) await samples.drop(tx, organisation, definition.output);
  const results = added.map(({ definition: { output }, itemId }) => ({ ...output, itemId }));
  if (results.length > 0) await samples.createResults(tx, organisation, results);
  await nextTurn();
  const sourcesBefore = await replaceItems(context, tx, organisation, registered);
  const nowMs = clock.nowMs();
  const rowOf = ({ definition, child, itemId, existing }: Registered): ItemRow =>
    itemRow(definition, child, { organisation, itemId, nowMs, existing });
  await tx.insertAll(items, added.map(rowOf));
  for (const one of registered) if (one.existing !== undefined) await tx.put(items, rowOf(one));
  await nextTurn();
  const sources = registered.flatMap(({ definition, itemId }) =>
    definition.plan.sources.map(({ timeseriesId, metric }) => ({ organisation, timeseriesId, metric, itemId })),
  );
  await tx.insertAll(itemSources, sources);
  await nextTurn();
  const placement = await context.placements.in(tx, organisation);
  await addReplicas(tx, placement, organisation, sources);
  await dropReplicas(context, tx, organisation, sourcesBefore);
  const work = registered.map(({ definition, itemId }) => {
    const isWaiting = definition.plan.sources.some(({ timeseriesId }) => placement.shardOf(timeseriesId) !== tx.shard);
    return { organisation, itemId, dueMs: isWaiting ? AFTER_REPLICATION_MS : dueAtOnce(nowMs), attemptCount: 0 };
  });
  await tx.insertAll(itemWork, work);
  await nextTurn();
  return children;
}

interface Registered {
  readonly definition: ItemDefinition;
  /** The item that it replaces. */
  readonly existing: ItemRow | undefined;
  readonly itemId: string;
  readonly child: RequestTransactionRow;
}

/** Ends what was begun for items that are replaced. @returns the series that they read */
async function replaceItems(
  { samples }: ServiceContext,
  tx: Transaction,
  organisation: string,
  registered: readonly Registered[],
): Promise<readonly SeriesReference[]> {
  const replaced = registered.flatMap(({ definition, existing, child }) =>
    existing === undefined ? [] : [{ definition, existing, message: `replaced by transaction ${child.transactionId}` }],
  );
  if (replaced.length === 0) return [];
  await endRequestTransactions(
    tx,
    organisation,
    replaced.map(({ existing, message }) => ({ item: existing, message })),
  );
  // What retention has deleted cannot be computed again.
  const keepingBase: string[] = [];
  for (const { existing, definition } of replaced) {
    const isSame = existing.planHash === definition.planHash;
    const isNeeded = isSame && (await samples.forgottenMs(tx, organisation, definition.plan.sources)) !== undefined;
    if (isNeeded) keepingBase.push(existing.itemId);
  }
  const itemIds = replaced.map(({ existing }) => existing.itemId);
  const sourcesBefore = await forgetWork(tx, organisation, itemIds, keepingBase);
  // Results of the same plan are replaced where they differ; until then they stay readable.
  const outdated = replaced.filter(({ existing, definition }) => existing.planHash !== definition.planHash);
  await deleteResults(
    samples,
    tx,
    organisation,
    outdated.map(({ existing }) => existing),
  );
  return sourcesBefore;
}

/** The row of an item that is registered. */
export function itemRow(
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
    // Whoever computes it says so: during an upgrade, another version may.
    engineVersion: existing?.planHash === planHash ? existing.engineVersion : NOT_COMPUTED,
    planHash,
    state,
    boundaryMs: null,
    transactionId,
    revision: (existing?.revision ?? 0) + 1,
    createdMs: existing?.createdMs ?? nowMs,
    updatedMs: nowMs,
  };
}

/** Deletes the samples of results, final and provisional; the series stay. */
async function deleteResults(
  samples: SampleStore,
  tx: Transaction,
  organisation: string,
  results: readonly ItemRow[],
): Promise<void> {
  const [first] = results;
  if (first === undefined) return;
  const deleted = { fromMs: TIME_MS_MIN, untilMs: TIME_MS_END };
  const changes = results.map(({ timeseriesId, metric }) => ({ timeseriesId, metric, ...NO_COLUMNS, deleted }));
  await samples.append(tx, organisation, changes, { itemId: first.itemId });
  for (const { timeseriesId, metric } of results) {
    await samples.setProvisional(tx, organisation, { timeseriesId, metric, ...NO_COLUMNS });
  }
}
