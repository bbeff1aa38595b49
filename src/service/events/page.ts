import { countWork } from '../../storage/next-turn.js';
import { type Condition, equal, type Reader } from '../../storage/storage.js';
import { type EventRow, events } from '../../storage/tables/events.js';
import { horizonOf } from './horizon.js';
import type { EventQuery } from './odata/query.js';
import { recordJson, TURN_CHARS, workOf } from './record.js';
import { findNext, isIndexed } from './search.js';
import { type CollectionKey, countEvents } from './store.js';

/** A search for a page of a collection: plain data, so that it can be done in a thread. */
export interface EventSearch {
  readonly shard: number;
  readonly collection: CollectionKey;
  readonly query: EventQuery;
  readonly pageSize: number;
  /** Where the page begins; undefined for the first one. */
  readonly place: EventPlace | undefined;
}

/** Searches where other requests do not wait for it; otherwise like `readPage`. */
export type SearchEvents = (search: EventSearch) => Promise<EventPage | undefined>;

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

export interface EventPage {
  /** JSON records, with commas between them, in pieces. */
  readonly records: readonly Uint8Array[];
  readonly totalCount: number | null;
  /** Whether anything matches, regardless of `$top`. */
  readonly hasMatches: boolean;
  /** Undefined on the last page. */
  readonly next: EventPlace | undefined;
}

/**
 * Reads a page of a collection as it was at the commit of the first one.
 *
 * @returns undefined when the store does not have that state any more.
 */
export async function readPage(
  tx: Reader,
  { collection, query, pageSize, place }: EventSearch,
): Promise<EventPage | undefined> {
  const commit = place?.commit ?? tx.lastCommit;
  const where: Condition<EventRow>[] = [
    ...equal({ ...collection }),
    ['firstCommit', '<=', commit],
    ['endCommit', '>', commit],
    ...query.filter.map(({ field, value }) => [field, '=', value] as const),
  ];
  const last = place && (await lastGiven(tx, collection, place));
  if (place !== undefined && last === undefined) return undefined;
  const givenBefore = place?.givenCount ?? 0;
  const left = (query.top ?? Infinity) - givenBefore;
  const size = Math.min(pageSize, left);
  const { records, foundCount, end } = await findRecords(tx, where, query, last, size);
  const totalCount =
    place === undefined ? await countMatches(tx, collection, where, query, foundCount, size) : place.totalCount;
  const hasNext = end !== undefined && foundCount > size && size < left;
  const next: EventPlace | undefined = hasNext
    ? { commit, totalCount, givenCount: givenBefore + size, lastId: end.id, lastFirstCommit: end.firstCommit }
    : undefined;
  return { records, totalCount, hasMatches: foundCount > 0, next };
}

/** What the first query of a page asks for; the rows that it finds tell how many the next one may ask for. */
const FOUND_FIRST = 16;
const FOUND_MAX = 64;
const FOUND_CHARS = 1024 * 1024;

/** The records of a page, whether another page follows, and the last event. */
interface FoundRecords {
  readonly records: readonly Uint8Array[];
  /** One more than fits the page, if another follows. */
  readonly foundCount: number;
  readonly end: EventRow | undefined;
}

/**
 * Finds the records of a page. Where an index has the order, queries are short and others are answered in between;
 * elsewhere there is one, as each looks at the whole collection.
 */
async function findRecords(
  tx: Reader,
  where: readonly Condition<EventRow>[],
  query: EventQuery,
  last: EventRow | undefined,
  size: number,
): Promise<FoundRecords> {
  const hasIndex = isIndexed(query);
  const pieces = new Pieces();
  let end: EventRow | undefined;
  let foundCount = 0;
  for (let limit = hasIndex ? FOUND_FIRST : size + 1; foundCount <= size; ) {
    const count = Math.min(limit, size + 1 - foundCount);
    const found = await findNext(tx, where, query, end ?? last, count);
    let work = 0;
    for (const row of found.slice(0, size - foundCount)) {
      end = row;
      work += workOf(row);
      await pieces.add(recordJson(row, query.select), workOf(row));
    }
    foundCount += found.length;
    if (found.length < count) break;
    limit = Math.min(FOUND_MAX, Math.max(1, Math.floor((FOUND_CHARS * found.length) / work)));
  }
  return { records: pieces.end(), foundCount, end };
}

/** Joins the JSON of records into pieces; others are answered after each. */
class Pieces {
  readonly #pieces: Uint8Array[] = [];
  readonly #afterWork = countWork(TURN_CHARS);
  #texts: string[] = [];

  add(text: string, work: number): Promise<void> | undefined {
    this.#texts.push(text);
    const turn = this.#afterWork(work);
    if (turn !== undefined) this.#join();
    return turn;
  }

  end(): readonly Uint8Array[] {
    this.#join();
    return this.#pieces;
  }

  #join(): void {
    if (this.#texts.length === 0) return;
    this.#pieces.push(encoder.encode(`${this.#pieces.length === 0 ? '' : ','}${this.#texts.join(',')}`));
    this.#texts = [];
  }
}

const encoder = new TextEncoder();

// For the first page only, which shows the current state: each write keeps the collection's total up to date.
async function countMatches(
  tx: Reader,
  collection: CollectionKey,
  where: readonly Condition<EventRow>[],
  query: EventQuery,
  foundCount: number,
  size: number,
): Promise<number | null> {
  if (!query.hasCount) return null;
  if (foundCount <= size) return foundCount;
  return query.filter.length === 0 ? countEvents(tx, collection) : tx.count(events, where);
}

/**
 * The last event returned; undefined when versions of that state have been forgotten, or the store has no such state,
 * as in a database that was set back while the service ran.
 */
async function lastGiven(
  tx: Reader,
  collection: CollectionKey,
  { commit, lastId, lastFirstCommit }: EventPlace,
): Promise<EventRow | undefined> {
  if (commit > tx.lastCommit || commit < (await horizonOf(tx))) return undefined;
  return tx.get(events, { ...collection, id: lastId, firstCommit: lastFirstCommit });
}
