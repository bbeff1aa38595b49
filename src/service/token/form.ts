import { charsetFault } from '../http/bodies.js';
import { OAuthError } from './errors.js';

/** The parameters of a form body, each at most once. One without a value counts as missing (RFC 6749, 3.2). */
export type Form = ReadonlyMap<string, string>;

/**
 * Refuses compressed forms, and charsets other than UTF-8, the only one that RFC 6749 (appendix B) allows.
 *
 * @throws OAuthError invalid_request, 415.
 */
export function checkFormHeaders(contentType?: string, contentEncoding = ''): void {
  if (!/^\s*(?:identity)?\s*$/i.test(contentEncoding)) {
    throw unsupported(`Content-Encoding: expected none at this endpoint, received ${contentEncoding}`);
  }
  const fault = charsetFault(contentType);
  if (fault !== undefined) throw unsupported(fault);
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
 * Reads a body of `application/x-www-form-urlencoded` (RFC 6749, appendix B): UTF-8, with `+` for a space.
 *
 * @throws OAuthError invalid_request for a repeated parameter, or text that is not encoded like that.
 */
export function parseForm(bytes: Uint8Array): Form {
  const body = decodeUtf8(bytes);
  if (body === undefined) throw new OAuthError('invalid_request', 'the body is not UTF-8');
  const form = new Map<string, string>();
  const names = new Set<string>();
  for (const field of body.split('&')) {
    if (field === '') continue;
    const equals = field.indexOf('=');
    const name = decodePart(equals < 0 ? field : field.slice(0, equals));
    const value = equals < 0 ? '' : decodePart(field.slice(equals + 1));
    if (name === undefined || value === undefined) {
      const place = name === undefined ? 'the name of a parameter' : `the parameter ${name}`;
      throw new OAuthError('invalid_request', `${place} is not percent-encoded UTF-8; send a % itself as %25`);
    }
    if (names.has(name)) throw new OAuthError('invalid_request', `the parameter ${name} is given more than once`);
    names.add(name);
    if (value !== '') form.set(name, value);
  }
  return form;
}

/** @returns undefined if a percent sign lacks its two hex digits, or the bytes are not UTF-8. */
export function decodePart(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
