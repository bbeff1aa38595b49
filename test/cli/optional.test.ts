// The package as `npm install --omit=optional` leaves it: the command without any other package.
import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createWorld, minutesCsv, requestText } from './world.js';

const distPath = fileURLToPath(new URL('../../dist', import.meta.url));

function installed() {
  const world = createWorld();
  world.write('request.json', requestText('Mul', { scalar: 2 }));
  world.write('office.csv', minutesCsv([1, 2, 3]));
  world.write('package.json', '{ "type": "module" }');
  cpSync(distPath, world.path('dist'), { recursive: true });
  return (...words: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [world.path('dist/cli/main.js'), ...words], {
      cwd: world.folder,
      encoding: 'utf8',
      // Packages in a parent folder, such as /tmp/node_modules, would be found, and a service would run for ever.
      timeout: 60_000,
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
