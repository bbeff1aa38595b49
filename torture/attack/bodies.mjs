import { gzipSync } from 'node:zlib';
import { check } from './report.mjs';
import { addCollection, isAlive, longestTurn, pause, peakMb, probe, show, start, stop } from './server.mjs';

const TIME = '2026-01-01T00:00:00Z';

/** How long one request may block others. */
const TURN_MS_MAX = 50;

/** 3: bodies that take disproportionate memory or time. */
export async function bodies() {
  const server = await start();
  addCollection(server, 'events');
  const wide = (count) => `timestamp,${Array.from({ length: count }, (_, i) => `c${i}`).join(',')}\n`;
  const row = (count) => `${TIME}${',1'.repeat(count)}\n`;
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
  function* frames() {
    for (let i = 0; i < 400; i++) {
      yield Buffer.concat(Array.from({ length: 5000 }, (_, j) => frame(`frame-${i}-${j}`)));
    }
  }
  const [json, ndjson, csv] = ['application/json', 'application/x-ndjson', 'text/csv'];
  const columns = 'application/vnd.windrow.columns';
  const gzip = { 'content-encoding': 'gzip' };
  const blank = gzipSync(Buffer.alloc(2 ** 30, 0x0a), { level: 1 });
  const cases = [
    ['CSV of 200,000 columns and two rows', csv, wide(200_000) + row(200_000).repeat(2)],
    ['CSV of 10,000 columns and 20 rows', csv, wide(9999) + row(9999).repeat(20)],
    ['CSV with a line of 2 GB', csv, longLine],
    ['2,000,000 frames without samples', columns, frames],
    ['JSON of 16 MiB: samples of one series', json, filled(`{"timeseriesId":"a","timestamp":"${TIME}","val":1},`)],
    ['JSON of 16 MiB: ever new series', json, `[${fresh.join(',')}]`],
    ['JSON of 16 MiB: samples, each with a fault', json, filled('{"timeseriesId":1,"timestamp":"now","vol":1},')],
    ['JSON of 16 MiB: nested', json, `[${'['.repeat(MIB16 / 2 - 10)}${']'.repeat(MIB16 / 2 - 10)}]`],
    ['JSON of 16 MiB: one text', json, `["${'x'.repeat(MIB16 - 10)}"]`],
    ['JSON of 16 MiB: events', json, filled('{"name":"a","severity":"b","x":1},'), '/core/events'],
    ['JSON: 200 events of 60 kB, stored', json, events('a'), '/core/events'],
    ['JSON: the same again', json, events('a'), '/core/events'],
    [
      'JSON: 200 small events in their place',
      json,
      JSON.stringify(Array.from({ length: 200 }, (_, i) => ({ id: `a${i}` }))),
      '/core/events',
    ],
    ['NDJSON: 200 events of 60 kB, stored', ndjson, large('b', 4).join('\n'), '/core/events'],
    ['JSON: 200 events of 70 kB, refused', json, events('c', 9), '/core/events'],
    ['NDJSON: 200 events of 70 kB, refused', ndjson, large('c', 9).join('\n'), '/core/events'],
    ['NDJSON of 16 MiB: blank lines, events', ndjson, '\n'.repeat(MIB16 - 10), '/core/events'],
    ['NDJSON of 16 MiB: an event of one line', ndjson, `{"name":"${'x'.repeat(MIB16 - 20)}"}`, '/core/events'],
    ['a page of events of 60 kB', undefined, undefined, '/core/events?$orderby=id desc', { pagesize: '1000' }],
    ['JSON: 400,000 ranges', json, JSON.stringify([item]), '/operations'],
    ['JSON of 16 MiB: operations', json, filled('{"metric":"a","operations":[{"operation":"Ad"}]},'), '/operations'],
    ['JSON: 20,000 steps that are none', json, JSON.stringify([{ operations: Array(20_000).fill({}) }]), '/operations'],
    ['JSON: a plan of 20,000 steps', json, JSON.stringify([chain(20_000)]), '/operations'],
    ['JSON: three plans of 1,000 steps', json, chains, '/operations?dryRun=true'],
    ['JSON: 3,000 steps, each with two faults', json, faulty, '/operations'],
    ['JSON: three items of 1,000 steps, registered', json, chains, '/operations'],
    ['JSON: 1,000 items, registered', json, many(1000), '/operations'],
    ['a key of 16 MiB', json, `[{"${'k'.repeat(MIB16 - 20)}":1}]`, '/operations'],
    ['1 GiB of blank lines, packed, CSV', csv, blank, undefined, gzip],
    ['1 GiB of blank lines, packed, NDJSON', ndjson, blank, undefined, gzip],
  ];
  const good = await probe(server);
  await pause(10_000);
  // The baseline: the machine may be busy with other work.
  const usual = await good.take();
  await longestTurn(server);
  console.log(`  before: ${show(usual)}`);
  for (const [what, type, given, path = '/core/samples', headers = {}] of cases) {
    const body = typeof given === 'function' ? ReadableStream.from(given()) : given;
    const options = {
      method: type === undefined ? 'GET' : 'POST',
      body,
      ...(typeof given === 'function' ? { duplex: 'half' } : {}),
    };
    const startMs = performance.now();
    const told = await fetch(server.url + path, {
      ...options,
      headers: {
        authorization: server.authorization,
        ...(type && { 'content-type': type }),
        ercollectionid: 'events',
        ...headers,
      },
    }).then(
      async (answer) => `${answer.status} ${JSON.parse(await answer.text()).status.message.slice(0, 70)}`,
      (error) => `the connection was ended (${error.cause?.code ?? error.message})`,
    );
    const ms = performance.now() - startMs;
    await pause(300);
    const beside = await good.take();
    const turnMs = await longestTurn(server);
    check(
      what,
      isAlive(server) && turnMs < TURN_MS_MAX && !told.startsWith('500'),
      `${told}; ${ms.toFixed(0)} ms; the longest turn ${turnMs.toFixed(0)} ms; ${show(beside)}`,
    );
  }
  check('memory at most, of all of these', peakMb(server) < 1500, `${peakMb(server).toFixed(0)} MB`);
  await good.end();
  await stop(server);
}
