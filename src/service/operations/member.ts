import { RequestError } from '../../core/errors.js';
import { filledRequest } from '../../plan/patterns.js';
import type { Transaction } from '../../storage/storage.js';
import type { RequestTransactionRow } from '../../storage/tables/operations.js';
import type { ServiceContext } from '../context.js';
import { addChildren, stateOf } from '../status/request-states.js';
import { registerEach } from './register-each.js';
import { definitionOf, type ItemDefinition } from './request.js';

/**
 * The item of a member of a pattern. Undefined for a member whose ids no request could name: filled in, they would be
 * patterns or have a `*`.
 *
 * @param pattern the request of the item with the pattern.
 */
export function memberDefinition(pattern: readonly unknown[], member: string): ItemDefinition | undefined {
  const request = filledRequest(pattern, member);
  try {
    const definition = definitionOf(request);
    return definition.plan.every === undefined ? { posted: request.at(-1), ...definition } : undefined;
  } catch (error) {
    // The pattern itself was checked, so nothing but its ids can be at fault.
    if (error instanceof RequestError) return undefined;
    throw error;
  }
}

/** Registers members, on behalf of the client that registered their pattern. @param pattern its transaction */
export async function registerMembers(
  context: ServiceContext,
  tx: Transaction,
  pattern: RequestTransactionRow,
  definitions: readonly ItemDefinition[],
): Promise<void> {
  const { organisation, clientId, correlationId, receivedMs, transactionId } = pattern;
  const registration = { principal: { organisation, clientId }, correlationId, receivedMs };
  const children = await registerEach(context, tx, registration, definitions, transactionId);
  await addChildren(tx, pattern, children.map(stateOf));
}
