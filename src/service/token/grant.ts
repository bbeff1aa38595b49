import { describeValue } from '../../core/errors.js';
import type { ClientRow } from '../../storage/tables/identity.js';
import { allScopes, covers, type GrantType, grantTypes, type Scope } from '../identity/principal.js';
import { OAuthError } from './errors.js';
import type { Form } from './form.js';

/** What the client requests and is allowed. For the password grant, the password is not checked yet. */
export type GrantRequest =
  | { readonly grantType: 'client_credentials'; readonly granted: GrantedScope }
  | {
      readonly grantType: 'password';
      readonly granted: GrantedScope;
      readonly username: string;
      readonly password: string;
    };

/**
 * Reads a token request (interface 4.1) of an authenticated client.
 *
 * @throws OAuthError.
 */
export function readGrantRequest(form: Form, client: ClientRow, isStrictRfc: boolean): GrantRequest {
  const grantType = readGrantType(form, isStrictRfc);
  if (!client.grants.split(' ').includes(grantType)) {
    const mend = `it was added with --grant ${client.grants.replaceAll(' ', ',')}`;
    throw new OAuthError('unauthorized_client', `this client may not use the grant_type ${grantType}; ${mend}`);
  }
  const grant = () => grantScope(form.get('scope'), client.scopes.split(' '));
  if (grantType === 'client_credentials') return { grantType, granted: grant() };
  const username = required(form, 'username');
  const password = required(form, 'password');
  return { grantType, granted: grant(), username, password };
}

function readGrantType(form: Form, isStrictRfc: boolean): GrantType {
  const text = required(form, 'grant_type');
  const known = grantTypes.find((name) => name === text);
  if (known !== undefined) return known;
  // The interface (7.1) departs from RFC 6749 here.
  const code = isStrictRfc ? 'unsupported_grant_type' : 'unauthorized_client';
  throw new OAuthError(code, `expected the grant_type ${grantTypes.join(' or ')}, received ${describeValue(text)}`);
}

function required(form: Form, name: string): string {
  const value = form.get(name);
  if (value !== undefined) return value;
  const place = 'in the body, as application/x-www-form-urlencoded';
  throw new OAuthError('invalid_request', `the parameter ${name} is missing; send it ${place}`);
}

// The interface's example of a token request (section 5) requests `read` and `write`.
const SHORT_NAMES: ReadonlyMap<string, Scope> = new Map(
  allScopes.map((scope) => [scope.replace(/^core_/, ''), scope] as const),
);

export interface GrantedScope {
  readonly scopes: readonly Scope[];
  /** The granted names differ from the requested ones, so the answer must list them (RFC 6749, 5.1). */
  readonly isDifferent: boolean;
}

/**
 * Grants all of the requested scopes, or throws. RFC 6749 (3.3) leaves open what a request without a scope gets; the
 * interface (4.1) requires one, so that no token carries more than was requested.
 *
 * @throws OAuthError invalid_scope.
 */
export function grantScope(requested: string | undefined, allowed: readonly string[]): GrantedScope {
  if (requested === undefined) {
    const mend = `request one or more of ${allowed.join(' ')}`;
    throw new OAuthError('invalid_scope', `the parameter scope is missing; ${mend}`);
  }
  const names = requested.split(' ');
  const scopes = new Set<string>();
  for (const name of names) {
    const scope = SHORT_NAMES.get(name) ?? name;
    if (!covers(allowed, scope)) throw invalidScope(name, allowed);
    scopes.add(scope);
  }
  return { scopes: inOrder(scopes), isDifferent: names.some((name) => !scopes.has(name)) };
}

function inOrder(scopes: ReadonlySet<string>): readonly Scope[] {
  return allScopes.filter((scope) => scopes.has(scope));
}

function invalidScope(name: string, allowed: readonly string[]): OAuthError {
  if (!/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(name)) {
    return new OAuthError('invalid_scope', 'the scope is malformed; expected names separated by single spaces');
  }
  return new OAuthError('invalid_scope', `this client may not request ${name}; it may request ${allowed.join(' ')}`);
}
