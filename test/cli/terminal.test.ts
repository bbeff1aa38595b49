// The built command on a terminal: what is typed there, and what it shows.
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { printable } from '../../src/cli/terminal/printable.js';
import { createWorld, requestText } from './world.js';

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

describe('names in files', () => {
  it('are shown with their control characters written out, and the JSON of a text stays the same', () => {
    expect(printable('a\tb\nc\r\x1b]0;x\x07\x7f\x9b\u202e\u2068')).toBe(
      'a\tb\nc\\u000d\\u001b]0;x\\u0007\\u007f\\u009b\\u202e\\u2068',
    );
    const all = String.fromCharCode(...Array.from({ length: 0x2070 }, (_, i) => i));
    expect(JSON.parse(printable(JSON.stringify(all)))).toBe(all);
  });

  it.skipIf(!hasTerminals)('command no terminal, with colours or without', () => {
    const world = createWorld();
    const name = 'off\x1b]0;owned\x07\x1b[2Jice';
    world.write('a.csv', `timestamp,${name}\n2024-03-01,1\n2024-03-02,2\n`);
    const request = requestText('Mul', { scalar: 2 }).replaceAll('"office"', JSON.stringify(name));
    world.write('request.json', request);
    const line = `'${process.execPath}' '${commandPath}'`;
    for (const words of [
      `${line} plot a.csv`,
      `NO_COLOR=1 ${line} plot a.csv`,
      `${line} run request.json --input a.csv --output out.csv`,
      `${line} explain request.json`,
      `${line} plot a.csv --series x`,
    ]) {
      const options = { cwd: world.folder, encoding: 'utf8' } as const;
      const { stdout } = spawnSync('script', ['--quiet', '--return', '--command', words, '/dev/null'], options);
      expect(stdout).toContain('off\\u001b]0;owned\\u0007\\u001b[2Jice');
      for (const command of ['\x07', '\x1b]', '\x1b[2J']) expect(stdout).not.toContain(command);
    }
    expect(world.read('out.csv')).toContain(name);
  });
});
