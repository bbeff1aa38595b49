import type { ClientRow } from '../../storage/tables/identity.js';
import type { Form } from './form.js';
import { OAuthError } from './oauth-error.js';
import { type GrantedScope, grantScope } from './scope.js';

export const grantTypes = ['client_credentials', 'password'] as const;
export type GrantType = (typeof grantTypes)[number];

/** What a client asks for, and may have; of the password grant the user's password is still to be checked. */
export type GrantRequest =
  | { readonly grantType: 'client_credentials'; readonly granted: GrantedScope }
  | {
      readonly grantType: 'password';
      readonly granted: GrantedScope;
      readonly username: string;
      readonly password: string;
    };

/**
 * Reads the form of a token request (interface 4.1) that a client has sent whose secret was right.
 *
 * @throws OAuthError.
 */
export function readGrantRequest(form: Form, client: ClientRow, isStrictRfc: boolean): GrantRequest {
  const grantType = readGrantType(form, isStrictRfc);
  if (!client.grants.split(' ').includes(grantType)) {
    const mend = `it was added with --grant ${client.grants.replaceAll(' ', ',')}`;
    throw new OAuthError('unauthorized_client', `this client may not use the grant_type ${grantType}; ${mend}`);
  }
  if (grantType === 'client_credentials') {
    return { grantType, granted: grantScope(form.get('scope'), client.scopes.split(' ')) };
  }
  const username = required(form, 'username');
  const password = required(form, 'password');
  return { grantType, granted: grantScope(form.get('scope'), client.scopes.split(' ')), username, password };
}

function readGrantType(form: Form, isStrictRfc: boolean): GrantType {
  const text = required(form, 'grant_type');
  const known = grantTypes.find((name) => name === text);
  if (known !== undefined) return known;
  // The interface (7.1) has a word of its own for it.
  const code = isStrictRfc ? 'unsupported_grant_type' : 'unauthorized_client';
  throw new OAuthError(code, `expected the grant_type ${grantTypes.join(' or ')}`);
}

function required(form: Form, name: string): string {
  const value = form.get(name);
  if (value !== undefined) return value;
  const place = 'in the body, as application/x-www-form-urlencoded';
  throw new OAuthError('invalid_request', `the parameter ${name} is missing; it is sent ${place}`);
}
