import { type SeriesReference, seriesKey } from '../../../core/series.js';
import type { SampleChange } from '../../../storage/samples/samples.js';
import type { Claim, Transaction } from '../../../storage/storage.js';
import { type ItemRow, itemCatalog, items } from '../../../storage/tables/operations.js';
import { logProgress } from '../../../storage/tables/samples.js';
import type { ServiceContext } from '../../context.js';
import type { Entry, ShardMemory } from './memory.js';
import type { WorkerSizes } from './sizes.js';

/** One transaction of the worker: the memory that it begins with is that of the state which it sees. */
export interface Session {
  readonly context: ServiceContext;
  readonly memory: ShardMemory;
  readonly sizes: WorkerSizes;
  readonly tx: Transaction;
  /** The log up to this commit had been taken in before. */
  readonly absorbedCommit: number;
  /** Items that are to go on from their last checkpoint. */
  readonly replays: Set<Entry>;
  /** Items whose last results are to be made anew. */
  readonly previews: Set<Entry>;
  /** Changes of results that are not in the log yet, by organisation. */
  readonly produced: Map<string, (SampleChange & { readonly itemId: string })[]>;
  /** How many more samples may be read again within this transaction. */
  replayRoom: number;
  hasWritten: boolean;
  /** Whether there may be items whose work is due now. */
  isWorkDue: boolean;
}

/** Undefined while the shard never had an item. */
export async function openSession(
  context: ServiceContext,
  memory: ShardMemory,
  sizes: WorkerSizes,
  claim: Claim,
  tx: Transaction,
): Promise<Session | undefined> {
  const catalog = await tx.get(itemCatalog, { name: 'items' });
  if (catalog === undefined) return undefined;
  const absorbedCommit = (await tx.get(logProgress, { name: 'log' }))?.absorbedCommit ?? 0;
  // Each commit of the worker leaves its number there: where it is another, what is in memory comes of a transaction
  // that was undone, or another worker has been at work.
  const isTrue = memory.claimSequence === claim.sequence && memory.absorbedCommit === absorbedCommit;
  if (!isTrue) memory.clear();
  const isCatalogNew = memory.catalogCommit !== catalog.commit;
  if (isCatalogNew) memory.readers.clear();
  Object.assign(memory, { claimSequence: claim.sequence, absorbedCommit, catalogCommit: catalog.commit });
  return {
    context,
    memory,
    sizes,
    tx,
    absorbedCommit,
    replays: new Set(),
    previews: new Set(),
    produced: new Map(),
    replayRoom: sizes.replaySamplesMax,
    hasWritten: false,
    isWorkDue: isCatalogNew,
  };
}

/** Ends a session: what it has taken in and written is the worker's last commit. */
export async function sealSession(session: Session): Promise<void> {
  await flushProduced(session);
  if (!session.hasWritten) return;
  await session.tx.put(logProgress, { name: 'log', absorbedCommit: session.tx.commit });
  session.memory.absorbedCommit = session.tx.commit;
}

/** Writes the changes of results into the log: before anything is read that they may touch, and at the end. */
export async function flushProduced({ context, tx, produced }: Session): Promise<void> {
  for (const [organisation, changes] of produced) {
    const { itemId } = changes[0]!;
    await context.samples.append(tx, organisation, changes, { itemId });
  }
  produced.clear();
}

/** Changes an item's row, in the store and in memory. */
export async function updateItem(session: Session, entry: Entry, changes: Partial<ItemRow>): Promise<void> {
  const { organisation, itemId } = entry.row;
  await session.tx.update(
    items,
    [
      ['organisation', '=', organisation],
      ['itemId', '=', itemId],
    ],
    changes,
  );
  entry.row = { ...entry.row, ...changes };
  session.hasWritten = true;
}

/** One text for a series of an organisation. */
export function readersKey(organisation: string, reference: SeriesReference): string {
  return `${organisation.length}:${organisation}${seriesKey(reference)}`;
}
