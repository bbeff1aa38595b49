import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';
import { IDENTITY_SHARD } from '../../storage/shard.js';
import { writeReserved } from '../../storage/storage.js';
import { secrets } from '../../storage/tables/identity.js';
import type { ServiceContext } from '../context.js';
import type { Principal } from '../identity/principal.js';
import { badRequest, type ServiceError } from './errors.js';

/** What a continuation token is bound to: it opens for no other list, caller or query. */
export interface ContinuationBinding {
  /** The list's name, such as `events`. */
  readonly list: string;
  readonly principal: Principal;
  /** The query as JSON, with fields in a fixed order. The page size may differ. */
  readonly query: unknown;
}

export interface Continuation {
  /** Where the next page begins: the value given to `seal`, after a round trip through JSON. */
  readonly place: unknown;
  /** When the token expires, epoch ms. */
  readonly expiresMs: number;
}

export type ContinuationTokens = ReturnType<typeof createContinuationTokens>;

type Context = Pick<ServiceContext, 'storage' | 'clock' | 'random' | 'settings'>;

// A token: version, salt, nonce, ciphertext, tag. The token's key is derived from the salt, so that a repeated pair of
// key and nonce stays improbable for any number of tokens, unlike with 96 random bits alone. The binding is not in the
// token but authenticated with it: a token of another query looks like a forged one.
const VERSION = 1;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEAD_BYTES = 1 + SALT_BYTES + NONCE_BYTES;
const KEY_BYTES = 32;
const TOKEN_CHARS_MAX = 4096;
const SECRET_NAME = 'continuation';
const FINGERPRINT_CHARS = 8;

/** Creates tokens that carry a place in a list from one request to the next, by way of the caller. */
export function createContinuationTokens(context: Context) {
  let key: Promise<Buffer> | undefined;
  const readKey = (): Promise<Buffer> => {
    key ??= loadKey(context).catch((error: unknown) => {
      // A store that fails now may work for the next request.
      key = undefined;
      throw error;
    });
    return key;
  };
  const { clock, random, settings } = context;
  return Object.freeze({
    /** Sees to the key while there is room for it: on a disk that is full later, lists still have pages. */
    prepare: async (): Promise<void> => {
      // Whoever needs the key tries again, and is told why it fails.
      await readKey().catch(() => {});
    },
    seal: async (
      binding: ContinuationBinding,
      place: unknown,
      expiresMs = clock.nowMs() + settings.continuationLifetimeS * 1000,
    ) => encrypt(await readKey(), random.bytes(SALT_BYTES + NONCE_BYTES), binding, JSON.stringify([expiresMs, place])),
    /** @throws ServiceError 400 for a token that was changed, has another binding, or has expired. */
    open: async (binding: ContinuationBinding, token: string): Promise<Continuation> => {
      const text = decrypt(await readKey(), binding, token);
      if (text === undefined) throw invalidToken('is not one of this service for this caller and query');
      // `as`: only this service can have sealed it.
      const [expiresMs, place] = JSON.parse(text) as [number, unknown];
      if (clock.nowMs() >= expiresMs) throw expiredToken();
      return { place, expiresMs };
    },
    /** Names the store, by its key: 8 hexadecimal digits, others once a backup was restored. */
    fingerprint: async (): Promise<string> =>
      createHmac('sha256', await readKey())
        .update('fingerprint')
        .digest('hex')
        .slice(0, FINGERPRINT_CHARS),
  });
}

/** 400 for a token whose snapshot is gone. */
export function expiredToken(): ServiceError {
  return invalidToken('has expired');
}

function invalidToken(problem: string): ServiceError {
  const mend = 'start again without it, and send the same query for each page';
  return badRequest(`header continuationToken: the token ${problem}; ${mend}`, {
    issues: [{ header: 'continuationToken', expected: 'the paging.continuationToken of the page before' }],
  });
}

function encrypt(key: Buffer, saltAndNonce: Uint8Array, binding: ContinuationBinding, text: string): string {
  const head = Buffer.concat([Buffer.of(VERSION), saltAndNonce]);
  const cipher = createCipheriv('aes-256-gcm', tokenKey(key, head), nonceOf(head), { authTagLength: TAG_BYTES });
  cipher.setAAD(authenticatedData(head, binding));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([head, body, cipher.getAuthTag()]).toString('base64url');
}

function decrypt(key: Buffer, binding: ContinuationBinding, token: string): string | undefined {
  if (token.length > TOKEN_CHARS_MAX) return undefined;
  const bytes = Buffer.from(token, 'base64url');
  // Base64 has spare bits at the end, and Node skips invalid characters: only the canonical form is accepted.
  if (bytes.toString('base64url') !== token) return undefined;
  if (bytes.length < HEAD_BYTES + TAG_BYTES || bytes[0] !== VERSION) return undefined;
  const head = bytes.subarray(0, HEAD_BYTES);
  const cipher = createDecipheriv('aes-256-gcm', tokenKey(key, head), nonceOf(head), { authTagLength: TAG_BYTES });
  cipher.setAAD(authenticatedData(head, binding));
  cipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
  const body = cipher.update(bytes.subarray(HEAD_BYTES, bytes.length - TAG_BYTES));
  try {
    return Buffer.concat([body, cipher.final()]).toString('utf8');
  } catch {
    // `final` throws only if the tag is wrong.
    return undefined;
  }
}

function tokenKey(key: Buffer, head: Buffer): Buffer {
  return createHmac('sha256', key)
    .update(head.subarray(0, 1 + SALT_BYTES))
    .digest();
}

function nonceOf(head: Buffer): Buffer {
  return head.subarray(1 + SALT_BYTES);
}

function authenticatedData(head: Buffer, { list, principal, query }: ContinuationBinding): Buffer {
  const { organisation, clientId, username } = principal;
  const binding = JSON.stringify([list, organisation, clientId, username, query]);
  return Buffer.concat([head, Buffer.from(binding, 'utf8')]);
}

/** The key that all processes of the service share; the first that needs it creates it. */
async function loadKey({ storage, clock, random }: Context): Promise<Buffer> {
  const known = await storage.read(IDENTITY_SHARD, (tx) => tx.get(secrets, { name: SECRET_NAME }));
  const row =
    known ??
    (await writeReserved(storage, IDENTITY_SHARD, async (tx) => {
      const before = await tx.get(secrets, { name: SECRET_NAME });
      if (before !== undefined) return before;
      const secret = Buffer.from(random.bytes(KEY_BYTES)).toString('base64');
      const made = { name: SECRET_NAME, secret, createdMs: clock.nowMs() };
      await tx.insert(secrets, made);
      return made;
    }));
  return Buffer.from(row.secret, 'base64');
}
