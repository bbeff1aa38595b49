// The built command and the built service, each in a process of its own.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
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

it.skipIf(process.platform === 'win32')('what stands in the place of the store and is no file is refused', async () => {
  const world = createWorld();
  const path = world.path('data/windrow.db');
  mkdirSync(world.path('data'));
  const socket = createServer();
  onTestFinished(() => void socket.close());
  const makers: Readonly<Record<string, () => unknown>> = {
    folder: () => mkdirSync(path),
    pipe: () => spawnSync('mkfifo', [path]),
    device: () => symlinkSync('/dev/zero', path),
    socket: () => new Promise<void>((resolve) => socket.listen(path, resolve)),
  };
  // What waits for the other end of a pipe must be a process, to be ended; it has no code then.
  const inProcess = async (words: readonly string[]) => {
    const options = { cwd: world.folder, encoding: 'utf8', timeout: 20_000, killSignal: 'SIGKILL' } as const;
    const { status, stderr } = spawnSync(process.execPath, [commandPath, ...words], options);
    return { code: status, stderr };
  };
  const here = (words: readonly string[]) =>
    world.run(...words.map((word) => word.replace(/^(?:data|new|monday\.db)/, '~/$&')));
  const mend = 'move it away, or use another directory';
  const commands = [
    ['client', 'list', '--data-dir', 'data'],
    ['client', 'add', 'x', '--org', 'acme', '--scope', 'core_read', '--data-dir', 'data'],
    ['retention', 'list', '--data-dir', 'data'],
    ['serve', '--data-dir', 'data', '--port', '0'],
    ['check', 'data'],
    ['backup', 'data', '--to', 'monday.db', '--force'],
    ['restore', 'data/windrow.db', '--to', 'new'],
    ['restore', 'monday.db', '--to', 'data', '--force'],
  ];
  world.write('monday.db', '');
  for (const [kind, make] of Object.entries(makers)) {
    await make();
    for (const words of commands) {
      const { code, stderr } = await (kind === 'pipe' ? inProcess : here)(words);
      const last = words[1] === 'data/windrow.db' ? 'give a file that `windrow backup` made' : mend;
      const said = `windrow: data/windrow.db: it is a ${kind}, expected a file; ${last}\n`;
      const told = { kind, words, code, stderr: stderr.replaceAll('~/', '').replaceAll(`${world.folder}/`, '') };
      expect(told).toEqual({ kind, words, code: 2, stderr: said });
    }
    rmSync(path, { recursive: true, force: true });
  }
  expect(readdirSync(world.folder).sort()).toEqual(['data', 'monday.db']);
});

it.skipIf(process.platform === 'win32')('a folder or file whose name SQLite takes for a URI is what it says', () => {
  const world = createWorld();
  const run = (...words: string[]) =>
    spawnSync(process.execPath, [commandPath, ...words], { cwd: world.folder, encoding: 'utf8' });
  const lines = [
    ['client', 'add', 'x', '--org', 'acme', '--scope', 'core_read', '--data-dir', 'file:a?mode=memory'],
    ['backup', 'file:a?mode=memory', '--to', 'file:b?mode=memory'],
    ['backup', 'file:a?mode=memory', '--to', ':memory:'],
    ['backup', 'file:a?mode=memory', '--to', ':memory:', '--force'],
    ['restore', ':memory:', '--to', 'file:c'],
    ['restore', 'file:b?mode=memory', '--to', 'file:c', '--force'],
    ['check', 'file:c'],
  ];
  expect(lines.map((words) => run(...words)).filter(({ status }) => status !== 0)).toEqual([]);
  const clients = run('client', 'list', '--json', '--data-dir', 'file:c').stdout;
  expect(JSON.parse(clients)).toHaveLength(1);
  expect(world.files()).toEqual([':memory:', 'file:a?mode=memory', 'file:b?mode=memory', 'file:c']);
});
