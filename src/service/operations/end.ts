import { inTurns } from '../../storage/next-turn.js';
import { equal, type Transaction } from '../../storage/storage.js';
import {
  dueAtOnce,
  type EndedPatternRow,
  endedPatterns,
  type ItemRow,
  items,
  itemWork,
  requestTransactions,
} from '../../storage/tables/operations.js';
import type { ServiceContext } from '../context.js';
import { moveRequestTransaction } from '../status/request-states.js';
import { noteChange } from './catalog.js';
import { forgetWork } from './forget-work.js';
import { dropReplicas } from './replicas.js';
import { ITEMS_PER_TURN } from './request.js';
import { endRequestTransactions } from './request-transactions.js';
import { successorOf } from './successor.js';

/** How many members of patterns one transaction registers or deletes, as others wait for it: each takes about 1 ms. */
export const MEMBERS_PER_TRANSACTION = 50;

/** Ends an item. Its results are deleted too, or kept as a series that clients may write from then on. */
export async function deleteItem(
  context: ServiceContext,
  tx: Transaction,
  item: ItemRow,
  areResultsKept: boolean,
): Promise<void> {
  const { organisation, itemId } = item;
  const { samples } = context;
  await endRequestTransactions(tx, organisation, [{ item, message: 'the item was deleted' }]);
  await dropReplicas(context, tx, organisation, await forgetWork(tx, organisation, [itemId]));
  await tx.delete(items, equal({ organisation, itemId }));
  // Items that read the results learn of it from the log.
  if (areResultsKept) await samples.release(tx, organisation, item);
  else await samples.drop(tx, organisation, item);
  await noteChange(tx);
}

/**
 * Ends an item with a pattern, and with it the items of its members: some here, and the rest by the worker, so that
 * others need not wait for thousands of them. If it was posted again, the one after it takes over those that it would
 * compute alike.
 *
 * @param memberRoom how many members to take over or delete here.
 */
export async function endPattern(
  context: ServiceContext,
  tx: Transaction,
  pattern: ItemRow,
  { areResultsKept, memberRoom }: { readonly areResultsKept: boolean; readonly memberRoom: number },
): Promise<void> {
  const { organisation, itemId, transactionId } = pattern;
  const transaction = await tx.get(requestTransactions, { organisation, transactionId });
  await forgetWork(tx, organisation, [itemId]);
  await tx.delete(items, equal({ organisation, itemId }));
  await noteChange(tx);
  if (transaction === undefined) return;
  const { clientId } = transaction;
  const ended = { organisation, itemId, transactionId, clientId, areResultsKept };
  await deleteMembers(context, tx, { ...ended, passedCommit: null, passedId: null }, memberRoom);
}

/**
 * Deletes members of a pattern that was ended, or hands them over. If there may be more, they are left to the worker,
 * which calls this in a transaction apart from its own, since it reads in the log what others have deleted.
 */
export async function deleteMembers(
  context: ServiceContext,
  tx: Transaction,
  ended: EndedPatternRow,
  memberRoom: number,
): Promise<void> {
  const { organisation, itemId, transactionId, clientId, areResultsKept, passedCommit, passedId } = ended;
  const found =
    memberRoom <= 0
      ? []
      : await tx.find(requestTransactions, {
          where: equal({ organisation, clientId, parentId: transactionId }),
          orderBy: [{ column: 'commit' }, { column: 'transactionId' }],
          ...(passedCommit === null ? {} : { after: [passedCommit, passedId] }),
          limit: memberRoom,
        });
  const successor = areResultsKept || found.length === 0 ? undefined : await successorOf(tx, ended);
  for await (const member of inTurns(found, ITEMS_PER_TURN)) {
    const item = member.itemId === null ? undefined : await tx.get(items, { organisation, itemId: member.itemId });
    // An item that was registered by itself since is no longer a member.
    if (item?.transactionId !== member.transactionId) continue;
    if (successor !== undefined && (await successor.takeOver(context, tx, item))) continue;
    await deleteItem(context, tx, item, areResultsKept);
  }
  const last = found.at(-1);
  if (found.length >= memberRoom) {
    const passed = last === undefined ? {} : { passedCommit: last.commit, passedId: last.transactionId };
    await tx.put(endedPatterns, { ...ended, ...passed });
    await tx.put(itemWork, { organisation, itemId, dueMs: dueAtOnce(context.clock.nowMs()), attemptCount: 0 });
    return;
  }
  await tx.delete(endedPatterns, equal({ organisation, itemId }));
  await tx.delete(itemWork, equal({ organisation, itemId }));
  // Last, as its state follows from those of its members.
  await moveRequestTransaction(tx, organisation, transactionId, {
    state: 'Completed',
    message: 'the item was deleted',
  });
}
