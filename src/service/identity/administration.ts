import type { RetentionRow } from '../../storage/tables/samples.js';
import {
  addClient,
  type ClientCredentials,
  type ClientEntry,
  listClients,
  type NewClient,
  removeClient,
} from './clients.js';
import {
  addCollection,
  type CollectionAccess,
  type CollectionEntry,
  listCollections,
  removeCollection,
} from './collections.js';
import type { AdministrationContext, OfOrganisation } from './names.js';
import { listRetention, type RetentionScope, removeRetention, setRetention } from './retention.js';
import { addUser, listUsers, type NewUser, removeUser, type UserEntry, type UserName } from './users.js';

/**
 * Clients, users and collections, and what may be done with them, by a server or by a command beside it: what one of
 * them has written the others see at once.
 *
 * All throw WindrowError: `arguments`, `identity.exists`, `identity.missing`.
 *
 * @param onRevoked is called when tokens have been revoked.
 */
export interface Administration {
  addClient(client: NewClient): Promise<ClientCredentials>;
  listClients(of: OfOrganisation): Promise<readonly ClientEntry[]>;
  /** Revokes its tokens, and takes its grants of collections. */
  removeClient(client: { readonly clientId: string }): Promise<void>;
  addUser(user: NewUser): Promise<void>;
  listUsers(of: OfOrganisation): Promise<readonly UserEntry[]>;
  /** Revokes the tokens that were got with the user's password. */
  removeUser(user: UserName): Promise<void>;
  /** Adds the collection where it is not there yet, and lets the clients in, beside those who are in already. */
  addCollection(access: CollectionAccess): Promise<CollectionEntry>;
  listCollections(of: OfOrganisation): Promise<readonly CollectionEntry[]>;
  /** Shuts these clients out; when none is named, removes the collection and its events. */
  removeCollection(access: CollectionAccess): Promise<void>;
  /** Says how long samples are kept; in the place of a rule of the same scope. */
  setRetention(rule: RetentionScope & { readonly keepMs: number }): Promise<void>;
  listRetention(of: OfOrganisation): Promise<readonly RetentionRow[]>;
  removeRetention(scope: RetentionScope): Promise<void>;
}

export function createAdministration(context: AdministrationContext): Administration {
  return Object.freeze({
    addClient: (client: NewClient) => addClient(context, client),
    listClients: (of: OfOrganisation) => listClients(context, of),
    removeClient: (client: { readonly clientId: string }) => removeClient(context, client),
    addUser: (user: NewUser) => addUser(context, user),
    listUsers: (of: OfOrganisation) => listUsers(context, of),
    removeUser: (user: UserName) => removeUser(context, user),
    addCollection: (access: CollectionAccess) => addCollection(context, access),
    listCollections: (of: OfOrganisation) => listCollections(context, of),
    /** Shuts these clients out; when none is named, removes the collection and its events. */
    removeCollection: (access: CollectionAccess) => removeCollection(context, access),
    setRetention: (rule: RetentionScope & { readonly keepMs: number }) => setRetention(context, rule),
    listRetention: (of: OfOrganisation) => listRetention(context, of),
    removeRetention: (scope: RetentionScope) => removeRetention(context, scope),
  });
}
