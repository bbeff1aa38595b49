import type { Condition, Order, Query, Reader } from '../../storage/storage.js';
import { type EventRow, events } from '../../storage/tables/events.js';
import type { EventField } from './fields.js';
import type { EventQuery } from './odata/query.js';

/** Fields with an index in the usual order. */
const INDEXED: readonly EventField[] = ['occurredAt', 'status'];

/** Whether a page is found in an index. A search for others looks at the whole collection. */
export function isIndexed(query: EventQuery): boolean {
  const fields = query.filter.map(({ field }) => field);
  if (fields.includes('id')) return true;
  const [first, second] = totalOrder(query);
  if (first?.column === 'id') return fields.length === 0;
  const isUsual =
    first?.column === 'occurredAt' && second?.column === 'id' && first.isDescending === second.isDescending;
  return isUsual && fields.every((field) => INDEXED.includes(field));
}

/** Finds the next rows after one; the first ones without it. */
export async function findNext(
  tx: Reader,
  where: readonly Condition<EventRow>[],
  query: EventQuery,
  last: EventRow | undefined,
  limit: number,
): Promise<EventRow[]> {
  const orderBy = totalOrder(query);
  const found: EventRow[] = [];
  for (const search of searchesFor(query, orderBy, last)) {
    if (found.length === limit) break;
    const left = { ...search, where: [...where, ...search.where], orderBy, limit: limit - found.length };
    found.push(...(await tx.find(events, left)));
  }
  return found;
}

interface Search extends Pick<Query<EventRow>, 'after'> {
  readonly where: readonly Condition<EventRow>[];
}

/** Its results are those of one search after the other. */
function searchesFor(
  query: EventQuery,
  orderBy: readonly Order<EventRow>[],
  last: EventRow | undefined,
): readonly Search[] {
  if (last === undefined) return [{ where: [] }];
  return isIndexed(query) ? searchesInIndex(last, orderBy) : searchesAfter(last, orderBy);
}

/**
 * In descending order, rows without a value come after all others. A separate search finds them, so that each search
 * starts at its place in the index and not at the index's start.
 */
function searchesAfter(last: EventRow, orderBy: readonly Order<EventRow>[]): readonly Search[] {
  const after = orderBy.map(({ column }) => last[column]);
  const { column, isDescending } = orderBy[0]!; // an order is never empty: it ends with the id
  const value = last[column];
  if (isDescending !== true || value === null) return [{ where: [], after }];
  const withValue: Search = { where: [[column, '<=', value]], after };
  return column === 'id' ? [withValue] : [withValue, { where: [[column, '=', null]] }];
}

/**
 * Likewise, in the order of an index that ends with the id. Events that tie with the last one are a search of their
 * own: from a place within many, the index would be read from the first of them.
 */
function searchesInIndex(last: EventRow, orderBy: readonly Order<EventRow>[]): readonly Search[] {
  const [first, id, ...others] = orderBy;
  if (first === undefined || id === undefined || others.length > 0) return searchesAfter(last, orderBy);
  const { column, isDescending = false } = first;
  const value = last[column];
  const later = isDescending ? '<' : '>';
  const ties: Condition<EventRow>[] = [
    [column, '=', value],
    [id.column, later, last[id.column]],
  ];
  const searches: Search[] = [{ where: ties }];
  if (value !== null) searches.push({ where: [[column, later, value]] });
  if (isDescending && value !== null) searches.push({ where: [[column, '=', null]] });
  if (!isDescending && value === null) searches.push({ where: [[column, '!=', null]] });
  return searches;
}

// An id is unique in a snapshot, so it makes the order total, and fields after it are redundant. It takes the
// direction of the field before it, so that an index can be read from either end.
function totalOrder({ orderBy }: EventQuery): readonly Order<EventRow>[] {
  const end = orderBy.findIndex(({ field }) => field === 'id');
  const items = end < 0 ? orderBy : orderBy.slice(0, end + 1);
  const order = items.map(({ field, isDescending }) => ({ column: field, isDescending }));
  return end < 0 ? [...order, { column: 'id', isDescending: order.at(-1)?.isDescending ?? false }] : order;
}
