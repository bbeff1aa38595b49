// npm run bench:service: HTTP ingest and reads of the service, compared with InfluxDB 1.x if installed.
//
//   node bench/service/run.mjs [--seconds 3] [--warm 5] [--rounds 3] [--only ingest|read|token] [--batches 1,100,10000]
//                              [--connections 1,8,64] [--postgres alone|standby] [--write]
//
// --write also writes docs/benchmarks-service.md. --postgres has windrow store in PostgreSQL, alone or with a
// synchronous standby on this machine, whose processes then count as windrow's.
//
// Every figure is from a real server in its own process, over keep-alive connections on this machine, each with one
// request at a time; load and server share the cores. A sample counts once its request is answered, which happens once
// its commit is on disk. Rivals get the same samples in their own usual form. In each round servers take turns, start
// from rest, and are not measured for the first `--warm` seconds: a service runs for days, and V8 compiles for some
// seconds whenever the load changes. Figures are medians of the rounds.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readOptions, refuse } from '../../scripts/options.mjs';
import { requestSources } from './bodies.mjs';
import { influxVersion, startInflux } from './influx.mjs';
import { pour, quantile, send } from './load.mjs';
import { startPostgres } from './postgres.mjs';
import { startWindrow } from './windrow.mjs';

const { options } = readOptions(import.meta.url, {
  seconds: { type: 'number', default: 3 },
  warm: { type: 'number', default: 5 },
  rounds: { type: 'number', default: 3 },
  only: { type: 'string', among: ['ingest', 'read', 'token'] },
  batches: { type: 'string', default: '1,100,10000' },
  connections: { type: 'string', default: '1,8,64' },
  postgres: { type: 'string', among: ['alone', 'standby'] },
  write: { type: 'boolean' },
});
if (options.write && options.postgres !== undefined) refuse('--write: the page is about the embedded store');
const { seconds, warm: warmSeconds } = options;
const listOf = (text) => text.split(',').map(Number);
const wants = (work) => options.only === undefined || options.only === work;

const folder = mkdtempSync(join(tmpdir(), 'windrow-bench-service-'));
const startMs = Date.UTC(2002, 0, 1);
/** The unit of processor time in /proc. */
const TICK_US = 10_000;
/**
 * A server is at rest if it takes less than this share of a core for this long, which is longer than the service
 * pauses before it looks for samples to compact; and how long to wait for that.
 */
const REST_SHARE = 0.1;
const REST_MS = 1500;
const REST_MS_MAX = 120_000;
/** What has been printed, as a page. */
const written = [];

