import { type Condition, equal, type Reader } from '../../storage/storage.js';
import { type ItemRow, items } from '../../storage/tables/operations.js';
import type { ServiceContext } from '../context.js';
import type { Found } from '../http/paging.js';
import { withAbsentSources } from './absent-sources.js';
import { type ItemRecord, itemRecords, joinRecords } from './records.js';

/**
 * How much of what was posted an answer has, with one item more at most in each shard: it is parsed and written in one
 * turn of the event loop.
 */
const POSTED_CHARS_MAX = 1024 * 1024;
/** How many rows to ask for at first, and at most; those that were found tell how many more. */
const FOUND_FIRST = 16;
const FOUND_MAX = 256;

/** The first of the items for which this holds, in the order of their ids, which is that of their registration. */
export async function readRecords(
  context: ServiceContext,
  organisation: string,
  where: readonly Condition<ItemRow>[],
  limit: number,
): Promise<Found<ItemRecord>> {
  const { storage, placements } = context;
  const { shards } = await placements.of(organisation);
  const read = shards.map((shard) =>
    storage.read(shard, async (tx) => {
      const ofShard = [...equal({ organisation }), ...where];
      const { rows, isMore } = await readRows(tx, ofShard, limit, POSTED_CHARS_MAX / shards.length);
      return { records: await itemRecords(tx, organisation, rows), isMore };
    }),
  );
  const parts = await Promise.all(read);
  // Beyond the end of a part, its shard may have some that come earlier than those of others.
  const ends = parts.flatMap(({ records, isMore }) => (isMore ? (records.at(-1)?.itemId ?? []) : []));
  const end = ends.sort()[0];
  const inOrder = parts
    .flatMap(({ records }) => records)
    .filter(({ itemId }) => end === undefined || itemId <= end)
    .sort((a, b) => (a.itemId < b.itemId ? -1 : 1));
  const rows = await withAbsentSources(context, organisation, joinRecords(inOrder).slice(0, limit));
  return { rows, isMore: end !== undefined };
}

/** The first rows, up to one that brings what was posted to `charsMax`. */
async function readRows(
  tx: Reader,
  where: readonly Condition<ItemRow>[],
  limit: number,
  charsMax: number,
): Promise<Found<ItemRow>> {
  const rows: ItemRow[] = [];
  let charCount = 0;
  for (let asked = Math.min(FOUND_FIRST, limit); ; ) {
    const last = rows.at(-1);
    const after: readonly Condition<ItemRow>[] = last === undefined ? [] : [['itemId', '>', last.itemId]];
    const found = await tx.find(items, { where: [...where, ...after], limit: asked });
    for (const row of found) {
      rows.push(row);
      charCount += row.posted.length;
      if (charCount >= charsMax) return { rows, isMore: true };
    }
    if (found.length < asked || rows.length >= limit) return { rows, isMore: false };
    const fitting = Math.ceil((rows.length * (charsMax - charCount)) / charCount);
    asked = Math.min(FOUND_MAX, fitting, limit - rows.length);
  }
}
