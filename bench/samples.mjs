// The sample store alone, without HTTP: appending, compacting, reading, and the bytes per sample.
//
//   npm run bench:samples -- [--directory DIR] [--samples 2000000]
//
// The directory decides which disk is measured; each part uses a new store in it.

import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { readOptions } from '../scripts/options.mjs';

const { options } = readOptions(import.meta.url, {
  directory: { type: 'string', default: tmpdir() },
  samples: { type: 'number', default: 2_000_000 },
});
const SAMPLES = options.samples;
const SHARD = 0;
const ORGANISATION = 'bench';
const MINUTE_MS = 60_000;
const START_MS = 1_704_067_200_000;

const { openSqliteStorage, createSampleStore, compactNow, segments } = await loadSources();
const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };

await measureAppends();
await measureSizes();
await measureReads();

/** The package does not export the store, so it is bundled from the sources. */
async function loadSources() {
  const root = fileURLToPath(new URL('../', import.meta.url));
  const outfile = join(root, 'node_modules/.cache/windrow-bench/samples.mjs');
  const contents = `
    export { openSqliteStorage } from './src/storage/index.js';
    export { createSampleStore } from './src/storage/samples/store.js';
    export { compactNow } from './test/storage/samples/compact-now.js';
    export { segments } from './src/storage/tables/samples.js';`;
  const stdin = { contents, resolveDir: root };
  await build({
    stdin,
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    target: 'node20',
  });
  return import(outfile);
}

async function withStore(work) {
  const directory = mkdtempSync(join(options.directory, 'windrow-bench-'));
  const storage = await openSqliteStorage({ directory, clock });
  try {
    return await work({ storage, samples: createSampleStore({ clock }), path: join(directory, 'windrow.db') });
  } finally {
    await storage.close();
    rmSync(directory, { recursive: true });
  }
}

async function measureAppends() {
  const rows = [];
  for (const seriesCount of [1, 10, 100, 1000, 10_000]) {
    rows.push(
      await withStore(async ({ storage, samples }) => {
        const perSeries = 10_000 / seriesCount;
        const commitCount = 100;
        const commits = Array.from({ length: commitCount }, (_, commit) => batch(seriesCount, perSeries, commit));
        let workMs = 0;
        const startMs = performance.now();
        for (const changes of commits) {
          await storage.transaction(SHARD, async (tx) => {
            const from = performance.now();
            await samples.append(tx, ORGANISATION, changes);
            workMs += performance.now() - from;
          });
        }
        const totalMs = performance.now() - startMs;
        const compactMs = await compactAll(storage, samples);
        const count = commitCount * seriesCount * perSeries;
        return {
          'series in 10,000 samples': seriesCount,
          'append, ms': round(workMs / commitCount),
          'commit, ms': round(totalMs / commitCount),
          'append, million/s': round(count / workMs / 1000),
          'compact, million/s': round(count / compactMs / 1000),
        };
      }),
    );
  }
  console.log('Appending 10,000 samples a commit, each commit alone on the disk; then compacting the million');
  console.table(rows);
}

function batch(seriesCount, perSeries, commit) {
  return Array.from({ length: seriesCount }, (_, index) => ({
    timeseriesId: `device-${index}`,
    metric: 'Raw',
    timeMs: Float64Array.from({ length: perSeries }, (_, i) => START_MS + (commit * perSeries + i) * MINUTE_MS),
    value: Float64Array.from({ length: perSeries }, (_, i) => Math.round(200 + 50 * Math.sin(index + i / 50)) / 10),
  }));
}

async function compactAll(storage, samples) {
  const startMs = performance.now();
  while (await storage.transaction(SHARD, (tx) => compactNow(samples, tx, tx.lastCommit, { isEager: true })));
  return performance.now() - startMs;
}

async function measureSizes() {
  const rows = [];
  for (const [name, columns] of dataSets()) {
    rows.push(
      await withStore(async ({ storage, samples, path }) => {
        const count = columns.timeMs.length;
        const emptyBytes = statSync(path).size;
        const compactMs = await fill(storage, samples, columns);
        const found = await storage.read(SHARD, (tx) => tx.find(segments));
        const sum = (field) => found.reduce((total, row) => total + row[field].length, 0);
        return {
          data: name,
          samples: count,
          'times, bytes a sample': round(sum('times') / count),
          'values, bytes a sample': round(sum('values') / count),
          'file, bytes a sample': round((statSync(path).size - emptyBytes) / count),
          'compact, million/s': round(count / compactMs / 1000),
        };
      }),
    );
  }
  console.log(
    'What a sample takes; two doubles are 16 bytes. The file also holds the room of the log that was compacted',
  );
  console.table(rows);
}

