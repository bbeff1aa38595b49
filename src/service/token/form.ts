import { OAuthError } from './errors.js';

/** The parameters of a form body, each given once; those without a value are left out, as if not given. */
export type Form = ReadonlyMap<string, string>;

/**
 * Refuses forms that are packed, or in another charset than UTF-8, which RFC 6749 (appendix B) has alone.
 *
 * @throws OAuthError invalid_request, 415.
 */
export function checkFormHeaders(contentType = '', contentEncoding = ''): void {
  if (!/^\s*(?:identity)?\s*$/i.test(contentEncoding)) {
    throw unsupported(`Content-Encoding: expected none at this endpoint, received ${contentEncoding}`);
  }
  for (const [, charset = ''] of contentType.matchAll(/;\s*charset\s*=\s*"?([^\s";]*)/gi)) {
    if (!/^utf-?8$/i.test(charset))
      throw unsupported(`Content-Type: expected charset=UTF-8 or none, received ${charset}`);
  }
}

function unsupported(description: string): OAuthError {
  return new OAuthError('invalid_request', description, 415);
}

/** @returns undefined for bytes that are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Reads a body of `application/x-www-form-urlencoded` as RFC 6749 (appendix B) has it: UTF-8, and `+` a space.
 *
 * @throws OAuthError invalid_request for a repeated parameter, or text that is not encoded so.
 */
export function parseForm(bytes: Uint8Array): Form {
  const body = decodeUtf8(bytes);
  if (body === undefined) throw new OAuthError('invalid_request', 'the body is not UTF-8');
  const form = new Map<string, string>();
  const seen = new Set<string>();
  for (const field of body.split('&')) {
    if (field === '') continue;
    const equals = field.indexOf('=');
    const name = decodePart(equals < 0 ? field : field.slice(0, equals));
    const value = equals < 0 ? '' : decodePart(field.slice(equals + 1));
    if (name === undefined || value === undefined) {
      const place = name === undefined ? 'the name of a parameter' : `the parameter ${name}`;
      throw new OAuthError('invalid_request', `${place} is not percent-encoded UTF-8; a % itself is sent as %25`);
    }
    if (seen.has(name)) throw new OAuthError('invalid_request', `the parameter ${name} is given more than once`);
    seen.add(name);
    if (value !== '') form.set(name, value);
  }
  return form;
}

/** @returns undefined where a percent sign is not followed by two digits, or the bytes are not UTF-8. */
export function decodePart(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
