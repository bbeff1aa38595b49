import { addClient, listClients, type NewClient, removeClient, unlockClient } from './clients.js';
import { addCollection, type CollectionAccess, listCollections, removeCollection } from './collections.js';
import type { AdministrationContext, OfOrganisation } from './names.js';
import { checkOrganisation } from './organisations.js';
import { listRetention, type RetentionScope, removeRetention, setRetention } from './retention.js';
import { addUser, listUsers, type NewUser, removeUser, type UserName, unlockUser } from './users.js';

export type Administration = ReturnType<typeof createAdministration>;

/**
 * Manages clients, users, collections and retention rules. Servers and commands share one store, so each sees the
 * others' changes at once. All methods throw WindrowError: `arguments`, `identity.exists`, `identity.missing`.
 */
export function createAdministration(context: AdministrationContext) {
  return Object.freeze({
    checkOrganisation: (organisation: string) => checkOrganisation(context, organisation),
    addClient: (client: NewClient) => addClient(context, client),
    listClients: (of: OfOrganisation) => listClients(context, of),
    removeClient: (client: { readonly clientId: string }) => removeClient(context, client),
    unlockClient: (client: { readonly clientId: string; readonly address?: string }) => unlockClient(context, client),
    addUser: (user: NewUser) => addUser(context, user),
    listUsers: (of: OfOrganisation) => listUsers(context, of),
    removeUser: (user: UserName) => removeUser(context, user),
    unlockUser: (user: UserName & { readonly address?: string }) => unlockUser(context, user),
    addCollection: (access: CollectionAccess) => addCollection(context, access),
    listCollections: (of: OfOrganisation) => listCollections(context, of),
    removeCollection: (access: CollectionAccess) => removeCollection(context, access),
    setRetention: (rule: RetentionScope & { readonly keepMs: number }) => setRetention(context, rule),
    listRetention: (of: OfOrganisation) => listRetention(context, of),
    removeRetention: (scope: RetentionScope) => removeRetention(context, scope),
  });
}
