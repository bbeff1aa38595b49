// The built command on a terminal: what is typed there, and what it shows.
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createWorld } from './world.js';

const commandPath = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
// `script` of util-linux runs a command on a pseudo-terminal.
const hasTerminals = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;

/** Types each answer once its question appears; returns all that the terminal showed, and the exit code. */
function converse(folder: string, answers: readonly (readonly [question: string, typed: string])[]) {
  const words = [process.execPath, commandPath, 'user', 'add', 'zoe', '--org', 'acme', '--data-dir', 'data'];
  const child = spawn('script', ['--quiet', '--return', '--command', words.join(' '), '/dev/null'], { cwd: folder });
  let screen = '';
  const waiting = [...answers];
  child.stdout.on('data', (text) => {
    screen += text;
    const [next] = waiting;
    if (next === undefined || !screen.endsWith(next[0])) return;
    waiting.shift();
    child.stdin.write(next[1]);
  });
  return new Promise<{ code: number | null; screen: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, screen: screen.replaceAll('\r\n', '\n') }));
  });
}

describe.skipIf(!hasTerminals)('user add on a terminal', () => {
  it('asks for the password twice and shows none of it', async () => {
    const world = createWorld();
    const { code, screen } = await converse(world.folder, [
      ['Password: ', 'sesamx\x7fe\r'],
      ['Once more: ', 'sesame\r'],
    ]);
    expect(screen).toMatch(/^Password: \nOnce more: \nwindrow: created a new store in .*\/data\n$/);
    expect(code).toBe(0);
    const listed = await world.run('user', 'list', '--data-dir', '~/data', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject([{ username: 'zoe' }]);
  });

  it('does nothing if the two passwords differ', async () => {
    const world = createWorld();
    const { code, screen } = await converse(world.folder, [
      ['Password: ', 'sesame\r'],
      ['Once more: ', 'sesam\r'],
    ]);
    expect(screen).toMatch(/\nwindrow: user add: the two passwords are not the same; nothing was done\n$/);
    expect([code, world.files()]).toEqual([2, []]);
  });

  it('takes both answers from one paste', async () => {
    const world = createWorld();
    const { code } = await converse(world.folder, [['Password: ', 'sesame\rsesame\r']]);
    expect(code).toBe(0);
  });

  it('ends on Ctrl-C', async () => {
    const world = createWorld();
    const { code, screen } = await converse(world.folder, [['Password: ', 'ses\x03']]);
    expect([code, screen, world.files()]).toEqual([130, 'Password: ', []]);
  });
});
