// The life of a token: expiry, revocation, restarts; and how often somebody may guess.
import { afterEach, describe, expect, it } from 'vitest';
import { createIdentity } from '../../../src/service/identity/identity.js';
import { PASSWORD_COST } from '../../../src/service/identity/passwords.js';
import { hashSecret } from '../../../src/service/identity/secrets.js';
import type { ServiceSettings } from '../../../src/service/settings.js';
import { IDENTITY_SHARD } from '../../../src/storage/shard.js';
import { throttles, tokens, users } from '../../../src/storage/tables/identity.js';
import { openTestService, type TestService } from '../app.js';
import { basic, type Credentials, clientGrant, post, statusWith, tokenOf, userGrant } from './requests.js';

const HOUR_MS = 3600 * 1000;
const MINUTE_MS = 60_000;

let service: TestService;
afterEach(() => service.close());

async function open(settings: Partial<ServiceSettings> = {}): Promise<Credentials> {
  service = await openTestService({ settings });
  return service.addClient({ organisation: 'acme', grants: 'client_credentials password' });
}

async function openWithToken(): Promise<string> {
  const client = await open();
  return tokenOf(service, client);
}

const wrongly = (client: Credentials): Credentials => ({ ...client, clientSecret: 'wrong' });

describe('a token', () => {
  it('is valid after a restart, until it expires', async () => {
    const token = await openWithToken();
    await service.reopen();
    expect(await statusWith(service, token)).toBe(200);
    service.clock.advance(HOUR_MS);
    await service.reopen();
    expect(await statusWith(service, token)).toBe(401);
  });

  it('does not live longer if the wall clock is set back', async () => {
    const token = await openWithToken();
    expect(await statusWith(service, token)).toBe(200);
    service.clock.setWall(service.clock.nowMs() - 24 * HOUR_MS);
    expect(await statusWith(service, token)).toBe(200);
    service.clock.advance(HOUR_MS);
    expect(await statusWith(service, token)).toBe(401);
  });

  it('expires by the wall clock', async () => {
    const token = await openWithToken();
    service.clock.setWall(service.clock.nowMs() + HOUR_MS);
    expect(await statusWith(service, token)).toBe(401);
  });

  it('first seen before its issue by the clock lives no longer than its lifetime', async () => {
    const token = await openWithToken();
    await service.reopen();
    service.clock.setWall(service.clock.nowMs() - 24 * HOUR_MS);
    expect(await statusWith(service, token)).toBe(200);
    service.clock.advance(HOUR_MS);
    expect(await statusWith(service, token)).toBe(401);
  });

  it('is deleted from the store some time after it has expired', async () => {
    const client = await open();
    const token = await tokenOf(service, client);
    service.clock.advance(HOUR_MS + 1);
    await tokenOf(service, client);
    const { storage } = service.service.context;
    const left = await storage.read(IDENTITY_SHARD, (tx) => tx.find(tokens));
    expect(left.map(({ tokenHash }) => tokenHash)).not.toContain(hashSecret(token));
    expect(left).toHaveLength(1);
  });

  it('is deleted with few others at a time, however many have expired at once', async () => {
    await openWithToken();
    const { storage } = service.service.context;
    const client = await service.addClient({ organisation: 'acme' });
    const expired = { clientId: client.clientId, organisation: 'acme', username: null, scope: 'core_read' };
    const span = { issuedMs: service.clock.nowMs() - 2 * HOUR_MS, expiresMs: service.clock.nowMs() - HOUR_MS };
    const rows = Array.from({ length: 500 }, (_, i) => ({ tokenHash: `old-${i}`, ...expired, ...span }));
    await storage.transaction(IDENTITY_SHARD, (tx) => tx.insertAll(tokens, rows));
    const left = () => storage.read(IDENTITY_SHARD, (tx) => tx.count(tokens, [['issuedMs', '=', span.issuedMs]]));
    service.clock.advance(60_000);
    const counts: number[] = [];
    for (let request = 0; request < 3; request++) {
      await tokenOf(service, client);
      counts.push(await left());
    }
    expect(counts).toEqual([300, 100, 0]);
  });

  it('revoked by another process is accepted for at most a second', async () => {
    const token = await openWithToken();
    expect(await statusWith(service, token)).toBe(200);
    const { storage } = service.service.context;
    await storage.transaction(IDENTITY_SHARD, (tx) => tx.delete(tokens, [['tokenHash', '=', hashSecret(token)]]));
    service.clock.advance(1000);
    expect(await statusWith(service, token)).toBe(401);
  });

  it('revoked here during its lookup is not accepted afterwards', async () => {
    const client = await open();
    const token = await tokenOf(service, client);
    const asked = Array.from({ length: 5 }, () => statusWith(service, token));
    const revoked = post(service, 'revoke', client, { token });
    await Promise.all([...asked, revoked]);
    expect(await statusWith(service, token)).toBe(401);
  });

  it('ends with its client', async () => {
    const client = await open();
    const token = await tokenOf(service, client);
    expect(await statusWith(service, token)).toBe(200);
    await service.service.identity.administration.removeClient(client);
    expect(await statusWith(service, token)).toBe(401);
    expect((await post(service, 'token', client, clientGrant)).statusCode).toBe(401);
  });

  it('obtained with a password ends with its user, and no other does', async () => {
    const client = await open();
    const { identity } = service.service;
    for (const username of ['zoe', 'ben']) {
      await identity.addUser({ organisation: 'acme', username, password: username });
    }
    const zoe = await tokenOf(service, client, userGrant('zoe', 'zoe'));
    const others = [await tokenOf(service, client, userGrant('ben', 'ben')), await tokenOf(service, client)];
    await identity.administration.removeUser({ organisation: 'acme', username: 'zoe' });
    expect(await statusWith(service, zoe)).toBe(401);
    for (const token of others) expect(await statusWith(service, token)).toBe(200);
  });
});