let postgres;
let windrow;
let influx;
try {
  if (options.postgres !== undefined) postgres = await startPostgres(folder, options.postgres === 'standby');
  const store = postgres === undefined ? ['--data-dir', join(folder, 'windrow')] : ['--store', postgres.store];
  const started = await startWindrow(store);
  windrow = { ...started, pids: () => [started.pid, ...(postgres?.pids() ?? [])] };
  if (influxVersion() !== undefined) influx = await startInflux(join(folder, 'influx'), 18_086);
  const processor = `${cpus()[0]?.model}, ${cpus().length} cores`;
  const others = [postgres?.version, influxVersion() ?? 'no InfluxDB'].filter((other) => other !== undefined);
  const machine = [processor, `Node ${process.version}`, ...others].join(', ');
  console.log(machine);
  // Reading first: compacting what ingest leaves behind takes time from all that comes after it.
  if (wants('read')) await benchReading();
  if (wants('token')) await benchTokens();
  if (wants('ingest')) await benchIngest();
  if (options.write) writePage(machine);
} finally {
  await windrow?.stop();
  await influx?.stop();
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function benchIngest() {
  const rivals = influx === undefined ? ['windrow'] : ['windrow', 'influx'];
  const cases = listOf(options.batches).flatMap((batch) =>
    listOf(options.connections).flatMap((connections) =>
      rivals.map((rival) => ({ rival, batch, connections, runs: [] })),
    ),
  );
  let run = 0;
  for (let round = 0; round < options.rounds; round++) {
    for (const { rival, batch, connections, runs } of cases) {
      const one = await ingestOnce(rival, batch, connections, run++);
      runs.push(one);
      // A quarter of an hour passes before the table.
      const load = `${rival}, ${batch} a body, ${connections} connections`;
      console.error(
        `round ${round + 1}/${options.rounds}: ${load}: ${Math.round(one.rate)}/s, p99 ${one.p99.toFixed(1)} ms`,
      );
    }
  }
  const median = (runs, field) => runs.map((one) => one[field]).sort((a, b) => a - b)[runs.length >> 1];
  const rows = cases.map(({ rival, batch, connections, runs }) => {
    const rate = median(runs, 'rate');
    const peers = cases.find((one) => one.rival === 'influx' && one.batch === batch && one.connections === connections);
    const times = rival === 'influx' || peers === undefined ? '' : (rate / median(peers.runs, 'rate')).toFixed(2);
    const latencies = ['p50', 'p99'].map((field) => median(runs, field).toFixed(1));
    const costs = ['cpuUs', 'writtenBytes'].map((field) => Math.round(median(runs, field)));
    return [rival, batch, connections, Math.round(rate * batch), Math.round(rate), ...latencies, ...costs, times];
  });
  const costs = ['CPU µs/request', 'bytes written/request'];
  const columns = [
    'server',
    'batch',
    'connections',
    'samples/s',
    'requests/s',
    'p50 ms',
    'p99 ms',
    ...costs,
    'x influx',
  ];
  print('Ingest, durable', columns, rows);
}

async function ingestOnce(rival, batch, connections, run) {
  let sentCount = 0;
  const sources = requestSources(rival, { token: windrow.token, run, batch, connections });
  const nexts = sources.map((next) => () => {
    sentCount++;
    return next();
  });
  const server = rival === 'windrow' ? windrow : influx;
  const before = await usageAtRest(server);
  const { seconds: took, latencies } = await pour({ url: server.url, nexts, warmSeconds, seconds });
  const after = await usageAtRest(server);
  const [cpuUs, writtenBytes] = after.map((used, i) => (used - before[i]) / sentCount);
  return {
    rate: latencies.length / took,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    cpuUs,
    writtenBytes,
  };
}

/** The same once the server is at rest, so that its work counts for the run that caused it and not for the next. */
async function usageAtRest(server) {
  let usage = usageOf(server);
  for (const startMs = performance.now(); performance.now() - startMs < REST_MS_MAX; ) {
    await sleep(REST_MS);
    const [before] = usage;
    usage = usageOf(server);
    if (usage[0] - before < REST_MS * REST_SHARE * 1000) return usage;
  }
  console.error(`${server.url} still works ${REST_MS_MAX / 1000} s after its run: the next figures include that`);
  return usage;
}

/** Usage of a server's processes by /proc: processor time in µs, and bytes written to disk and sockets. */
function usageOf(server) {
  const total = [0, 0];
  for (const pid of server.pids()) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
      const [, written] = /wchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'));
      // Its own, and that of children that have ended.
      for (const ticks of fields.slice(11, 15)) total[0] += Number(ticks) * TICK_US;
      total[1] += Number(written);
    } catch (error) {
      // A process of PostgreSQL that has ended meanwhile.
      if (error.code !== 'ENOENT' && error.code !== 'ESRCH') throw error;
    }
  }
  return total;
}

