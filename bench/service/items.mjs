// node bench/service/items.mjs [many|one] [count]: sends a body with a sample for each of many series with an hourly
// item each, or a sample of one series that many items read. Prints when it was answered, and the longest stall of the
// event loop.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from '../../dist/service.js';
import { openClient } from './client.mjs';
import { watchStalls } from './stalls.mjs';

const [mode = 'many', countText = '5000'] = process.argv.slice(2);
const count = Number(countText);
const START_MS = Date.UTC(2026, 0, 1);
const STEP_MS = 600_000;
const ITEMS_MAX = 1000;

const directory = mkdtempSync(join(tmpdir(), 'windrow-items-'));
const settings = { eventLoopDelayMsMax: 0 };
const server = await startServer({ dataDirectory: directory, logLevel: 'error', settings });
const { worker, identity } = server.service;
const client = await identity.administration.addClient({
  organisation: 'bench',
  name: 'bench',
  scopes: ['core_write'],
  grants: ['client_credentials'],
});
const { post, end } = await openClient(server, client);
const seriesOf = (i) => (mode === 'one' ? 'series0' : `series${i}`);

for (let from = 0; from < count; from += ITEMS_MAX) {
  const length = Math.min(ITEMS_MAX, count - from);
  const request = Array.from({ length }, (_, i) => hourly(from + i));
  await post('/core/operations', 'application/json', JSON.stringify(request));
}
await worker.onIdle();
for (let round = 0; round < 8; round++) {
  const body = JSON.stringify(samplesOf(round));
  const stall = watchStalls();
  const beginMs = performance.now();
  const answeredMs = await post('/core/samples', 'application/json', body);
  await worker.onIdle();
  const resultsMs = performance.now() - beginMs;
  console.log({ round, answeredMs, resultsMs, longestStallMs: stall.end() });
}
await end();
await server.stop();
rmSync(directory, { recursive: true, force: true });

function hourly(i) {
  const timeseriesId = seriesOf(i);
  const metric = `Hourly${i}`;
  const parameters = { function: 'Average', interval: 'Hourly' };
  const input = [{ timeseriesId, metric: 'Raw' }];
  const step = { operation: 'Aggregate', input, output: [{ timeseriesId, metric }], parameters };
  return { metric, processingType: 'stream', operations: [step] };
}

function samplesOf(round) {
  const timestamp = new Date(START_MS + round * STEP_MS).toISOString();
  const length = mode === 'one' ? 1 : count;
  return Array.from({ length }, (_, i) => ({ timeseriesId: seriesOf(i), timestamp, val: round + i }));
}
