// The built command and the built service, each in a process of its own.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { createWorld, type World } from './world.js';

const commandPath = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

function windrow(world: World, ...words: string[]) {
  const options = { cwd: world.folder, encoding: 'utf8' } as const;
  return spawnSync(process.execPath, [commandPath, ...words, '--data-dir', 'data'], options);
}

async function serve(world: World): Promise<{ url: string; child: ChildProcess }> {
  const words = ['serve', '--data-dir', 'data', '--port', '0', '--log-level', 'error'];
  const child = spawn(process.execPath, [commandPath, ...words], {
    cwd: world.folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stderr.on('data', (text) => {
    output += text;
  });
  await expect.poll(() => output).toMatch(/listens at http:\S+;/);
  return { url: /listens at (http:[^;]+);/.exec(output)?.[1] ?? '', child };
}

const ended = (child: ChildProcess) => new Promise((resolve) => child.on('close', resolve));

it('clients come and go while the service runs, and a killed command blocks nobody', async () => {
  const world = createWorld();
  const first = await serve(world);
  const added = windrow(world, 'client', 'add', 'gateway', '--org', 'acme', '--scope', 'core_read', '--json');
  expect(added.status).toBe(0);
  const { clientId, clientSecret } = JSON.parse(added.stdout);
  const ask = async (url: string) => {
    const authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'core_read' });
    return (await fetch(`${url}/idm/ims/connect/token`, { method: 'POST', headers: { authorization }, body })).status;
  };
  expect(await ask(first.url)).toBe(200);

  first.child.kill('SIGKILL');
  await ended(first.child);
  expect(JSON.parse(windrow(world, 'client', 'list', '--json').stdout)).toMatchObject([{ clientId }]);

  const second = await serve(world);
  expect(await ask(second.url)).toBe(200);
  expect(windrow(world, 'client', 'remove', clientId).status).toBe(0);
  expect(await ask(second.url)).toBe(401);
  second.child.kill('SIGTERM');
  expect(await ended(second.child)).toBe(0);
  expect(JSON.parse(windrow(world, 'client', 'list', '--json').stdout)).toEqual([]);
});

it.skipIf(process.platform === 'win32')('a data directory that the user may not read is told as such', () => {
  const world = createWorld();
  expect(windrow(world, 'client', 'add', 'gateway', '--org', 'acme', '--scope', 'core_read').status).toBe(0);
  const data = world.path('data');
  // Root may read everything, so it becomes nobody.
  const isRoot = process.getuid!() === 0;
  if (!isRoot) chmodSync(data, 0);
  const other = isRoot ? { uid: 65_534, gid: 65_534 } : {};
  const ask = (...words: string[]) =>
    spawnSync(process.execPath, [commandPath, ...words], { cwd: '/', encoding: 'utf8', ...other });
  const ended = [
    ask('client', 'list', '--data-dir', data),
    ask('client', 'add', 'x', '--org', 'acme', '--scope', 'core_read', '--data-dir', data),
    ask('check', data),
    ask('backup', data, '--to', '/dev/null/x'),
  ].map(({ status, stdout, stderr }) => ({ status, stdout, stderr }));
  const unread = ask('restore', `${data}/windrow.db`, '--to', '/dev/null/x');
  if (!isRoot) chmodSync(data, 0o700);
  expect(unread).toMatchObject({
    status: 1,
    stdout: '',
    stderr: `windrow: ${data}/windrow.db: permission denied to read it (EACCES); check its permissions\n`,
  });
  const mend = 'check its permissions and the user that windrow runs as';
  const stderr = `windrow: the data directory ${data}: permission denied (EACCES): ${mend}\n`;
  for (const one of ended) expect(one).toEqual({ status: 1, stdout: '', stderr });
});
