import packageJson from '../../../package.json' with { type: 'json' };
import { TIME_MS_END, TIME_MS_MIN } from '../../core/series.js';
import { inTurns } from '../../storage/next-turn.js';
import { NO_COLUMNS } from '../../storage/samples/samples.js';
import type { SampleStore } from '../../storage/samples/store.js';
import type { Transaction } from '../../storage/storage.js';
import {
  type ItemRow,
  itemCatalog,
  itemCheckpoints,
  itemSources,
  items,
  itemWork,
  type TransactionRow,
  transactions,
} from '../../storage/tables/operations.js';
import { logProgress } from '../../storage/tables/samples.js';
import { createId, type ServiceContext } from '../context.js';
import type { Principal } from '../identity/principal.js';
import type { TransactionPayload } from '../status/record.js';
import { moveTransaction, stateOf, type TransactionState } from '../status/transactions.js';
import { equal } from '../store.js';
import { checkConflicts, itemOfResult } from './conflicts.js';
import { ITEMS_A_TURN, type ItemDefinition } from './request.js';

/** What results and checkpoints were computed by. Those of another version are computed anew. */
export const ENGINE_VERSION: string = packageJson.version;

/** Who asks for what, and when it came. */
export interface Registration {
  readonly principal: Principal;
  readonly correlationId: string;
  readonly receivedMs: number;
  readonly definitions: readonly ItemDefinition[];
}

/**
 * Registers the items of a request, each of which replaces the one that there is of its result, and leaves their
 * histories to the worker. Returns the transaction of the request.
 *
 * @throws ServiceError 409
 */
export async function registerItems(
  context: ServiceContext,
  tx: Transaction,
  registration: Registration,
): Promise<TransactionRow> {
  const { definitions, principal } = registration;
  await checkConflicts(tx, context.samples, principal.organisation, definitions);
  const parentId = createId(context);
  const children: TransactionRow[] = [];
  for await (const definition of inTurns(definitions, ITEMS_A_TURN)) {
    children.push(await registerItem(context, tx, registration, definition, parentId));
  }
  const state: TransactionState = 'Created';
  const parent: TransactionRow = {
    ...transactionOf(context, tx, registration, parentId),
    requestAction: children.every(({ requestAction }) => requestAction === 'Replace') ? 'Replace' : 'Create',
    messageType: 'Request',
    requestObject: 'Operations',
    transactionIdList: JSON.stringify(children.map(({ transactionId }) => transactionId)),
    payload: JSON.stringify(sharedPayload(parentId, principal, definitions)),
    childStates: JSON.stringify({ [state]: children.length }),
  };
  await tx.insert(transactions, parent);
  await noteChange(tx);
  return parent;
}

/** Tells the worker that items have come, changed or gone. */
async function noteChange(tx: Transaction): Promise<void> {
  await tx.put(itemCatalog, { name: 'items', commit: tx.commit });
  if ((await tx.get(logProgress, { name: 'log' })) !== undefined) return;
  // With the first item of the shard begins what items have to take in of the log.
  await tx.put(logProgress, { name: 'log', absorbedCommit: tx.lastCommit });
}

async function registerItem(
  context: ServiceContext,
  tx: Transaction,
  registration: Registration,
  definition: ItemDefinition,
  parentId: string,
): Promise<TransactionRow> {
  const { organisation } = registration.principal;
  const { output } = definition;
  const existing = await itemOfResult(tx, organisation, output);
  const itemId = existing?.itemId ?? createId(context);
  const child = childTransaction(context, tx, registration, definition, { parentId, itemId, existing });
  await tx.insert(transactions, child);
  if (existing === undefined) {
    // A series that is there has no samples, as was checked: what clients once wrote to it is deleted.
    await context.samples.drop(tx, organisation, output);
    await context.samples.append(tx, organisation, [{ ...output, ...NO_COLUMNS }], { itemId });
  } else {
    await endTransaction(tx, existing, `replaced by transaction ${child.transactionId}`);
    await forgetWork(tx, existing);
    // Results of the same plan are replaced where they differ; until then they can be read as before.
    if (existing.planHash !== definition.planHash) await deleteAll(context.samples, tx, existing);
  }
  const nowMs = context.clock.nowMs();
  await tx.put(items, {
    organisation,
    itemId,
    timeseriesId: output.timeseriesId,
    metric: output.metric,
    processingType: definition.processingType,
    frequencyMs: definition.frequencyMs,
    request: JSON.stringify(definition.request),
    posted: JSON.stringify(definition.posted),
    engineVersion: ENGINE_VERSION,
    planHash: definition.planHash,
    state: child.state,
    boundaryMs: null,
    transactionId: child.transactionId,
    revision: (existing?.revision ?? 0) + 1,
    createdMs: existing?.createdMs ?? nowMs,
    updatedMs: nowMs,
  });
  for (const { timeseriesId, metric } of definition.plan.sources) {
    await tx.insert(itemSources, { organisation, timeseriesId, metric, itemId });
  }
  await tx.put(itemWork, { organisation, itemId, dueMs: nowMs, attemptCount: 0 });
  return child;
}

