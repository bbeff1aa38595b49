// Many organisations in one store, each with five series, two items, a client, a collection and a rule of retention:
// what a restart, idleness, a body of samples and a read cost.
//
//   npm run build && node bench/service/organisations.mjs [embedded|postgres] [100,300,1000]
//
// Times are processor time of the service, but for those of the restart, which follows a kill, and of `client list`.

import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startServer } from '../../dist/service.js';
import { PostgresServer } from '../../scripts/cluster/postgres-server.mjs';
import { runWindrow, WindrowProcess } from '../../scripts/cluster/windrow-process.mjs';
import { createApi, demandToken } from '../../torture/crash/api.mjs';

const [driver = 'embedded', countsText = '100,300,1000'] = process.argv.slice(2);
const SERIES = ['a', 'b', 'c', 'd', 'e'];
const SETTLE_MS = 8000;
const IDLE_MS = 10_000;
const BODIES = 400;
/** The bodies and reads go to these many organisations, two at a time. */
const ASKED = 40;
const PARALLEL = 2;
const STEP_MS = 60_000;
const KEEP_MS = 30 * 86_400_000;
const startMs = Date.now() - 20 * 86_400_000;
/** The unit of processor time in /proc. */
const TICK_MS = 10;
const json = { 'content-type': 'application/json' };

/** Processor time of a process in ms. */
function processorMs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function memoryMb(pid) {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024);
}

async function each(list, work) {
  let next = 0;
  const lane = async () => {
    while (next < list.length) await work(list[next++]);
  };
  await Promise.all(Array.from({ length: PARALLEL }, lane));
}

/** The next `count` samples of each series of an organisation, as a body. */
function nextBody(organisation, count) {
  const from = organisation.sampleCount;
  organisation.sampleCount += count;
  const rows = Array.from({ length: count }, (_, i) => {
    const timestamp = new Date(startMs + (from + i) * STEP_MS).toISOString();
    return SERIES.map((timeseriesId) => ({ timeseriesId, timestamp, val: Math.sin(from + i) }));
  });
  return JSON.stringify(rows.flat());
}

const item = (metric) => ({
  metric,
  processingType: 'stream',
  operations: [
    {
      operation: 'Aggregate',
      input: [{ timeseriesId: 'a', metric: 'Raw' }],
      output: [{ timeseriesId: 'a', metric }],
      parameters: { function: 'Average', interval: metric },
    },
  ],
});

/** Adds organisations, with their items and first samples. */
async function add(where, from, until) {
  const server = await startServer({ ...where, logLevel: 'error', settings: { eventLoopDelayMsMax: 0 } });
  const { administration } = server.service.identity;
  const granted = { scopes: ['core_read', 'core_write', 'core_admin'], grants: ['client_credentials'] };
  const added = [];
  for (let i = from; i < until; i++) {
    const organisation = `org-${i}`;
    const client = await administration.addClient({ organisation, name: 'bench', ...granted });
    await administration.setRetention({ organisation, kind: 'samples', timeseriesId: '', metric: '', keepMs: KEEP_MS });
    await administration.addCollection({
      organisation,
      collectionId: `${organisation}-events`,
      clientIds: [client.clientId],
    });
    added.push({ client, sampleCount: 0 });
  }
  await each(added, async (organisation) => {
    const api = createApi(server.url, `Bearer ${await demandToken(server.url, organisation.client)}`);
    const body = JSON.stringify(['Hourly', 'Daily'].map(item));
    await api.call('POST', '/core/operations', { headers: json, body, expect: [202] });
    await api.call('POST', '/core/samples', { headers: json, body: nextBody(organisation, 200) });
  });
  await server.stop();
  return added;
}

async function measure(store, organisations) {
  const service = new WindrowProcess(store);
  await service.start();
  await service.end('SIGKILL');
  const killedMs = performance.now();
  await service.start();
  const restartMs = performance.now() - killedMs;
  const cost = async (work) => {
    const before = processorMs(service.pid);
    await work();
    return processorMs(service.pid) - before;
  };
  await wait(SETTLE_MS);
  const idle = await cost(() => wait(IDLE_MS));
  const memory = memoryMb(service.pid);
  const asked = organisations.slice(0, ASKED);
  await each(asked, async (organisation) => {
    const token = await demandToken(service.url, organisation.client);
    organisation.api = createApi(service.url, `Bearer ${token}`);
  });
  const turns = Array.from({ length: BODIES }, (_, i) => asked[i % asked.length]);
  const bodies = await cost(async () => {
    await each(turns, (one) => one.api.call('POST', '/core/samples', { headers: json, body: nextBody(one, 20) }));
    // The items' results belong to it.
    await wait(1500);
  });
  const path = '/core/timeseries/a/samples?metric=Hourly';
  const reads = await cost(() => each(turns, (one) => one.api.call('GET', path)));
  const listedMs = performance.now();
  await runWindrow(['client', 'list'], store);
  const listMs = performance.now() - listedMs;
  await service.end('SIGTERM');
  return {
    organisations: organisations.length,
    'restart, s': (restartMs / 1000).toFixed(2),
    'idle in 10 s, s': (idle / 1000).toFixed(2),
    'memory, MB': memory,
    'a body of 100 samples, ms': (bodies / BODIES).toFixed(1),
    'a read of results, ms': (reads / BODIES).toFixed(1),
    'client list, s': (listMs / 1000).toFixed(1),
  };
}

const folder = mkdtempSync(join(tmpdir(), 'windrow-organisations-'));
chmodSync(folder, 0o711);
const server = driver === 'postgres' ? new PostgresServer(join(folder, 'server')) : undefined;
try {
  await server?.create();
  await server?.start();
  const store = server === undefined ? join(folder, 'data') : await server.createDatabase('windrow');
  const where = server === undefined ? { dataDirectory: store } : { store };
  const organisations = [];
  const rows = [];
  for (const count of countsText.split(',').map(Number)) {
    organisations.push(...(await add(where, organisations.length, count)));
    rows.push(await measure(store, organisations));
    console.log(rows.at(-1));
  }
  console.log(driver);
  console.table(rows);
} finally {
  await server?.stop('SIGQUIT');
  rmSync(folder, { recursive: true, force: true });
}
