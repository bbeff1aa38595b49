// The cost of appends and their compaction over PostgreSQL: time, and processor time here and in the server.
//
//   node bench/service/appends.mjs

import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { PostgresServer } from '../../scripts/cluster/postgres-server.mjs';

const SHARD = 0;
const DATABASE = 'windrow';
const TICK_MS = 10;
const START_MS = Date.UTC(2026, 0, 1);

const folder = mkdtempSync(join(tmpdir(), 'windrow-appends-'));
chmodSync(folder, 0o711);
const server = new PostgresServer(join(folder, 'server'), {
  shared_buffers: '256MB',
  max_wal_size: '4GB',
  // Vacuum is run explicitly, so that the figures include it.
  autovacuum: 'off',
});

async function load() {
  const outfile = join(folder, 'storage.mjs');
  await build({
    stdin: {
      contents: `export { openPostgresStorage } from './src/storage/postgres/open.ts';
        export { createSampleStore } from './src/storage/samples/store.ts';
        export { compactNow } from './test/storage/samples/compact-now.ts';`,
      resolveDir: join(import.meta.dirname, '../..'),
    },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    alias: { pg: join(import.meta.dirname, '../../node_modules/pg/esm/index.mjs') },
    external: [join(import.meta.dirname, '../../node_modules/*')],
  });
  return import(pathToFileURL(outfile).href);
}

function serverPid() {
  return Number(readFileSync(join(server.folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
}

/** Processor time of the server's processes except the first: connections and background work. */
function serverMs() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/stat`, 'utf8');
      } catch {
        return '';
      }
    })
    .map((stat) => (stat.split(') ')[1] ?? '').split(' '))
    .filter((fields) => Number(fields[1]) === serverPid())
    .reduce((sum, fields) => sum + (Number(fields[11]) + Number(fields[12])) * TICK_MS, 0);
}

async function measured(work) {
  const [cpu, ofServer, startMs] = [process.cpuUsage(), serverMs(), performance.now()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs: performance.now() - startMs, hereMs: (user + system) / 1000, serverMs: serverMs() - ofServer };
}

function show(what, count, unit, { wallMs, hereMs, serverMs: ofServerMs }) {
  const [wall, here, there] = [wallMs, hereMs, ofServerMs].map((ms) => (ms / count).toFixed(3).padStart(9));
  console.log(`${what.padEnd(58)} ${wall} ms, processor here ${here} ms, server ${there} ms a ${unit}`);
}

/** Changes of `seriesCount` series with `samples` samples each, from position `at` on. */
function changesOf(seriesCount, samples, at, prefix = 'device') {
  return Array.from({ length: seriesCount }, (_, i) => ({
    timeseriesId: `${prefix}-${i}`,
    metric: 'Raw',
    timeMs: Float64Array.from({ length: samples }, (_, n) => START_MS + (at + n) * 1000),
    value: Float64Array.from(
      { length: samples },
      (_, n) => Math.sin((at + n) / 50 + i) * 20 + 0.001 * ((n * 7919) % 997),
    ),
  }));
}

async function run() {
  await server.create();
  await server.start();
  const { openPostgresStorage, createSampleStore, compactNow } = await load();
  const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
  const storage = await openPostgresStorage({ address: await server.createDatabase(DATABASE), clock });
  const samples = createSampleStore({ clock });
  const append = (changes) => storage.transaction(SHARD, (tx) => samples.append(tx, 'acme', changes));
  const compact = () => storage.transaction(SHARD, (tx) => compactNow(samples, tx, tx.lastCommit, { isEager: true }));
  const compactAll = async () => {
    while (await compact());
  };
  try {
    await append(changesOf(100, 1, 0));
    let at = 1;
    for (const [seriesCount, each, count] of [
      [1, 1, 1000],
      [1, 100, 1000],
      [1, 10_000, 60],
      [100, 100, 60],
    ]) {
      const bodies = Array.from({ length: count }, (_, i) => changesOf(seriesCount, each, at + i * each));
      at += each * count;
      const cost = await measured(async () => {
        for (const body of bodies) await append(body);
      });
      show(`${each} samples of ${seriesCount} series that are there`, count, 'append', cost);
    }
    for (const [i, seriesCount] of [1, 100, 1000, 10_000].entries()) {
      const count = Math.max(1, 1000 / seriesCount);
      const bodies = Array.from({ length: count }, (_, n) => changesOf(seriesCount, 1, 0, `new-${i}-${n}`));
      const cost = await measured(async () => {
        for (const body of bodies) await append(body);
      });
      show(`1 sample of ${seriesCount} series that are new`, count, 'append', cost);
    }
    show('compaction of all that', 1, 'whole', await measured(compactAll));
    for (const [seriesCount, each] of [
      [10, 40_960],
      [100, 4096],
      [1000, 400],
      [10_000, 40],
    ]) {
      for (let i = 0; i < 4; i++) await append(changesOf(seriesCount, each / 4, (each / 4) * i, `many-${seriesCount}`));
      const cost = await measured(compactAll);
      show(`compaction of ${each} samples of ${seriesCount} series`, (seriesCount * each) / 1e6, 'million', cost);
    }
    show(
      'VACUUM of log and segments',
      1,
      'whole',
      await measured(() => server.query('VACUUM sample_log, segments', DATABASE)),
    );
  } finally {
    await storage.close();
  }
}

try {
  await run();
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
