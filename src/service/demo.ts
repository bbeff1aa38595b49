import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { WindrowError } from '../core/errors.js';
import type { Server } from './server.js';

const ORGANISATION = 'demo';
const COLLECTION = 'demo-building';
const CLIENT = 'demo';
const SERIES = 'office-temperature';
const FAHRENHEIT_FREEZING = 32;
const WARM_DAYS = 5;
const LOOPBACK = /^(localhost|127\..*|\[::1\])$/;

/** The demo's request: from an office's temperatures in Fahrenheit to Celsius, daily averages and a flag for warmth. */
const request = [
  {
    metric: 'Celsius',
    processingType: 'stream',
    operations: [
      step('Sub', 'Raw', 'AboveFreezing', { scalar: FAHRENHEIT_FREEZING }),
      step('Div', 'AboveFreezing', 'CelsiusUnrounded', { scalar: 1.8 }),
      step('Round', 'CelsiusUnrounded', 'Celsius', { roundtodigits: 2 }),
    ],
  },
  {
    metric: 'DailyAverage',
    processingType: 'stream',
    operations: [
      step('Aggregate', 'Celsius', 'DailyUnrounded', {
        function: 'TimeWeightedAverage',
        interval: 'Daily',
        timezone: 'America/New_York',
      }),
      step('Round', 'DailyUnrounded', 'DailyAverage', { roundtodigits: 2 }),
    ],
  },
  {
    metric: 'IsWarm',
    processingType: 'stream',
    operations: [step('Gt', 'Celsius', 'IsWarm', { scalar: 23 })],
  },
];

function step(operation: string, from: string, to: string, parameters: Readonly<Record<string, unknown>>) {
  const reference = (metric: string) => [{ timeseriesId: SERIES, metric }];
  return { operation, input: reference(from), output: reference(to), parameters };
}

/**
 * Fills the demo organisation over HTTP, as any client would: real data, registered items, events. Data of an earlier
 * start is written again, which changes nothing; the credentials are new each time.
 *
 * @param csv the samples, `timestamp,value`.
 * @returns the text to show to the user.
 */
export async function prepareDemo(server: Server, csv: URL): Promise<string> {
  const { administration } = server.service.identity;
  const scopes = ['core_read', 'core_write', 'core_admin'];
  // The secrets of earlier starts are no longer known.
  for (const { clientId, name } of await administration.listClients({ organisation: ORGANISATION })) {
    if (name === CLIENT) await administration.removeClient({ clientId });
  }
  const client = await administration.addClient({
    organisation: ORGANISATION,
    name: CLIENT,
    scopes,
    grants: ['client_credentials'],
  });
  await allowCollection(server, client.clientId);
  const send = await openSender(server.url, client);
  await send('POST', `/core/timeseries/${SERIES}/samples`, await readFile(csv), 'text/csv');
  const { id } = await send<Transaction>('POST', '/core/operations', JSON.stringify(request));
  while (!isDone((await send<Transaction>('GET', `/core/status/${id}`)).state)) await setTimeout(20);
  const warm = await warmDays(send);
  await send('POST', '/core/events', JSON.stringify(warm.map(eventOf)), 'application/json', {
    ercollectionid: COLLECTION,
  });
  return describe(server.url, client);
}

/** Sends a request and returns the `data` of its answer, whose type the caller knows. */
type Send = <Data>(
  method: string,
  path: string,
  body?: string | Uint8Array,
  contentType?: string,
  headers?: Readonly<Record<string, string>>,
) => Promise<Data>;

interface Transaction {
  readonly id: string;
  readonly state: string;
}

