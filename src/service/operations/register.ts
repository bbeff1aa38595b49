import packageJson from '../../../package.json' with { type: 'json' };
import { TIME_MS_END, TIME_MS_MIN } from '../../core/series.js';
import { inTurns } from '../../storage/next-turn.js';
import { NO_COLUMNS } from '../../storage/samples/samples.js';
import type { SampleStore } from '../../storage/samples/store.js';
import type { Reader, Transaction } from '../../storage/storage.js';
import {
  EVERY_SERIES,
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
import { type ChildStates, moveTransaction, stateOf, type TransactionState } from '../status/transactions.js';
import { equal } from '../store.js';
import { checkConflicts, itemOfResult } from './conflicts.js';
import { ITEMS_A_TURN, type ItemDefinition } from './request.js';

/** What results and checkpoints were computed by. Those of another version are computed anew. */
export const ENGINE_VERSION: string = packageJson.version;

/** Who asks for what, and when it came. */
export interface Registration {
  readonly principal: Pick<Principal, 'organisation' | 'clientId'>;
  readonly correlationId: string;
  readonly receivedMs: number;
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
  definitions: readonly ItemDefinition[],
): Promise<TransactionRow> {
  const { principal } = registration;
  await checkConflicts(tx, context.samples, principal.organisation, definitions);
  const parentId = createId(context);
  const children: TransactionRow[] = [];
  for await (const definition of inTurns(definitions, ITEMS_A_TURN)) {
    const register = definition.plan.every === undefined ? registerItem : registerPattern;
    children.push(await register(context, tx, registration, definition, parentId));
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
export async function noteChange(tx: Transaction): Promise<void> {
  await tx.put(itemCatalog, { name: 'items', commit: tx.commit });
  if ((await tx.get(logProgress, { name: 'log' })) !== undefined) return;
  // With the first item of the shard begins what items have to take in of the log.
  await tx.put(logProgress, { name: 'log', absorbedCommit: tx.lastCommit });
}

/** Registers an item in the place of the one that there is of its result, if any. */
export async function registerItem(
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
  await tx.put(items, itemRow(definition, child, { organisation, itemId, nowMs, existing }));
  for (const { timeseriesId, metric } of definition.plan.sources) {
    await tx.insert(itemSources, { organisation, timeseriesId, metric, itemId });
  }
  await tx.put(itemWork, { organisation, itemId, dueMs: nowMs, attemptCount: 0 });
  return child;
}

function itemRow(
  { output, processingType, frequencyMs, request, posted, planHash }: ItemDefinition,
  { state, transactionId }: TransactionRow,
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
 * Registers an item whose ids are patterns. It computes nothing: the worker registers an item for each member, of the
 * series that exist and of those that come later. It takes the place of the one that there is of the same results.
 */
async function registerPattern(
  context: ServiceContext,
  tx: Transaction,
  registration: Registration,
  definition: ItemDefinition,
  parentId: string,
): Promise<TransactionRow> {
  const { organisation } = registration.principal;
  const { timeseriesId, metric } = definition.output;
  const [existing] = await tx.find(items, { where: equal({ organisation, timeseriesId, metric }) });
  if (existing !== undefined) await deletePattern(context, tx, existing, false);
  const itemId = createId(context);
  const child = childTransaction(context, tx, registration, definition, { parentId, itemId, existing });
  // Its state is that of its members and of itself, which stays active.
  const row = { ...child, childStates: JSON.stringify({ Created: 1 } satisfies ChildStates) };
  await tx.insert(transactions, row);
  await tx.put(items, itemRow(definition, row, { organisation, itemId, nowMs: context.clock.nowMs(), existing }));
  await tx.insert(itemSources, { organisation, ...EVERY_SERIES, itemId });
  await tx.put(itemWork, { organisation, itemId, dueMs: context.clock.nowMs(), attemptCount: 0 });
  return row;
}

/** The items of an item with a pattern. */
async function membersOf(
  tx: Reader,
  { organisation, transactionId: parentId }: ItemRow,
  clientId: string,
): Promise<ItemRow[]> {
  const said = await tx.find(transactions, { where: equal({ organisation, clientId, parentId }) });
  const members: ItemRow[] = [];
  for await (const { itemId, transactionId } of inTurns(said, ITEMS_A_TURN)) {
    const item = itemId === null ? undefined : await tx.get(items, { organisation, itemId });
    // One that was registered by itself since is no member any more.
    if (item?.transactionId === transactionId) members.push(item);
  }
  return members;
}

/** Ends an item with a pattern, and those of its members. */
export async function deletePattern(
  context: ServiceContext,
  tx: Transaction,
  pattern: ItemRow,
  areResultsKept: boolean,
): Promise<void> {
  const { organisation, itemId, transactionId } = pattern;
  const said = await tx.get(transactions, { organisation, transactionId });
  const members = said === undefined ? [] : await membersOf(tx, pattern, said.clientId);
  for await (const member of inTurns(members, ITEMS_A_TURN)) await deleteItem(context, tx, member, areResultsKept);
  await endTransaction(tx, pattern, 'the item was deleted');
  await forgetWork(tx, pattern);
  await tx.delete(items, equal({ organisation, itemId }));
  await noteChange(tx);
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
  { organisation }: Registration['principal'],
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
