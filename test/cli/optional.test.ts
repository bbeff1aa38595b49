// The package as `npm install --omit=optional` leaves it: the command without any other package.
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import zlib from 'node:zlib';
import { expect, it } from 'vitest';
import { createWorld, minutesCsv, requestText, type World } from './world.js';

/** Of half a kilobyte each: enough for a second thread. */
const MANY_ROWS = 80_000;

const distPath = fileURLToPath(new URL('../../dist', import.meta.url));

const TWO_FRAMES = new URL('../formats/files/two-frames.csv.zst', import.meta.url);

function installed(prepare: (world: World) => void = () => {}) {
  const world = createWorld();
  world.write('request.json', requestText('Mul', { scalar: 2 }));
  world.write('office.csv', minutesCsv([1, 2, 3]));
  world.write('package.json', '{ "type": "module" }');
  prepare(world);
  cpSync(distPath, world.path('dist'), { recursive: true });
  return (...words: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [world.path('dist/cli/main.js'), ...words], {
      cwd: world.folder,
      encoding: 'utf8',
      // Packages in a parent folder, such as /tmp/node_modules, would be found, and a service would run for ever.
      timeout: 60_000,
      maxBuffer: 2 ** 26,
    });
    return { status, stdout, stderr };
  };
}

it('without optional packages there is help, and a command that needs one says what to install', () => {
  const windrow = installed();
  const help = windrow('--help');
  expect(help).toMatchObject({ status: 0, stderr: '' });
  expect(help.stdout).toContain('Usage: windrow <command> [options]');
  const words = ['serve', '--data-dir', 'data'];
  expect(windrow(...words, '--help')).toMatchObject({ status: 0, stderr: '' });
  const { status, stderr } = windrow(...words);
  const sentence = /^windrow: .* needs the package \S+, .*; `npm install windrow --include=optional` installs .*\n$/;
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringMatching(sentence) });
});

it('without optional packages a pipeline is drawn as SVG, and never written as SVG to a .png file', () => {
  const windrow = installed();
  expect(windrow('explain', 'request.json', '--graph', 'graph.svg')).toMatchObject({ status: 0, stderr: '' });
  const { status, stderr } = windrow('explain', 'request.json', '--graph', 'graph.png');
  expect(status).toBe(2);
  expect(stderr).toMatch(/^windrow: this needs the package @resvg\/resvg-js, which is not installed/);
});

it('without optional packages files are read, checked and computed', () => {
  const windrow = installed();
  expect(windrow('validate', 'request.json')).toMatchObject({ status: 0, stderr: '' });
  expect(windrow('run', 'request.json', '--input', 'office.csv', '--quiet')).toMatchObject({ status: 0, stderr: '' });
});

it('without optional packages one thread reads a large file, says so, and gives the same results', () => {
  const windrow = installed(({ write }) => {
    const note = 'x'.repeat(480);
    const rows = Array.from(
      { length: MANY_ROWS },
      (_, i) => `${new Date(i * 60_000).toISOString()},office,${i % 40},${note}`,
    );
    write('large.csv', `timestamp,timeseriesId,value,note\n${rows.join('\n')}\n`);
  });
  const words = ['run', 'request.json', '--input', 'large.csv'];
  const one = windrow(...words, '--quiet');
  const two = windrow(...words, '--threads', '2');
  expect(two.stderr).toContain('windrow: one thread reads, as the package piscina is not installed; `npm install');
  expect({ ...two, stderr: '' }).toEqual(one);
  expect(one).toMatchObject({ status: 0, stderr: '' });
  const verified = windrow('verify', 'request.json', '--input', 'office.csv', '--variants', '4');
  expect(verified).toMatchObject({ status: 0, stderr: '' });
  expect(verified.stdout).toMatch(/^\d variants gave the same bits as the batch/);
});

it('without optional packages a .zst file is read by Node, or the package to install is named', () => {
  const windrow = installed((world) => world.write('office.csv.zst', readFileSync(TWO_FRAMES)));
  const { status, stderr } = windrow('run', 'request.json', '--input', 'office.csv.zst', '--quiet');
  const isOfNode = 'createZstdDecompress' in zlib;
  const missing = 'windrow: this needs the package hyparquet-compressors, which is not installed';
  expect([status, stderr]).toEqual(isOfNode ? [0, ''] : [2, expect.stringContaining(missing)]);
});
