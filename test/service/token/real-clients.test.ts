// Third-party clients get tokens by both grants, from a listening server.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as oauth from 'oauth4webapi';
import { ClientCredentials, ResourceOwnerPassword } from 'simple-oauth2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Server, startServer } from '../../../src/service/server.js';
import type { Credentials } from './requests.js';

// Characters that every encoding in between would change.
const USERNAME = "zoë o'neill";
const PASSWORD = 'p&ss w=rd%+€';

let directory: string;
let server: Server;
let client: Credentials;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'windrow-clients-'));
  server = await startServer({ dataDirectory: directory, logLevel: 'silent', settings: { eventLoopDelayMsMax: 0 } });
  const { identity } = server.service;
  const scopes = ['core_read', 'core_write'];
  const grants = ['client_credentials', 'password'];
  client = await identity.administration.addClient({ organisation: 'acme', name: 'portal', scopes, grants });
  await identity.addUser({ organisation: 'acme', username: USERNAME, password: PASSWORD });
});
afterAll(async () => {
  await server.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function isTaken(token: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${server.url}/core/timeseries`, { headers })).status === 200;
}

describe('oauth4webapi', () => {
  const options = { [oauth.allowInsecureRequests]: true };
  const own = () => ({ client_id: client.clientId });

  async function discover(): Promise<oauth.AuthorizationServer> {
    const issuer = new URL(server.url);
    const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...options });
    return oauth.processDiscoveryResponse(issuer, response);
  }

  it('finds the endpoints in the metadata, gets a token by client_credentials, and revokes it', async () => {
    const as = await discover();
    const authentication = oauth.ClientSecretBasic(client.clientSecret);
    const parameters = new URLSearchParams({ scope: 'core_read' });
    const response = await oauth.clientCredentialsGrantRequest(as, own(), authentication, parameters, options);
    const token = await oauth.processClientCredentialsResponse(as, own(), response);
    expect(token).toMatchObject({ token_type: 'bearer', expires_in: 3600 });
    expect(await isTaken(token.access_token)).toBe(true);

    const asked = await oauth.introspectionRequest(as, own(), authentication, token.access_token, options);
    const told = await oauth.processIntrospectionResponse(as, own(), asked);
    expect(told).toMatchObject({ active: true, scope: 'core_read', client_id: client.clientId });

    const revoked = await oauth.revocationRequest(as, own(), authentication, token.access_token, options);
    await oauth.processRevocationResponse(revoked);
    expect(await isTaken(token.access_token)).toBe(false);
  });

  it('gets a token by password', async () => {
    const as = await discover();
    const authentication = oauth.ClientSecretBasic(client.clientSecret);
    const parameters = { username: USERNAME, password: PASSWORD, scope: 'core_read' };
    const grant = oauth.genericTokenEndpointRequest(as, own(), authentication, 'password', parameters, options);
    const token = await oauth.processGenericTokenEndpointResponse(as, own(), await grant);
    expect(await isTaken(token.access_token)).toBe(true);
  });

  it('understands every error of 7.1', async () => {
    const as = await discover();
    const ask = async (grantType: string, parameters: Record<string, string>, secret = client.clientSecret) => {
      const authentication = oauth.ClientSecretBasic(secret);
      const request = oauth.genericTokenEndpointRequest(as, own(), authentication, grantType, parameters, options);
      try {
        await oauth.processGenericTokenEndpointResponse(as, own(), await request);
      } catch (error) {
        if (error instanceof oauth.ResponseBodyError) return [error.status, error.error];
        if (error instanceof oauth.WWWAuthenticateChallengeError) return [error.status, error.cause[0]?.scheme];
        throw error;
      }
      return [200];
    };
    expect(await ask('client_credentials', {}, 'wrong')).toEqual([401, 'basic']);
    expect(await ask('password', { username: USERNAME, password: 'wrong', scope: 'core_read' })).toEqual([
      400,
      'invalid_grant',
    ]);
    expect(await ask('client_credentials', { scope: 'core_admin' })).toEqual([400, 'invalid_scope']);
    expect(await ask('urn:example:other', {})).toEqual([400, 'unauthorized_client']);
  });
});

describe('simple-oauth2', () => {
  // The two ways in which clients write id and secret into the header.
  describe.each(['strict', 'loose'] as const)('with %s encoding of the credentials', (credentialsEncodingMode) => {
    const config = () => ({
      client: { id: client.clientId, secret: client.clientSecret },
      auth: { tokenHost: server.url, tokenPath: '/idm/ims/connect/token', revokePath: '/idm/ims/connect/revoke' },
      options: { authorizationMethod: 'header' as const, credentialsEncodingMode },
    });

    it('gets a token by client_credentials, and revokes it', async () => {
      const accessToken = await new ClientCredentials(config()).getToken({ scope: ['core_read', 'core_write'] });
      expect(accessToken.expired()).toBe(false);
      const token = String(accessToken.token.access_token);
      expect(await isTaken(token)).toBe(true);
      await accessToken.revoke('access_token');
      expect(await isTaken(token)).toBe(false);
    });

    it('gets a token by password', async () => {
      const owner = new ResourceOwnerPassword(config());
      const { token } = await owner.getToken({ username: USERNAME, password: PASSWORD, scope: 'core_read' });
      expect(await isTaken(String(token.access_token))).toBe(true);
    });

    it('reports a wrong password', async () => {
      const owner = new ResourceOwnerPassword(config());
      const asked = owner.getToken({ username: USERNAME, password: 'wrong', scope: 'core_read' });
      await expect(asked).rejects.toMatchObject({ data: { payload: { error: 'invalid_grant' } } });
    });
  });
});