/** Appends in commits of 50,000 samples and compacts as the service does, completely at the end; returns the time. */
async function fill(storage, samples, { timeMs, value }) {
  let compactMs = 0;
  for (let from = 0; from < timeMs.length; from += 50_000) {
    const until = from + 50_000;
    const columns = { timeMs: timeMs.subarray(from, until), value: value.subarray(from, until) };
    const change = { timeseriesId: 'a', metric: 'Raw', ...columns };
    await storage.transaction(SHARD, (tx) => samples.append(tx, ORGANISATION, [change]));
    const startMs = performance.now();
    while (await storage.transaction(SHARD, (tx) => compactNow(samples, tx, tx.lastCommit)));
    compactMs += performance.now() - startMs;
  }
  return compactMs + (await compactAll(storage, samples));
}

function dataSets() {
  const random = randomOf(7);
  const every = (stepMs, jitterMs) =>
    Float64Array.from({ length: 500_000 }, (_, i) => START_MS + i * stepMs + Math.floor(jitterMs * random()));
  // A random number has 32 bits, and the digits of a double 53.
  const fine = () => random() + random() / 2 ** 32;
  const walk = (step, digits) => {
    let at = 20;
    return Float64Array.from({ length: 500_000 }, () => {
      at += (fine() - 0.5) * step;
      return digits === undefined ? at : Number(at.toFixed(digits));
    });
  };
  const any = Float64Array.from({ length: 500_000 }, () => 20 + fine());
  return [
    ['office temperature, hourly, 8 digits (NAB)', readData('office-temperature.csv')],
    ['random walk in tenths, every minute', { timeMs: every(MINUTE_MS, 0), value: walk(0.5, 1) }],
    ['random walk in hundredths, a minute and up to 1 s', { timeMs: every(MINUTE_MS, 1000), value: walk(0.5, 2) }],
    ['random walk of doubles, every minute', { timeMs: every(MINUTE_MS, 0), value: walk(0.5) }],
    ['random doubles, every minute', { timeMs: every(MINUTE_MS, 0), value: any }],
  ];
}

function readData(name) {
  const lines = readFileSync(new URL(`../docs/examples/${name}`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .slice(1);
  const samples = new Map(
    lines.map((line) => [Date.parse(`${line.split(',')[0].replace(' ', 'T')}Z`), Number(line.split(',').at(-1))]),
  );
  const timeMs = Float64Array.from([...samples.keys()].sort((a, b) => a - b));
  return { timeMs, value: timeMs.map((time) => samples.get(time)) };
}

async function measureReads() {
  const random = randomOf(3);
  let at = 200;
  const timeMs = Float64Array.from({ length: SAMPLES }, (_, i) => START_MS + i * MINUTE_MS);
  const value = Float64Array.from({ length: SAMPLES }, () => {
    at += Math.round((random() - 0.5) * 6);
    return at / 10;
  });
  await withStore(async ({ storage, samples }) => {
    await fill(storage, samples, { timeMs, value });
    const of = { timeseriesId: 'a', metric: 'Raw' };
    const read = (range) => storage.read(SHARD, (tx) => samples.read(tx, ORGANISATION, of, range));
    const pages = async () => {
      for (let fromMs = -Infinity; fromMs !== undefined; ) {
        const page = await read({ fromMs, limit: 65_536 });
        fromMs = page.timeMs.length < 65_536 ? undefined : page.timeMs.at(-1) + 1;
      }
    };
    const dayMs = 86_400_000;
    const day = () => read({ fromMs: START_MS + 500 * dayMs, untilMs: START_MS + 501 * dayMs });
    const works = [
      ['whole', SAMPLES, () => read({})],
      ['whole, in pages of 65,536', SAMPLES, pages],
      ['a day', 1440, day],
      ['the last sample', 1, () => read({ limit: 1, isDescending: true })],
    ];
    const rows = [];
    for (const [name, count, work] of works) {
      const ms = await medianMs(work);
      rows.push({ read: name, ms: round(ms), 'million/s': round(count / ms / 1000) });
    }
    console.log(`Reading a series of ${SAMPLES} samples`);
    console.table(rows);
  });
}

async function medianMs(work) {
  const times = [];
  for (let run = 0; run < 9; run++) {
    const startMs = performance.now();
    await work();
    times.push(performance.now() - startMs);
  }
  return times.sort((a, b) => a - b)[4];
}

/** Numbers from 0 to 1, the same in each run (mulberry32, Tommy Ettinger). */
function randomOf(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

function round(value) {
  return Number(value.toPrecision(3));
}
