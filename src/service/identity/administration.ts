import { addClient, listClients, type NewClient, removeClient } from './clients.js';
import { addCollection, type CollectionAccess, listCollections, removeCollection } from './collections.js';
import type { AdministrationContext, OfOrganisation } from './names.js';
import { addUser, listUsers, type NewUser, removeUser, type UserName } from './users.js';

export type Administration = ReturnType<typeof createAdministration>;

/**
 * Clients, users and collections, and what may be done with them. Each function takes and gives what JSON can hold,
 * for it is called by the command in its own process, or in the one of the server that holds the store.
 *
 * All throw WindrowError: `arguments`, `identity.exists`, `identity.missing`.
 *
 * @param onRevoked is called when tokens have been revoked.
 */
export function createAdministration(context: AdministrationContext, onRevoked: () => void = () => {}) {
  return Object.freeze({
    addClient: (client: NewClient) => addClient(context, client),
    listClients: (of: OfOrganisation) => listClients(context, of),
    /** Revokes its tokens, and takes its grants of collections. */
    removeClient: async (client: { readonly clientId: string }) => {
      await removeClient(context, client);
      onRevoked();
    },
    addUser: (user: NewUser) => addUser(context, user),
    listUsers: (of: OfOrganisation) => listUsers(context, of),
    /** Revokes the tokens that were got with the user's password. */
    removeUser: async (user: UserName) => {
      await removeUser(context, user);
      onRevoked();
    },
    /** Adds the collection where it is not there yet, and lets the clients in, beside those who are in already. */
    addCollection: (access: CollectionAccess) => addCollection(context, access),
    listCollections: (of: OfOrganisation) => listCollections(context, of),
    /** Shuts these clients out; when none is named, removes the collection and its events. */
    removeCollection: (access: CollectionAccess) => removeCollection(context, access),
  });
}
