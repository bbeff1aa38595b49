import { gzipSync } from 'node:zlib';
import { check } from './report.mjs';
import { addCollection, isAlive, longestTurn, pause, peakMb, probe, show, start, stop } from './server.mjs';

const TIME = '2026-01-01T00:00:00Z';

/** How long one request may block others, in processor time; in the short form with room for a busy machine. */
const TURN_MS_MAX = 50;
const SHORT_TURN_MS_MAX = 250;
const MB_MAX = 1500;
const SHORT_MB_MAX = 900;

const EVENTS = { path: '/core/events' };
const ITEMS = { path: '/operations' };
const PAGE = { path: '/core/events?$orderby=id desc', headers: { pagesize: '1000' } };
const DAYS = { path: '/core/timeseries/days/samples' };
const GZIP = { headers: { 'content-encoding': 'gzip' } };

/** 3: bodies that take disproportionate memory or time. */
export async function bodies({ isShort }) {
  const server = await start();
  addCollection(server, 'events');
  const wide = (count) => `timestamp,${Array.from({ length: count }, (_, i) => `c${i}`).join(',')}\n`;
  const row = (count, text = '1', time = TIME) => `${time}${`,${text}`.repeat(count)}\n`;
  const clocks = (count) => Array.from({ length: count }, (_, i) => new Date(i * 1000).toISOString().slice(11, 19));
  const days = Array.from({ length: 20 }, (_, i) =>
    row(9999, '1', new Date(i * 86_400_000).toISOString().slice(0, 10)),
  );
  const frame = (id) => {
    const head = Buffer.from(JSON.stringify({ timeseriesId: id, metric: 'Raw' }));
    const padded = Buffer.concat([head, Buffer.alloc((8 - (head.length % 8)) % 8, 0x20)]);
    const prefix = Buffer.alloc(8);
    prefix.writeUInt32LE(padded.length, 0);
    return Buffer.concat([prefix, padded]);
  };
  const MIB16 = 16 * 2 ** 20;
  const filled = (element) => `[${element.repeat(Math.floor((MIB16 - 10) / element.length)).replace(/,$/, '')}]`;
  const ranges = Array.from({ length: 400_000 }, () => ({ lower: 1, upper: 2 }));
  const step = { operation: 'Mask', input: [{ timeseriesId: 'a', metric: 'Raw' }], output: [] };
  const item = {
    metric: 'M',
    processingType: 'stream',
    operations: [{ ...step, parameters: { valuerangelist: ranges } }],
  };
  const keyed = (count) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 1]));
  const chain = (count, name = 'Step') => {
    const at = (k) => [{ timeseriesId: 'a', metric: k === 0 ? 'Raw' : `${name}${k}` }];
    const operations = Array.from({ length: count }, (_, k) => {
      return { operation: 'Mul', input: at(k), output: at(k + 1), parameters: { scalar: 1.1 } };
    });
    return { metric: `${name}${count}`, processingType: 'stream', operations };
  };
  const chains = JSON.stringify(['A', 'B', 'C'].map((name) => chain(1000, name)));
  const faulty = chains.replaceAll('"scalar"', '"scaler"');
  const many = (count) =>
    JSON.stringify(Array.from({ length: count }, (_, i) => ({ ...chain(1), metric: `Item${i}` })).map(renamed));
  const renamed = ({ operations: [only], ...rest }, i) => {
    const output = [{ timeseriesId: 'a', metric: `Item${i}` }];
    return { ...rest, operations: [{ ...only, output }] };
  };
  const fresh = Array.from({ length: 250_000 }, (_, i) => `{"timeseriesId":"f${i}","timestamp":0,"val":1}`);
  const large = (prefix, chars) =>
    Array.from({ length: 200 }, (_, i) => {
      const details = Array.from({ length: 4000 }, (_, k) => [`key${k}`, k % 2 === 0 ? 'x'.repeat(chars) : k]);
      const event = { id: `${prefix}${i}`, name: prefix, eventDetails: Object.fromEntries(details) };
      return JSON.stringify(event);
    });
  const events = (prefix, chars = 4) => `[${large(prefix, chars).join(',')}]`;
  function* longLine() {
    yield Buffer.from('timestamp,value\n');
    for (let i = 0; i < 2048; i++) yield Buffer.alloc(2 ** 20, 0x78);
  }
  function* frames(pieces = 400) {
    for (let i = 0; i < pieces; i++) {
      yield Buffer.concat(Array.from({ length: 5000 }, (_, j) => frame(`frame-${i}-${j}`)));
    }
  }
  const [json, ndjson, csv] = ['application/json', 'application/x-ndjson', 'text/csv'];
  const columns = 'application/vnd.windrow.columns';
  const blank = gzipSync(Buffer.alloc(isShort ? 2 ** 27 : 2 ** 30, 0x0a), { level: 1 });
  const small = JSON.stringify(Array.from({ length: 200 }, (_, i) => ({ id: `a${i}` })));
  const stored = events('a');
  // The status of the answer, and what is sent. What takes seconds and is much like another is only in the long form.
  const cases = [
    [200, 'the description of the interface, asked for first', undefined, undefined, { path: '/openapi.json' }],
    [400, 'CSV of 200,000 columns and two rows', csv, wide(200_000) + row(200_000).repeat(2)],
    [400, 'CSV of 50,000 columns and two rows', csv, wide(50_000) + row(50_000).repeat(2)],
    [200, 'CSV of 10,000 columns and 20 rows', csv, wide(9999) + row(9999).repeat(20)],
    [400, 'CSV of 10,000 columns of texts', csv, wide(9999) + row(9999, 'x').repeat(20)],
    [400, 'CSV of 10,000 columns of dates', csv, wide(9999) + row(9999, '2026-01-01').repeat(20), { isLong: true }],
    [200, 'CSV of 20 days, each in 10,000 columns', csv, `date,${clocks(9999).join(',')}\n${days.join('')}`, DAYS],
    [400, 'CSV with a line of 2 GB', csv, longLine],
    [413, '2,000,000 frames without samples', columns, frames, { isLong: true }],
    [413, '50,000 frames without samples', columns, () => frames(10)],
    [200, 'JSON of 16 MiB: samples of one series', json, filled(`{"timeseriesId":"a","timestamp":"${TIME}","val":1},`)],
    [413, 'JSON of 16 MiB: ever new series', json, `[${fresh.join(',')}]`, { isLong: true }],
    [400, 'JSON of 16 MiB: samples, each with a fault', json, filled('{"timeseriesId":1,"timestamp":"now","vol":1},')],
    [400, 'JSON of 16 MiB: nested', json, `[${'['.repeat(MIB16 / 2 - 10)}${']'.repeat(MIB16 / 2 - 10)}]`],
    [413, 'JSON of 16 MiB: one text', json, `["${'x'.repeat(MIB16 - 10)}"]`],
    [413, 'JSON of 16 MiB: events', json, filled('{"name":"a","severity":"b","x":1},'), EVENTS],
    [201, 'JSON: 200 events of 60 kB, stored', json, stored, EVENTS],
    [200, 'JSON: the same again', json, stored, { ...EVENTS, isLong: true }],
    [200, 'JSON: 200 small events in their place', json, small, EVENTS],
    [201, 'NDJSON: 200 events of 60 kB, stored', ndjson, large('b', 4).join('\n'), { ...EVENTS, isLong: true }],
    [400, 'JSON: 200 events of 70 kB, refused', json, events('c', 9), EVENTS],
    [400, 'NDJSON: 200 events of 70 kB, refused', ndjson, large('c', 9).join('\n'), { ...EVENTS, isLong: true }],
    [400, 'NDJSON of 16 MiB: blank lines, events', ndjson, '\n'.repeat(MIB16 - 10), { ...EVENTS, isLong: true }],
    [400, 'NDJSON of 16 MiB: an event of one line', ndjson, `{"name":"${'x'.repeat(MIB16 - 20)}"}`, EVENTS],
    [400, 'NDJSON: an event of 45,000 keys', ndjson, JSON.stringify(keyed(45_000)), EVENTS],
    [200, 'a page of events of 60 kB', undefined, undefined, PAGE],
    [413, 'JSON: 400,000 ranges', json, JSON.stringify([item]), ITEMS],
    [400, 'JSON of 16 MiB: operations', json, filled('{"metric":"a","operations":[{"operation":"Ad"}]},'), ITEMS],
    [400, 'JSON: 20,000 steps that are none', json, JSON.stringify([{ operations: Array(20_000).fill({}) }]), ITEMS],
    [413, 'JSON: a plan of 20,000 steps', json, JSON.stringify([chain(20_000)]), ITEMS],
    [200, 'JSON: three plans of 1,000 steps', json, chains, { path: '/operations?dryRun=true' }],
    [400, 'JSON: 3,000 steps, each with two faults', json, faulty, ITEMS],
    [202, 'JSON: three items of 1,000 steps, registered', json, chains, ITEMS],
    [202, 'JSON: 1,000 items, registered', json, many(1000), { ...ITEMS, isLong: true }],
    [413, 'JSON: an element of 90,000 keys', json, JSON.stringify([keyed(90_000)]), ITEMS],
    [413, 'a key of 16 MiB', json, `[{"${'k'.repeat(MIB16 - 20)}":1}]`, ITEMS],
    [400, 'blank lines, packed, CSV', csv, blank, GZIP],
    [400, 'blank lines, packed, NDJSON', ndjson, blank, GZIP],
  ];
  const good = isShort ? undefined : await probe(server);
  if (good !== undefined) {
    await pause(10_000);
    // The baseline: the machine may be busy with other work.
    console.log(`  before: ${show(await good.take())}`);
  }
  await longestTurn(server);
  const turnMsMax = isShort ? SHORT_TURN_MS_MAX : TURN_MS_MAX;
  for (const [status, what, type, body, { isLong = false, ...to } = {}] of cases) {
    if (isShort && isLong) continue;
    const startMs = performance.now();
    const told = await send(server, type, typeof body === 'function' ? ReadableStream.from(body()) : body, to);
    const ms = performance.now() - startMs;
    if (good !== undefined) await pause(300);
    const turnMs = await longestTurn(server);
    const beside = good === undefined ? '' : `; ${show(await good.take())}`;
    check(
      what,
      isAlive(server) && turnMs < turnMsMax && (told.startsWith(`${status} `) || told === ENDED),
      `${told}; ${ms.toFixed(0)} ms; the longest turn ${turnMs.toFixed(0)} ms${beside}`,
    );
  }
  const mb = peakMb(server);
  check('memory at most, of all of these', mb < (isShort ? SHORT_MB_MAX : MB_MAX), `${mb.toFixed(0)} MB`);
  await good?.end();
  await stop(server);
}

/** Of a body that streams, the server may end the connection before the answer is read. */
const ENDED = 'the connection was ended';

async function send({ url, authorization }, type, body, { path = '/core/samples', headers }) {
  const isStream = body instanceof ReadableStream;
  try {
    const answer = await fetch(url + path, {
      method: type === undefined ? 'GET' : 'POST',
      body,
      ...(isStream ? { duplex: 'half' } : {}),
      headers: { authorization, ...(type && { 'content-type': type }), ercollectionid: 'events', ...headers },
    });
    const { status } = JSON.parse(await answer.text());
    return `${answer.status} ${(status?.message ?? '').split('\n')[0].slice(0, 70)}`;
  } catch (error) {
    return isStream ? ENDED : String(error.cause?.code ?? error.message);
  }
}
