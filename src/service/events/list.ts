import { shardOf } from '../../storage/shard.js';
import { type Condition, equal, type Order, type Reader } from '../../storage/storage.js';
import { type EventRow, eventHorizon, events } from '../../storage/tables/events.js';
import type { ServiceContext } from '../context.js';
import { type ContinuationTokens, expiredToken } from '../http/continuation.js';
import { aroundRecords, type Paging } from '../http/envelope.js';
import { checkAccess } from '../identity/collections.js';
import type { Principal } from '../identity/principal.js';
import { HORIZON_NAME } from './forget.js';
import { type EventQuery, readEventQuery } from './odata/query.js';
import { recordJson } from './record.js';
import { type CollectionKey, countEvents } from './store.js';

/** Where the next page begins, as its continuation token carries it. */
export interface EventPlace {
  /** The commit whose state all pages show. */
  readonly commit: number;
  /** Matches at that commit; null if they are not counted. */
  readonly totalCount: number | null;
  /** Events returned so far, for `$top`. */
  readonly givenCount: number;
  /** The version of the last event returned. Its row has the values of the order, which may be too long for a token. */
  readonly lastId: string;
  readonly lastFirstCommit: number;
}

/**
 * Reads a page of a collection as it was at the commit of the first one.
 *
 * @throws ServiceError 400 when versions of that state have been forgotten.
 */
async function readPage(
  tx: Reader,
  collection: CollectionKey,
  query: EventQuery,
  pageSize: number,
  place: EventPlace | undefined,
) {
  const commit = place?.commit ?? tx.lastCommit;
  const where: Condition<EventRow>[] = [
    ...equal({ ...collection }),
    ['firstCommit', '<=', commit],
    ['endCommit', '>', commit],
    ...query.filter.map(({ field, value }) => [field, '=', value] as const),
  ];
  const orderBy = totalOrder(query);
  const last = place && (await lastGiven(tx, collection, place));
  const givenBefore = place?.givenCount ?? 0;
  const left = (query.top ?? Infinity) - givenBefore;
  const size = Math.min(pageSize, left);
  // One more than fits the page, to know whether another follows.
  const found = await findAfter(tx, where, orderBy, last, size + 1);
  const rows = found.slice(0, size);
  const totalCount = place === undefined ? await countMatches(tx, collection, where, query) : place.totalCount;
  const end = rows.at(-1);
  const hasNext = end !== undefined && found.length > size && size < left;
  // Whether anything matches, regardless of `$top`.
  const hasMatches = found.length > 0;
  if (!hasNext) return { rows, totalCount, hasMatches, next: undefined };
  const next: EventPlace = {
    commit,
    totalCount,
    givenCount: givenBefore + size,
    lastId: end.id,
    lastFirstCommit: end.firstCommit,
  };
  return { rows, totalCount, hasMatches, next };
}

/**
 * Rows after the last one returned. In descending order, rows without a value come after all others. A separate search
 * finds them, so that each search starts at its place in the index and not at the index's start.
 */
async function findAfter(
  tx: Reader,
  where: readonly Condition<EventRow>[],
  orderBy: readonly Order<EventRow>[],
  last: EventRow | undefined,
  limit: number,
): Promise<EventRow[]> {
  if (last === undefined) return tx.find(events, { where, orderBy, limit });
  const after = orderBy.map(({ column }) => last[column]);
  const { column, isDescending } = orderBy[0]!; // an order is never empty: it ends with the id
  const value = last[column];
  if (isDescending !== true || value === null) return tx.find(events, { where, orderBy, after, limit });
  const found = await tx.find(events, { where: [...where, [column, '<=', value]], orderBy, after, limit });
  if (found.length === limit || column === 'id') return found;
  const rest = { where: [...where, [column, '=', null] as const], orderBy, limit: limit - found.length };
  return [...found, ...(await tx.find(events, rest))];
}

// For the first page only, which shows the current state: each write keeps the collection's total up to date.
async function countMatches(
  tx: Reader,
  collection: CollectionKey,
  where: readonly Condition<EventRow>[],
  query: EventQuery,
): Promise<number | null> {
  if (!query.hasCount) return null;
  return query.filter.length === 0 ? countEvents(tx, collection) : tx.count(events, where);
}

async function lastGiven(
  tx: Reader,
  collection: CollectionKey,
  { commit, lastId, lastFirstCommit }: EventPlace,
): Promise<EventRow> {
  const horizon = await tx.get(eventHorizon, { name: HORIZON_NAME });
  const row = await tx.get(events, { ...collection, id: lastId, firstCommit: lastFirstCommit });
  if (row === undefined || commit < (horizon?.forgottenCommit ?? 0)) throw expiredToken();
  return row;
}

// An id is unique in a snapshot, so it makes the order total, and fields after it are redundant. It takes the
// direction of the field before it, so that an index can be read from either end.
function totalOrder({ orderBy }: EventQuery): readonly Order<EventRow>[] {
  const end = orderBy.findIndex(({ field }) => field === 'id');
  const items = end < 0 ? orderBy : orderBy.slice(0, end + 1);
  const order = items.map(({ field, isDescending }) => ({ column: field, isDescending }));
  return end < 0 ? [...order, { column: 'id', isDescending: order.at(-1)?.isDescending ?? false }] : order;
}

/** A request for a page, as it came. */
export interface ListRequest {
  readonly collection: string;
  readonly rawQuery: string;
  readonly pageSize: number;
  readonly continuationToken: string | undefined;
}

/** The answer as JSON; undefined when nothing matches. */
export async function listEvents(
  { storage }: ServiceContext,
  tokens: ContinuationTokens,
  principal: Principal,
  { collection, rawQuery, pageSize, continuationToken }: ListRequest,
): Promise<string | undefined> {
  const query = readEventQuery(rawQuery);
  const binding = { list: 'events', principal, query: [collection, query] };
  const opened = continuationToken === undefined ? undefined : await tokens.open(binding, continuationToken);
  // `as`: the binding proves that `seal` below wrote it.
  const place = opened?.place as EventPlace | undefined;
  const { organisation } = principal;
  const page = await storage.read(shardOf(organisation), async (tx) => {
    await checkAccess(tx, principal, collection);
    return readPage(tx, { organisation, ercollectionid: collection }, query, pageSize, place);
  });
  if (!page.hasMatches) return undefined;
  const paging: Paging = {
    ...(page.totalCount === null ? {} : { totalCount: page.totalCount }),
    // All tokens of a snapshot expire together: its versions are kept for as long as the first token lives.
    continuationToken: page.next === undefined ? null : await tokens.seal(binding, page.next, opened?.expiresMs),
  };
  const [head, tail] = aroundRecords(paging);
  const records = page.rows.map((row) => recordJson(row, query.select));
  return `${head}${records.join(',')}${tail}`;
}
