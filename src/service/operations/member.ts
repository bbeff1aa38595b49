import { RequestError } from '../../core/errors.js';
import { filledRequest } from '../../plan/patterns.js';
import type { RequestTransactionRow } from '../../storage/tables/operations.js';
import { definitionOf, type ItemDefinition } from './request.js';
import type { Registration } from './request-transactions.js';

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

/** Members are registered on behalf of the client that registered their pattern. */
export function memberRegistration(transaction: RequestTransactionRow): Registration {
  const { organisation, clientId, correlationId, receivedMs } = transaction;
  return { principal: { organisation, clientId }, correlationId, receivedMs };
}
