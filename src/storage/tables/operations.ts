import { crc32 } from 'node:zlib';
import {
  boolean,
  bytes,
  defineTable,
  integer,
  integerOrNull,
  type RowIn,
  realOrNull,
  text,
  textOrNull,
} from '../table.js';

/** Transactions as the status endpoint shows them (interface 2.3). */
export const transactions = defineTable(
  'transactions',
  {
    organisation: text,
    transactionId: text,
    /** Rises with each new transaction of the shard: the order of lists. */
    commit: integer,
    clientId: text,
    parentId: textOrNull,
    itemId: textOrNull,
    enqueuedMs: integer,
    receivedMs: integer,
    messageType: text,
    requestAction: text,
    state: text,
    requestObject: text,
    /** JSON of an array of transaction ids. */
    transactionIdList: text,
    /** JSON of the object concerned. */
    payload: text,
    retryCount: integer,
    message: textOrNull,
    sender: text,
    recipient: text,
    correlationId: text,
    timeoutMs: integer,
    topic: textOrNull,
    /** Of a parent: JSON of how many children are in each state. Null for a child. */
    childStates: textOrNull,
  },
  ['organisation', 'transactionId'],
  // Lists show the requests of a client, which are those without a parent.
  [['organisation', 'clientId', 'parentId', 'commit', 'transactionId']],
);
export type TransactionRow = RowIn<typeof transactions>;

/** Registered items: one for each result series. */
export const items = defineTable(
  'items',
  {
    organisation: text,
    itemId: text,
    /** The result series. */
    timeseriesId: text,
    metric: text,
    processingType: text,
    frequencyMs: integerOrNull,
    /** JSON of the request that computes this item alone: itself, last, and the items of its request that it reads. */
    request: text,
    /** JSON of the item as it was posted. */
    posted: text,
    /** Of the engine and plan that the results were computed by: of another, they are computed anew. */
    engineVersion: text,
    planHash: text,
    state: text,
    /** A batch with a frequency has taken the samples before this boundary; null before its first run. */
    boundaryMs: integerOrNull,
    /** The child transaction that tells of this item. */
    transactionId: text,
    /** Rises with each replacement, so that work begun for the old definition is not taken for the new. */
    revision: integer,
    createdMs: integer,
    updatedMs: integer,
  },
  ['organisation', 'itemId'],
  [['organisation', 'timeseriesId', 'metric'], ['engineVersion']],
);
export type ItemRow = RowIn<typeof items>;

/** The commit that last registered, replaced or deleted an item of the shard. One row, `name` 'items'; none before. */
export const itemCatalog = defineTable('item_catalog', { name: text, commit: integer }, ['name']);

/** Which items read a series. */
export const itemSources = defineTable(
  'item_sources',
  { organisation: text, timeseriesId: text, metric: text, itemId: text },
  ['organisation', 'timeseriesId', 'metric', 'itemId'],
  [['organisation', 'itemId']],
);

/** What an item with patterns reads, by which those of an organisation are found: no series has an empty metric. */
export const EVERY_SERIES = { timeseriesId: '*', metric: '' } as const;

/**
 * Series of other shards that items of this one read. Each is copied here, with its changes as they come, so that items
 * are computed of what lies in their own shard.
 */
export const replicas = defineTable(
  'replicas',
  {
    organisation: text,
    timeseriesId: text,
    metric: text,
    sourceShard: integer,
    /** The item whose result the series is there. */
    itemId: textOrNull,
    /** All that was stored there is here; until then, what lies up to `filledMs`. */
    isFilled: boolean,
    filledMs: realOrNull,
  },
  ['organisation', 'timeseriesId', 'metric'],
);
export type ReplicaRow = RowIn<typeof replicas>;

/** Up to which commit of another shard its log has been read for the replicas. Null before it begins. */
export const replicationProgress = defineTable(
  'replication_progress',
  { sourceShard: integer, readCommit: integerOrNull },
  ['sourceShard'],
);

/** When work of an item is due that waits for replicas. */
export const AFTER_REPLICATION_MS = Number.MAX_SAFE_INTEGER;

/** Work that waits for an item: its results do not yet rest on all that is stored. */
export const itemWork = defineTable(
  'item_work',
  {
    organisation: text,
    itemId: text,
    /** Not before this instant: the next boundary of a batch, or the end of a retry's pause. */
    dueMs: integer,
    /** How often it has failed in a row. */
    attemptCount: integer,
  },
  ['organisation', 'itemId'],
  [['dueMs', 'organisation', 'itemId']],
);

/**
 * States of an item along time, to go on from. Each is true of the store: what stands in it is what comes of the
 * stored samples up to its positions. What changes among these deletes it, and those after it.
 */
export const itemCheckpoints = defineTable(
  'item_checkpoints',
  {
    organisation: text,
    itemId: text,
    /** Rises along the item; positions never go back from one to the next. */
    ordinal: integer,
    /** JSON: for each source of the plan the time of the last sample taken, null before the first. */
    positions: text,
    /** Time of the last result that was final; null before the first. */
    emittedMs: realOrNull,
    /** How many samples had been taken. */
    sampleCount: integer,
    byteCount: integer,
    state: bytes,
    /** CRC-32 of the row's content; null in rows of before there were checksums. */
    checksum: integerOrNull,
  },
  ['organisation', 'itemId', 'ordinal'],
);
export type ItemCheckpointRow = RowIn<typeof itemCheckpoints>;

/** Of a checkpoint, to be written with it. */
export function checkpointChecksum(row: Omit<ItemCheckpointRow, 'checksum' | 'byteCount'>): number {
  const { organisation, itemId, ordinal, positions, emittedMs, sampleCount, state } = row;
  return crc32(state, crc32(JSON.stringify([organisation, itemId, ordinal, positions, emittedMs, sampleCount])));
}
