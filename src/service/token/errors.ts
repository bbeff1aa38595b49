import type { FastifyError } from 'fastify';
import { describeValue, WindrowError } from '../../core/errors.js';
import { describeWindrowError, ServiceError } from '../http/errors.js';

/** The error codes of the token endpoint (interface 7.1, RFC 6749 section 5.2), and two for faults of the service. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'temporarily_unavailable'
  | 'server_error';

/** An error answer of the token, revocation and introspection endpoints. */
export class OAuthError extends Error {
  readonly error: OAuthErrorCode;
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(error: OAuthErrorCode, description: string, statusCode = 400, headers: Record<string, string> = {}) {
    super(description);
    this.name = new.target.name;
    this.error = error;
    this.statusCode = statusCode;
    this.headers = headers;
  }
}

/** 401 with the challenge that RFC 6749 requires. It must not reveal whether the id or the secret is wrong. */
export function invalidClient(description: string): OAuthError {
  return new OAuthError('invalid_client', description, 401, {
    'www-authenticate': 'Basic realm="windrow", charset="UTF-8"',
  });
}

/** 429 or 503: the same request may succeed later. */
export function tryLater(statusCode: 429 | 503, description: string, afterMs: number): OAuthError {
  const seconds = Math.max(1, Math.ceil(afterMs / 1000));
  return new OAuthError('temporarily_unavailable', description, statusCode, { 'retry-after': String(seconds) });
}

/** The body of an error. RFC 6749 restricts the description to printable ASCII without quotes and backslashes. */
export function errorBody({ error, message }: OAuthError): { error: string; error_description: string } {
  const description = message.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, '?');
  return { error, error_description: description };
}

const RETRY_AFTER_S = '5';

/** The most that a form may have. */
export const FORM_BYTES_MAX = 64 * 1024;

/** Turns any error at these endpoints into one of RFC 6749. @param contentType that of the request. */
export function oauthErrorFrom(error: FastifyError | Error, contentType: string | undefined): OAuthError {
  if (error instanceof OAuthError) return error;
  if (error instanceof ServiceError) {
    const { statusCode, message, headers } = error;
    return new OAuthError(codeOf(statusCode), message, statusCode, { ...headers });
  }
  if (error instanceof WindrowError && error.code === 'storage.full') {
    return unavailable('the disk of the service is full');
  }
  if (error instanceof WindrowError) {
    const { statusCode, message } = describeWindrowError(error);
    // A request for a token may be repeated whether or not the first took effect.
    if (statusCode >= 503) return unavailable(statusCode === 504 ? 'the store of the service was lost' : message);
  }
  const statusCode = 'statusCode' in error ? (error.statusCode ?? 500) : 500;
  if (statusCode === 503) return unavailable('the service is overloaded; try again later');
  if (statusCode < 400 || statusCode >= 500) return new OAuthError('server_error', 'internal error', 500);
  return new OAuthError('invalid_request', describe(statusCode, error.message, contentType), statusCode);
}

function describe(statusCode: number, message: string, contentType: string | undefined): string {
  if (statusCode === 413) return `the body is larger than ${FORM_BYTES_MAX} bytes`;
  if (statusCode === 415) {
    return `Content-Type: expected application/x-www-form-urlencoded, received ${describeValue(contentType)}`;
  }
  return message;
}

function codeOf(statusCode: number): OAuthErrorCode {
  if (statusCode === 429 || statusCode === 503) return 'temporarily_unavailable';
  return statusCode >= 500 ? 'server_error' : 'invalid_request';
}

function unavailable(message: string): OAuthError {
  return new OAuthError('temporarily_unavailable', message, 503, { 'retry-after': RETRY_AFTER_S });
}
