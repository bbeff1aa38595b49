// The built command at a terminal of its own: what is typed there, and what it shows.
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createWorld } from './world.js';

const commandPath = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
// `script` of util-linux runs a command at a terminal that it makes.
const hasTerminals = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;

/** Types each answer once its question is shown; gives all that the terminal has shown, and the exit code. */
function converse(folder: string, answers: readonly (readonly [question: string, typed: string])[]) {
  const words = [process.execPath, commandPath, 'user', 'add', 'zoe', '--org', 'acme', '--data-dir', 'data'];
  const child = spawn('script', ['--quiet', '--return', '--command', words.join(' '), '/dev/null'], { cwd: folder });
  let shown = '';
  const waiting = [...answers];
  child.stdout.on('data', (text) => {
    shown += text;
    const [next] = waiting;
    if (next === undefined || !shown.endsWith(next[0])) return;
    waiting.shift();
    child.stdin.write(next[1]);
  });
  return new Promise<{ code: number | null; shown: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, shown: shown.replaceAll('\r\n', '\n') }));
  });
}

describe.skipIf(!hasTerminals)('user add at a terminal', () => {
  it('asks for the password twice, and shows nothing of it', async () => {
    const world = createWorld();
    const { code, shown } = await converse(world.folder, [
      ['Password: ', 'sesamx\x7fe\r'],
      ['Once more: ', 'sesame\r'],
    ]);
    expect(shown).toMatch(/^Password: \nOnce more: \nwindrow: created a new store in .*\/data\n$/);
    expect(code).toBe(0);
    const listed = await world.run('user', 'list', '--data-dir', '~/data', '--json');
    expect(JSON.parse(listed.stdout)).toMatchObject([{ username: 'zoe' }]);
  });

  it('does nothing when the second is another', async () => {
    const world = createWorld();
    const { code, shown } = await converse(world.folder, [
      ['Password: ', 'sesame\r'],
      ['Once more: ', 'sesam\r'],
    ]);
    expect(shown).toMatch(/\nwindrow: user add: the two passwords are not the same; nothing was done\n$/);
    expect([code, world.files()]).toEqual([2, []]);
  });

  it('takes both answers of what was pasted at once', async () => {
    const world = createWorld();
    const { code } = await converse(world.folder, [['Password: ', 'sesame\rsesame\r']]);
    expect(code).toBe(0);
  });

  it('ends at Ctrl-C', async () => {
    const world = createWorld();
    const { code, shown } = await converse(world.folder, [['Password: ', 'ses\x03']]);
    expect([code, shown, world.files()]).toEqual([130, 'Password: ', []]);
  });
});
