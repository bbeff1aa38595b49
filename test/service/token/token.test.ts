// The token endpoint: interface sections 2.1, 4.1, 5 and 7.1, and RFC 6749 where they say nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IDENTITY_SHARD } from '../../../src/storage/shard.js';
import { tokens } from '../../../src/storage/tables/identity.js';
import { openTestService, type TestService } from '../app.js';
import { basic, type Credentials, clientGrant, post, statusWith, TOKEN_PATH, tokenOf, userGrant } from './requests.js';

let service: TestService;
let reader: Credentials;
let app: Credentials;

beforeAll(async () => {
  // Tests here fail on purpose; other tests cover the counting of failures.
  service = await openTestService({ settings: { tokenFailuresPerMinuteMax: 0 } });
  reader = await service.addClient({ organisation: 'acme', scopes: 'core_read' });
  app = await service.addClient({
    organisation: 'acme',
    scopes: 'core_read core_write',
    grants: 'client_credentials password',
  });
  await service.service.identity.addUser({ organisation: 'acme', username: 'zoë', password: 'p&ss w=rd%+' });
});
afterAll(() => service.close());

describe('2.1 token response', () => {
  it('2.1 access_token: a string of 256 random bits that authenticates requests', async () => {
    const token = await tokenOf(service, reader);
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(await statusWith(service, token)).toBe(200);
    expect(await tokenOf(service, reader)).not.toBe(token);
  });

  it('2.1 expires_in: seconds; token_type: Bearer; nothing else if the scope is the one requested', async () => {
    const answer = await post(service, 'token', reader, clientGrant);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.json()).toEqual({ access_token: expect.any(String), expires_in: 3600, token_type: 'Bearer' });
  });

  it('the store has the hash of a token and not the token', async () => {
    const token = await tokenOf(service, reader);
    const { storage } = service.service.context;
    const rows = await storage.read(IDENTITY_SHARD, (tx) => tx.find(tokens));
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(token);
  });
});

