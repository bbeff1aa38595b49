import type { FastifyRequest } from 'fastify';
import { ServiceError } from '../http/errors.js';
import { type Authorize, covers, type Principal, type Scope } from './principal.js';

const REALM = 'realm="windrow"';
const BEARER = /^bearer(?: +(.*))?$/is;
/** RFC 6750, section 2.1. */
const TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

/**
 * Makes the hooks that authorize a request by its bearer token (RFC 6750). Only the Authorization header may carry the
 * token: one in the query would end up in logs, and one in the body could not be checked before the body is read.
 */
export function createAuthorize(
  authenticate: (token: string) => Principal | undefined | Promise<Principal | undefined>,
): Authorize {
  return (...anyOf) => {
    const authorize = async (request: FastifyRequest): Promise<void> => {
      const token = readToken(request);
      const principal = await authenticate(token);
      if (principal === undefined) {
        throw refusal(401, unknownToken(token), 'invalid_token');
      }
      request.windrowPrincipal = principal;
      if (!anyOf.some((scope) => covers(principal.scopes, scope))) throw insufficientScope(anyOf);
    };
    return Object.assign(authorize, { anyOf });
  };
}

// What a client sends as its token if it ignored the error of its token request.
const NO_TOKEN = /^(?:undefined|null|None|nil)$/;

function unknownToken(token: string): string {
  return NO_TOKEN.test(token)
    ? `the access token is the text ${token}; the token request was probably refused: check its answer`
    : 'the access token is unknown, expired or revoked; get a new one at /idm/ims/connect/token';
}

function readToken(request: FastifyRequest): string {
  const values = headerValues(request, 'authorization');
  const [header = ''] = values;
  const match = BEARER.exec(header.trim());
  // RFC 6750, 3.1: a request without a bearer token gets the challenge, but no error code.
  if (values.length < 2 && match === null) {
    throw refusal(401, 'expected the header Authorization: Bearer ACCESS_TOKEN', undefined);
  }
  const token = match?.[1]?.trim() ?? '';
  if (values.length > 1 || !TOKEN.test(token)) {
    const message = 'the Authorization header is malformed; expected Bearer ACCESS_TOKEN, once';
    throw refusal(400, message, 'invalid_request');
  }
  return token;
}

function insufficientScope(anyOf: readonly Scope[]): ServiceError {
  const needed = anyOf.join(' or ');
  // Names only the first, which grants the least: the client should not request more than it needs.
  const scope = `scope="${anyOf[0] ?? ''}"`;
  return refusal(403, `the access token lacks the scope ${needed}`, 'insufficient_scope', scope);
}

function refusal(statusCode: number, message: string, error: string | undefined, more?: string): ServiceError {
  const parts = error === undefined ? [] : [`error="${error}"`, `error_description="${message}"`];
  const challenge = ['Bearer', [REALM, ...parts, ...(more === undefined ? [] : [more])].join(', ')].join(' ');
  return new ServiceError(statusCode, message, {
    headers: { 'www-authenticate': challenge },
    ...(error === undefined ? {} : { details: { error } }),
  });
}

/** All values of a header. Of several Authorization headers, `headers` of Node has only the first. */
export function headerValues({ raw }: FastifyRequest, name: string): readonly string[] {
  const { rawHeaders } = raw;
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i]!;
    if (given.length === name.length && given.toLowerCase() === name) values.push(rawHeaders[i + 1]!);
  }
  return values;
}
