import { shardOf } from '../../storage/shard.js';
import type { Reader } from '../../storage/storage.js';
import type { ServiceContext } from '../context.js';
import { type ContinuationTokens, expiredToken } from '../http/continuation.js';
import { aroundRecords, type Paging } from '../http/envelope.js';
import { ServiceError } from '../http/errors.js';
import { checkAccess } from '../identity/collections.js';
import type { Principal } from '../identity/principal.js';
import { HungThreadError } from '../threads.js';
import { readEventQuery } from './odata/query.js';
import { type EventPage, type EventPlace, type EventSearch, type Read, readPage } from './page.js';
import { isIndexed } from './search.js';

/** A request for a page, as it came. */
export interface ListRequest {
  readonly collection: string;
  readonly rawQuery: string;
  readonly pageSize: number;
  readonly continuationToken: string | undefined;
}

/** The answer as JSON, in pieces; undefined when nothing matches. */
export async function listEvents(
  context: ServiceContext,
  tokens: ContinuationTokens,
  principal: Principal,
  { collection, rawQuery, pageSize, continuationToken }: ListRequest,
): Promise<readonly Uint8Array[] | undefined> {
  const query = readEventQuery(rawQuery);
  const binding = { list: 'events', principal, query: [collection, query] };
  const opened = continuationToken === undefined ? undefined : await tokens.open(binding, continuationToken);
  // `as`: the binding proves that `seal` below wrote it.
  const place = opened?.place as EventPlace | undefined;
  const { organisation } = principal;
  const shard = shardOf(organisation);
  const search = { shard, collection: { organisation, ercollectionid: collection }, query, pageSize, place };
  const read: Read = (work) => context.storage.read(shard, work);
  const check = (tx: Reader) => checkAccess(tx, principal, collection);
  const page = isIndexed(query) ? await readPage(read, search, check) : await searchApart(context, search, read, check);
  const { records, totalCount, hasMatches, next } = page ?? expired();
  if (!hasMatches) return undefined;
  const paging: Paging = {
    ...(totalCount === null ? {} : { totalCount }),
    // All tokens of a snapshot expire together: its versions are kept for as long as the first token lives.
    continuationToken: next === undefined ? null : await tokens.seal(binding, next, opened?.expiresMs),
  };
  const [head, tail] = aroundRecords(paging);
  return [Buffer.from(head), ...records, Buffer.from(tail)];
}

function expired(): never {
  throw expiredToken();
}

async function searchApart(
  { searchEvents, log }: ServiceContext,
  search: EventSearch,
  read: Read,
  check: (tx: Reader) => Promise<void>,
): Promise<EventPage | undefined> {
  await read(check);
  if (searchEvents === undefined) return readPage(read, search);
  try {
    return await searchEvents(search);
  } catch (error) {
    if (error instanceof HungThreadError) {
      const mend = "ask for fewer, for example by status eq '…', which has an index";
      throw new ServiceError(503, `the collection could not be searched in a minute; ${mend}`, { cause: error });
    }
    log.warn({ err: error }, 'events are searched in the main thread, as the thread for it failed');
    return readPage(read, search);
  }
}
