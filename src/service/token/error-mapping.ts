import type { FastifyError } from 'fastify';
import { WindrowError } from '../../core/errors.js';
import { ServiceError } from '../errors.js';
import { OAuthError, type OAuthErrorCode } from './oauth-error.js';

const RETRY_AFTER_S = '5';

/** Whatever went wrong at the token endpoint or its kin, as an error of RFC 6749. */
export function oauthErrorFrom(error: FastifyError | Error): OAuthError {
  if (error instanceof OAuthError) return error;
  if (error instanceof ServiceError) {
    const { statusCode, message, headers } = error;
    return new OAuthError(codeOf(statusCode), message, statusCode, { ...headers });
  }
  if (error instanceof WindrowError && error.code === 'storage.full') {
    return unavailable('the disk of the service is full');
  }
  if (error instanceof WindrowError && error.code === 'storage.closed') return unavailable('the service is stopping');
  const statusCode = 'statusCode' in error ? (error.statusCode ?? 500) : 500;
  if (statusCode === 503) return unavailable('the service is overloaded; try again later');
  if (statusCode < 400 || statusCode >= 500) return new OAuthError('server_error', 'internal failure', 500);
  return new OAuthError('invalid_request', describe(statusCode, error.message), statusCode);
}

function describe(statusCode: number, message: string): string {
  if (statusCode === 413) return 'the body is too large';
  if (statusCode === 415) return 'expected a body of Content-Type application/x-www-form-urlencoded';
  return message;
}

function codeOf(statusCode: number): OAuthErrorCode {
  if (statusCode === 429 || statusCode === 503) return 'temporarily_unavailable';
  return statusCode >= 500 ? 'server_error' : 'invalid_request';
}

function unavailable(message: string): OAuthError {
  return new OAuthError('temporarily_unavailable', message, 503, { 'retry-after': RETRY_AFTER_S });
}
