import { SourceMatcher } from '../../core/source-matcher.js';
import { equal, type Reader, type Transaction } from '../../storage/storage.js';
import { type EndedPatternRow, type ItemRow, items, requestTransactions } from '../../storage/tables/operations.js';
import type { ServiceContext } from '../context.js';
import { noteChange } from './catalog.js';
import { memberDefinition, registerMembers } from './member.js';
import { storedPattern } from './request.js';

/**
 * The pattern that was posted in the place of one that was ended. It takes over the members that it computes alike, as
 * an item that is posted again goes on: what retention has deleted could not be computed anew.
 */
export interface Successor {
  /** @returns false for a member that it would not compute, or otherwise: that is to be deleted. */
  takeOver(context: ServiceContext, tx: Transaction, member: ItemRow): Promise<boolean>;
}

/** Undefined if the pattern was deleted, and not posted again. */
export async function successorOf(
  tx: Reader,
  { organisation, transactionId }: EndedPatternRow,
): Promise<Successor | undefined> {
  const ended = await tx.get(requestTransactions, { organisation, transactionId });
  if (ended === undefined) return undefined;
  // Written by `childTransaction`.
  const { TimeseriesId: timeseriesId, TimeseriesType: metric } = JSON.parse(ended.payload) as Record<string, string>;
  const [row] = await tx.find(items, { where: equal({ organisation, timeseriesId: timeseriesId!, metric: metric! }) });
  const pattern = row === undefined ? undefined : storedPattern(row.request);
  if (row === undefined || pattern === undefined) return undefined;
  const results = new SourceMatcher([row]);

  return {
    takeOver: async (context, tx, member) => {
      const transaction = await tx.get(requestTransactions, { organisation, transactionId: row.transactionId });
      if (transaction === undefined) return false;
      for (const { member: name } of results.placesOf(member)) {
        const definition = name === undefined ? undefined : memberDefinition(pattern.request, name);
        if (definition?.planHash !== member.planHash) continue;
        await registerMembers(context, tx, transaction, [definition]);
        await noteChange(tx);
        return true;
      }
      return false;
    },
  };
}
