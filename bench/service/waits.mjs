// What one client waits for while another gives the service much to do. Each prints times in milliseconds.
//
//   node bench/service/waits.mjs log     frames of a million samples, a kill and a start: until the first token, and then
//                                        reads of a minute and single samples while the log is compacted
//   node bench/service/waits.mjs wide    bodies with a sample for each of many series: the longest waits of other clients
//   node bench/service/waits.mjs range   reads of a quarter of an hour, and of all, of series with many rows in the log
//   node bench/service/waits.mjs pages   long pages and series that many ask for at once: the longest waits of another client
//   node bench/service/waits.mjs delete  the deletion of most of a long series: the longest waits of a client that writes
//   node bench/service/waits.mjs retention  the rounds after a rule was set on series that many items read: the longest
//                                        waits of a client that writes
//   node bench/service/waits.mjs members  a body with the first samples of many series, each of which a pattern makes an
//                                        item for: the longest waits of a client that writes
//
//   --dist FOLDER     another build than that in dist, to compare
//   --count 60        frames (log; delete, 6), series (wide, 100000 by default), rows (range, 2000), requests at once
//                     (pages, 32), items (retention, 10000) or members (members, 20000)
//   --shared          retention: all items read one series, instead of one each
//   --postgres        over PostgreSQL, started for this run, instead of the embedded store

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readOptions, refuse } from '../../scripts/options.mjs';
import { openClient } from './client.mjs';
import { quantile } from './load.mjs';
import { startPostgres } from './postgres.mjs';
import { startWindrow } from './windrow.mjs';

const { options, positionals } = readOptions(
  import.meta.url,
  {
    dist: { type: 'string' },
    count: { type: 'number' },
    shared: { type: 'boolean' },
    postgres: { type: 'boolean' },
  },
  { allowPositionals: true },
);
const modes = {
  log: measureLog,
  wide: measureWide,
  range: measureRange,
  pages: measurePages,
  delete: measureDelete,
  retention: measureRetention,
  members: measureMembers,
};
const measure = modes[positionals[0]];
if (measure === undefined || positionals.length !== 1) refuse(`expected one of ${Object.keys(modes).join(', ')}`);

