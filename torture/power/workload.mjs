// A real service with clients, for a short while. It prints what was acknowledged, so that these marks are between the
// system calls in a trace.
//
//   node torture/power/workload.mjs PARTS_URL DIRECTORY SEED REQUESTS

import { writeSync } from 'node:fs';
import {
  COLLECTION,
  EVENT_LANE,
  LANES,
  ORGANISATION,
  requestsOf,
  SAMPLE_LANES,
  seriesOf,
  TOKEN_LANE,
  timeOf,
} from './plan.mjs';

const [partsUrl, directory, seed, requestCount] = process.argv.slice(2);
const { startServer, openSqliteStorage, checkpointOften } = await import(partsUrl);

const say = (...words) => writeSync(1, `${words.join(' ')}\n`);
const SCOPE = 'core_read core_write core_admin';
const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };

const openDatabase = await checkpointOften(30);
const storage = await openSqliteStorage({ directory, clock, reserveBytes: 0, openDatabase });
const settings = { workerCount: 0, pollIntervalMs: 50 };
const server = await startServer({ storage, settings, logLevel: 'error' });
const { administration } = server.service.identity;
const access = await administration.addClient({
  name: 'torture',
  organisation: ORGANISATION,
  scopes: SCOPE.split(' '),
  grants: ['client_credentials'],
});
const { clientId } = access;
await administration.addCollection({ organisation: ORGANISATION, collectionId: COLLECTION, clientIds: [clientId] });
const basic = `Basic ${Buffer.from(`${clientId}:${access.clientSecret}`).toString('base64')}`;

async function takeToken() {
  const body = new URLSearchParams({ grant_type: 'client_credentials', scope: SCOPE });
  const answer = await fetch(`${server.url}/idm/ims/connect/token`, {
    method: 'POST',
    headers: { authorization: basic },
    body,
  });
  return { status: answer.status, token: (await answer.json()).access_token };
}

const { token } = await takeToken();
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ercollectionid: COLLECTION };
const call = async (method, path, body) => {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const { 'content-type': type, ...rest } = headers;
  const own = body === undefined ? rest : { ...rest, 'content-type': type };
  const answer = await fetch(server.url + path, { method, headers: own, ...sent });
  const text = await answer.text();
  if (answer.status >= 300 && answer.status !== 404 && answer.status !== 503) throw new Error(`${path}: ${text}`);
  return { status: answer.status };
};

function send(lane, request) {
  const { timeseriesId } = seriesOf(lane);
  const path = `/core/timeseries/${timeseriesId}/samples`;
  const instant = (minute) => new Date(timeOf(minute)).toISOString();
  switch (request.kind) {
    case 'token':
      return takeToken();
    case 'event':
      return call('POST', '/core/events', [{ id: request.id, name: request.name }]);
    case 'deletion':
      return call('DELETE', `${path}?startTime=${instant(request.from)}&endTime=${instant(request.until)}`);
    default: {
      const rows = request.values.map((val, i) => ({ timestamp: instant(request.from + i), val }));
      return call('POST', path, rows);
    }
  }
}

/** @returns at the first refused request; once its disk has failed, the service refuses all. */
async function runLane(lane) {
  let number = 0;
  for (const request of requestsOf(Number(seed), lane)) {
    if (number >= Number(requestCount)) return;
    const { status, token: given } = await send(lane, request);
    if (status >= 500) {
      say('refused', lane, number);
      return;
    }
    say('acknowledged', lane, number++, given ?? '');
  }
}

const step = (operation, from, metric, parameters) => ({
  operation,
  input: [from],
  output: [{ ...from, metric }],
  parameters,
});
const items = Array.from({ length: SAMPLE_LANES }, (_, lane) => ({
  metric: 'Hourly',
  processingType: 'stream',
  operations: [step('Aggregate', seriesOf(lane), 'Hourly', { function: 'Average', interval: 'Hourly' })],
}));
await call('POST', '/core/operations', items);
say('begun');
await Promise.all(Array.from({ length: LANES }, (_, lane) => runLane(lane)));
say('ended', EVENT_LANE, TOKEN_LANE);
await server.stop().catch((error) => say('stopped badly', error.message));
await storage.close().catch((error) => say('closed badly', error.message));
say('closed');
