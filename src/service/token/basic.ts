import { decodePart, decodeUtf8 } from './form.js';

export interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
}

const BASIC = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for (RFC 7617)
const CONTROL = /[\x00-\x1f\x7f]/;

/**
 * Reads `Authorization: Basic BASE64(clientid:clientsecret)` (interface 4.1). RFC 6749 (2.3.1) has both
 * form-encoded before they are joined, which many clients leave out: so the decoded reading comes first, and the
 * text as it stands second where it differs.
 *
 * @returns undefined when the header is malformed.
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
