import type { Transaction } from '../../storage/storage.js';
import { type ItemRow, items } from '../../storage/tables/operations.js';
import type { ServiceContext } from '../context.js';
import { endTransaction, forgetWork, noteChange } from './register-items.js';

/** Ends an item. Its results go with it, unless they are kept as a series that clients may write from then on. */
export async function deleteItem(
  { samples }: ServiceContext,
  tx: Transaction,
  item: ItemRow,
  areResultsKept: boolean,
): Promise<void> {
  const { organisation, itemId } = item;
  await endTransaction(tx, item, 'the item was deleted');
  await forgetWork(tx, item);
  await tx.delete(items, [
    ['organisation', '=', organisation],
    ['itemId', '=', itemId],
  ]);
  // Items that read the results learn of it from the log.
  if (areResultsKept) await samples.release(tx, organisation, item);
  else await samples.drop(tx, organisation, item);
  await noteChange(tx);
}
