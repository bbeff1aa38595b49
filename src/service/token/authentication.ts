import type { Transaction } from '../../storage/storage.js';
import type { ClientRow } from '../../storage/tables/identity.js';
import { authenticateClient, type Credentials } from '../identity/clients.js';
import { clientSubject, readBlockMs, type Subject, subjectsAt, writeFailure } from '../identity/throttle.js';
import { invalidClient, OAuthError, tryLater } from './errors.js';
import { decodePart, decodeUtf8, type Form } from './form.js';

/** What a token request says about its sender. */
export interface Sender {
  /** All values of the Authorization header; more than one is an error. */
  readonly authorization: readonly string[];
  readonly address: string;
}

/** Credentials that are not checked yet, and the subjects that a failure counts for. */
export interface Claimed {
  readonly readings: readonly Credentials[];
  readonly subjects: readonly Subject[];
  readonly address: string;
}

/**
 * Reads the client's credentials, which only the Basic header may carry.
 *
 * @throws OAuthError invalid_client if the header is missing or malformed.
 */
export function readClaim({ authorization, address }: Sender, form: Form): Claimed {
  const [header] = authorization;
  if (header === undefined) {
    throw invalidClient('expected the header Authorization: Basic BASE64(clientid:clientsecret)');
  }
  const readings = authorization.length > 1 ? undefined : parseBasic(header);
  if (readings === undefined) {
    throw invalidClient('the Authorization header is malformed; expected Basic BASE64(clientid:clientsecret), once');
  }
  const clientId = form.get('client_id');
  // RFC 6749, 2.3: a request must use only one authentication method.
  if (form.has('client_secret') || (clientId !== undefined && readings.every((one) => one.clientId !== clientId))) {
    throw new OAuthError('invalid_request', 'the client is named twice; send its id and secret only in the header');
  }
  return { readings, subjects: subjectsAt(clientSubject(readings[0].clientId), address), address };
}

/** @returns the error to answer while any of the subjects is blocked. */
export async function refuseThrottled(
  tx: Transaction,
  subjects: readonly Subject[],
  nowMs: number,
): Promise<OAuthError | undefined> {
  const blockMs = await readBlockMs(tx, subjects, nowMs);
  if (blockMs === 0) return undefined;
  const unlock = 'or have it unlocked (windrow client unlock, windrow user unlock)';
  const mend = `try again in ${Math.ceil(blockMs / 1000)} seconds, ${unlock}`;
  return tryLater(429, `too many failed attempts by this client, user or address; ${mend}`, blockMs);
}

/** Checks the credentials and counts a failure. Errors are returned: throwing would roll back the count. */
export async function checkClaim(
  tx: Transaction,
  claimed: Claimed,
  nowMs: number,
  failureCountMax: number,
): Promise<ClientRow | OAuthError> {
  const refusal = await refuseThrottled(tx, claimed.subjects, nowMs);
  if (refusal !== undefined) return refusal;
  const client = await authenticateClient(tx, claimed.readings);
  if (client !== undefined) return client;
  await writeFailure(tx, claimed.subjects, nowMs, failureCountMax);
  return invalidClient('the client id or secret is wrong');
}

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for (RFC 7617)
const CONTROL = /[\x00-\x1f\x7f]/;

/**
 * Reads `Authorization: Basic BASE64(clientid:clientsecret)` (interface 4.1). RFC 6749 (2.3.1) requires both to be
 * form-encoded, which many clients omit. So the decoded reading comes first, and the raw text second if it differs.
 *
 * @returns undefined if the header is malformed.
 */
export function parseBasic(header: string): readonly [Credentials, ...Credentials[]] | undefined {
  const encoded = BASIC.exec(header)?.[1];
  if (encoded === undefined || encoded.replace(/=+$/, '').length % 4 === 1) return undefined;
  const text = decodeUtf8(Buffer.from(encoded, 'base64'));
  const colon = text?.indexOf(':') ?? -1;
  if (text === undefined || colon < 1 || CONTROL.test(text)) return undefined;
  const raw = { clientId: text.slice(0, colon), clientSecret: text.slice(colon + 1) };
  const clientId = decodePart(raw.clientId);
  const clientSecret = decodePart(raw.clientSecret);
  if (clientId === undefined || clientSecret === undefined || CONTROL.test(clientId)) return [raw];
  if (clientId === raw.clientId && clientSecret === raw.clientSecret) return [raw];
  return [{ clientId, clientSecret }, raw];
}
