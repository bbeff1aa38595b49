// Whose failures are counted behind proxies: addresses that callers write into x-forwarded-for do not count.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startServer } from '../../src/service/server.js';

async function open(trustedProxyCount: number) {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'windrow-proxies-'));
  onTestFinished(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const settings = { tokenFailuresPerMinuteMax: 2 };
  const server = await startServer({ dataDirectory, trustedProxyCount, settings, logLevel: 'silent' });
  onTestFinished(() => server.stop());
  const client = { organisation: 'acme', name: 'one', scopes: ['core_read'], grants: ['client_credentials'] };
  const { clientId, clientSecret } = await server.service.identity.administration.addClient(client);
  return async (forwarded: string, secret = clientSecret): Promise<number> => {
    const answer = await fetch(`${server.url}/idm/ims/connect/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`,
        'x-forwarded-for': forwarded,
      },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'core_read' }),
    });
    return answer.status;
  };
}

describe('--trust-proxy', () => {
  it('1 takes the last address, written by the proxy, whatever the caller wrote before it', async () => {
    const ask = await open(1);
    for (const forged of ['203.0.113.1, ', '203.0.113.2,203.0.113.3, ']) {
      expect(await ask(`${forged}192.0.2.1`, 'wrong')).toBe(401);
    }
    expect(await ask('203.0.113.4, 192.0.2.1')).toBe(429);
    // Nor is anybody locked out whose address another caller wrote.
    expect(await ask('192.0.2.1, 192.0.2.2')).toBe(200);
  });

  it.each([
    ['192.0.2.1', ['192.0.2.1:50001', '192.0.2.1:50002']],
    ['[2001:db8::1]:50003', ['[2001:db8::1]:50001', '2001:db8::2']],
  ])('a port that the proxy writes is no part of the address: %s', async (again, forms) => {
    const ask = await open(1);
    for (const form of forms) expect(await ask(form, 'wrong')).toBe(401);
    expect(await ask(again)).toBe(429);
    expect(await ask('192.0.2.2:50001')).toBe(200);
  });

  it('2 takes the last but one', async () => {
    const ask = await open(2);
    for (let i = 0; i < 2; i++) expect(await ask(`203.0.113.${i}, 192.0.2.1, 10.0.0.${i}`, 'wrong')).toBe(401);
    expect(await ask('192.0.2.1, 10.0.0.7')).toBe(429);
    expect(await ask('192.0.2.1, 192.0.2.2, 10.0.0.7')).toBe(200);
  });

  it('without it, the address of the connection counts', async () => {
    const ask = await open(0);
    for (let i = 0; i < 2; i++) expect(await ask(`192.0.2.${i}`, 'wrong')).toBe(401);
    expect(await ask('192.0.2.9')).toBe(429);
  });
});
