import { Type } from 'typebox';
import { oneOf } from '../http/envelope.js';
import { grantTypes } from '../identity/principal.js';

const tags = ['Token'];
const shared = { tags, consumes: ['application/x-www-form-urlencoded'], security: [{ client: [] }] };

/** An error of RFC 6749, section 5.2. */
const error = (description: string) =>
  Type.Object({ error: Type.String(), error_description: Type.String() }, { description });

const errors = {
  400: error('The request is invalid or not allowed; error says which.'),
  401: error('invalid_client: id or secret is wrong or missing from the Authorization header (see WWW-Authenticate).'),
  413: error('The body is larger than 64 KiB.'),
  415: error('The body is not an uncompressed form in UTF-8.'),
  429: error('Too many failed attempts by the client, user or address; Retry-After says when to retry.'),
  500: error('Internal error; the log has it under the correlation id.'),
  503: error('Overloaded, stopping, or the disk is full; Retry-After says when to retry.'),
};

export const tokenSchema = {
  summary: 'Get an access token',
  description:
    'The grants client_credentials and password of RFC 6749, with HTTP Basic client authentication. ' +
    'The answer names the granted scope if it differs from the requested one.',
  ...shared,
  body: Type.Object({
    grant_type: oneOf(grantTypes),
    scope: Type.String({ description: 'Scopes, separated by spaces' }),
    username: Type.Optional(Type.String({ description: 'For the password grant' })),
    password: Type.Optional(Type.String({ description: 'For the password grant' })),
  }),
  response: {
    200: Type.Object({
      access_token: Type.String({ description: 'For the header Authorization: Bearer ACCESS_TOKEN' }),
      token_type: Type.Literal('Bearer'),
      expires_in: Type.Number({ description: 'Seconds until the token expires' }),
      scope: Type.Optional(Type.String({ description: 'The granted scope, if it differs from the requested one' })),
    }),
    ...errors,
  },
};

const tokenBody = Type.Object({
  token: Type.String(),
  token_type_hint: Type.Optional(Type.String({ description: 'Accepted and ignored' })),
});

export const revokeSchema = {
  summary: 'Revoke an access token',
  description:
    'RFC 7009: a client may revoke its own tokens; one with core_admin, those of its organisation. ' +
    'An unknown or expired token is not an error.',
  ...shared,
  body: tokenBody,
  response: { 200: Type.Object({}, { description: 'The token is revoked, or was not valid.' }), ...errors },
};

export const introspectSchema = {
  summary: 'Introspect an access token',
  description: 'RFC 7662: a client may introspect the tokens of its organisation; others count as not active.',
  ...shared,
  body: tokenBody,
  response: {
    200: Type.Object({
      active: Type.Boolean(),
      scope: Type.Optional(Type.String()),
      client_id: Type.Optional(Type.String()),
      username: Type.Optional(Type.String()),
      sub: Type.Optional(Type.String({ description: 'The user, or else the client' })),
      token_type: Type.Optional(Type.Literal('Bearer')),
      iat: Type.Optional(Type.Number({ description: 'Seconds since 1970' })),
      exp: Type.Optional(Type.Number({ description: 'Seconds since 1970' })),
    }),
    ...errors,
  },
};

const names = Type.Array(Type.String());

export const metadataSchema = {
  summary: 'Where and how to get tokens',
  description: 'Authorization server metadata (RFC 8414).',
  tags,
  security: [],
  response: {
    200: Type.Object({
      issuer: Type.String(),
      token_endpoint: Type.String(),
      token_endpoint_auth_methods_supported: names,
      grant_types_supported: names,
      response_types_supported: names,
      scopes_supported: names,
      revocation_endpoint: Type.String(),
      revocation_endpoint_auth_methods_supported: names,
      introspection_endpoint: Type.String(),
      introspection_endpoint_auth_methods_supported: names,
    }),
  },
};