const THROTTLED =
  'too many failed attempts by this client, user or address; try again in 50 seconds, or have it unlocked ' +
  '(windrow client unlock, windrow user unlock)';

describe('7.2 429: failures', () => {
  it('of a client at an address, beyond the limit, are 429 there, even with the right secret', async () => {
    const client = await open({ tokenFailuresPerMinuteMax: 3 });
    const from = (one: typeof client, remoteAddress: string) =>
      post(service, 'token', one, clientGrant, { remoteAddress });
    for (let i = 0; i < 3; i++) expect((await from(wrongly(client), '192.0.2.1')).statusCode).toBe(401);
    service.clock.advance(10_000);
    for (const one of [wrongly(client), client]) {
      const answer = await from(one, '192.0.2.1');
      expect([answer.statusCode, answer.headers['retry-after'], answer.headers['cache-control']]).toEqual([
        429,
        '50',
        'no-store',
      ]);
      expect(answer.json()).toEqual({ error: 'temporarily_unavailable', error_description: THROTTLED });
    }
    expect((await from(client, '192.0.2.2')).statusCode).toBe(200);
    service.clock.advance(50_000);
    expect((await from(client, '192.0.2.1')).statusCode).toBe(200);
  });

  it('of a client from anywhere are 429 beyond ten times the limit', async () => {
    const client = await open({ tokenFailuresPerMinuteMax: 2 });
    for (let i = 0; i < 20; i++) {
      const answer = await post(service, 'token', wrongly(client), clientGrant, { remoteAddress: `192.0.2.${i}` });
      expect(answer.statusCode).toBe(401);
    }
    const answer = await post(service, 'token', client, clientGrant, { remoteAddress: '192.0.2.99' });
    expect(answer.statusCode).toBe(429);
  });

  it('of an address beyond ten times the limit, for any clients, are 429, and only there', async () => {
    const client = await open({ tokenFailuresPerMinuteMax: 1 });
    const guess = (clientId: string, remoteAddress: string) =>
      post(service, 'token', { clientId, clientSecret: 'guess' }, clientGrant, { remoteAddress });
    const codes = [];
    for (let i = 0; i < 11; i++) codes.push((await guess(`client-${i}`, `2001:db8::${i}`)).statusCode);
    expect(codes).toEqual([...Array(10).fill(401), 429]);
    const from = (remoteAddress: string) => post(service, 'token', client, clientGrant, { remoteAddress });
    expect((await from('2001:db8::ffff')).statusCode).toBe(429);
    expect((await from('2001:db8:0:1::1')).statusCode).toBe(200);
  });

  it('of a user lock out neither others at the address nor the user elsewhere, until an unlock', async () => {
    const client = await open({ tokenFailuresPerMinuteMax: 2 });
    const { identity } = service.service;
    for (const username of ['zoe', 'ben', 'ann']) {
      await identity.addUser({ organisation: 'acme', username, password: username });
    }
    const login = async (username: string, password: string, remoteAddress = '192.0.2.1') =>
      (await post(service, 'token', client, userGrant(username, password), { remoteAddress })).statusCode;
    expect([await login('zoe', 'x'), await login('zoe', 'x'), await login('zoe', 'zoe')]).toEqual([400, 400, 429]);
    expect(await login('ben', 'ben')).toBe(200);
    expect(await login('zoe', 'zoe', '192.0.2.2')).toBe(200);
    const zoe = { organisation: 'acme', username: 'zoe' };
    await identity.administration.unlockUser(zoe);
    expect(await login('zoe', 'zoe')).toBe(200);
    // The looser limit of the address, reached with unknown names.
    for (let i = 0; i < 18; i++) expect(await login(`nobody-${i}`, 'x')).toBe(400);
    expect([await login('ann', 'ann'), await login('ann', 'ann', '192.0.2.2')]).toEqual([429, 200]);
    await identity.administration.unlockUser({ ...zoe, address: '192.0.2.1' });
    expect(await login('ann', 'ann')).toBe(200);
    await expect(identity.administration.unlockUser({ ...zoe, username: 'nobody' })).rejects.toThrow(/no user nobody/);
    await expect(identity.administration.unlockUser({ ...zoe, address: 'here' })).rejects.toThrow(/address: expected/);
  });

  it('of a client end when it is unlocked', async () => {
    const client = await open({ tokenFailuresPerMinuteMax: 1 });
    await post(service, 'token', wrongly(client), clientGrant);
    expect((await post(service, 'token', client, clientGrant)).statusCode).toBe(429);
    await service.service.identity.administration.unlockClient(client);
    expect((await post(service, 'token', client, clientGrant)).statusCode).toBe(200);
  });

  it('are counted in the store and survive a restart', async () => {
    const client = await open({ tokenFailuresPerMinuteMax: 2 });
    for (let i = 0; i < 2; i++) await post(service, 'token', wrongly(client), clientGrant);
    await service.reopen();
    expect((await post(service, 'token', client, clientGrant)).statusCode).toBe(429);
  });

  it('still count when the clock was set back, and block for a minute at most', async () => {
    const client = await open({ tokenFailuresPerMinuteMax: 2 });
    const fail = () => post(service, 'token', wrongly(client), clientGrant);
    const ask = () => post(service, 'token', client, clientGrant);
    expect((await fail()).statusCode).toBe(401);
    service.clock.setWall(service.clock.nowMs() - 24 * HOUR_MS);
    expect((await fail()).statusCode).toBe(401);
    service.clock.setWall(service.clock.nowMs() - 24 * HOUR_MS);
    const refused = await ask();
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '60']);
    service.clock.advance(MINUTE_MS - 1);
    expect((await ask()).statusCode).toBe(429);
    service.clock.advance(1);
    expect((await ask()).statusCode).toBe(200);
  });

  it('that arrive all at once count like those one after another', async () => {
    const client = await open({ tokenFailuresPerMinuteMax: 3 });
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => post(service, 'token', wrongly(client), clientGrant)),
    );
    expect(answers.filter(({ statusCode }) => statusCode === 401)).toHaveLength(3);
    expect(answers.filter(({ statusCode }) => statusCode === 429)).toHaveLength(9);
  });

  it('of passwords count alike, also all at once: beyond the limit a right one is refused too', async () => {
    const client = await open({ tokenFailuresPerMinuteMax: 2 });
    await service.service.identity.addUser({ organisation: 'acme', username: 'zoe', password: 'right' });
    const guesses = ['a', 'b', 'c', 'right'].map((password) =>
      post(service, 'token', client, userGrant('zoe', password)),
    );
    const answers = await Promise.all(guesses);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([400, 400, 429, 429]);
    service.clock.advance(MINUTE_MS);
    expect((await post(service, 'token', client, userGrant('zoe', 'right'))).statusCode).toBe(200);
  });

  it('of revocation and introspection count as well', async () => {
    const client = await open({ tokenFailuresPerMinuteMax: 2 });
    for (const endpoint of ['revoke', 'introspect'] as const) {
      expect((await post(service, endpoint, wrongly(client), { token: 'x' })).statusCode).toBe(401);
    }
    expect((await post(service, 'token', client, clientGrant)).statusCode).toBe(429);
  });

  it('store nothing of what was sent, and are forgotten in time', async () => {
    const client = await open();
    const sent = 'my-secret-in-the-wrong-field';
    await post(service, 'token', { clientId: sent, clientSecret: sent }, clientGrant);
    const { storage } = service.service.context;
    const read = () => storage.read(IDENTITY_SHARD, (tx) => tx.find(throttles));
    const rows = await read();
    expect(rows).toHaveLength(3);
    expect(JSON.stringify(rows)).not.toContain(sent);
    service.clock.advance(11 * MINUTE_MS);
    await tokenOf(service, client);
    expect(await read()).toEqual([]);
  });
});