async function openSender(url: string, client: { clientId: string; clientSecret: string }): Promise<Send> {
  const basic = Buffer.from(`${client.clientId}:${client.clientSecret}`).toString('base64');
  const tokenPath = '/idm/ims/connect/token';
  const answer = await fetch(url + tokenPath, {
    method: 'POST',
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: 'core_admin' }),
  });
  // RFC 6749, 5.1.
  const { access_token: token } = JSON.parse(await textOf(answer, `POST ${tokenPath}`)) as { access_token: string };
  return async <Data>(
    method: string,
    path: string,
    body?: string | Uint8Array,
    contentType = 'application/json',
    headers: Readonly<Record<string, string>> = {},
  ) => {
    const answered = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': contentType, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    // Our own service's envelope.
    const { data } = JSON.parse(await textOf(answered, `${method} ${path}`)) as { readonly data: Data };
    return data;
  };
}

async function textOf(answer: Response, request: string): Promise<string> {
  const text = await answer.text();
  if (answer.ok) return text;
  const mend = answer.status === 429 ? '; start it again later with a higher --requests-per-minute' : '';
  throw new WindrowError('arguments', `the demo: ${request}: ${answer.status} ${text}${mend}`);
}

async function allowCollection({ service }: Server, clientId: string): Promise<void> {
  const { administration } = service.identity;
  const known = await administration.listCollections({ organisation: ORGANISATION });
  const before = known.find(({ collectionId }) => collectionId === COLLECTION);
  if (before !== undefined)
    await administration.removeCollection({ organisation: ORGANISATION, collectionId: COLLECTION, clientIds: [] });
  const clientIds = [...(before?.clientIds ?? []), clientId];
  await administration.addCollection({ organisation: ORGANISATION, collectionId: COLLECTION, clientIds });
}

interface Sample {
  readonly timestamp: string;
  readonly val: number;
}

async function warmDays(send: Send): Promise<Sample[]> {
  const days = await send<Sample[]>('GET', `/core/timeseries/${SERIES}/samples?metric=DailyAverage`);
  return [...days].sort((a, b) => b.val - a.val).slice(0, WARM_DAYS);
}

function eventOf({ timestamp, val }: Sample) {
  return {
    id: `warm-day-${timestamp.slice(0, 10)}`,
    name: 'Warm day',
    type: 'Alarm',
    descr: `The office had ${val} °C on average over the day`,
    severity: 'Low',
    status: 'Open',
    isUserEvent: false,
    occurredAt: timestamp,
    buildingId: 'office',
    eventDetails: { average: val },
  };
}

function isDone(state: string): boolean {
  if (state === 'Failed') throw new WindrowError('arguments', 'the demo: its operations failed; the log says why');
  return state === 'Active' || state === 'Completed';
}

function describe(url: string, { clientId, clientSecret }: { clientId: string; clientSecret: string }): string {
  // The workbench accepts such a link only on this machine.
  const isLocal = LOOPBACK.test(new URL(url).hostname);
  const page = isLocal
    ? `Open the workbench in a browser, signed in as the client below:

  ${url}/#sign-in=${clientId}:${clientSecret}`
    : `Open ${url}/ in a browser for the workbench. To run pipelines there, sign in with the client
and the secret below.`;
  return `
${page}

The demo organisation has the temperatures of an office (series ${SERIES}, metric Raw), three items that are kept up
to date (Celsius, DailyAverage, IsWarm), and the collection ${COLLECTION} with events of its warmest days. From a shell:

  export WINDROW_URL=${url}
  export WINDROW_CLIENT=${clientId}
  export WINDROW_SECRET=${clientSecret}

  TOKEN=$(curl -s -u "$WINDROW_CLIENT:$WINDROW_SECRET" -d grant_type=client_credentials -d scope=core_read \\
    "$WINDROW_URL/idm/ims/connect/token" | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  curl -H "Authorization: Bearer $TOKEN" -H 'Accept: text/csv' \\
    "$WINDROW_URL/core/timeseries/${SERIES}/samples?metric=DailyAverage"
  curl -H "Authorization: Bearer $TOKEN" -H 'ercollectionid: ${COLLECTION}' "$WINDROW_URL/core/events"

`;
}
