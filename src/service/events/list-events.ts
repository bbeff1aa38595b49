import { shardOf } from '../../storage/shard.js';
import type { ServiceContext } from '../context.js';
import type { ContinuationTokens } from '../continuation.js';
import { type Paging, pagedEnvelope } from '../envelope.js';
import { badRequest } from '../errors.js';
import type { Principal } from '../principal.js';
import { checkAccess } from './collection-access.js';
import { readEventQuery } from './odata.js';
import { type EventPlace, readPage } from './page.js';
import { recordJson } from './record.js';

/** A request for a page, as it came. */
export interface ListRequest {
  readonly collection: string;
  readonly rawQuery: string;
  readonly pageSizeText: string | undefined;
  readonly continuationToken: string | undefined;
}

const PAGE_SIZE = 100;
const PAGE_SIZE_MAX = 1000;

/** The answer as JSON; undefined when nothing matches. */
export async function listEvents(
  { storage }: ServiceContext,
  tokens: ContinuationTokens,
  principal: Principal,
  { collection, rawQuery, pageSizeText, continuationToken }: ListRequest,
): Promise<string | undefined> {
  const query = readEventQuery(rawQuery);
  const pageSize = readPageSize(pageSizeText);
  const binding = { list: 'events', principal, query: [collection, query] };
  const opened = continuationToken === undefined ? undefined : await tokens.open(binding, continuationToken);
  // The binding says that it was sealed below.
  const place = opened?.place as EventPlace | undefined;
  const { organisation } = principal;
  const page = await storage.read(shardOf(organisation), async (tx) => {
    await checkAccess(tx, principal, collection);
    return readPage(tx, organisation, collection, query, pageSize, place);
  });
  if (!page.hasMatches) return undefined;
  const paging: Paging = {
    ...(page.totalCount === null ? {} : { totalCount: page.totalCount }),
    // All tokens of a snapshot end together: versions are kept for as long as the first one lives.
    continuationToken: page.next === undefined ? null : await tokens.seal(binding, page.next, opened?.expiresMs),
  };
  const { status } = pagedEnvelope([], paging);
  const records = page.rows.map((row) => recordJson(row, query.select));
  return `{"status":${JSON.stringify(status)},"data":[${records.join(',')}],"paging":${JSON.stringify(paging)}}`;
}

function readPageSize(text: string | undefined): number {
  if (text === undefined) return PAGE_SIZE;
  const pageSize = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (pageSize >= 1 && pageSize <= PAGE_SIZE_MAX) return pageSize;
  const expected = `a whole number from 1 to ${PAGE_SIZE_MAX}`;
  throw badRequest(`header PageSize: expected ${expected}, received ${JSON.stringify(text)}`, {
    issues: [{ header: 'PageSize', expected, received: text }],
  });
}
