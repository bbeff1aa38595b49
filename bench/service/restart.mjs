// node bench/service/restart.mjs [many|one] [items] [samples of history]: registers items over series with history,
// then stops (or kills) and restarts the server. Prints how long it takes to answer, how long until the results of the
// first sample are there, the longest stall of the event loop meanwhile, and what it read for them: reads and rows of
// segments, and their bytes.

import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startServer } from '../../dist/service.js';
import { openClient } from './client.mjs';
import { watchStalls } from './stalls.mjs';

const [mode = 'many', countText = '5000', lengthText = '500', phase, directory] = process.argv.slice(2);
const count = Number(countText);
const length = Number(lengthText);
const seriesCount = mode === 'one' ? 1 : count;
const START_MS = Date.UTC(2026, 0, 1);
const STEP_MS = 60_000;

if (phase === undefined) await measure();
else if (phase === 'fill') await fill();
else await restart();

/** Each phase runs in a new process. */
async function measure() {
  const path = mkdtempSync(join(tmpdir(), 'windrow-restart-'));
  console.log({ mode, items: count, samplesOfSeries: length });
  try {
    for (const name of ['fill', 'killed', 'stopped']) await runPhase(name, path);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}

function runPhase(name, path) {
  const execArgv = process.env.PROFILE ? ['--cpu-prof', '--cpu-prof-dir', process.env.PROFILE] : [];
  const child = fork(fileURLToPath(import.meta.url), [mode, countText, lengthText, name, path], { execArgv });
  return new Promise((resolve, reject) => {
    child.on('exit', (code, signal) => (code === 0 || signal === 'SIGKILL' ? resolve() : reject(new Error(name))));
  });
}

/** Ends like a crash. */
async function fill() {
  const server = await open();
  const { worker, identity } = server.service;
  const granted = { scopes: ['core_write'], grants: ['client_credentials'] };
  const client = await identity.administration.addClient({ organisation: 'bench', name: 'bench', ...granted });
  writeFileSync(join(directory, 'client.json'), JSON.stringify(client));
  const { post } = await openClient(server, storedClient());
  const itemOf = (i) => hourly(mode === 'one' ? 'series0' : `series${i}`, `Hourly${i}`);
  for (let from = 0; from < count; from += 1000) {
    const request = Array.from({ length: Math.min(1000, count - from) }, (_, i) => itemOf(from + i));
    await post('/core/operations', 'application/json', JSON.stringify(request));
  }
  await worker.onIdle();
  const pageOf = (from, until) => {
    const lines = ['timestamp,timeseriesId,value'];
    for (let i = from; i < until; i++) {
      const time = new Date(START_MS + i * STEP_MS).toISOString();
      for (let k = 0; k < seriesCount; k++) lines.push(`${time},series${k},${(i * 7 + k) % 100}`);
    }
    return lines.join('\n');
  };
  const rows = Math.max(1, Math.floor(50_000 / seriesCount));
  for (let from = 0; from < length; from += rows) {
    await post('/core/samples', 'text/csv', pageOf(from, Math.min(length, from + rows)));
  }
  await worker.onIdle();
  await new Promise((resolve) => setTimeout(resolve, 3000));
  process.kill(process.pid, 'SIGKILL');
}

async function restart() {
  const startMs = performance.now();
  const server = await open();
  const asked = watchReads(server.service.context);
  const readyMs = performance.now() - startMs;
  await server.service.worker.onIdle();
  const idleMs = performance.now() - startMs;
  const beforeSample = { ...asked };
  const { post } = await openClient(server, storedClient());
  const n = length + (phase === 'stopped' ? 1 : 0);
  const samples = Array.from({ length: seriesCount }, (_, k) => {
    return { timeseriesId: `series${k}`, timestamp: START_MS + n * STEP_MS, val: k };
  });
  const body = JSON.stringify(samples);
  const stalls = watchStalls();
  const cpuBefore = process.cpuUsage();
  const sentMs = performance.now();
  const answeredMs = await post('/core/samples', 'application/json', body);
  await server.service.worker.onIdle();
  const resultsMs = performance.now() - sentMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  const peakMb = Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024);
  const longestStallMs = stalls.end();
  const times = { readyMs, idleMs, answeredMs, resultsMs, longestStallMs, cpuMs: (user + system) / 1000 };
  for (const name of Object.keys(times)) times[name] = Math.round(times[name]);
  console.log(phase, { ...times, peakMb });
  console.log({ beforeSample, withSample: asked });
  await server.stop();
  process.exit(0);
}

function storedClient() {
  return JSON.parse(readFileSync(join(directory, 'client.json'), 'utf8'));
}

function open() {
  return startServer({ dataDirectory: directory, logLevel: 'error', settings: { eventLoopDelayMsMax: 0 } });
}

/** Counts the statements of the store. */
function watchReads({ storage }) {
  const asked = { statements: 0, segmentReads: 0, segmentRows: 0, segmentBytes: 0, checkpointRows: 0, stateBytes: 0 };
  const noted = (table, rows) => {
    asked.statements++;
    if (table.name === 'segments') asked.segmentReads++;
    for (const row of rows) {
      if (table.name === 'segments') asked.segmentRows++;
      if (table.name === 'segments') asked.segmentBytes += row.times.length + row.values.length;
      if (table.name === 'item_checkpoints') asked.checkpointRows++;
      if (table.name === 'item_checkpoints') asked.stateBytes += row.state?.length ?? 0;
    }
  };
  const counted = (tx) =>
    new Proxy(tx, {
      get: (target, name) => {
        const value = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return async (table, ...given) => {
          const found = await value.call(target, table, ...given);
          noted(
            table,
            [found].flat().filter((row) => typeof row === 'object' && row !== null),
          );
          return found;
        };
      },
    });
  for (const name of ['read', 'transaction']) {
    const own = storage[name].bind(storage);
    storage[name] = (shard, work, options) => own(shard, (tx) => work(counted(tx)), options);
  }
  return asked;
}

function hourly(timeseriesId, metric) {
  const parameters = { function: 'Average', interval: 'Hourly' };
  const input = [{ timeseriesId, metric: 'Raw' }];
  const step = { operation: 'Aggregate', input, output: [{ timeseriesId, metric }], parameters };
  return { metric, processingType: 'stream', operations: [step] };
}