/** The end of an item's transaction that another, or a deletion, brings. */
async function endTransaction(tx: Transaction, item: ItemRow, message: string): Promise<void> {
  const isOver = stateOf(item) === 'Failed' || stateOf(item) === 'Completed';
  if (!isOver) await moveTransaction(tx, item.organisation, item.transactionId, { state: 'Completed', message });
}

/** Deletes what an item reads, knows and waits for. */
async function forgetWork(tx: Transaction, { organisation, itemId }: ItemRow): Promise<void> {
  const where = equal({ organisation, itemId });
  await tx.delete(itemSources, where);
  await tx.delete(itemCheckpoints, where);
  await tx.delete(itemWork, where);
}

function childTransaction(
  context: ServiceContext,
  tx: Transaction,
  registration: Registration,
  { output }: ItemDefinition,
  { parentId, itemId, existing }: { parentId: string; itemId: string; existing: ItemRow | undefined },
): TransactionRow {
  const payload: TransactionPayload = {
    Id: itemId,
    TimeseriesId: output.timeseriesId,
    OrgId: registration.principal.organisation,
    TimeseriesType: output.metric,
  };
  return {
    ...transactionOf(context, tx, registration, createId(context)),
    parentId,
    itemId,
    messageType: 'Item',
    requestAction: existing === undefined ? 'Create' : 'Replace',
    requestObject: 'Operation',
    transactionIdList: JSON.stringify([parentId]),
    payload: JSON.stringify(payload),
  };
}

// What a request's transaction says of its items: what they share.
function sharedPayload(
  parentId: string,
  { organisation }: Principal,
  definitions: readonly ItemDefinition[],
): TransactionPayload {
  const shared = (names: readonly string[]): string => (new Set(names).size === 1 ? names[0]! : '');
  return {
    Id: parentId,
    TimeseriesId: shared(definitions.map(({ output }) => output.timeseriesId)),
    OrgId: organisation,
    TimeseriesType: shared(definitions.map(({ output }) => output.metric)),
  };
}

function transactionOf(
  { clock }: ServiceContext,
  tx: Transaction,
  { principal, correlationId, receivedMs }: Registration,
  transactionId: string,
) {
  return {
    organisation: principal.organisation,
    transactionId,
    commit: tx.commit,
    clientId: principal.clientId,
    parentId: null,
    itemId: null,
    enqueuedMs: clock.nowMs(),
    receivedMs,
    state: 'Created',
    retryCount: 0,
    message: null,
    sender: principal.clientId,
    recipient: 'windrow',
    correlationId,
    timeoutMs: 0,
    topic: null,
    childStates: null,
  };
}

/** Ends an item. Its results go with it, unless they are kept as a series that clients may write from then on. */
export async function deleteItem(
  { samples }: ServiceContext,
  tx: Transaction,
  item: ItemRow,
  areResultsKept: boolean,
): Promise<void> {
  const { organisation, itemId } = item;
  await endTransaction(tx, item, 'the item was deleted');
  await forgetWork(tx, item);
  await tx.delete(items, equal({ organisation, itemId }));
  // Items that read the results learn of it from the log.
  if (areResultsKept) await samples.release(tx, organisation, item);
  else await samples.drop(tx, organisation, item);
  await noteChange(tx);
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
