// One organisation computed by one process and by two, in one group and in eight: live items over PostgreSQL.
//
//   npm run build && node bench/service/spread.mjs

import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { PostgresServer } from '../../scripts/cluster/postgres-server.mjs';
import { runWindrow, WindrowProcess } from '../../scripts/cluster/windrow-process.mjs';
import { createApi, demandToken } from '../../torture/crash/api.mjs';

const SERIES = 64;
const BODIES = 150;
const SAMPLES_OF_SERIES = 150;
const START_MS = Date.UTC(2026, 0, 1);
const STEP_MS = 1000;
const PARALLEL = 4;
const TICKS_A_SECOND = 100;

const ids = Array.from({ length: SERIES }, (_, i) => `device-${i}`);

/** The live items of each series. */
function itemsOf(timeseriesId) {
  const at = (metric) => [{ timeseriesId, metric }];
  const item = (metric, parameters) => ({
    metric,
    processingType: 'stream',
    operations: [{ operation: 'Aggregate', input: at('Raw'), output: at(metric), parameters }],
  });
  const functions = ['Median', 'StandardDeviation', 'Average', 'Max'];
  return functions.flatMap((name) => [
    item(`${name}1`, { function: name, interval: 'PT1M' }),
    item(`${name}60`, { function: name, interval: 'Hourly' }),
  ]);
}

function bodyOf(number) {
  const rows = ['timestamp,timeseriesId,metric,value'];
  for (const id of ids) {
    for (let i = 0; i < SAMPLES_OF_SERIES; i++) {
      const timeMs = START_MS + (number * SAMPLES_OF_SERIES + i) * STEP_MS;
      rows.push(`${new Date(timeMs).toISOString()},${id},Raw,${(i * 7919) % 1000}`);
    }
  }
  return rows.join('\n');
}

/** Processor time of a process in seconds. */
function processorTimeOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}

async function run(server, name, processCount, groups) {
  const store = await server.createDatabase(name);
  const words = ['client', 'add', 'bench', '--org', 'acme', '--scope', 'core_read core_write core_admin', '--json'];
  const client = JSON.parse(await runWindrow([...words, '--groups', String(groups)], store));
  const processes = Array.from({ length: processCount }, () => new WindrowProcess(store));
  for (const process of processes) await process.start();
  const authorization = `Bearer ${await demandToken(processes[0].url, client)}`;
  const apis = processes.map(({ url }) => createApi(url, authorization));
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(ids.flatMap(itemsOf));
  const posted = await apis[0].call('POST', '/core/operations', { headers, body, expect: [202] });
  const { id } = JSON.parse(posted.bytes.toString()).data;
  const isActive = async () =>
    JSON.parse((await apis[0].call('GET', `/core/status/${id}`)).bytes.toString()).data.state === 'Active';
  while (!(await isActive())) await wait(50);
  // Shards are redistributed when claims are renewed.
  await wait(12_000);
  const before = processes.map(({ pid }) => processorTimeOf(pid));
  const startMs = performance.now();
  let next = 0;
  const write = async (api) => {
    while (next < BODIES) {
      const text = bodyOf(next++);
      await api.call('POST', '/core/samples', { headers: { 'content-type': 'text/csv' }, body: text });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, (_, i) => write(apis[i % apis.length])));
  const end = new Date(START_MS + (BODIES * SAMPLES_OF_SERIES - 1) * STEP_MS).toISOString();
  const lastMinute = `${end.slice(0, 16)}:00`;
  for (const timeseriesId of ids) {
    const path = `/core/timeseries/${timeseriesId}/samples?metric=Median1&startTime=${lastMinute}Z`;
    const isThere = async () =>
      JSON.parse((await apis[0].call('GET', path)).bytes.toString()).data.some(({ val }) => val !== undefined);
    while (!(await isThere())) await wait(20);
  }
  const seconds = (performance.now() - startMs) / 1000;
  const used = processes.map(({ pid }, i) => processorTimeOf(pid) - before[i]);
  for (const process of processes) await process.end('SIGTERM');
  const samples = SERIES * SAMPLES_OF_SERIES * BODIES;
  return {
    processes: processCount,
    groups,
    seconds: Number(seconds.toFixed(1)),
    'samples a second': Math.round(samples / seconds),
    'processor time of each (s)': used.map((time) => time.toFixed(1)).join(', '),
    'samples a second of the busiest': Math.round(samples / Math.max(...used)),
  };
}

const folder = mkdtempSync(join(tmpdir(), 'windrow-spread-'));
chmodSync(folder, 0o711);
const server = new PostgresServer(join(folder, 'a'), { shared_buffers: '128MB', max_connections: 100 });
try {
  await server.create();
  await server.start();
  const rows = [];
  for (const [processCount, groups] of [
    [1, 1],
    [2, 1],
    [1, 8],
    [2, 8],
  ]) {
    rows.push(await run(server, `bench_${processCount}_${groups}`, processCount, groups));
    console.log(rows.at(-1));
  }
  console.table(rows);
} finally {
  await server.stop('SIGQUIT');
  rmSync(folder, { recursive: true, force: true });
}
