/** The codes of the token endpoint (interface 7.1, RFC 6749 section 5.2), and what all services may have to say. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'temporarily_unavailable'
  | 'server_error';

/** An answer of the token endpoint and its kin that is none of success. */
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

/** 401 with the challenge that RFC 6749 asks for. Whether the id or the secret is wrong is not told. */
export function invalidClient(description: string): OAuthError {
  return new OAuthError('invalid_client', description, 401, {
    'www-authenticate': 'Basic realm="windrow", charset="UTF-8"',
  });
}

/** 429 or 503: the same request may do later. */
export function tryLater(statusCode: 429 | 503, description: string, afterMs: number): OAuthError {
  const seconds = Math.max(1, Math.ceil(afterMs / 1000));
  return new OAuthError('temporarily_unavailable', description, statusCode, { 'retry-after': String(seconds) });
}

/** The body of an error: RFC 6749 allows the description printable ASCII without quotes and backslashes. */
export function errorBody({ error, message }: OAuthError): { error: string; error_description: string } {
  const description = message.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, '?');
  return { error, error_description: description };
}
