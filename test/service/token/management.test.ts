// Revocation (RFC 7009), introspection (RFC 7662) and metadata (RFC 8414).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestService, type TestService } from '../app.js';
import { type Credentials, clientGrant, post, statusWith, tokenOf, userGrant } from './requests.js';

let service: TestService;
let own: Credentials;
let sibling: Credentials;
let admin: Credentials;
let stranger: Credentials;

beforeAll(async () => {
  service = await openTestService({ nowMs: Date.UTC(2026, 0, 1, 0, 0, 0, 900) });
  const grants = 'client_credentials password';
  own = await service.addClient({ organisation: 'acme', scopes: 'core_read core_write', grants });
  sibling = await service.addClient({ organisation: 'acme', scopes: 'core_read' });
  admin = await service.addClient({ organisation: 'acme', scopes: 'core_admin' });
  stranger = await service.addClient({ organisation: 'other', scopes: 'core_admin' });
  await service.service.identity.addUser({ organisation: 'acme', username: 'zoe', password: 'zoe' });
});
afterAll(() => service.close());

describe('revocation', () => {
  it('of an own token is 200, and the token is no longer valid', async () => {
    const token = await tokenOf(service, own);
    expect(await statusWith(service, token)).toBe(200);
    const answer = await post(service, 'revoke', own, { token, token_type_hint: 'access_token' });
    expect([answer.statusCode, answer.body, answer.headers['cache-control']]).toEqual([200, '{}', 'no-store']);
    expect(await statusWith(service, token)).toBe(401);
  });

  it('of an unknown or revoked token is 200, with any hint', async () => {
    const token = await tokenOf(service, own);
    for (const given of [token, token, 'unknown', '\u00e4']) {
      const answer = await post(service, 'revoke', own, { token: given, token_type_hint: 'refresh_token' });
      expect(answer.statusCode).toBe(200);
    }
  });

  it("of another client's token needs core_admin of its organisation", async () => {
    const token = await tokenOf(service, own);
    for (const client of [sibling, stranger]) {
      const answer = await post(service, 'revoke', client, { token });
      expect([answer.statusCode, answer.json().error]).toEqual([400, 'unauthorized_client']);
      expect(await statusWith(service, token)).toBe(200);
    }
    expect((await post(service, 'revoke', admin, { token })).statusCode).toBe(200);
    expect(await statusWith(service, token)).toBe(401);
  });

  it('needs a client and a token', async () => {
    expect((await post(service, 'revoke', undefined, { token: 'x' })).statusCode).toBe(401);
    const answer = await post(service, 'revoke', own, {});
    expect([answer.statusCode, answer.json().error]).toEqual([400, 'invalid_request']);
    expect((await service.app.inject({ url: '/idm/ims/connect/revoke' })).headers.allow).toBe('POST');
  });
});

describe('introspection', () => {
  it('tells a client of the organisation what a token is valid for', async () => {
    const token = await tokenOf(service, own, { ...clientGrant, scope: 'core_read core_write' });
    const answer = await post(service, 'introspect', sibling, { token });
    const iat = Date.UTC(2026, 0, 1) / 1000;
    expect(answer.json()).toEqual({
      active: true,
      scope: 'core_read core_write',
      client_id: own.clientId,
      sub: own.clientId,
      token_type: 'Bearer',
      iat,
      exp: iat + 3600,
    });
    expect(answer.headers['cache-control']).toBe('no-store');
  });

  it('names the user of a token obtained with a password', async () => {
    const token = await tokenOf(service, own, userGrant('zoe', 'zoe'));
    expect((await post(service, 'introspect', own, { token })).json()).toMatchObject({ username: 'zoe', sub: 'zoe' });
  });

  it('of a token that is unknown, revoked, expired or of others says that it is not active, and no more', async () => {
    const revoked = await tokenOf(service, own);
    await post(service, 'revoke', own, { token: revoked });
    const expired = await tokenOf(service, own);
    service.clock.advance(3600 * 1000);
    const good = await tokenOf(service, own);
    for (const [client, token] of [
      [own, 'unknown'],
      [own, revoked],
      [own, expired],
      [stranger, good],
    ] as const) {
      const answer = await post(service, 'introspect', client, { token });
      expect([answer.statusCode, answer.body]).toEqual([200, '{"active":false}']);
    }
  });

  it('needs a client', async () => {
    const answer = await post(service, 'introspect', undefined, { token: 'x' });
    expect([answer.statusCode, answer.json().error]).toEqual([401, 'invalid_client']);
  });
});

describe('metadata', () => {
  const path = '/.well-known/oauth-authorization-server';
  const at = (url: string, host = 'ts.example.com:8443') => service.app.inject({ url, headers: { host } });

  it('names the endpoints under the requested host', async () => {
    const base = 'http://ts.example.com:8443';
    expect((await at(path)).json()).toEqual({
      issuer: base,
      token_endpoint: `${base}/idm/ims/connect/token`,
      token_endpoint_auth_methods_supported: ['client_secret_basic'],
      grant_types_supported: ['client_credentials', 'password'],
      response_types_supported: [],
      scopes_supported: ['core_read', 'core_write', 'core_admin'],
      revocation_endpoint: `${base}/idm/ims/connect/revoke`,
      revocation_endpoint_auth_methods_supported: ['client_secret_basic'],
      introspection_endpoint: `${base}/idm/ims/connect/introspect`,
      introspection_endpoint_auth_methods_supported: ['client_secret_basic'],
    });
  });

  it('is also found by the path of the token endpoint, and nowhere else', async () => {
    const { issuer, token_endpoint } = (await at(`${path}/idm/ims/connect`)).json();
    expect(issuer).toBe('http://ts.example.com:8443/idm/ims/connect');
    expect(token_endpoint).toBe('http://ts.example.com:8443/idm/ims/connect/token');
    expect((await at(`${path}/other`)).statusCode).toBe(404);
  });

  it.each(['a b', 'a/b', 'user@a', 'a?b'])('does not repeat an invalid host: %j', async (host) => {
    expect((await at(path, host)).statusCode).toBe(400);
  });

  it('uses the public URL if one is set, whatever the host, including its path', async () => {
    const behind = await openTestService({ settings: { publicUrl: 'https://example.com/ts/' } });
    for (const url of [path, `${path}/ts`]) {
      const { issuer, token_endpoint } = (await behind.app.inject({ url })).json();
      expect([issuer, token_endpoint]).toEqual([
        'https://example.com/ts',
        'https://example.com/ts/idm/ims/connect/token',
      ]);
    }
    await behind.close();
  });
});
