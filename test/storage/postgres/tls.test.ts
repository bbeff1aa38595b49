import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseAddress } from '../../../src/storage/postgres/address.js';
import { loadPackage, Servers } from '../../../src/storage/postgres/servers.js';

const SSL_REQUEST = 80_877_103;
const REFUSAL = 'SFATAL\0C28P01\0Mwrong password\0\0';

/** A server that lacks TLS and lets nobody in; tells how it was asked. */
async function serverWithoutTls(): Promise<{ readonly port: number; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (bytes) => {
      const isTls = bytes.readInt32BE(4) === SSL_REQUEST;
      asked.push(isTls ? 'TLS' : 'plain');
      const length = Buffer.alloc(4);
      length.writeInt32BE(4 + REFUSAL.length);
      socket.end(isTls ? 'N' : Buffer.concat([Buffer.from('E'), length, Buffer.from(REFUSAL)]));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  // `as`: it listens at a port, not at a socket.
  return { port: (server.address() as AddressInfo).port, asked };
}

describe('sslmode, as with libpq', () => {
  it.each([
    ['', ['plain'], /wrong password/],
    ['sslmode=disable', ['plain'], /wrong password/],
    ['sslmode=allow', ['plain', 'TLS'], /wrong password/],
    ['sslmode=prefer', ['TLS', 'plain'], /wrong password/],
    ['sslmode=require', ['TLS'], /not support SSL/],
    ['sslmode=verify-full', ['TLS'], /not support SSL/],
  ])('%s: a server that lacks TLS is asked for %j', async (query, expected, message) => {
    const warnings: string[] = [];
    const listen = ({ message: text }: Error) => warnings.push(text);
    process.on('warning', listen);
    onTestFinished(() => void process.off('warning', listen));
    const { port, asked } = await serverWithoutTls();
    const address = parseAddress(`postgres://me:x@127.0.0.1:${port}/x?${query}`);
    await expect(new Servers(await loadPackage(), address).connect()).rejects.toThrow(message);
    expect(asked).toEqual(expected);
    expect(warnings.filter((text) => text.includes('SSL'))).toEqual([]);
  });

  it('require encrypts without verifying, unless it names the authority; verify-ca must name it', () => {
    const query = (text: string) => parseAddress(`postgres://a/x?${text}`).servers[0]![0]!.split('?')[1];
    expect(query('sslmode=require')).toBe('sslmode=require&uselibpqcompat=true');
    expect(query('sslmode=require&uselibpqcompat=false')).toBe('sslmode=require&uselibpqcompat=true');
    const authority = 'sslmode=verify-ca&sslrootcert=%2Fetc%2Fca.pem';
    expect(query(authority)).toBe(`${authority}&uselibpqcompat=true`);
    // It is read for each connection, wherever the process works by then.
    const relative = encodeURIComponent(resolve('ca.pem'));
    expect(query('sslmode=verify-ca&sslrootcert=ca.pem')).toContain(`sslrootcert=${relative}&`);
    expect(() => query('sslmode=verify-ca')).toThrow('needs sslrootcert=FILE');
    expect(() => query('sslmode=nonsense')).toThrow(
      'sslmode is one of disable, allow, prefer, require, verify-ca, verify-full, not "nonsense"',
    );
    expect(() => query('sslmode=constructor')).toThrow('sslmode is one of');
  });
});