describe('4.1 get token', () => {
  it('4.1 Authorization: Basic of clientid:clientsecret, with the scheme in any case', async () => {
    const headers = { authorization: basic(reader).replace('Basic', 'basic') };
    expect((await post(service, 'token', undefined, clientGrant, { headers })).statusCode).toBe(200);
  });

  it('4.1 Authorization: id and secret may be form-encoded, as RFC 6749 says', async () => {
    const encoded = { ...reader, clientId: reader.clientId.replace('-', '%2D') };
    expect((await post(service, 'token', encoded, clientGrant)).statusCode).toBe(200);
  });

  it('4.1 Content-Type: application/x-www-form-urlencoded, also with a charset', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' };
    expect((await post(service, 'token', reader, clientGrant, { headers })).statusCode).toBe(200);
  });

  it.each(['application/json', 'text/plain', 'multipart/form-data; boundary=x'])(
    '4.1 Content-Type: %s is 415',
    async (type) => {
      const answer = await post(service, 'token', reader, '{"grant_type":"client_credentials"}', {
        headers: { 'content-type': type },
      });
      expect(answer.statusCode).toBe(415);
      expect(answer.json()).toEqual({
        error: 'invalid_request',
        error_description: `Content-Type: expected application/x-www-form-urlencoded, received '${type}'`,
      });
      expect(answer.headers['cache-control']).toBe('no-store');
    },
  );

  const formType = 'application/x-www-form-urlencoded';
  it.each([
    [{ 'content-encoding': 'gzip' }, /^Content-Encoding: expected none at this endpoint, received gzip$/],
    [{ 'content-encoding': 'identity, br' }, /^Content-Encoding: /],
    [
      { 'content-type': `${formType};charset=utf-16` },
      /^Content-Type: expected charset=UTF-8 or none, received utf-16$/,
    ],
    [{ 'content-type': `${formType}; a=b; Charset="ISO-8859-1"` }, /received ISO-8859-1$/],
  ])('RFC 6749, appendix B: a form is plain UTF-8; %j is 415', async (headers, description) => {
    for (const endpoint of ['token', 'revoke', 'introspect'] as const) {
      const answer = await post(service, endpoint, reader, clientGrant, { headers });
      expect([answer.statusCode, answer.json()]).toEqual([
        415,
        { error: 'invalid_request', error_description: expect.stringMatching(description) },
      ]);
    }
  });

  it.each([{ 'content-encoding': 'identity' }, { 'content-type': `${formType};charset="utf-8"` }])(
    '4.1: a form that declares plain UTF-8 is accepted: %j',
    async (headers) => {
      expect((await post(service, 'token', reader, clientGrant, { headers })).statusCode).toBe(200);
    },
  );

  it('4.1 grant_type: client_credentials', async () => {
    expect((await post(service, 'token', reader, clientGrant)).statusCode).toBe(200);
  });

  it('4.1 grant_type: password, with username and password of a user of the organisation', async () => {
    const answer = await post(service, 'token', app, userGrant('zoë', 'p&ss w=rd%+'));
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({ access_token: expect.any(String), expires_in: 3600, token_type: 'Bearer' });
    expect(await statusWith(service, answer.json().access_token)).toBe(200);
  });

  it.each(['grant_type', 'username', 'password'])('4.1 %s: missing or empty is invalid_request', async (name) => {
    const { [name]: _left, ...parameters }: Record<string, string> = userGrant('zoë', 'x');
    for (const given of [parameters, { ...parameters, [name]: '' }]) {
      const answer = await post(service, 'token', app, given);
      expect([answer.statusCode, answer.json()]).toEqual([
        400,
        { error: 'invalid_request', error_description: expect.stringContaining(`parameter ${name} is missing`) },
      ]);
    }
  });

  it('4.1 scope: names separated by spaces', async () => {
    const answer = await post(service, 'token', app, { ...clientGrant, scope: 'core_write core_read' });
    expect(answer.json()).toEqual({ access_token: expect.any(String), expires_in: 3600, token_type: 'Bearer' });
  });

  it('4.1 scope: missing or empty is invalid_scope, as no token carries more than was requested', async () => {
    for (const parameters of [{ grant_type: 'client_credentials' }, { ...clientGrant, scope: '' }]) {
      const answer = await post(service, 'token', app, parameters);
      expect([answer.statusCode, answer.json()]).toEqual([
        400,
        {
          error: 'invalid_scope',
          error_description: expect.stringContaining('scope is missing; request one or more of'),
        },
      ]);
    }
  });

  it.each(['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'] as const)(
    'only POST is allowed: %s is 405',
    async (method) => {
      const answer = await service.app.inject({ method, url: TOKEN_PATH });
      expect([answer.statusCode, answer.headers.allow, answer.headers['cache-control']]).toEqual([
        405,
        'POST',
        'no-store',
      ]);
    },
  );

  it('a body that is too large is 413', async () => {
    const answer = await post(service, 'token', reader, { ...clientGrant, padding: 'x'.repeat(70_000) });
    expect([answer.statusCode, answer.json()]).toEqual([
      413,
      { error: 'invalid_request', error_description: 'the body is larger than 65536 bytes' },
    ]);
  });

  it('parameters in the query are not accepted', async () => {
    const url = `${TOKEN_PATH}?grant_type=client_credentials`;
    expect((await post(service, 'token', reader, '', { url })).json()).toMatchObject({ error: 'invalid_request' });
  });

  it('unknown parameters are ignored, repeated ones are invalid_request', async () => {
    expect((await post(service, 'token', reader, { ...clientGrant, audience: 'x' })).statusCode).toBe(200);
    const answer = await post(service, 'token', reader, 'grant_type=client_credentials&grant_type=client_credentials');
    expect([answer.statusCode, answer.json().error]).toEqual([400, 'invalid_request']);
  });

  it('a body with another client id, or with a secret, is invalid_request', async () => {
    const again = { ...clientGrant, client_id: reader.clientId };
    expect((await post(service, 'token', reader, again)).statusCode).toBe(200);
    for (const more of [{ client_id: 'other' }, { client_secret: reader.clientSecret }]) {
      const answer = await post(service, 'token', reader, { ...clientGrant, ...more });
      expect([answer.statusCode, answer.json().error]).toEqual([400, 'invalid_request']);
    }
  });
});

describe('5 authentication', () => {
  it('5.2 every other endpoint accepts the token, until 5.3 it expires', async () => {
    const token = await tokenOf(service, reader);
    expect(await statusWith(service, token)).toBe(200);
    service.clock.advance(3600 * 1000 - 1);
    expect(await statusWith(service, token)).toBe(200);
    service.clock.advance(1);
    expect(await statusWith(service, token)).toBe(401);
  });

  it('5.3 expires_in follows the setting', async () => {
    const brief = await openTestService({ settings: { tokenLifetimeS: 5 } });
    const client = await brief.addClient({ organisation: 'acme' });
    expect((await post(brief, 'token', client, clientGrant)).json()).toMatchObject({ expires_in: 5 });
    await brief.close();
  });

  it('5.4 a scope that the client may not use is invalid_scope', async () => {
    const answer = await post(service, 'token', reader, { ...clientGrant, scope: 'core_read core_write' });
    expect([answer.statusCode, answer.json().error]).toEqual([400, 'invalid_scope']);
  });

  it('5.5 scopes are core_read, core_write, core_admin; read and write stand for the first two', async () => {
    const admin = await service.addClient({ organisation: 'acme', scopes: 'core_admin' });
    const all = 'core_read core_write core_admin';
    expect((await post(service, 'token', admin, { ...clientGrant, scope: all })).statusCode).toBe(200);
    const answer = await post(service, 'token', app, { ...clientGrant, scope: 'read write' });
    expect(answer.json()).toMatchObject({ scope: 'core_read core_write' });
  });

  it('5.1 the password grant is for clients that have it', async () => {
    const answer = await post(service, 'token', reader, userGrant('zoë', 'p&ss w=rd%+'));
    expect([answer.statusCode, answer.json().error]).toEqual([400, 'unauthorized_client']);
  });
});

