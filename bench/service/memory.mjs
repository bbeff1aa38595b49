// How much memory a service takes. Each load meets a new server over the same store, so each figure is the most that
// one process had from its start on. Figures are resident memory in MB (VmHWM): with what it maps of the program, and
// without the page cache.
//
//   npm run build && node bench/service/memory.mjs
//
//   --dist FOLDER     another build than that in dist, to compare
//   --only WORDS      the loads whose names have these words, after those that fill the store
//   --cgroup FOLDER   the cgroup that the servers run in, and whose limit they have to get by with: a load under which
//                     one is killed counts as `ended`

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readOptions } from '../../scripts/options.mjs';
import { requestSources } from './bodies.mjs';
import { pour, send } from './load.mjs';
import { startWindrow } from './windrow.mjs';

const { options } = readOptions(import.meta.url, {
  dist: { type: 'string' },
  only: { type: 'string' },
  cgroup: { type: 'string' },
});
if (process.platform !== 'linux') throw new Error(`it reads /proc: expected Linux, received ${process.platform}`);
const START_MS = Date.UTC(2026, 0, 1);
const SERIES_COUNT = 4;
const SERIES_SAMPLES = 2_000_000;
const POUR_SECONDS = 10;
const JSON_BODY_SAMPLES = 160_000;
const ITEMS = 1000;
/** Until work that an answer does not wait for has been done: compaction, and results of items. */
const SETTLE_MS = 5000;
const COLUMNS = 'application/vnd.windrow.columns';
const JSON_PAGE = { accept: 'application/json', query: '&limit=100000' };

/** The load that writes what others read. */
const FILLING = 'columns of 2 million samples, 4 connections';

let run = 0;
const loads = [
  ['at rest', () => {}],
  ['bodies of 1 sample, 64 connections', (server) => pourBodies(server, 1, 64)],
  ['bodies of 100 samples, 64 connections', (server) => pourBodies(server, 100, 64)],
  ['bodies of 10,000 samples, 8 connections', (server) => pourBodies(server, 10_000, 8)],
  ['bodies of 10,000 samples, 64 connections', (server) => pourBodies(server, 10_000, 64)],
  ['JSON bodies of 15 MB, 8 connections', (server) => post(server, 8, 32, 'application/json', jsonBody)],
  [FILLING, (server) => post(server, 4, SERIES_COUNT, COLUMNS, columnsBody)],
  ['CSV of 2 million samples, 4 connections', (server) => post(server, 4, SERIES_COUNT, 'text/csv', csvBody)],
  ['reads as JSON, pages of 100,000, 16 connections', (server) => read(server, 16, 160, JSON_PAGE)],
  ['reads as CSV, 2 million samples, 16 connections', (server) => read(server, 16, 32, { accept: 'text/csv' })],
  ['200 pages of 100,000 that nobody reads', (server) => ignore(server, 200, JSON_PAGE)],
  ['200 series as CSV that nobody reads', (server) => ignore(server, 200, { accept: 'text/csv' })],
  ['a median of each hour of 2 million samples', (server) => register(server, [item('Hourly', 'Median')])],
  ['1,000 items on one series', registerMany],
];

const folder = mkdtempSync(join(tmpdir(), 'windrow-memory-'));
let client;
try {
  const rows = [];
  const { only = '' } = options;
  for (const [name, load] of loads.filter(([of]) => of.includes(only) || of === FILLING)) {
    rows.push({ load: name, 'most, MB': await measure(load) });
    console.log(rows.at(-1));
  }
  console.table(rows);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The most memory of a server under a load; `ended` if it did not live through it. */
async function measure(load) {
  const server = await startWindrow(['--data-dir', folder], { ...options, client });
  client = server.client;
  let most = memoryOf(server);
  try {
    await load(server);
    await sleep(SETTLE_MS);
    most = memoryOf(server);
  } catch (error) {
    if (memoryOf(server) !== undefined) throw error;
    most = undefined;
  }
  if (most === undefined) return 'ended';
  await server.stop();
  return most;
}

/** Undefined if the process has ended. */
function memoryOf({ pid }) {
  try {
    const kib = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? undefined : Math.round(Number(kib) / 1024);
  } catch {
    return undefined;
  }
}

async function pourBodies({ url, token }, batch, connections) {
  const nexts = requestSources('windrow', { token, run: run++, batch, connections });
  await pour({ url, nexts, warmSeconds: 0, seconds: POUR_SECONDS });
}

async function post({ url, token }, connections, count, type, bodyOf) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': type };
  let sent = 0;
  const next = () =>
    sent < count ? { method: 'POST', path: '/core/samples', headers, body: bodyOf(sent++) } : undefined;
  await send({ url, connections, next });
}

