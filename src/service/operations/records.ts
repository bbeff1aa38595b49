import type { Static } from 'typebox';
import { groupBy } from '../../core/group.js';
import { formatInstant } from '../../core/instant.js';
import type { SeriesReference } from '../../core/series.js';
import type { Reader } from '../../storage/storage.js';
import { type ItemRow, type RequestTransactionRow, requestTransactions } from '../../storage/tables/operations.js';
import { joinMessages } from '../status/refusals.js';
import { childCount, parentState, stateOf, type TransactionState } from '../status/request-states.js';
import { isPattern, storedPattern } from './request.js';
import type { itemSchema } from './schemas.js';
import { type PostedStep, shownStep } from './shown-step.js';
import { sourcesOf } from './sources.js';

export interface ItemRecord extends Static<typeof itemSchema> {
  /** Whether it is a pattern that has looked at all series and found none that it fits; answers leave it out. */
  readonly isWithoutMembers: boolean;
}

/** Reads the records of items, in their order. */
export async function itemRecords(tx: Reader, organisation: string, rows: readonly ItemRow[]): Promise<ItemRecord[]> {
  if (rows.length === 0) return [];
  const ofItems = ['organisation', '=', organisation] as const;
  const found = await tx.find(requestTransactions, {
    where: [ofItems, ['transactionId', 'in', rows.map(({ transactionId }) => transactionId)]],
  });
  const transactionOf = new Map(found.map((row) => [row.transactionId, row]));
  const parentIds = [...new Set(found.flatMap(({ parentId }) => parentId ?? []))];
  const parents = await tx.find(requestTransactions, { where: [ofItems, ['transactionId', 'in', parentIds]] });
  // The transaction of a request has no item of its own.
  const patternOf = new Map(parents.map(({ transactionId, itemId }) => [transactionId, itemId]));
  const itemIds = rows.map(({ itemId }) => itemId);
  const sources = new Map<string, SeriesReference[]>(itemIds.map((itemId) => [itemId, []]));
  for (const { itemId, timeseriesId, metric } of await sourcesOf(tx, organisation, itemIds)) {
    sources.get(itemId)?.push({ timeseriesId, metric });
  }
  return rows.map((row) => {
    const own = transactionOf.get(row.transactionId);
    const pattern = patternOf.get(own?.parentId ?? '') ?? null;
    const read = isPattern(row) ? storedPattern(row.request)?.plan.sources : sources.get(row.itemId);
    return itemRecord(row, [...(read ?? [])], own, pattern);
  });
}

/** A processing type as the interface writes it. */
export function shownType(type: string): string {
  return type === 'batch' ? 'Batch' : type;
}

/** Joins the records of each item: one with a pattern has a part in each shard. */
export function joinRecords(records: readonly ItemRecord[]): readonly ItemRecord[] {
  return [...groupBy(records, ({ itemId }) => itemId).values()].map((parts) => {
    const [first] = parts;
    if (parts.length === 1) return first!;
    const states: Partial<Record<TransactionState, number>> = {};
    for (const state of parts.map(stateOf)) states[state] = (states[state] ?? 0) + 1;
    const retryCount = parts.reduce((sum, part) => sum + part.retryCount, 0);
    const isWithoutMembers = parts.every((part) => part.isWithoutMembers);
    return { ...first!, state: parentState(states), retryCount, message: joinMessages(parts), isWithoutMembers };
  });
}

function itemRecord(
  row: ItemRow,
  sources: SeriesReference[],
  found: RequestTransactionRow | undefined,
  pattern: string | null,
): ItemRecord {
  // `as`: checked when it was posted.
  const posted = JSON.parse(row.posted) as { operations: PostedStep[]; frequency?: string };
  return {
    itemId: row.itemId,
    timeseriesId: row.timeseriesId,
    metric: row.metric,
    processingType: shownType(row.processingType),
    frequency: row.frequencyMs === null ? null : (posted.frequency?.toUpperCase() ?? null),
    operations: posted.operations.map(shownStep),
    sources,
    pattern,
    state: isPattern(row) ? (found?.state ?? row.state) : row.state,
    isWithoutMembers: isPattern(row) && row.state === 'Active' && found !== undefined && childCount(found) === 1,
    transactionId: row.transactionId,
    retryCount: found?.retryCount ?? 0,
    message: found?.message ?? null,
    revision: row.revision,
    boundary: row.boundaryMs === null ? null : formatInstant(row.boundaryMs),
    createdTimestamp: formatInstant(row.createdMs),
    updatedTimestamp: formatInstant(row.updatedMs),
  };
}
