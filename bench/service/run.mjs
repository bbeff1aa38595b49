// npm run bench:service: what the service takes and gives over HTTP, beside InfluxDB 1.x where it is installed.
//
//   node bench/service/run.mjs [--seconds 5] [--only ingest|read|token] [--batches 1,100,10000] [--connections 1,8,64]
//                              [--write]   and writes docs/benchmarks-service.md
//
// Every figure is of a real server in a process of its own, over keep-alive connections on this machine, each with
// one request at a time; the load and the server share its cores. A sample counts once its request is answered, and
// it is answered once its commit is on the disk. Rivals are given the same samples in their own usual form.

import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { influxVersion, startInflux } from './influx.mjs';
import { quantile, send } from './load.mjs';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    only: { type: 'string' },
    batches: { type: 'string', default: '1,100,10000' },
    connections: { type: 'string', default: '1,8,64' },
    write: { type: 'boolean', default: false },
  },
});
const seconds = Number(options.seconds);
const listOf = (text) => text.split(',').map(Number);
const wants = (work) => options.only === undefined || options.only === work;

const command = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'windrow-bench-service-'));
const startMs = Date.UTC(2024, 0, 1);
const SERIES_COUNT = 100;
/** What has been printed, as a page. */
const written = [];

// The same samples in the usual form of each.
const forms = {
  windrow: (samples) =>
    JSON.stringify(
      samples.map(({ series, timeMs, value }) => ({
        timeseriesId: series,
        metric: 'Raw',
        timestamp: new Date(timeMs).toISOString(),
        val: value,
      })),
    ),
  influx: (samples) => samples.map(({ series, timeMs, value }) => `raw,id=${series} val=${value} ${timeMs}`).join('\n'),
};

const windrow = await startWindrow();
const influx = influxVersion() === undefined ? undefined : await startInflux(join(folder, 'influx'), 18_086);
try {
  const processor = `${cpus()[0]?.model}, ${cpus().length} cores`;
  const machine = `${processor}, Node ${process.version}, ${influxVersion() ?? 'no InfluxDB'}`;
  console.log(machine);
  if (wants('ingest')) await benchIngest();
  if (wants('read')) await benchReading();
  if (wants('token')) await benchTokens();
  if (options.write) writePage(machine);
} finally {
  await windrow.stop();
  await influx?.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function startWindrow() {
  const directory = join(folder, 'windrow');
  const scope = 'core_read core_write core_admin';
  const added = spawnSync(
    process.execPath,
    [command, 'client', 'add', 'bench', '--org', 'bench', '--scope', scope, '--data-dir', directory, '--json'],
    { encoding: 'utf8' },
  );
  if (added.status !== 0) throw new Error(added.stderr);
  const { clientId, clientSecret } = JSON.parse(added.stdout);
  const child = spawn(
    process.execPath,
    [command, 'serve', '--data-dir', directory, '--port', '0', '--log-level', 'error'],
    { stdio: ['ignore', 'inherit', 'pipe'] },
  );
  const url = await new Promise((resolve, reject) => {
    let text = '';
    child.stderr.on('data', (bytes) => {
      text += bytes;
      const match = /http:\/\/[\d.:]+/.exec(text);
      if (match !== null) resolve(match[0]);
    });
    child.once('exit', () => reject(new Error(`windrow serve ended: ${text}`)));
  });
  const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  const tokenRequest = {
    method: 'POST',
    path: '/idm/ims/connect/token',
    headers: { authorization: basic, 'content-type': 'application/x-www-form-urlencoded' },
    body: Buffer.from('grant_type=client_credentials'),
  };
  const answer = await fetch(url + tokenRequest.path, tokenRequest);
  const { access_token: token } = await answer.json();
  return {
    url,
    token,
    tokenRequest,
    stop: async () => {
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
}

// A run never writes a time twice.
function samplesAt(run, batch, index) {
  return Array.from({ length: batch }, (_, i) => {
    const n = index * batch + i;
    const timeMs = startMs + run * 10 ** 9 + Math.floor(n / SERIES_COUNT) * 1000;
    return { series: `sensor-${n % SERIES_COUNT}`, timeMs, value: Math.round(2000 + 500 * Math.sin(n / 1000)) / 100 };
  });
}

async function benchIngest() {
  const rows = [];
  let run = 0;
  for (const batch of listOf(options.batches)) {
    for (const connections of listOf(options.connections)) {
      run++;
      for (const rival of influx === undefined ? ['windrow'] : ['windrow', 'influx']) {
        rows.push(await ingestOnce(rival, batch, connections, run));
      }
    }
  }
  print('Ingest, durable', ['server', 'batch', 'connections', 'samples/s', 'requests/s', 'p50 ms', 'p99 ms'], rows);
}

async function ingestOnce(rival, batch, connections, run) {
  // Made beforehand: the load should cost little beside the server.
  const count = Math.max(2 * connections, Math.min(20_000, Math.ceil(600_000 / batch)));
  const bodies = Array.from({ length: count }, (_, index) => Buffer.from(forms[rival](samplesAt(run, batch, index))));
  const headers =
    rival === 'windrow'
      ? { authorization: `Bearer ${windrow.token}`, 'content-type': 'application/json' }
      : { 'content-type': 'text/plain' };
  const path = rival === 'windrow' ? '/core/samples' : '/write?db=bench&precision=ms';
  const endMs = performance.now() + seconds * 1000;
  let sent = 0;
  const next = () => {
    if (sent >= count || performance.now() > endMs) return undefined;
    return { method: 'POST', path, headers, body: bodies[sent++] };
  };
  const url = rival === 'windrow' ? windrow.url : influx.url;
  const { seconds: took, latencies } = await send({ url, connections, next });
  return [
    rival,
    batch,
    connections,
    Math.round((latencies.length * batch) / took),
    Math.round(latencies.length / took),
    ...latencyColumns(latencies),
  ];
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
    'Every figure is of a real server in a process of its own, over keep-alive connections with one request at a time',
    'each; the load and the server share the machine. A sample counts once its request is answered, and it is answered',
    'once its commit is on the disk; InfluxDB is set to the same (`wal-fsync-delay = 0s`). Rivals are given the same',
    'samples in their own usual form, 100 series in turn.',
    '',
    ...written,
  ];
  writeFileSync(new URL('../../docs/benchmarks-service.md', import.meta.url), `${page.join('\n').trimEnd()}\n`);
}
