// Pages of many events: what one takes, by filter and order, and how long another request waits meanwhile.
//
//   npm run build && node bench/service/events.mjs [embedded|postgres] [events]     (default: embedded, 100,000)
//
// An event has fields of the usual length, 1.1 kB in all. Pages have 1,000 events. A row shows the first page, which
// counts the matches, a page after it, and the longest answer to a small request that is sent again and again.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { PostgresServer } from '../../scripts/cluster/postgres-server.mjs';
import { runWindrow, WindrowProcess } from '../../scripts/cluster/windrow-process.mjs';
import { createApi, demandToken } from '../../torture/crash/api.mjs';

const [driver = 'embedded', countText = '100000'] = process.argv.slice(2);
const COUNT = Number(countText);
const POSTED = 1000;
const PAGE = 1000;
const ROUNDS = 5;
const COLLECTION = 'alarms';
const START_MS = Date.UTC(2026, 0, 1);
const STEP_MS = 1000;

const QUERIES = [
  ['newest first', ''],
  ['by id', '$orderby=id'],
  ["status eq 'Open' (a quarter)", "$filter=status eq 'Open'"],
  ["severity eq 'High' (a fifth)", "$filter=severity eq 'High'"],
  ["vDeviceId eq 'device-7' (one of 10,000)", "$filter=vDeviceId eq 'device-7'"],
  ['by name', '$orderby=name'],
];

function eventOf(number) {
  const at = (name) => `${name}-${number % 10_000}`;
  return {
    id: `event-${String((number * 7919) % COUNT).padStart(7, '0')}`,
    name: `High temperature ${(number * 31) % 997}`,
    type: 'Alarm',
    eventTypeId: 'temperature-high',
    descr: 'The temperature of the supply air was above its limit for longer than ten minutes.',
    severity: ['Low', 'Middle', 'High', 'Urgent', 'Info'][number % 5],
    status: ['Open', 'Closed', 'Closed', 'Closed'][number % 4],
    isUserEvent: false,
    occurredAt: new Date(START_MS + number * STEP_MS).toISOString(),
    vDeviceId: at('device'),
    panelId: at('panel'),
    panelName: `Panel of ${at('floor')}`,
    buildingId: `building-${number % 20}`,
    floorId: at('floor'),
    floorName: 'Third floor, east wing',
    eventDetails: { limit: 28.5, measured: 29 + (number % 70) / 10, unit: '°C', note: 'x'.repeat(200) },
    sourceEvent: { Type: 'alarm', Event: { number, text: 'y'.repeat(200) } },
  };
}

const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

async function timed(work) {
  const startMs = performance.now();
  const result = await work();
  return { result, ms: performance.now() - startMs };
}

/** Sends a small request again and again. @returns an `end` that returns the longest time to its answer, in ms. */
function watchOthers(api) {
  let longestMs = 0;
  let isEnded = false;
  const running = (async () => {
    while (!isEnded) {
      const { ms } = await timed(() => api.call('GET', '/core/timeseries?timeseriesId=none', { expect: [200, 204] }));
      longestMs = Math.max(longestMs, ms);
      await wait(2);
    }
  })();
  return async () => {
    isEnded = true;
    await running;
    return longestMs;
  };
}

async function measure(store) {
  const words = ['client', 'add', 'bench', '--org', 'acme', '--scope', 'core_read core_write core_admin', '--json'];
  const client = JSON.parse(await runWindrow(words, store));
  await runWindrow(['collection', 'add', COLLECTION, '--org', 'acme', '--allow', client.clientId], store);
  const service = new WindrowProcess(store);
  await service.start();
  try {
    const api = createApi(service.url, `Bearer ${await demandToken(service.url, client)}`);
    const headers = { 'content-type': 'application/json', ercollectionid: COLLECTION };
    for (let from = 0; from < COUNT; from += POSTED) {
      const body = JSON.stringify(Array.from({ length: Math.min(POSTED, COUNT - from) }, (_, i) => eventOf(from + i)));
      await api.call('POST', '/core/events', { headers, body, expect: [200, 201] });
    }
    const list = async (query, continuationtoken) => {
      const page = {
        ercollectionid: COLLECTION,
        pagesize: String(PAGE),
        ...(continuationtoken && { continuationtoken }),
      };
      const answer = await api.call('GET', `/core/events?${query}`, { headers: page });
      // Not all of it is parsed: the watch in this process would wait for that.
      const [, count] = /"totalCount":(\d+)/.exec(answer.bytes.subarray(-5000)) ?? [];
      const [, token] = /"continuationToken":"([^"]+)"/.exec(answer.bytes.subarray(-5000)) ?? [];
      return { totalCount: Number(count), continuationToken: token };
    };
    const rows = [];
    for (const [name, query] of QUERIES) {
      const first = [];
      const next = [];
      let matches;
      const endWatch = watchOthers(api);
      for (let round = 0; round < ROUNDS; round++) {
        const page = await timed(() => list(query));
        first.push(page.ms);
        matches = page.result.totalCount;
        const token = page.result.continuationToken;
        if (token !== undefined) next.push((await timed(() => list(query, token))).ms);
      }
      rows.push({
        query: name,
        matches,
        'first page, ms': Math.round(median(first)),
        'next page, ms': next.length === 0 ? '' : Math.round(median(next)),
        'others waited at most, ms': Math.round(await endWatch()),
      });
    }
    console.log(`${COUNT.toLocaleString('en')} events, ${driver}, medians of ${ROUNDS}`);
    console.table(rows);
  } finally {
    await service.end('SIGTERM');
  }
}

const folder = mkdtempSync(join(tmpdir(), 'windrow-events-'));
chmodSync(folder, 0o711);
const server = driver === 'postgres' ? new PostgresServer(join(folder, 'server')) : undefined;
try {
  await server?.create();
  await server?.start();
  await measure(server === undefined ? join(folder, 'data') : await server.createDatabase('windrow'));
} finally {
  await server?.stop('SIGQUIT');
  rmSync(folder, { recursive: true, force: true });
}
