import { boolean, defineTable, integer, integerOrNull, type RowIn, text, textOrNull } from '../table.js';

// All of these lie in IDENTITY_SHARD except organisations (in each of their shards) and collections (in the home
// shard).

/**
 * How many shards the series of an organisation are spread over; 1 if it has no row, as one of an older version. A row
 * in each of the shards.
 */
export const organisations = defineTable(
  'organisations',
  { organisation: text, groupCount: integer, createdMs: integer },
  ['organisation'],
);

export const clients = defineTable(
  'clients',
  {
    clientId: text,
    organisation: text,
    name: text,
    /** A fast hash, as the secret is 256 random bits. */
    secretHash: text,
    /** Scopes that the client may request, separated by spaces. */
    scopes: text,
    /** Grant types that the client may use, separated by spaces. */
    grants: text,
    createdMs: integer,
  },
  ['clientId'],
  [['organisation', 'clientId']],
);
export type ClientRow = RowIn<typeof clients>;

export const users = defineTable(
  'users',
  { organisation: text, username: text, passwordHash: text, createdMs: integer },
  ['organisation', 'username'],
);

export const tokens = defineTable(
  'tokens',
  {
    /** SHA-256 of the token, so that reading the store gives nobody access. */
    tokenHash: text,
    clientId: text,
    organisation: text,
    username: textOrNull,
    scope: text,
    issuedMs: integer,
    expiresMs: integer,
  },
  ['tokenHash'],
  [['expiresMs'], ['clientId'], ['organisation', 'username']],
);

/** Failures counted by client and by address, for throttling. */
export const throttles = defineTable(
  'throttles',
  { subject: text, windowStartMs: integer, failureCount: integer, blockedUntilMs: integerOrNull },
  ['subject'],
  [['windowStartMs']],
);

/** Keys that processes share, such as that of continuation tokens. */
export const secrets = defineTable('secrets', { name: text, secret: text, createdMs: integer }, ['name']);

export const collections = defineTable('collections', { organisation: text, collectionId: text, createdMs: integer }, [
  'organisation',
  'collectionId',
]);

export const collectionGrants = defineTable(
  'collection_grants',
  { organisation: text, collectionId: text, clientId: text, isAllowed: boolean },
  ['organisation', 'collectionId', 'clientId'],
);