describe('old failed logins', () => {
  it('are forgotten few at a time, however many names were tried', async () => {
    const client = await open();
    const { storage } = service.service.context;
    const old = { windowStartMs: service.clock.nowMs() - HOUR_MS, failureCount: 1, blockedUntilMs: null };
    const rows = Array.from({ length: 500 }, (_, i) => ({ subject: `client ${i}`, ...old }));
    await storage.transaction(IDENTITY_SHARD, (tx) => tx.insertAll(throttles, rows));
    const counts: number[] = [];
    for (let request = 0; request < 3; request++) {
      await tokenOf(service, client);
      counts.push(await storage.read(IDENTITY_SHARD, (tx) => tx.count(throttles)));
    }
    expect(counts).toEqual([300, 100, 0]);
  });
});

describe('a password', () => {
  it('whose hash has another cost is rehashed at its next use, also by several at a time', async () => {
    const client = await open();
    const { context } = service.service;
    const cost = (costLog2: number) => ({ cost: { costLog2, blockSize: 8, parallelism: 1 } });
    await createIdentity(context, cost(4)).addUser({ organisation: 'acme', username: 'zoe', password: 'secret' });
    const hashes = async () => (await context.storage.read(IDENTITY_SHARD, (tx) => tx.find(users)))[0]?.passwordHash;
    expect(await hashes()).toMatch(/^\$scrypt\$ln=4,/);
    const { issuer } = createIdentity(context, { ...cost(5), runningMax: 2 }).tokens;
    const sender = { authorization: [basic(client)], address: '::1' };
    const form = new Map(Object.entries(userGrant('zoe', 'secret')));
    await Promise.all([issuer.issue(sender, form), issuer.issue(sender, form), issuer.issue(sender, form)]);
    const renewed = await hashes();
    expect(renewed).toMatch(/^\$scrypt\$ln=5,/);
    await issuer.issue(sender, form);
    expect(await hashes()).toBe(renewed);
  });

  it('of an unknown user costs the same work', async () => {
    const client = await open();
    const { context } = service.service;
    const { issuer } = createIdentity(context, { cost: PASSWORD_COST, runningMax: 1, waitingMax: 0 }).tokens;
    const sender = { authorization: [basic(client)], address: '::1' };
    const ask = (username: string) => issuer.issue(sender, new Map(Object.entries(userGrant(username, 'x'))));
    // One place in the queue: whoever holds it does the work.
    const [first, second] = await Promise.allSettled([ask('nobody'), ask('nobody')]);
    expect(first).toMatchObject({ reason: { error: 'invalid_grant' } });
    expect(second).toMatchObject({ reason: { statusCode: 503, headers: { 'retry-after': '2' } } });
  });
});
