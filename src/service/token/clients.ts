import type { Reader } from '../../storage/storage.js';
import { type ClientRow, clients } from '../../storage/tables/identity.js';
import type { Credentials } from './basic.js';
import { equalHashes, hashSecret } from './hash.js';

// No text has this hash: a client that is not there is compared with it, at the same cost as one that is.
const HASH_OF_NOTHING = 'A'.repeat(43);

/** The client whose id and secret these are, by any of their readings. */
export async function authenticateClient(tx: Reader, readings: readonly Credentials[]): Promise<ClientRow | undefined> {
  let found: ClientRow | undefined;
  for (const { clientId, clientSecret } of readings) {
    const client = await tx.get(clients, { clientId });
    const isRight = equalHashes(hashSecret(clientSecret), client?.secretHash ?? HASH_OF_NOTHING);
    if (client !== undefined && isRight) found = client;
  }
  return found;
}
