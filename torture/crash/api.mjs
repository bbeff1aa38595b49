// Calls of the service's interface. A request in flight when the service dies has no answer, and may have been done or
// not.

/** A request without an answer. */
export class UnansweredError extends Error {}

/** An answer that the interface does not allow. */
export class UnexpectedError extends Error {}

/** The service refuses to do anything at the moment. */
export class RefusedError extends Error {}

/** @param {string} url of the service */
export function createApi(url, authorization) {
  const call = async (method, path, { headers = {}, body, expect = [200] } = {}) => {
    let status;
    let bytes;
    try {
      const answer = await fetch(url + path, { method, headers: { authorization, ...headers }, body });
      status = answer.status;
      bytes = Buffer.from(await answer.arrayBuffer());
    } catch (cause) {
      throw new UnansweredError(`${method} ${path}`, { cause });
    }
    // Refused as a whole: the service stops or is overloaded; 408 if the machine stalled before the headers were read.
    if (status === 503 || status === 408) return { status, isRefused: true };
    // The database was lost during the commit.
    if (status === 504) throw new UnansweredError(`${method} ${path}: 504`);
    if (expect.includes(status)) return { status, isRefused: false, bytes };
    throw new UnexpectedError(`${method} ${path}: ${status} ${bytes.toString().slice(0, 500)}`);
  };
  return { call };
}

/** A token for the client's credentials; undefined if the service refuses to give one now. */
export async function requestToken(url, { clientId, clientSecret }) {
  const api = createApi(url, basicOf({ clientId, clientSecret }));
  const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'core_read core_write core_admin' });
  const answer = await api.call('POST', '/idm/ims/connect/token', { body });
  return answer.isRefused ? undefined : JSON.parse(answer.bytes.toString()).access_token;
}

export async function revokeToken(url, client, token) {
  const body = new URLSearchParams({ token });
  return createApi(url, basicOf(client)).call('POST', '/idm/ims/connect/revoke', { body });
}

export async function isTokenGood(url, token) {
  const path = '/core/timeseries?timeseriesId=none';
  const answer = await read(createApi(url, `Bearer ${token}`), path, { expect: [200, 204, 401] });
  return answer.status !== 401;
}

/** A token, retried while the service is overloaded. */
export async function demandToken(url, access) {
  const ask = async () => {
    const token = await requestToken(url, access);
    return { isRefused: token === undefined, token };
  };
  const { token } = await insist('POST /idm/ims/connect/token', () => askTwice(ask));
  return token;
}

