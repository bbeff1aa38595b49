// The built command, started several times with one cache folder: whatever code is cached between processes, the third
// start works like the first.
import { spawn, spawnSync } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createWorld, minutesCsv, requestText, type World } from './world.js';

const commandPath = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
// `script` of util-linux runs a command on a pseudo-terminal.
const hasTerminals = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;

function doubling(): World {
  const world = createWorld();
  world.write('request.json', requestText('Mul', { scalar: 2 }));
  world.write('office.csv', minutesCsv([1, 2, 3]));
  world.write('office.csv.gz', gzipSync(minutesCsv([1, 2, 3])));
  return world;
}

/** The environment of the tests, with the cache of compiled code switched on, in the world's folder. */
function caching(world: World): Record<string, string | undefined> {
  const folders = { XDG_CACHE_HOME: world.folder, HOME: world.folder, NODE_COMPILE_CACHE: world.path('compiled') };
  return { ...process.env, ...folders, NODE_DISABLE_COMPILE_CACHE: undefined, NO_COLOR: undefined, TERM: 'xterm' };
}

const starts: readonly (readonly [name: string, ...words: string[]])[] = [
  ['a run', 'run', 'request.json', '--input', 'office.csv'],
  ['a run over a compressed file', 'run', 'request.json', '--input', 'office.csv.gz'],
  ['a run with a chart', 'run', 'request.json', '--input', 'office.csv', '--plot', 'chart.svg'],
  ['a stream', 'run', 'request.json', '--input', 'office.csv', '--mode', 'stream'],
  ['a plot', 'plot', 'office.csv'],
];

describe('a third start behaves like the first:', () => {
  it('runs and plots', () => {
    const world = doubling();
    const options = { cwd: world.folder, env: caching(world), encoding: 'utf8' } as const;
    const ended = [1, 2, 3].map(() =>
      starts.map(([name, ...words]) => {
        const { status, stdout, stderr } = spawnSync(process.execPath, [commandPath, ...words], options);
        return { name, status, stdout, stderr: stderr.replace(/in \d.*rows a second\)/, '') };
      }),
    );
    for (const first of ended[0]!) {
      expect(first, first.name).toMatchObject({ status: 0, stdout: expect.stringContaining(':00') });
    }
    expect(ended[1]).toEqual(ended[0]);
    expect(ended[2]).toEqual(ended[0]);
  });

  it.skipIf(!hasTerminals)('a progress bar on a terminal', async () => {
    const world = doubling();
    for (let start = 1; start <= 3; start++) {
      const screen = await feedAtTerminal(world, 'MB read');
      expect(screen).toContain('windrow: ');
    }
  });

  it.skipIf(!hasTerminals)('colours on a terminal', () => {
    const world = doubling();
    for (let start = 1; start <= 3; start++) {
      const line = `'${process.execPath}' '${commandPath}'`;
      const command = `${line} run request.json --input office.csv --quiet > out.csv; ${line} plot office.csv`;
      const { stdout } = spawnSync('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
        cwd: world.folder,
        env: caching(world),
        encoding: 'utf8',
      });
      expect(stdout).toContain('\x1b[94m');
    }
  });
});

/** Runs on a terminal, fed row by row through a pipe until it shows `expected`; returns all that it showed. */
async function feedAtTerminal(world: World, expected: string): Promise<string> {
  const pipe = world.path('pipe');
  spawnSync('mkfifo', [pipe]);
  const line = `'${process.execPath}' '${commandPath}' run request.json --input - --output out.csv < pipe`;
  const child = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
    cwd: world.folder,
    env: caching(world) as NodeJS.ProcessEnv, // `as`: undefined removes a variable
  });
  let screen = '';
  child.stdout.on('data', (text) => {
    screen += text;
  });
  const ended = new Promise((resolve) => child.on('close', resolve));
  const input = createWriteStream(pipe);
  // If the reader failed, what it showed says why.
  input.on('error', () => undefined);
  input.write('timestamp,timeseriesId,value\n');
  let row = 0;
  const feed = (): string => {
    input.write(`${new Date(60_000 * row++).toISOString()},office,1\n`);
    return screen;
  };
  await expect.poll(feed, { interval: 50 }).toContain(expected);
  input.end();
  await ended;
  return screen;
}