describe('7.1 errors', () => {
  const wrong = (): Credentials => ({ ...reader, clientSecret: app.clientSecret });

  it('7.1 invalid_client: a wrong client id or a wrong secret, indistinguishably', async () => {
    const bySecret = await post(service, 'token', wrong(), clientGrant);
    const byId = await post(service, 'token', { ...reader, clientId: 'client-unknown' }, clientGrant);
    for (const answer of [bySecret, byId]) {
      expect(answer.statusCode).toBe(401);
      expect(answer.headers['www-authenticate']).toBe('Basic realm="windrow", charset="UTF-8"');
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(answer.json()).toEqual({
        error: 'invalid_client',
        error_description: 'the client id or secret is wrong',
      });
    }
    expect(byId.body).toBe(bySecret.body);
  });

  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['of another scheme', 'Bearer abc'],
    ['without base64', 'Basic'],
    ['of broken base64', 'Basic %%%'],
    ['without a colon', `Basic ${Buffer.from('abc').toString('base64')}`],
  ])('7.1 invalid_client: the Authorization header is %s', async (_what, authorization) => {
    const headers = authorization === undefined ? {} : { authorization };
    const answer = await post(service, 'token', undefined, clientGrant, { headers });
    expect([answer.statusCode, answer.json().error]).toEqual([401, 'invalid_client']);
    expect(answer.headers['www-authenticate']).toMatch(/^Basic realm=/);
  });

  it('7.1 invalid_client is reported before any fault of the grant', async () => {
    expect((await post(service, 'token', wrong(), {})).json()).toMatchObject({ error: 'invalid_client' });
  });

  it('7.1 invalid_grant: wrong username or password, alike; also for users of other organisations', async () => {
    await service.service.identity.addUser({ organisation: 'other', username: 'ben', password: 'ben' });
    const answers = [
      await post(service, 'token', app, userGrant('zoë', 'wrong')),
      await post(service, 'token', app, userGrant('nobody', 'wrong')),
      await post(service, 'token', app, userGrant('ben', 'ben')),
      await post(service, 'token', app, userGrant('zo\0', 'wrong')),
    ];
    for (const answer of answers) {
      expect([answer.statusCode, answer.json()]).toEqual([
        400,
        { error: 'invalid_grant', error_description: 'the username or password is wrong' },
      ]);
      expect(answer.body).toBe(answers[0]?.body);
    }
  });

  it.each(['core_admin', 'openid', 'core_read core_admin', 'core_read  core_write', '"'])(
    '7.1 invalid_scope: %j, which the client may not use',
    async (scope) => {
      const answer = await post(service, 'token', reader, { ...clientGrant, scope });
      expect([answer.statusCode, answer.json().error]).toEqual([400, 'invalid_scope']);
    },
  );

  it.each(['authorization_code', 'refresh_token', 'PASSWORD', 'x'])(
    '7.1 unauthorized_client: the grant_type %s is unknown',
    async (grant_type) => {
      const answer = await post(service, 'token', reader, { ...clientGrant, grant_type });
      expect([answer.statusCode, answer.json()]).toEqual([
        400,
        {
          error: 'unauthorized_client',
          error_description: `expected the grant_type client_credentials or password, received '${grant_type}'`,
        },
      ]);
    },
  );

  it('strictRfc: an unknown grant_type is unsupported_grant_type, one not allowed is unauthorized_client', async () => {
    const strict = await openTestService({ settings: { strictRfc: true } });
    const client = await strict.addClient({ organisation: 'acme' });
    const errors = [];
    for (const grant_type of ['authorization_code', 'password']) {
      errors.push((await post(strict, 'token', client, { ...clientGrant, grant_type })).json().error);
    }
    expect(errors).toEqual(['unsupported_grant_type', 'unauthorized_client']);
    await strict.close();
  });

  it('every response, also of an error, forbids caching', async () => {
    const headers = { 'x-correlation-id': 'not allowed!' };
    const answers = [
      await post(service, 'token', reader, clientGrant),
      await post(service, 'token', wrong(), clientGrant),
      await post(service, 'token', reader, {}),
      await post(service, 'token', reader, '%'),
      await post(service, 'token', reader, clientGrant, { headers }),
    ];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 401, 400, 400, 400]);
    for (const { headers, body } of answers) {
      expect([headers['cache-control'], headers.pragma]).toEqual(['no-store', 'no-cache']);
      expect(Object.keys(JSON.parse(body))).toContain(
        headers['www-authenticate'] || 'error' in JSON.parse(body) ? 'error' : 'access_token',
      );
    }
  });

  it('the description of an error is printable ASCII without quotes and backslashes', async () => {
    const answer = await post(service, 'token', reader, { ...clientGrant, scope: 'ä"\\' });
    expect(answer.json().error_description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
  });
});
