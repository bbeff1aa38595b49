import type { FastifyRequest } from 'fastify';
import { principalOf } from '../identity/principal.js';
import type { ContinuationTokens } from './continuation.js';
import { badRequest } from './errors.js';

const PAGE_SIZE = 100;
const PAGE_SIZE_MAX = 1000;

/** The header `PageSize` (interface, section 8). @throws ServiceError 400 unless it is a number from 1 to 1000. */
export function pageSizeOf({ headers }: FastifyRequest): number {
  const text = headers.pagesize;
  if (text === undefined) return PAGE_SIZE;
  const pageSize = typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (pageSize >= 1 && pageSize <= PAGE_SIZE_MAX) return pageSize;
  const expected = `a whole number from 1 to ${PAGE_SIZE_MAX}`;
  throw badRequest(`header PageSize: expected ${expected}, received ${JSON.stringify(text)}`, {
    issues: [{ header: 'PageSize', expected, received: text }],
  });
}

/** The header `continuationToken`; undefined on the first page. */
export function continuationTokenOf({ headers }: FastifyRequest): string | undefined {
  const token = headers.continuationtoken;
  return typeof token === 'string' && token.trim() !== '' ? token.trim() : undefined;
}

/** Rows of a list. */
export interface Found<Row> {
  readonly rows: readonly Row[];
  /** Whether others follow, although there are fewer than were asked for. */
  readonly isMore?: boolean;
}

/** A list in a fixed order. */
export interface List<Row, Place> {
  readonly name: string;
  /** The query as JSON: a token is bound to it. */
  readonly query: unknown;
  /** At most `limit` rows after a place; fewer where they are long. */
  find(after: Place | undefined, limit: number): Promise<Found<Row>>;
  placeOf(row: Row): Place;
}

/** The page of a list that a request asks for. */
export async function readPage<Row, Place>(
  tokens: ContinuationTokens,
  request: FastifyRequest,
  { name, query, find, placeOf }: List<Row, Place>,
) {
  const binding = { list: name, principal: principalOf(request), query };
  const token = continuationTokenOf(request);
  // `as`: the binding proves that `seal` below wrote it.
  const after = token === undefined ? undefined : ((await tokens.open(binding, token)).place as Place);
  const limit = pageSizeOf(request);
  // One more than fits the page, to know whether another follows.
  const found = await find(after, limit + 1);
  const rows = found.rows.slice(0, limit);
  const last = rows.at(-1);
  const isMore = (found.isMore === true || found.rows.length > limit) && last !== undefined;
  return { rows, paging: { continuationToken: isMore ? await tokens.seal(binding, placeOf(last)) : null } };
}
