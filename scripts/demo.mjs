// npm run demo: runs docs/examples/office-temperature.json over the real readings beside it, and prints and draws the
// results. It works on a fresh clone: it installs and builds what is missing first.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensure } from './ensure.mjs';

ensure();

const rootPath = fileURLToPath(new URL('../', import.meta.url));
const commandPath = join(rootPath, 'dist/cli/main.js');
const requestPath = join(rootPath, 'docs/examples/office-temperature.json');
const inputPath = join(rootPath, 'docs/examples/office-temperature.csv');
const outputFolder = join(rootPath, 'demo-output');
const outputs = {
  csv: join(outputFolder, 'office-temperature.csv'),
  svg: join(outputFolder, 'office-temperature.svg'),
  report: join(outputFolder, 'report.json'),
};

mkdirSync(outputFolder, { recursive: true });
print(`windrow: a real office, ${shown(inputPath)}`);
const rowCount = countRows(inputPath).toLocaleString('en-US');
print(`  ${rowCount} readings in degrees Fahrenheit, hourly from July 2013 to May 2014\n`);
print(`What the request does (${shown(requestPath)}):`);
for (const line of windrow(['explain', requestPath]).split('\n')) {
  if (/^(step|result) /.test(line)) print(`  ${line}`);
}
print('\nThe run:');
const written = ['--output', outputs.csv, '--plot', outputs.svg, '--report', outputs.report];
windrow(['run', requestPath, '--input', inputPath, ...written], 'inherit');
print('\nA look at it:');
const series = ['DailyAverage', 'UncomfortablePercent'].map((metric) => `office-temperature/${metric}`);
windrow(['plot', outputs.csv, '--rows', '10', '--series', ...series], 'inherit');
print('\nWritten:');
print(`  ${shown(outputs.csv)}   all results`);
print(`  ${shown(outputs.svg)}   the chart: open it in a browser`);
print(`  ${shown(outputs.report)}                   every sample accounted for`);
print('\nTry it yourself:');
print(`  node dist/cli/main.js run ${shown(requestPath)} --input ${shown(inputPath)}`);

/** Runs the command; returns its standard output, unless that is inherited. */
function windrow(words, stdout = 'pipe') {
  const { status, stdout: text } = spawnSync(process.execPath, [commandPath, ...words], {
    stdio: ['ignore', stdout, 'inherit'],
    encoding: 'utf8',
  });
  if (status !== 0) process.exit(status ?? 1);
  return text ?? '';
}

function countRows(path) {
  return readFileSync(path, 'utf8').trim().split('\n').length - 1;
}

function shown(path) {
  return relative(rootPath, path);
}

function print(text) {
  console.log(text);
}
