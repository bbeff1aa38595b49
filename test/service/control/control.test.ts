// The channel through which a command speaks with the process that holds a store.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { remoteAdministration } from '../../../src/service/control/client.js';
import { type ControlFile, readControlFile } from '../../../src/service/control/control-file.js';
import { controlCommands } from '../../../src/service/control/messages.js';
import { administer } from '../../../src/service/control/open-administration.js';
import { startControl } from '../../../src/service/control/server.js';
import { createAdministration } from '../../../src/service/identity/administration.js';
import { systemClock, systemRandom } from '../../../src/service/system.js';
import { openSqliteStorage, StorageError } from '../../../src/storage/index.js';
import { silentLog } from '../silent-log.js';

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'windrow-control-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const context = { clock: systemClock, random: systemRandom };

async function open(directory: string) {
  const storage = await openSqliteStorage({ directory, clock: systemClock });
  onTestFinished(() => storage.close());
  const administration = createAdministration({ ...context, storage });
  const control = await startControl({ directory, administration, random: systemRandom, log: silentLog });
  onTestFinished(() => control.close());
  const file = readControlFile(directory);
  if (file === undefined) throw new Error('there is no control file');
  return { administration, control, file };
}

const post = ({ port }: ControlFile, key: string, body: string, method = 'POST') =>
  fetch(`http://127.0.0.1:${port}/`, {
    method,
    headers: { authorization: `Bearer ${key}` },
    ...(method === 'POST' ? { body } : {}),
  });

const client = { organisation: 'acme', name: 'x', scopes: ['core_read'], grants: ['client_credentials'] };
const listing = JSON.stringify({ command: 'listClients', parameters: {} });

describe('the control channel', () => {
  it('knows every function of an administration', async () => {
    const { administration } = await open(newDirectory());
    expect(Object.keys(administration).sort()).toEqual([...controlCommands].sort());
  });

  it('does and answers what the functions themselves would, errors too', async () => {
    const { administration, file } = await open(newDirectory());
    const remote = remoteAdministration(file);
    const { clientId } = await remote.addClient(client);
    expect(await remote.listClients({})).toEqual(await administration.listClients({}));
    expect(await remote.listClients({})).toMatchObject([{ ...client, clientId }]);
    expect(await remote.removeClient({ clientId })).toBeNull();
    await expect(remote.removeClient({ clientId })).rejects.toMatchObject({ code: 'identity.missing' });
    await expect(remote.addClient({ ...client, scopes: [] })).rejects.toMatchObject({ code: 'arguments' });
  });

  it('listens to nobody without the key, and says nothing', async () => {
    const { file } = await open(newDirectory());
    expect((await post(file, file.key, listing)).status).toBe(200);
    for (const [key, method] of [
      ['', 'POST'],
      [`${file.key}x`, 'POST'],
      [file.key.slice(1), 'POST'],
      [file.key, 'GET'],
    ] as const) {
      const answer = await post(file, key, listing, method);
      expect([answer.status, await answer.text()]).toEqual([403, '']);
    }
  });

  it('refuses a command of another version, and one that is too large, with a sentence', async () => {
    const { file } = await open(newDirectory());
    const bodies = [JSON.stringify({ command: 'toString', parameters: {} }), 'x'.repeat(70_000)];
    const answers = await Promise.all(bodies.map(async (body) => (await post(file, file.key, body)).json()));
    expect(answers).toEqual([
      { error: { code: 'arguments', message: expect.stringContaining('which does not know toString; update it') } },
      { error: { code: 'arguments', message: expect.stringContaining('too many arguments') } },
    ]);
  });

  it('takes its file away when it closes, and not the one of a process that came after it', async () => {
    const directory = newDirectory();
    const { control, file } = await open(directory);
    const other = { ...file, key: 'another' };
    writeFileSync(join(directory, 'control.json'), JSON.stringify(other));
    await control.close();
    expect(JSON.parse(readFileSync(join(directory, 'control.json'), 'utf8'))).toEqual(other);
  });
});

describe('a command', () => {
  const locked = async (): Promise<never> => {
    throw new StorageError('storage.locked', 'the data directory is in use by process 1');
  };

  it('opens the store itself where the control file is one of a process that has died', async () => {
    const directory = newDirectory();
    writeFileSync(join(directory, 'control.json'), JSON.stringify({ port: 1, key: 'x', processId: 1 }));
    const openStorage = () => openSqliteStorage({ directory, clock: systemClock });
    const options = { ...context, directory, openStorage, wait: async () => {} };
    expect(await administer(options, (administration) => administration.listClients({}))).toEqual([]);
  });

  it.each([
    ['that offers none', undefined],
    ['whose file is broken', '{"port":'],
    ['that does not listen any more', '{"port":1,"key":"x","processId":1}'],
  ])('waits for a process %s, then tells who holds the store', async (_what, content) => {
    const directory = newDirectory();
    if (content !== undefined) writeFileSync(join(directory, 'control.json'), content);
    let waitedMs = 0;
    const wait = async (ms: number): Promise<void> => {
      waitedMs += ms;
    };
    const asked = administer({ ...context, directory, openStorage: locked, wait }, (one) => one.listClients({}));
    await expect(asked).rejects.toMatchObject({ code: 'storage.locked' });
    expect(waitedMs).toBeGreaterThanOrEqual(5000);
  });

  it('finds the channel of a service that is just starting', async () => {
    const directory = newDirectory();
    let isStarted = false;
    const wait = async (): Promise<void> => {
      if (!isStarted) await open(directory);
      isStarted = true;
    };
    const options = { ...context, directory, openStorage: locked, wait };
    expect(await administer(options, (administration) => administration.listClients({}))).toEqual([]);
    expect(isStarted).toBe(true);
  });
});
