import type { FastifyRequest } from 'fastify';
import { badRequest } from './errors.js';

const PAGE_SIZE = 100;
const PAGE_SIZE_MAX = 1000;

/** The header `PageSize` (interface, section 8). @throws ServiceError 400 when it is no number from 1 to 1000 */
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
