// The built command as a process of its own, with the system's pipes, devices and signals.
import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createWorld, minutesCsv, requestText, type World } from './world.js';

const commandPath = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

function doubling(count: number): World {
  const world = createWorld();
  world.write('request.json', requestText('Mul', { scalar: 2 }));
  world.write('office.csv', minutesCsv(Array.from({ length: count }, (_, i) => i)));
  return world;
}

/** Runs a shell line in the world's folder; `windrow` is the built command. */
function shell(world: World, line: string): { code: number | null; stdout: string; stderr: string } {
  const script = `windrow() { "${process.execPath}" "${commandPath}" "$@"; }\n${line}`;
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { cwd: world.folder, encoding: 'utf8' });
  return { code: status, stdout, stderr };
}

describe.skipIf(process.platform === 'win32')('the built command', () => {
  it('is built by npm test', () => {
    expect(existsSync(commandPath)).toBe(true);
  });

  it('works in a pipe', () => {
    const world = doubling(3);
    const line = 'cat office.csv | windrow run request.json --input - --quiet | windrow plot - --output - | head -c 4';
    expect(shell(world, line)).toEqual({ code: 0, stdout: '<svg', stderr: '' });
  });

  it('ends quietly when nobody reads on', () => {
    const world = doubling(50_000);
    const line = 'windrow run request.json --input office.csv | head -n 1; echo $PIPESTATUS';
    expect(shell(world, line)).toEqual({ code: 0, stdout: 'timestamp,timeseriesId,metric,value\n0\n', stderr: '' });
  });

  it.skipIf(!existsSync('/dev/full'))('reports a full disk', () => {
    const world = doubling(3);
    for (const [line, name] of [
      ['windrow run request.json --input office.csv > /dev/full', 'standard output'],
      ['windrow run request.json --input office.csv --output /dev/full', '/dev/full'],
      ['windrow explain request.json > /dev/full', 'standard output'],
      ['windrow diff request.json request.json --input office.csv > /dev/full', 'standard output'],
      ['windrow --version > /dev/full', 'standard output'],
    ]) {
      const { code, stderr } = shell(world, line ?? '');
      expect(code).toBe(1);
      expect(stderr).toBe(`windrow: ${name}: the disk is full (ENOSPC); free some space, or write elsewhere\n`);
    }
  });

  it('leaves nothing behind on Ctrl-C, or when its terminal is closed', async () => {
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGHUP', 129],
    ] as const) {
      const world = doubling(3);
      const words = [commandPath, 'run', 'request.json', '--input', '-', '--output', 'out.csv', '--mode', 'stream'];
      const child = spawn(process.execPath, words, { cwd: world.folder, stdio: ['pipe', 'ignore', 'pipe'] });
      let stderr = '';
      child.stderr.on('data', (text) => {
        stderr += text;
      });
      child.stdin.write(minutesCsv([1, 2, 3]));
      await expect.poll(() => world.files().length).toBe(3);
      const ended = new Promise((resolve) => child.on('close', resolve));
      // A closed terminal takes no text either.
      if (signal === 'SIGHUP') child.stderr.destroy();
      child.kill(signal);
      expect(await ended).toBe(code);
      expect(stderr).toBe(signal === 'SIGHUP' ? '' : 'windrow: stopped by Ctrl-C; no file was written\n');
      expect(world.files()).toEqual(['office.csv', 'request.json']);
    }
  });

  it('runs again after each change, reports mistakes on the way, and ends on Ctrl-C', async () => {
    const world = doubling(3);
    const words = [commandPath, 'run', 'request.json', '--input', 'office.csv', '--output', 'out.csv', '--watch'];
    const child = spawn(process.execPath, words, { cwd: world.folder, stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (text) => {
      stderr += text;
    });
    const turns = (): number => stderr.split('windrow: watching 2 files; press Ctrl-C to stop\n').length - 1;
    const lastValue = (): string | undefined => world.read('out.csv').trim().split(',').at(-1);
    const turn = (count: number) => expect.poll(turns).toBe(count);
    await turn(1);
    expect(lastValue()).toBe('4');
    world.write('office.csv', minutesCsv([1, 2, 3, 21]));
    await turn(2);
    expect(lastValue()).toBe('42');
    world.write('request.json', '[');
    await turn(3);
    expect(stderr).toContain('request.json:1:2: not JSON');
    // Editors save a new file in the place of the old one.
    world.write('new.json', requestText('Mul', { scalar: 3 }));
    renameSync(world.path('new.json'), world.path('request.json'));
    await turn(4);
    expect(lastValue()).toBe('63');
    const ended = new Promise((resolve) => child.on('close', resolve));
    child.kill('SIGINT');
    expect(await ended).toBe(0);
  });

  it('stops watching when nobody reads the results any more', () => {
    const world = doubling(20_000);
    const line = 'windrow run request.json --input office.csv --watch 2> told.txt | head -n 1; echo $PIPESTATUS';
    expect(shell(world, line)).toEqual({ code: 0, stdout: 'timestamp,timeseriesId,metric,value\n0\n', stderr: '' });
    expect(world.read('told.txt')).toBe('');
  });

  it('writes into a named pipe as it is read, and stops on Ctrl-C while nobody reads', async () => {
    const world = doubling(50_000);
    spawnSync('mkfifo', [world.path('pipe')]);
    const run = 'windrow run request.json --input office.csv --quiet --output';
    const slowly = '{ head -c 1000; sleep 0.2; cat; } < pipe > read.csv';
    const { code } = shell(world, `${run} out.csv; ${slowly} & ${run} pipe; code=$?; wait; exit $code`);
    expect(code).toBe(0);
    expect(world.read('read.csv')).toBe(world.read('out.csv'));
    expect(shell(world, `(head -n 1 < pipe > /dev/null &); ${run} pipe`)).toEqual({ code: 0, stdout: '', stderr: '' });
    const stopped = async (output: string, report: string, isAtWork: () => boolean) => {
      const words = ['run', 'request.json', '--input', 'office.csv', '--output', output, '--report', report];
      const child = spawn(process.execPath, [commandPath, ...words], { cwd: world.folder, stdio: 'ignore' });
      onTestFinished(() => void child.kill('SIGKILL'));
      const ended = new Promise((resolve) => child.on('close', resolve));
      await expect.poll(isAtWork).toBe(true);
      child.kill('SIGINT');
      return ended;
    };
    const count = world.files().length;
    expect(await stopped('out2.csv', 'pipe', () => world.files().length > count)).toBe(130);
    const reader = openSync(world.path('pipe'), constants.O_RDONLY | constants.O_NONBLOCK);
    onTestFinished(() => closeSync(reader));
    const hasOneByte = () => {
      try {
        return readSync(reader, new Uint8Array(1)) === 1;
      } catch {
        return false;
      }
    };
    expect(await stopped('pipe', 'report.json', hasOneByte)).toBe(130);
    expect(world.files().length).toBe(count);
  });

  it('notices changes behind a link, and in a folder made anew, and in a file that never rests', async () => {
    const world = doubling(3);
    for (const folder of ['in', 'elsewhere']) mkdirSync(world.path(folder));
    symlinkSync('../elsewhere/office.csv', world.path('in/office.csv'));
    world.write('elsewhere/office.csv', minutesCsv([1, 2]));
    const words = [commandPath, 'run', 'request.json', '--input', 'in/office.csv', '--output', 'out.csv', '--watch'];
    const child = spawn(process.execPath, words, { cwd: world.folder, stdio: ['ignore', 'ignore', 'pipe'] });
    let stderr = '';
    child.stderr.on('data', (text) => {
      stderr += text;
    });
    const ended = new Promise((resolve) => child.on('close', resolve));
    onTestFinished(() => void child.kill('SIGKILL'));
    const lastValue = (): string | undefined => world.read('out.csv').trim().split(',').at(-1);
    const told = (text: string) => expect.poll(() => stderr, { timeout: 10_000 }).toContain(text);
    const given = (value: string) => expect.poll(lastValue, { timeout: 10_000 }).toBe(value);
    await told('press Ctrl-C');
    world.write('elsewhere/office.csv', minutesCsv([1, 21]));
    await given('42');
    rmSync(world.path('in/office.csv'));
    symlinkSync('office.csv', world.path('in/office.csv'));
    await told('in/office.csv: could not be read (ELOOP)\n');
    rmSync(world.path('in'), { recursive: true });
    await told('in/office.csv: no such file\n');
    mkdirSync(world.path('in'));
    for (const value of [31, 32]) {
      world.write('in/office.csv', minutesCsv([1, value]));
      await given(String(2 * value));
    }
    // A file that never rests, such as a log.
    const growing = setInterval(() => world.write('in/office.csv', minutesCsv([1, Date.now(), 9])), 30);
    onTestFinished(() => clearInterval(growing));
    await given('18');
    child.kill('SIGINT');
    expect(await ended).toBe(0);
  });

  it('explains an internal error with the stack', () => {
    const world = doubling(3);
    world.write('break.mjs', 'Object.freeze = () => { throw new TypeError("broken on purpose"); };');
    const line = `"${process.execPath}" --import ./break.mjs "${commandPath}" validate request.json`;
    const { code, stderr } = shell(world, line);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^windrow: sorry, this is a bug in windrow; please report it with these lines\n/);
    expect(stderr).toMatch(/TypeError: broken on purpose\n\s+at /);
  });
});

it.runIf(process.platform === 'linux')('reads a named pipe only once, even if samples have to be sorted', () => {
  const world = createWorld();
  world.write('office.csv', 'timestamp,value\n2024-03-01T01:00:00Z,2\n2024-03-01T00:00:00Z,1\n');
  world.write('request.json', requestText('Mul', { scalar: 2 }));
  const read = 'windrow run request.json --input pipe/office.csv --quiet';
  const line = `mkdir pipe; mkfifo pipe/office.csv; (cat office.csv > pipe/office.csv &); ${read}`;
  const { code, stdout } = shell(world, line);
  expect(code).toBe(0);
  expect(
    stdout
      .split('\n')
      .slice(1, 3)
      .map((row) => row.split(',').at(-1)),
  ).toEqual(['2', '4']);
});