function basicOf({ clientId, clientSecret }) {
  return `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
}

const READ_MS_MAX = 300_000;
const PAUSE_MS = 200;

/** Retries while refused: a service may be overloaded for a while. */
export async function insist(what, ask) {
  for (const untilMs = performance.now() + READ_MS_MAX; ; ) {
    const answer = await ask();
    if (!answer.isRefused) return answer;
    if (performance.now() > untilMs) throw new RefusedError(what);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

function read(api, path, options) {
  return insist(`GET ${path}`, () => askTwice(() => api.call('GET', path, options)));
}

/**
 * Asks again, once, if there is no answer: the service may close an idle connection just as the request is sent, and one
 * whose request stood still, as all processes do while somebody stops them for a measurement.
 */
export function askTwice(ask) {
  return ask().catch((error) => {
    if (error instanceof UnansweredError) return ask();
    throw error;
  });
}

const COLUMNS_TYPE = 'application/vnd.windrow.columns';

/** All samples of a series as `{ timeMs, value }`; empty if the series does not exist. */
export async function readSeries(api, timeseriesId, metric) {
  return (await readSeriesList(api, [timeseriesId], metric)).get(timeseriesId);
}

/** All samples of several series, by id. */
export async function readSeriesList(api, ids, metric) {
  const found = new Map(ids.map((id) => [id, { times: [], values: [] }]));
  if (ids.length === 0) return found;
  const path = `/core/samples?metric=${metric}&timeseries_ids=${ids.join(',')}`;
  const answer = await read(api, path, { headers: { accept: COLUMNS_TYPE }, expect: [200, 404] });
  // 404 if one of them does not exist.
  if (answer.status === 404 && ids.length > 1) {
    const each = await Promise.all(ids.map(async (id) => [id, await readSeries(api, id, metric)]));
    return new Map(each);
  }
  const bytes = answer.status === 404 ? Buffer.alloc(0) : answer.bytes;
  for (let at = 0; at < bytes.length; ) {
    const [headLength, count] = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)];
    const from = at + 8 + headLength;
    const { timeseriesId } = JSON.parse(bytes.toString('utf8', at + 8, from));
    const columnAt = (start) => {
      const offset = bytes.byteOffset + start;
      return new Float64Array(bytes.buffer.slice(offset, offset + 8 * count));
    };
    found.get(timeseriesId).times.push(columnAt(from));
    found.get(timeseriesId).values.push(columnAt(from + 8 * count));
    at = from + 16 * count;
  }
  return new Map([...found].map(([id, { times, values }]) => [id, { timeMs: joined(times), value: joined(values) }]));
}

function joined(parts) {
  const all = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let to = 0;
  for (const part of parts) {
    all.set(part, to);
    to += part.length;
  }
  return all;
}

/** All entries of a list, over its pages. */
export async function readAll(api, path, headers = {}) {
  const entries = [];
  for (let token = null; ; ) {
    const continued = token === null ? {} : { continuationToken: token };
    const answer = await read(api, path, {
      headers: { ...headers, PageSize: '1000', ...continued },
      expect: [200, 204],
    });
    if (answer.status === 204) return entries;
    const { data, paging } = JSON.parse(answer.bytes.toString());
    entries.push(...data);
    token = paging.continuationToken;
    if (token === null) return entries;
  }
}

const DAY_MS = 86_400_000;
const STEP_MS = 60_000;
/** Samples are at these minutes only, so that corrections and deletions hit existing ones. */
export const SLOT_COUNT = 20_000;
/** Two weeks ago, so that rules of retention are short: the last slot is before today. */
const START_MS = (Math.floor(Date.now() / DAY_MS) - 14) * DAY_MS;
export const timeOf = (slot) => START_MS + slot * STEP_MS;
export const slotOf = (timeMs) => (timeMs - START_MS) / STEP_MS;

/**
 * Samples in one of the formats that the service accepts.
 *
 * @param {{ id: string, slots: readonly number[], values: readonly number[] }[]} parts
 */
export function bodyOf(form, parts) {
  if (form === COLUMNS_TYPE) return { type: form, body: Buffer.concat(parts.map(frameOf)) };
  const rows = parts.flatMap(({ id, slots, values }) =>
    slots.map((slot, i) => ({ timeseriesId: id, timestamp: new Date(timeOf(slot)).toISOString(), val: values[i] })),
  );
  // JavaScript writes -0 as 0 in JSON.
  const numberOf = (val) => (Object.is(val, -0) ? '-0' : String(val));
  const objectOf = ({ timeseriesId, timestamp, val }) =>
    `{"timeseriesId":"${timeseriesId}","timestamp":"${timestamp}","val":${numberOf(val)}}`;
  if (form === 'text/csv') {
    const lines = rows.map(({ timeseriesId, timestamp, val }) => `${timestamp},${timeseriesId},Raw,${numberOf(val)}`);
    return { type: form, body: `timestamp,timeseriesId,metric,value\n${lines.join('\n')}\n` };
  }
  if (form === 'application/x-ndjson') return { type: form, body: `${rows.map(objectOf).join('\n')}\n` };
  return { type: 'application/json', body: `[${rows.map(objectOf).join(',')}]` };
}

/** The formats that the service stores in parts while it reads. */
export const streamedForms = ['application/x-ndjson', 'text/csv', COLUMNS_TYPE];
export const forms = ['application/json', ...streamedForms];

function frameOf({ id, slots, values }) {
  let head = JSON.stringify({ timeseriesId: id, metric: 'Raw' });
  head += ' '.repeat((8 - (head.length % 8)) % 8);
  const sizes = Buffer.alloc(8);
  sizes.writeUInt32LE(head.length, 0);
  sizes.writeUInt32LE(slots.length, 4);
  const columns = Float64Array.from([...slots.map(timeOf), ...values]);
  return Buffer.concat([sizes, Buffer.from(head), Buffer.from(columns.buffer)]);
}