async function benchReading() {
  const sampleCount = 2_000_000;
  const timeMs = Float64Array.from({ length: sampleCount }, (_, i) => startMs + i * 1000);
  const value = Float64Array.from({ length: sampleCount }, (_, i) => Math.round(2000 + 500 * Math.sin(i / 1000)) / 100);
  for (let from = 0; from < sampleCount; from += 100_000) {
    const body = frame('long', timeMs.subarray(from, from + 100_000), value.subarray(from, from + 100_000));
    const headers = { authorization: `Bearer ${windrow.token}`, 'content-type': 'application/vnd.windrow.columns' };
    const answer = await fetch(`${windrow.url}/core/samples`, { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(await answer.text());
    if (influx === undefined) continue;
    const lines = Array.from({ length: 100_000 }, (_, i) => `raw,id=long val=${value[from + i]} ${timeMs[from + i]}`);
    await fetch(`${influx.url}/write?db=bench&precision=ms`, { method: 'POST', body: lines.join('\n') });
  }
  for (const server of [windrow, influx].filter((one) => one !== undefined)) await usageAtRest(server);
  const rows = [];
  for (const accept of ['application/vnd.windrow.columns', 'text/csv', 'application/x-ndjson']) {
    const headers = { authorization: `Bearer ${windrow.token}`, accept };
    rows.push([
      'windrow',
      accept,
      ...(await readOnce(windrow.url, '/core/timeseries/long/samples', headers, sampleCount)),
    ]);
  }
  if (influx !== undefined) {
    const path = `/query?db=bench&epoch=ms&chunked=true&chunk_size=100000&q=${encodeURIComponent("SELECT val FROM raw WHERE id='long'")}`;
    for (const accept of ['application/csv', 'application/json']) {
      rows.push(['influx', accept, ...(await readOnce(influx.url, path, { accept }, sampleCount))]);
    }
  }
  print(`Reading a series of ${sampleCount} samples`, ['server', 'form', 'samples/s', 'MB/s'], rows);
}

async function readOnce(url, path, headers, sampleCount) {
  const rates = [];
  let byteCount = 0;
  for (let repeat = 0; repeat < 5; repeat++) {
    byteCount = 0;
    let isSent = false;
    const next = () => {
      if (isSent) return undefined;
      isSent = true;
      return { method: 'GET', path, headers, onBytes: (bytes) => (byteCount += bytes.length) };
    };
    const { seconds: took } = await send({ url, connections: 1, next });
    rates.push(took);
  }
  const median = rates.sort((a, b) => a - b)[2];
  return [Math.round(sampleCount / median), Math.round(byteCount / median / 1e6)];
}

async function benchTokens() {
  const rows = [];
  for (const connections of listOf(options.connections)) {
    const endMs = performance.now() + seconds * 1000;
    const next = () => (performance.now() > endMs ? undefined : windrow.tokenRequest);
    const { seconds: took, latencies } = await send({ url: windrow.url, connections, next });
    rows.push([connections, Math.round(latencies.length / took), ...latencyColumns(latencies)]);
  }
  print('Tokens issued (client_credentials, stored durably)', ['connections', 'tokens/s', 'p50 ms', 'p99 ms'], rows);
}

function frame(timeseriesId, timeMs, value) {
  const text = JSON.stringify({ timeseriesId, metric: 'Raw' });
  const head = Buffer.from(text.padEnd(Math.ceil(text.length / 8) * 8));
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32LE(head.length, 0);
  prefix.writeUInt32LE(timeMs.length, 4);
  const bytesOf = (column) => Buffer.from(column.buffer, column.byteOffset, column.byteLength);
  return Buffer.concat([prefix, head, bytesOf(timeMs), bytesOf(value)]);
}

function latencyColumns(rising) {
  return [quantile(rising, 0.5).toFixed(1), quantile(rising, 0.99).toFixed(1)];
}

function print(title, columns, rows) {
  const cells = [columns, ...rows].map((row) =>
    row.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en') : String(cell))),
  );
  const widths = columns.map((_, i) => Math.max(...cells.map((row) => row[i].length)));
  console.log(`\n${title}`);
  for (const row of cells) console.log(row.map((cell, i) => cell.padStart(widths[i])).join('  '));
  const lines = cells.map((row) => `| ${row.join(' | ')} |`);
  written.push(`## ${title}`, '', lines[0], `|${columns.map(() => '---').join('|')}|`, ...lines.slice(1), '');
}

function writePage(machine) {
  const page = [
    '# The service, measured',
    '',
    `Written by \`npm run bench:service -- --write\` on ${new Date().toISOString().slice(0, 10)}: ${machine}.`,
    '',
    'Every server is a real one, in a process of its own, on the same machine as the load. Clients keep their connections',
    'open and send one request at a time on each. A sample counts once its request is answered, which is once its commit',
    'is on the disk; InfluxDB is set to do the same (`wal-fsync-delay = 0s`). Each server gets the same samples in its',
    `usual format, of 100 series in turn. In each round the servers run one after the other, after ${warmSeconds} s that do`,
    'not count: V8 compiles for some seconds whenever the load changes, and a service runs for days. Ingest figures are',
    `medians of ${options.rounds} rounds of ${options.seconds} s. Each run begins when its server rests, and the processor`,
    'time and bytes of a request include what the server does until it rests again, such as compaction.',
    '',
    ...written,
  ];
  writeFileSync(new URL('../../docs/benchmarks-service.md', import.meta.url), `${page.join('\n').trimEnd()}\n`);
}
