// The same samples as a file of each format: how long `windrow run` takes for a daily average, as a whole process.
//
//   npm run bench:formats
//
//   --rows 1000000    rows of `timestamp`, `timeseriesId` and `value`, one a minute, of one series
//   --rounds 5        runs of each file, by turns; the medians are shown
//   --dist FOLDER     another build beside that in dist, to compare; NaN for what it cannot read

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readOptions } from '../scripts/options.mjs';

const { options } = readOptions(import.meta.url, {
  rows: { type: 'number', default: 1_000_000 },
  rounds: { type: 'number', default: 5 },
  dist: { type: 'string' },
});
const own = fileURLToPath(new URL('../dist', import.meta.url));
const builds = options.dist === undefined ? [own] : [resolve(options.dist), own];
const START_MS = Date.UTC(2020, 0, 1);
const ID = 'office';

const folder = mkdtempSync(join(tmpdir(), 'windrow-formats-'));
try {
  const request = writeRequest('daily.json', 'Aggregate', 'daily', { function: 'Average', interval: 'Daily' });
  const files = writeFiles();
  const times = new Map(files.flatMap((file) => builds.map((dist) => [`${dist} ${file}`, []])));
  for (let round = 0; round < options.rounds; round++) {
    for (const file of files) for (const dist of builds) times.get(`${dist} ${file}`).push(run(dist, request, file));
  }
  const rows = files.map((file) => {
    const mb = Math.round(statSync(join(folder, file)).size / 1e6);
    const ofBuilds = builds.map((dist) => [
      dist === own ? 's' : 's, the other build',
      Number((median(times.get(`${dist} ${file}`)) / 1000).toFixed(2)),
    ]);
    return { file, MB: mb, ...Object.fromEntries(ofBuilds) };
  });
  console.table(rows);
} finally {
  rmSync(folder, { recursive: true });
}

function writeRequest(name, operation, timeseriesId, parameters) {
  const input = [{ timeseriesId: ID, metric: 'Raw' }];
  const output = [{ timeseriesId, metric: 'Out' }];
  const item = { metric: 'Out', processingType: 'batch', operations: [{ operation, input, output, parameters }] };
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify([item]));
  return path;
}

function writeFiles() {
  const samples = Array.from({ length: options.rows }, (_, i) => ({
    timestamp: new Date(START_MS + i * 60_000).toISOString(),
    timeseriesId: ID,
    value: Math.round(2000 + 500 * Math.sin(i / 1000) + 10 * Math.sin(i)) / 100,
  }));
  const objects = samples.map((sample) => JSON.stringify(sample));
  const texts = {
    'x.csv': `timestamp,timeseriesId,value\n${samples.map((one) => Object.values(one).join(',')).join('\n')}\n`,
    'x.ndjson': `${objects.join('\n')}\n`,
    'x.json': `[${objects.join(',')}]`,
    'x.lp': samples.map((one) => `${ID} value=${one.value} ${Date.parse(one.timestamp)}000000\n`).join(''),
  };
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
  // Rounded to as many digits as they have.
  const asTheyAre = writeRequest('all.json', 'Round', 'all', { roundtodigits: 2 });
  const packed = ['x.parquet', 'x.arrow'];
  for (const name of packed) run(own, asTheyAre, 'x.csv', name);
  return [...Object.keys(texts), ...packed];
}

/** Runs the command; returns its milliseconds. */
function run(dist, request, input, output = 'out.csv') {
  // In line protocol and in what was written here the series has another name.
  const words = [
    'run',
    request,
    '--input',
    join(folder, input),
    '--output',
    join(folder, output),
    '--quiet',
    '--as',
    ID,
  ];
  const beginMs = performance.now();
  const { status, stderr } = spawnSync(process.execPath, [join(dist, 'cli/main.js'), ...words], { encoding: 'utf8' });
  const ms = performance.now() - beginMs;
  if (status !== 0 && dist === own) throw new Error(`${input}: ${stderr}`);
  return status === 0 ? ms : Number.NaN;
}

function median(times) {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];
}
