// No secret is ever logged: every endpoint gets secrets wherever one can be.
import type { InjectOptions } from 'fastify';
import { expect, it } from 'vitest';
import { openSqliteStorage } from '../../src/storage/index.js';
import { openTestService, type TestService } from './app.js';
import { failingStorage, type Trouble } from './failing-storage.js';

const PASSWORD = 'canary-password-fjord';
const QUERY = 'canary-query-heron';
const BODY = 'canary-body-otter';
const WRONG_TOKEN = 'canary-token-lynx';
const WRONG_SECRET = 'canary-secret-stoat';

const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});

async function askEverything(service: TestService, credentials: readonly Record<string, string>[]): Promise<number> {
  let answered = 0;
  for (const { method, url } of service.routes) {
    if (method === 'HEAD' || url.endsWith('/live') || url.startsWith('/docs')) continue;
    for (const headers of credentials) {
      const form = `grant_type=password&username=zoe&password=${PASSWORD}&scope=core_read&token=${WRONG_TOKEN}`;
      const bodies: [string | undefined, string][] = [
        [undefined, ''],
        ['application/json', `[{"${BODY}": 1, "timeseriesId": "a", "timestamp": "${BODY}", "val": 1}]`],
        ['application/json', `{"password": "${BODY}"`],
        ['application/x-www-form-urlencoded', form],
        ['text/csv', `timestamp,value\n${BODY},1\n`],
      ];
      for (const [contentType, payload] of bodies) {
        const request: InjectOptions = {
          method: method as 'GET',
          url: `${url.replaceAll(/:\w+/g, 'none').replace('*', 'x')}?access_token=${QUERY}&password=${QUERY}`,
          headers: {
            ...headers,
            ercollectionid: 'alarms',
            cookie: WRONG_TOKEN,
            ...(contentType === undefined ? {} : { 'content-type': contentType }),
          },
          ...(contentType === undefined ? {} : { payload }),
        };
        await service.app.inject(request);
        answered++;
      }
    }
  }
  return answered;
}

it('no secret, token, password, query or body is ever logged, at any level, even when everything fails', async () => {
  const trouble: Trouble = {};
  const service = await openTestService({
    settings: { tokenFailuresPerMinuteMax: 0 },
    storage: async (directory, clock) => failingStorage(await openSqliteStorage({ directory, clock }), trouble),
  });
  const { administration } = service.service.identity;
  const grants = 'client_credentials password';
  const client = await service.addClient({ organisation: 'acme', grants });
  await service.service.identity.addUser({ organisation: 'acme', username: 'zoe', password: PASSWORD });
  await administration.addCollection({ organisation: 'acme', collectionId: 'alarms', clientIds: [client.clientId] });
  const payload = `grant_type=password&username=zoe&password=${PASSWORD}&scope=core_read%20core_write%20core_admin`;
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const own = basic(client.clientId, client.clientSecret);
  const url = '/idm/ims/connect/token';
  const issued = await service.app.inject({ method: 'POST', url, headers: { ...own, ...form }, payload });
  expect(issued.statusCode).toBe(200);
  const token: string = issued.json().access_token;
  const credentials = [
    own,
    { authorization: `Bearer ${token}` },
    { authorization: `Bearer ${WRONG_TOKEN}` },
    { authorization: `Bearer ${WRONG_TOKEN} ${WRONG_SECRET}` },
    basic(client.clientId, WRONG_SECRET),
    { authorization: `Digest ${WRONG_SECRET}` },
  ];
  const count = await askEverything(service, credentials);
  trouble.read = new Error('the disk is on fire');
  trouble.write = trouble.read;
  const failedCount = await askEverything(service, credentials);
  trouble.read = undefined;
  trouble.write = undefined;

  const log = service.logLines.join('');
  expect(service.logLines.length).toBeGreaterThanOrEqual(count + failedCount);
  expect(log).toContain('the disk is on fire');
  const encoded = [client.clientSecret, WRONG_SECRET].map((secret) => basic(client.clientId, secret).authorization);
  const secrets = [client.clientSecret, token, PASSWORD, QUERY, BODY, WRONG_TOKEN, WRONG_SECRET];
  const found = [...secrets, ...encoded.map((text) => text.slice('Basic '.length))].filter((one) => log.includes(one));
  expect(found).toEqual([]);
  await service.close();
});
