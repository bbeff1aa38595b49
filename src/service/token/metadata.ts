import { allScopes, grantTypes } from '../identity/principal.js';

/** The path of the token, revocation and introspection endpoints (interface 4.1). */
export const CONNECT_PATH = '/idm/ims/connect';
export const WELL_KNOWN_PATH = '/.well-known/oauth-authorization-server';

/** What a client must know about the service to get tokens (RFC 8414). */
export function describeServer(issuer: string, baseUrl: string) {
  const endpoint = (name: string): string => `${baseUrl}${CONNECT_PATH}/${name}`;
  const methods = ['client_secret_basic'];
  return {
    issuer,
    token_endpoint: endpoint('token'),
    token_endpoint_auth_methods_supported: methods,
    grant_types_supported: [...grantTypes],
    // RFC 8414 requires this field; without an authorization endpoint the list is empty.
    response_types_supported: [],
    scopes_supported: [...allScopes],
    revocation_endpoint: endpoint('revoke'),
    revocation_endpoint_auth_methods_supported: methods,
    introspection_endpoint: endpoint('introspect'),
    introspection_endpoint_auth_methods_supported: methods,
  };
}

/**
 * The service's URL as its callers see it: from the settings, or from this request's host.
 *
 * @returns undefined if the request's host is invalid.
 */
export function baseUrlOf(publicUrl: string, protocol: string, host: string, prefix: string): string | undefined {
  if (publicUrl !== '') return publicUrl.replace(/\/+$/, '');
  const origin = `${protocol}://${host}`;
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  const isHostAlone = url !== undefined && url.pathname === '/' && url.username === '' && !/[?#@\\]/.test(host);
  return isHostAlone ? `${url.origin}${prefix}` : undefined;
}
