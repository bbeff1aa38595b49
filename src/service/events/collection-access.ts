import type { Reader } from '../../storage/storage.js';
import { collectionGrants } from '../../storage/tables/identity.js';
import { ServiceError } from '../errors.js';
import type { Principal } from '../principal.js';

const REFUSAL = 'there is no such event collection, or you have no access to it';

/**
 * Lets those pass who were allowed the collection. One look-up decides, so that a collection that is not there and
 * one of others take the same way, to the same answer.
 *
 * @throws ServiceError 403.
 */
export async function checkAccess(tx: Reader, principal: Principal, collectionId: string): Promise<void> {
  const { organisation, clientId } = principal;
  const grant = await tx.get(collectionGrants, { organisation, collectionId, clientId });
  if (grant?.isAllowed === true) return;
  throw new ServiceError(403, REFUSAL, {
    headers: {
      'www-authenticate': `Bearer realm="windrow", error="insufficient_scope", error_description="${REFUSAL}"`,
    },
  });
}
