import type { Transaction } from '../../storage/storage.js';
import type { ItemRow, RequestTransactionRow } from '../../storage/tables/operations.js';
import { createId, type ServiceContext } from '../context.js';
import type { Principal } from '../identity/principal.js';
import type { TransactionPayload } from '../status/record.js';
import { type ChildStates, moveRequestTransactions, stateOf } from '../status/request-states.js';
import type { ItemDefinition } from './request.js';

// The transactions by which callers follow a request to register items: one for the request, and one for each item.

/** Who sent a request, and when it arrived. */
export interface Registration {
  readonly principal: Pick<Principal, 'organisation' | 'clientId'>;
  readonly correlationId: string;
  readonly receivedMs: number;
}

/** The part of a request's transaction in one shard, which has `count` of its items. */
export function requestTransaction(
  context: ServiceContext,
  tx: Transaction,
  registration: Registration,
  definitions: readonly ItemDefinition[],
  { parentId, children, count }: { parentId: string; children: readonly RequestTransactionRow[]; count: number },
): RequestTransactionRow {
  const childStates: ChildStates = count === 0 ? {} : { Created: count };
  return {
    ...transactionOf(context, tx, registration, parentId),
    requestAction: children.every(({ requestAction }) => requestAction === 'Replace') ? 'Replace' : 'Create',
    messageType: 'Request',
    requestObject: 'Operations',
    transactionIdList: JSON.stringify(children.map(({ transactionId }) => transactionId)),
    payload: JSON.stringify(sharedPayload(parentId, registration.principal, definitions)),
    childStates: JSON.stringify(childStates),
  };
}

// The fields of a request's transaction that its items share.
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

/** The transaction of an item that a request registers. */
export function childTransaction(
  context: ServiceContext,
  tx: Transaction,
  registration: Registration,
  { output }: ItemDefinition,
  { parentId, itemId, existing }: { parentId: string; itemId: string; existing: ItemRow | undefined },
): RequestTransactionRow {
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

/** Ends the transactions of items that are replaced or deleted, unless they are over. */
export async function endRequestTransactions(
  tx: Transaction,
  organisation: string,
  ended: readonly { readonly item: ItemRow; readonly message: string }[],
): Promise<void> {
  const running = ended.filter(({ item }) => stateOf(item) !== 'Failed' && stateOf(item) !== 'Completed');
  const moves = running.map(({ item: { transactionId }, message }) => {
    return { transactionId, state: 'Completed' as const, message };
  });
  if (moves.length > 0) await moveRequestTransactions(tx, organisation, moves);
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
