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

/** Request transactions, as the status endpoint shows them (interface 2.3). */
export const requestTransactions = defineTable(
  'transactions',
  {
    organisation: text,
    transactionId: text,
    /** The commit that created the transaction; lists sort by it. */
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
    /** JSON of how many children are in each state; null for a transaction without children. */
    childStates: textOrNull,
  },
  ['organisation', 'transactionId'],
  // Lists show a client's requests: the transactions without a parent.
  [['organisation', 'clientId', 'parentId', 'commit', 'transactionId']],
);
export type RequestTransactionRow = RowIn<typeof requestTransactions>;

/** `transactions` without what never changes, which for a request of a thousand items is long. */
export const requestHeads = defineTable(
  requestTransactions.name,
  {
    organisation: text,
    transactionId: text,
    parentId: textOrNull,
    state: text,
    retryCount: integer,
    message: textOrNull,
    childStates: textOrNull,
  },
  ['organisation', 'transactionId'],
);

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
    /**
     * JSON of the request that computes only this item: the items of the posted request that it reads, and itself
     * last.
     */
    request: text,
    /** JSON of the item as it was posted. */
    posted: text,
    /**
     * The version of the engine that computes it, NOT_COMPUTED or REFUSED, and the plan: after a change of either the
     * results are computed again.
     */
    engineVersion: text,
    planHash: text,
    state: text,
    /** A batch with a frequency has computed the samples before this boundary; null before its first run. */
    boundaryMs: integerOrNull,
    /** The item's transaction. */
    transactionId: text,
    /** Increases with each replacement, so that work begun for the old definition is not used for the new one. */
    revision: integer,
    createdMs: integer,
    updatedMs: integer,
  },
  ['organisation', 'itemId'],
  [['organisation', 'timeseriesId', 'metric'], ['engineVersion']],
);
export type ItemRow = RowIn<typeof items>;

/** `engineVersion` of an item that nobody has begun to compute, and of one with patterns. */
export const NOT_COMPUTED = '';
/** `engineVersion` of an item that has failed as a version of the engine could not plan it. */
export const REFUSED = 'refused';

/** `items` without what they compute, which may be long. */
export const itemHeads = defineTable(
  items.name,
  { organisation: text, itemId: text, processingType: text, engineVersion: text },
  ['organisation', 'itemId'],
);

/** The commit that last registered, replaced or deleted an item of the shard. One row, `name` 'items'; none before. */
export const itemCatalog = defineTable('item_catalog', { name: text, commit: integer }, ['name']);

/** Which items read which series. */
export const itemSources = defineTable(
  'item_sources',
  { organisation: text, timeseriesId: text, metric: text, itemId: text },
  ['organisation', 'timeseriesId', 'metric', 'itemId'],
  [['organisation', 'itemId']],
);

/** What an item with patterns reads. It finds the patterns of an organisation, as no series has an empty metric. */
export const EVERY_SERIES = { timeseriesId: '*', metric: '' } as const;

/** Items with patterns that were ended while some items of their members are left, which the worker deletes. */
export const endedPatterns = defineTable(
  'ended_patterns',
  {
    organisation: text,
    itemId: text,
    transactionId: text,
    clientId: text,
    areResultsKept: boolean,
    /** Which of its children, in the order of their commits and ids, was dealt with last; null before the first. */
    passedCommit: integerOrNull,
    passedId: textOrNull,
  },
  ['organisation', 'itemId'],
);
export type EndedPatternRow = RowIn<typeof endedPatterns>;

/**
 * Copies of series of other shards that items of this shard read. Changes follow as they come, so that items are
 * computed from their own shard alone.
 */
export const replicas = defineTable(
  'replicas',
  {
    organisation: text,
    timeseriesId: text,
    metric: text,
    sourceShard: integer,
    /** The item whose result the series is in its own shard. */
    itemId: textOrNull,
    /** Whether the initial copy is complete; until then it reaches up to `filledMs`. */
    isFilled: boolean,
    filledMs: realOrNull,
  },
  ['organisation', 'timeseriesId', 'metric'],
);
export type ReplicaRow = RowIn<typeof replicas>;

/** The commit of another shard up to which its log has been read for the replicas; null before the start. */
export const replicationProgress = defineTable(
  'replication_progress',
  { sourceShard: integer, readCommit: integerOrNull },
  ['sourceShard'],
);

/** `dueMs` of work that waits for replicas. */
export const AFTER_REPLICATION_MS = Number.MAX_SAFE_INTEGER;

/** Work that is due at once has a `dueMs` below this one: a clock that is set back, or is behind, does not delay it. */
export const AT_ONCE_UNTIL_MS = -1e15;

/** `dueMs` of such work, in the order in which it came. */
export function dueAtOnce(nowMs: number): number {
  return 2 * AT_ONCE_UNTIL_MS + Math.floor(nowMs);
}

/** Pending work of an item: its results do not rest on all stored samples yet. */
export const itemWork = defineTable(
  'item_work',
  {
    organisation: text,
    itemId: text,
    /** Not before this instant: the next boundary of a batch, the end of the pause before a retry; or `dueAtOnce`. */
    dueMs: integer,
    /** How often it failed in a row. */
    attemptCount: integer,
  },
  ['organisation', 'itemId'],
  [['dueMs', 'organisation', 'itemId']],
);

/**
 * The base is the checkpoint from which an item computes all that it may still have to compute, once retention has
 * deleted samples before it. It comes before all others, and is not dropped for being one of too many.
 */
export const BASE_ORDINAL = -1;

/**
 * States of an item along time, to resume from. Each is consistent with the store: it is what follows from the stored
 * samples up to its positions. A change before these deletes it and all later ones.
 */
export const itemCheckpoints = defineTable(
  'item_checkpoints',
  {
    organisation: text,
    itemId: text,
    /** Increases along the item; positions never decrease from one checkpoint to the next. */
    ordinal: integer,
    /** JSON: for each source of the plan, the time of the last sample read; null before the first. */
    positions: text,
    /** Time of the last final result; null before the first. */
    emittedMs: realOrNull,
    /** How many samples were read. */
    sampleCount: integer,
    byteCount: integer,
    /** Results up to here may rest on samples that retention had deleted before; null if nothing was lacking. */
    lacksUntilMs: realOrNull,
    state: bytes,
    /** CRC-32 of the row's content. */
    checksum: integer,
  },
  ['organisation', 'itemId', 'ordinal'],
);
export type ItemCheckpointRow = RowIn<typeof itemCheckpoints>;

/** The checksum to store with a checkpoint. */
export function checkpointChecksum(row: Omit<ItemCheckpointRow, 'checksum' | 'byteCount'>): number {
  const { organisation, itemId, ordinal, positions, emittedMs, sampleCount, lacksUntilMs, state } = row;
  const fields = [organisation, itemId, ordinal, positions, emittedMs, sampleCount];
  // Rows of older versions have no such field.
  return crc32(state, crc32(JSON.stringify(lacksUntilMs === null ? fields : [...fields, lacksUntilMs])));
}
