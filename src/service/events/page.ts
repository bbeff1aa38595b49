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

/** Runs some work in a reader of the store. */
export type Read = <Result>(work: (tx: Reader) => Promise<Result>) => Promise<Result>;

/** A page as far as it is read. */
interface Begun {
  readonly commit: number;
  readonly where: readonly Condition<EventRow>[];
  readonly last: EventRow | undefined;
  /** The collection's total, which each write keeps up to date, where that is the count of matches; else 0. */
  readonly total: number;
  /** How many rows were asked for; fewer are all that there are. */
  readonly asked: number;
  readonly rows: readonly EventRow[];
}

/**
 * Reads a page of a collection as it was at the commit of the first one, in readers that are short where an index has
 * the order: writers wait for the end of one, and later readers for the writers.
 *
 * @param check throws if the page may not be read.
 * @returns undefined when the store does not have that state any more.
 */
export async function readPage(
  read: Read,
  search: EventSearch,
  check?: (tx: Reader) => Promise<void>,
): Promise<EventPage | undefined> {
  const { query, pageSize, place } = search;
  const givenBefore = place?.givenCount ?? 0;
  const left = (query.top ?? Infinity) - givenBefore;
  const size = Math.min(pageSize, left);
  const begun = await read(async (tx) => {
    await check?.(tx);
    return begin(tx, search, size);
  });
  if (begun === undefined) return undefined;
  const found = await findRecords(read, begun, query, size);
  // Versions of that state were forgotten meanwhile.
  if (found === undefined) return place === undefined ? readPage(read, search, check) : undefined;
  const { records, foundCount, end } = found;
  const { commit, where, total } = begun;
  const count = async (): Promise<number> => {
    if (foundCount <= size) return foundCount;
    return query.filter.length === 0 ? total : read((tx) => tx.count(events, where));
  };
  const firstCount = async () => (query.hasCount ? await count() : null);
  const totalCount = place === undefined ? await firstCount() : place.totalCount;
  const hasNext = end !== undefined && foundCount > size && size < left;
  const next: EventPlace | undefined = hasNext
    ? { commit, totalCount, givenCount: givenBefore + size, lastId: end.id, lastFirstCommit: end.firstCommit }
    : undefined;
  return { records, totalCount, hasMatches: foundCount > 0, next };
}

/** Reads the first rows of a page; undefined when the store does not have its state any more. */
async function begin(tx: Reader, { collection, query, place }: EventSearch, size: number): Promise<Begun | undefined> {
  const commit = place?.commit ?? tx.lastCommit;
  const last = place && (await lastGiven(tx, collection, place));
  if (place !== undefined && last === undefined) return undefined;
  const where: Condition<EventRow>[] = [
    ...equal({ ...collection }),
    ['firstCommit', '<=', commit],
    ['endCommit', '>', commit],
    ...query.filter.map(({ field, value }) => [field, '=', value] as const),
  ];
  const isTotal = place === undefined && query.hasCount && query.filter.length === 0;
  const total = isTotal ? await countEvents(tx, collection) : 0;
  const asked = isIndexed(query) ? Math.min(FOUND_FIRST, size + 1) : size + 1;
  return { commit, where, last, total, asked, rows: await findNext(tx, where, query, last, asked) };
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
 *
 * @returns undefined if versions of its state were forgotten meanwhile, so that some may be missing.
 */
async function findRecords(
  read: Read,
  { commit, where, last, asked: askedFirst, rows }: Begun,
  query: EventQuery,
  size: number,
): Promise<FoundRecords | undefined> {
  const pieces = new Pieces();
  let end: EventRow | undefined;
  let foundCount = 0;
  let asked = askedFirst;
  for (let found = rows; ; ) {
    let work = 0;
    for (const row of found.slice(0, size - foundCount)) {
      end = row;
      work += workOf(row);
      await pieces.add(recordJson(row, query.select), workOf(row));
    }
    foundCount += found.length;
    if (found.length < asked || foundCount > size) break;
    const limit = Math.min(FOUND_MAX, Math.max(1, Math.floor((FOUND_CHARS * found.length) / work)));
    asked = Math.min(limit, size + 1 - foundCount);
    const after = end ?? last;
    const count = asked;
    const next = await read(async (tx) => {
      return commit < (await horizonOf(tx)) ? undefined : findNext(tx, where, query, after, count);
    });
    if (next === undefined) return undefined;
    found = next;
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
