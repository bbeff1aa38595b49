import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parseAddress } from '../../../src/storage/postgres/address.js';
import { loadPackage, Servers } from '../../../src/storage/postgres/servers.js';

/** AuthenticationCleartextPassword and AuthenticationSASL, of PostgreSQL's protocol. */
const ASK = Buffer.from('R\0\0\0\x08\0\0\0\x03', 'latin1');
const ASK_SCRAM = Buffer.from('R\0\0\0\x17\0\0\0\x0aSCRAM-SHA-256\0\0', 'latin1');
const SCRAM_CONTINUES = Buffer.from('R\0\0\0\x09\0\0\0\x0br', 'latin1');
const REFUSAL = Buffer.from('E\0\0\0\x1dSFATAL\0C28P01\0Mno entry\0\0', 'latin1');

/** A server that asks for a password in the given way, and lets nobody in. */
async function openServer(answers: readonly Buffer[]): Promise<{ readonly port: number; readonly told: string[] }> {
  const told: string[] = [];
  const answer = (socket: Socket) => {
    const left = [...answers, REFUSAL];
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      if (String.fromCharCode(bytes[0]!) === 'p') told.push(bytes.subarray(5, -1).toString());
      socket.write(left.shift() ?? REFUSAL);
    });
  };
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { port: typeof address === 'object' ? address!.port : 0, told };
}

async function connectError(address: string): Promise<unknown> {
  return new Servers(await loadPackage(), parseAddress(address)).connect().then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Writes a file of passwords that PGPASSFILE names. */
function writePasswords(text: string, mode: number): void {
  const folder = mkdtempSync(join(tmpdir(), 'windrow-pgpass-'));
  const file = join(folder, 'pgpass');
  writeFileSync(file, text, { mode });
  onTestFinished(() => rmSync(folder, { recursive: true }));
  vi.stubEnv('PGPASSFILE', file);
  onTestFinished(() => void vi.unstubAllEnvs());
}

describe('the password of a database', () => {
  it.each([
    ['the address', 'me:of-address@', 'of-environment', 'of-address'],
    ['PGPASSWORD', 'me@', 'of-environment', 'of-environment'],
    ['the file of PGPASSFILE', 'me@', undefined, 'of-file'],
  ])('is that of %s', async (_, user, environment, expected) => {
    const warnings: string[] = [];
    const listen = ({ message }: Error) => warnings.push(message);
    process.on('warning', listen);
    onTestFinished(() => void process.off('warning', listen));
    const { port, told } = await openServer([ASK]);
    writePasswords(`127.0.0.1:${port}:x:you:other\n127.0.0.1:${port}:x:me:of-file\n`, 0o600);
    if (environment !== undefined) vi.stubEnv('PGPASSWORD', environment);
    expect(await connectError(`postgres://${user}127.0.0.1:${port}/x`)).toMatchObject({ kind: 'denied' });
    expect(told).toEqual([expected]);
    expect(warnings).toEqual([]);
  });

  it('is asked for, and the error says where to give it', async () => {
    const { port } = await openServer([ASK_SCRAM, SCRAM_CONTINUES]);
    writePasswords('', 0o600);
    expect(await connectError(`postgres://me@127.0.0.1:${port}/x`)).toMatchObject({
      kind: 'denied',
      message: 'the server asks for a password; give it in the address, in PGPASSWORD or in ~/.pgpass',
    });
  });
});