const START_MS = Date.UTC(2026, 0, 1);
const FRAME_SAMPLES = 1_000_000;
const HOUR_MS = 3_600_000;
const folder = mkdtempSync(join(tmpdir(), 'windrow-waits-'));
const postgres = options.postgres ? await startPostgres(folder, false) : undefined;
const store = postgres === undefined ? ['--data-dir', folder] : ['--store', postgres.store];
const settings = positionals[0] === 'retention' ? ['--retention-interval', 'PT1S'] : [];
let server = await startWindrow(store, { dist: options.dist, settings });
try {
  await measure();
} finally {
  await server.stop('SIGKILL');
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function restart(signal) {
  await server.stop(signal);
  server = await startWindrow(store, { dist: options.dist, client: server.client, settings });
}

async function ask(path, type, body, method = body === undefined ? 'GET' : 'POST') {
  const headers = { authorization: `Bearer ${server.token}`, ...(type === undefined ? {} : { 'content-type': type }) };
  const beginMs = performance.now();
  const answer = await fetch(server.url + path, { method, headers, body });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} ${text}`);
  return performance.now() - beginMs;
}

async function askForScope(scope) {
  const body = new URLSearchParams({ grant_type: 'client_credentials', scope }).toString();
  const answer = await fetch(server.url + server.tokenRequest.path, { ...server.tokenRequest, body });
  server = { ...server, token: (await answer.json()).access_token };
}

/** Asks again and again until told to stop; returns the times in order. */
async function askUntil(isOver, once) {
  const times = [];
  for (let n = 0; !isOver(); n++) {
    times.push(await once(n));
    await sleep(1);
  }
  return Float64Array.from(times).sort();
}

function summaryOf(times) {
  const [median, p99] = [quantile(times, 0.5), quantile(times, 0.99)].map((ms) => Number(ms.toFixed(1)));
  return { requests: times.length, median, p99, longest: [...times.slice(-3)].reverse().map(Math.round) };
}

async function measureLog() {
  const count = options.count ?? 60;
  const next = Array.from({ length: count }, (_, i) => i).values();
  const pour = async () => {
    for (const i of next) await ask('/core/samples', 'application/vnd.windrow.columns', frameOf(i));
  };
  await Promise.all([pour(), pour(), pour(), pour()]);
  const beginMs = performance.now();
  await restart('SIGKILL');
  const firstTokenMs = Math.round(performance.now() - beginMs);
  const endMs = performance.now() + 12_000;
  const isOver = () => performance.now() > endMs;
  const timeOf = (ms) => new Date(ms).toISOString();
  const minute = `startTime=${timeOf(START_MS + 600_000)}&endTime=${timeOf(START_MS + 660_000)}`;
  const [reads, writes] = await Promise.all([
    askUntil(isOver, () => ask(`/core/timeseries/s${Math.min(1, count - 1)}/samples?${minute}`)),
    askUntil(isOver, (n) =>
      ask(
        '/core/samples',
        'application/json',
        JSON.stringify([{ timeseriesId: 'live', timestamp: START_MS + n, val: n }]),
      ),
    ),
  ]);
  const peakMb = Math.round(
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]) / 1024,
  );
  console.log('log', { frames: count, firstTokenMs, peakMb });
  console.log('reads', summaryOf(reads));
  console.log('writes', summaryOf(writes));
}

/** Values with all their digits, so that nothing is packed. */
function frameOf(i, timeseriesId = `s${i}`, startMs = START_MS) {
  const head = Buffer.from(JSON.stringify({ timeseriesId, metric: 'Raw' }).padEnd(40));
  const prefix = Buffer.alloc(8);
  prefix.writeUInt32LE(head.length, 0);
  prefix.writeUInt32LE(FRAME_SAMPLES, 4);
  const times = Float64Array.from({ length: FRAME_SAMPLES }, (_, k) => startMs + k * 1000);
  const values = Float64Array.from({ length: FRAME_SAMPLES }, (_, k) => Math.sin(k * 1.1 + i) * Math.E);
  return Buffer.concat([prefix, head, Buffer.from(times.buffer), Buffer.from(values.buffer)]);
}

async function measureDelete() {
  const count = options.count ?? 6;
  const timeOf = (sample) => START_MS + sample * 1000;
  for (let i = 0; i < count; i++) {
    await ask('/core/samples', 'application/vnd.windrow.columns', frameOf(i, 'long', timeOf(i * FRAME_SAMPLES)));
  }
  // Until it is in segments.
  await sleep(2500 * count);
  await askForScope('core_write core_admin');
  let isOver = false;
  const writes = writeLive(() => isOver);
  await sleep(500);
  const [start, end] = [timeOf(1), timeOf((count - 0.5) * FRAME_SAMPLES)].map((ms) => new Date(ms).toISOString());
  const path = `/core/timeseries/long/samples?startTime=${start}&endTime=${end}`;
  const deleteMs = Math.round(await ask(path, undefined, undefined, 'DELETE'));
  await sleep(300);
  isOver = true;
  console.log('delete', { samples: (count - 0.5) * FRAME_SAMPLES - 1, deleteMs });
  console.log('writes', summaryOf(await writes));
}

async function measureRetention() {
  const count = options.count ?? 10_000;
  const seriesCount = options.shared ? 1 : count;
  await askForScope('core_read core_write core_admin');
  const hourly = (i) => {
    const timeseriesId = `s${i % seriesCount}`;
    const parameters = { function: 'Average', interval: 'Hourly' };
    const input = [{ timeseriesId, metric: 'Raw' }];
    const step = { operation: 'Aggregate', input, output: [{ timeseriesId, metric: `Hourly${i}` }], parameters };
    return { metric: `Hourly${i}`, processingType: 'stream', operations: [step] };
  };
  for (let from = 0; from < count; from += 1000) {
    const length = Math.min(1000, count - from);
    const items = Array.from({ length }, (_, i) => hourly(from + i));
    await ask('/core/operations', 'application/json', JSON.stringify(items));
  }
  // Two days, of which the first is to go.
  const nowMs = Date.now();
  for (let hour = 48; hour >= 0; hour--) {
    const samples = Array.from({ length: seriesCount }, (_, i) => ({
      timeseriesId: `s${i}`,
      timestamp: nowMs - hour * HOUR_MS,
      val: i + hour,
    }));
    for (let from = 0; from < seriesCount; from += 5000) {
      await ask('/core/samples', 'application/json', JSON.stringify(samples.slice(from, from + 5000)));
    }
  }
  // Until the last item has taken all of them, and they are in segments.
  while ((await countOf(`s${seriesCount - 1}`, `metric=Hourly${count - 1}`)) < 49) await sleep(100);
  await sleep(5000);
  let isOver = false;
  const writes = writeLive(() => isOver);
  await sleep(500);
  const beginMs = performance.now();
  await ask('/core/retention', 'application/json', JSON.stringify({ keep: 'P1D' }));
  // Series go in the order of their ids.
  const last = Array.from({ length: seriesCount }, (_, i) => `s${i}`).reduce((a, b) => (a > b ? a : b));
  const dayBefore = new Date(nowMs - 25 * HOUR_MS).toISOString();
  while ((await countOf(last, `metric=Raw&endTime=${dayBefore}`)) > 0) await sleep(100);
  const goneMs = Math.round(performance.now() - beginMs);
  isOver = true;
  console.log('retention', { items: count, series: seriesCount, goneMs });
  console.log('writes', summaryOf(await writes));
}

/** Writes samples of a series of its own until told to stop; returns the times in order. */
function writeLive(isOver) {
  const send = (samples) => ask('/core/samples', 'application/json', JSON.stringify(samples));
  return askUntil(isOver, (n) => send([{ timeseriesId: 'live', timestamp: n, val: n }]));
}

async function measureMembers() {
  const count = options.count ?? 20_000;
  const input = [{ timeseriesId: '*', metric: 'Raw' }];
  const parameters = { function: 'Average', interval: 'Hourly' };
  const step = { operation: 'Aggregate', input, output: [{ timeseriesId: '*', metric: 'Hourly' }], parameters };
  const item = { metric: 'Hourly', processingType: 'stream', operations: [step] };
  await ask('/core/operations', 'application/json', JSON.stringify([item]));
  const [request] = (await read('/core/status')).data;
  const samples = Array.from({ length: 2 * count }, (_, i) => ({
    timeseriesId: `s${String(i % count).padStart(6, '0')}`,
    timestamp: START_MS + (i < count ? 0 : HOUR_MS),
    val: i,
  }));
  const body = JSON.stringify(samples);
  let isOver = false;
  const writes = writeLive(() => isOver);
  await sleep(500);
  const beginMs = performance.now();
  const bodyMs = Math.round(await ask('/core/samples', 'application/json', body));
  const isDone = async () =>
    (await countOf(samples.at(-1).timeseriesId, 'metric=Hourly')) > 0 &&
    (await read(`/core/status/${request.id}`)).data.state === 'Active';
  while (!(await isDone())) await sleep(100);
  const registeredMs = Math.round(performance.now() - beginMs);
  isOver = true;
  console.log('members', { count, bodyMs, registeredMs });
  console.log('writes', summaryOf(await writes));
}

async function read(path) {
  const answer = await fetch(server.url + path, { headers: { authorization: `Bearer ${server.token}` } });
  return answer.json();
}

/** How many samples of a series a page has; none if it is not there. */
async function countOf(id, query) {
  return (await read(`/core/timeseries/${id}/samples?${query}`)).data?.length ?? 0;
}

async function measureWide() {
  const count = options.count ?? 100_000;
  const bodyOf = (minute, separator) =>
    Array.from({ length: count }, (_, i) =>
      JSON.stringify({ timeseriesId: `sensor-${i}`, timestamp: START_MS + minute * 60_000, val: i }),
    ).join(separator);
  let minute = 0;
  const send = async (what, type) => {
    const isJson = type === 'application/json';
    const body = isJson ? `[${bodyOf(minute++, ',')}]` : bodyOf(minute++, '\n');
    let isOver = false;
    const pings = askUntil(
      () => isOver,
      () => ask('/health/live'),
    );
    const writes = writeLive(() => isOver);
    const bodyMs = Math.round(await ask('/core/samples', type, body));
    // Its rows are loaded and compacted later.
    await sleep(1500);
    isOver = true;
    console.log(`${what}, ${isJson ? 'JSON' : 'NDJSON'}:`, { bodyMs, ...summaryOf(await pings) });
    console.log('writes', summaryOf(await writes));
  };
  await send('new series', 'application/json');
  await send('known series', 'application/json');
  await send('known series', 'application/x-ndjson');
  await restart('SIGTERM');
  await send('after a restart', 'application/json');
}

async function measureRange() {
  const count = options.count ?? 2000;
  for (let n = 0; n < count; n++) {
    const timestamp = START_MS + n * 60_000;
    const samples = Array.from({ length: 100 }, (_, k) => ({ timeseriesId: `s${k}`, timestamp, val: n + k }));
    await ask('/core/samples', 'application/json', JSON.stringify(samples));
  }
  const from = new Date(START_MS + (count - 15) * 60_000).toISOString();
  const queries = { 'a quarter of an hour': `?startTime=${from}`, all: '' };
  for (const [what, query] of Object.entries(queries)) {
    const endMs = performance.now() + 8000;
    const reader = (first) =>
      askUntil(
        () => performance.now() > endMs,
        (n) => ask(`/core/timeseries/s${(first + n) % 100}/samples${query}`),
      );
    const times = await Promise.all([reader(0), reader(25), reader(50), reader(75)]);
    console.log(`${what}:`, summaryOf(Float64Array.from(times.flatMap((part) => [...part])).sort()));
  }
}

async function measurePages() {
  const count = options.count ?? 32;
  await ask('/core/samples', 'application/vnd.windrow.columns', frameOf(0, 'long'));
  // Until it is in segments.
  await sleep(3000);
  const client = await openClient(server, server.client, 'core_read');
  for (const [accept, limit] of [
    ['application/json', 100_000],
    ['text/csv', FRAME_SAMPLES],
    ['application/x-ndjson', FRAME_SAMPLES],
    ['application/vnd.windrow.columns', FRAME_SAMPLES],
  ]) {
    for (let round = 0; round < 3; round++) {
      let isOver = false;
      const pings = askUntil(
        () => isOver,
        () => ask('/health/live'),
      );
      const writes = writeLive(() => isOver);
      const allMs = Math.round(await client.get(`/core/timeseries/long/samples?limit=${limit}`, accept, count));
      isOver = true;
      console.log(`${count} times ${limit} samples, ${accept}:`, { allMs, ...summaryOf(await pings) });
      console.log('writes', summaryOf(await writes));
    }
  }
  await client.end();
}
