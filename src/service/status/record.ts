import type { Static } from 'typebox';
import { formatInstant } from '../../core/instant.js';
import type { RequestTransactionRow } from '../../storage/tables/operations.js';
import type { transactionSchema } from './schemas.js';

/** A transaction as the interface shows it (2.3). */
type TransactionRecord = Static<typeof transactionSchema>;

/** The object that it concerns. */
export type TransactionPayload = Omit<TransactionRecord['payload'], 'status'>;

export function transactionRecord(row: RequestTransactionRow): TransactionRecord {
  // Both were written as JSON of these types when the transaction was created.
  const payload = JSON.parse(row.payload) as TransactionPayload;
  const transactionIDList = JSON.parse(row.transactionIdList) as string[];
  return {
    id: row.transactionId,
    enqueuedTimestamp: offsetTimestamp(row.enqueuedMs),
    receivedTimestamp: offsetTimestamp(row.receivedMs),
    messageType: row.messageType,
    requestAction: row.requestAction,
    state: row.state,
    requestObject: row.requestObject,
    transactionIDList,
    payload: { ...payload, status: row.state },
    retryCount: row.retryCount,
    message: row.message,
    sender: row.sender,
    recipient: row.recipient,
    correlationId: row.correlationId,
    timeout: row.timeoutMs,
    topic: row.topic,
  };
}

// ISO 8601 with fractional seconds and UTC offset (the interface's form): `2026-01-01T00:00:00.000+00:00`.
function offsetTimestamp(timeMs: number): string {
  return formatInstant(timeMs).replace(/Z$/, '+00:00');
}