async function read({ url, token }, connections, count, { accept, query = '' }) {
  const headers = { authorization: `Bearer ${token}`, accept };
  let sent = 0;
  const next = () => {
    if (sent === count) return undefined;
    const path = `/core/timeseries/s${sent++ % SERIES_COUNT}/samples?metric=Raw${query}`;
    return { method: 'GET', path, headers };
  };
  await send({ url, connections, next });
}

/** Asks and reads no answer. */
async function ignore({ url, token }, connections, { accept, query = '' }) {
  const { hostname, port } = new URL(url);
  const head = `GET /core/timeseries/s0/samples?metric=Raw${query} HTTP/1.1\r\nhost: ${hostname}\r\naccept: ${accept}\r\n`;
  const sockets = Array.from({ length: connections }, () => connect({ host: hostname, port: Number(port) }).pause());
  for (const socket of sockets) socket.on('error', () => {}).write(`${head}authorization: Bearer ${token}\r\n\r\n`);
  await sleep(2 * SETTLE_MS);
  for (const socket of sockets) socket.destroy();
}

function measuredAt(n) {
  return Math.round(2000 + 500 * Math.sin(n / 1000) + 10 * Math.sin(n)) / 100;
}

function jsonBody(index) {
  const rows = Array.from({ length: JSON_BODY_SAMPLES }, (_, i) => {
    const timestamp = new Date(START_MS + (index * JSON_BODY_SAMPLES + i) * 1000).toISOString();
    return `{"timeseriesId":"json-${i % 10}","metric":"Raw","timestamp":"${timestamp}","val":${measuredAt(i)}}`;
  });
  return Buffer.from(`[${rows.join(',')}]`);
}

function columnsBody(index) {
  const head = Buffer.from(JSON.stringify({ timeseriesId: `s${index}`, metric: 'Raw' }).padEnd(40));
  const count = SERIES_SAMPLES / 2;
  return Buffer.concat(
    [0, 1].flatMap((half) => {
      const prefix = Buffer.alloc(8);
      prefix.writeUInt32LE(head.length, 0);
      prefix.writeUInt32LE(count, 4);
      const times = Float64Array.from({ length: count }, (_, i) => START_MS + (half * count + i) * 1000);
      const values = Float64Array.from({ length: count }, (_, i) => measuredAt(half * count + i));
      return [prefix, head, Buffer.from(times.buffer), Buffer.from(values.buffer)];
    }),
  );
}

function csvBody(index) {
  const rows = Array.from(
    { length: SERIES_SAMPLES },
    (_, i) => `${new Date(START_MS + i * 1000).toISOString()},csv-${index},Raw,${measuredAt(i)}`,
  );
  return Buffer.from(`timestamp,timeseriesId,metric,value\n${rows.join('\n')}\n`);
}

function item(metric, statistic) {
  const input = [{ timeseriesId: 's0', metric: 'Raw' }];
  const output = [{ timeseriesId: 's0', metric }];
  const parameters = { function: statistic, interval: 'Hourly' };
  return { metric, processingType: 'stream', operations: [{ operation: 'Aggregate', input, output, parameters }] };
}

async function register({ url, token }, items) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const jobs = [{ method: 'POST', path: '/core/operations', headers, body: Buffer.from(JSON.stringify(items)) }];
  await send({ url, connections: 1, next: () => jobs.pop() });
}

async function registerMany(server) {
  await register(
    server,
    Array.from({ length: ITEMS }, (_, i) => item(`Hourly${i}`, 'Average')),
  );
  const sample = (_, i) => ({ timeseriesId: 's0', timestamp: START_MS + (SERIES_SAMPLES + i) * 1000, val: i });
  await post(server, 1, 10, 'application/json', (n) =>
    Buffer.from(JSON.stringify(Array.from({ length: 100 }, (_row, i) => sample(_row, n * 100 + i)))),
  );
}
