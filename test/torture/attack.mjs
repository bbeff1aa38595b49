// An attack from outside against the real service: its process, its port, its disk. Good clients go on beside it, and
// what they notice is measured. A short form without times runs with the tests (test/service/*.test.ts).
//
//   npm run torture:attack                  all of it, some minutes
//   npm run torture:attack -- sockets disk  parts of it
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';

const command = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const probeUrl = new URL('./probe.mjs', import.meta.url);
const folders = [];
const children = new Set();
const failures = [];
const TIME = '2026-01-01T00:00:00Z';

function check(what, isHeld, figure) {
  console.log(`  ${isHeld ? 'held  ' : 'FAILED'}  ${what}: ${figure}`);
  if (!isHeld) failures.push(`${what}: ${figure}`);
}

// ---------------------------------------------------------------------------------------------------- the server

function folder() {
  const path = mkdtempSync(join(tmpdir(), 'windrow-attack-'));
  folders.push(path);
  return path;
}

async function start({ data = folder(), words = [], descriptors, grant = 'client_credentials' } = {}) {
  const added = spawnSync(process.execPath, [
    ...[command, 'client', 'add', 'good', '--org', 'acme', '--scope', 'core_admin'],
    ...['--grant', grant, '--data-dir', data, '--json'],
  ]);
  const { clientId, clientSecret } = JSON.parse(added.stdout);
  const limit = descriptors === undefined ? '' : `ulimit -n ${descriptors}; `;
  const serve = [command, 'serve', '--port', '0', '--data-dir', data, '--log-level', 'error', ...words];
  const child = spawn('sh', ['-c', `${limit}exec "$@"`, 'sh', process.execPath, ...serve]);
  children.add(child);
  let stderr = '';
  child.stdout.resume();
  const url = await new Promise((resolve, reject) => {
    child.stderr.on('data', (text) => {
      stderr += text;
      const found = /listens at (http:[^;]+);/.exec(stderr);
      if (found !== null) resolve(found[1]);
    });
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}: ${stderr}`)));
  });
  const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  const server = { url, child, data, clientId, basic, port: Number(new URL(url).port), authorization: '' };
  server.authorization = `Bearer ${await demandToken(server)}`;
  return server;
}

/** A machine that is busy with other things has the service answer 503 for a while. */
async function demandToken(server) {
  for (let tries = 0; ; tries++) {
    const answer = await askToken(server);
    const text = await answer.text();
    if (answer.status === 200) return JSON.parse(text).access_token;
    if (answer.status !== 503 || tries > 100) throw new Error(`no token: ${answer.status} ${text}`);
    await pause(500);
  }
}

function askToken({ url, basic }, form = { grant_type: 'client_credentials', scope: 'core_admin' }, headers = {}) {
  return fetch(`${url}/idm/ims/connect/token`, {
    method: 'POST',
    headers: { authorization: basic, ...headers },
    body: new URLSearchParams(form),
  });
}

async function stop({ child }) {
  children.delete(child);
  child.removeAllListeners('exit');
  child.kill('SIGKILL');
  await new Promise((resolve) => setTimeout(resolve, 200));
}

const isAlive = ({ child }) => child.exitCode === null && child.signalCode === null;

/** The most memory that the process has had, in MB. */
const peakMb = ({ child }) =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024;

async function post({ url, authorization }, path, type, body, headers = {}) {
  const startMs = performance.now();
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { authorization, 'content-type': type, ...headers },
    body,
    ...(typeof body?.next === 'function' ? { duplex: 'half' } : {}),
  });
  const text = await answer.text();
  return { status: answer.status, text, ms: performance.now() - startMs };
}

/** Good clients: on connections that they keep, and on new ones. */
async function probe({ url, authorization }, seriesId = 'good') {
  const worker = new Worker(probeUrl, { workerData: { url, authorization, seriesId } });
  const take = () =>
    new Promise((resolve) => {
      worker.once('message', resolve);
      worker.postMessage('take');
    });
  await pause(500);
  await take();
  return { take, end: () => worker.terminate() };
}

/** What one request may hold others up. */
const STALL_MS_MAX = 50;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const show = ({ p50, p99, max, count, failed }) =>
  `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, most ${max.toFixed(0)} ms, ${count} requests, ${failed} failed`;

// ------------------------------------------------------------------------------------------------------ the attacks

/** 1: silent and trickling sockets. */
async function sockets() {
  for (const descriptors of [undefined, 1024]) {
    const server = await start({ descriptors });
    const where = descriptors === undefined ? 'sockets' : `sockets, ${descriptors} descriptors`;
    const good = await probe(server);
    await pause(15_000);
    const before = await good.take();
    const attackers = [];
    const open = async (text) => {
      const socket = connect(server.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.resume();
      attackers.push(socket);
      await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
      socket.write(text);
      return socket;
    };
    for (let i = 0; i < 2000; i++) await open('');
    const head = 'POST /idm/ims/connect/token HTTP/1.1\r\nhost: x\r\nauthorization: Basic eDp5\r\n';
    const form = 'content-type: application/x-www-form-urlencoded\r\ncontent-length: 60000\r\n\r\n';
    const slow = [];
    for (let i = 0; i < 500; i++) slow.push(await open(i % 2 === 0 ? head : head + form));
    await good.take();
    const trickle = setInterval(() => {
      for (const socket of slow) if (!socket.destroyed) socket.write('x');
    }, 1000);
    await pause(15_000);
    const during = await good.take();
    await pause(20_000);
    clearInterval(trickle);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    const openCount = Number(/^windrow_connections (\d+)$/m.exec(metrics)[1]);
    const after = await good.take();
    console.log(`  ${where}, before: ${show(before)}`);
    console.log(`  ${where}, during: ${show(during)}`);
    check(`${where}: the process goes on`, isAlive(server), isAlive(server) ? 'alive' : 'ended');
    check(`${where}: p99 of good clients within twice the usual`, during.p99 <= 2 * before.p99 + 1, show(during));
    check(
      `${where}: no request of a good client fails`,
      during.failed + after.failed === 0,
      during.failed + after.failed,
    );
    check(
      `${where}: after half a minute none of the 2,500 is open`,
      openCount <= 20,
      `${openCount} with those of good clients`,
    );
    for (const socket of attackers) socket.destroy();
    await good.end();
    await stop(server);
  }
}

/** 2: many items touched by one body, and many items that read one series. */
async function items() {
  const hourly = (from, metric) => ({
    metric,
    processingType: 'stream',
    operations: [
      {
        operation: 'Aggregate',
        input: [{ timeseriesId: from, metric: 'Raw' }],
        output: [{ timeseriesId: from, metric }],
        parameters: { function: 'Average', interval: 'Hourly' },
      },
    ],
  });
  for (const isOneSeries of [false, true]) {
    const times = {};
    for (const count of isOneSeries ? [2500, 5000] : [5000, 10_000]) {
      const server = await start();
      const from = (i) => (isOneSeries ? 'one' : `s${i}`);
      for (let at = 0; at < count; at += 500) {
        const request = Array.from({ length: 500 }, (_, i) => hourly(from(at + i), `Hourly${at + i}`));
        const answer = await post(server, '/operations', 'application/json', JSON.stringify(request));
        if (answer.status !== 202) throw new Error(answer.text);
      }
      const sample = (i, hour) => ({ timeseriesId: from(i), timestamp: Date.UTC(2026, 0, 1, hour), val: i });
      const body = (hour) => JSON.stringify(Array.from({ length: isOneSeries ? 1 : count }, (_, i) => sample(i, hour)));
      await post(server, '/core/samples', 'application/json', body(0));
      await pause(10_000);
      const good = await probe(server, 'aside');
      const { status, ms } = await post(server, '/core/samples', 'application/json', body(1));
      const isDone = async () => {
        const last = `/core/timeseries/${from(count - 1)}/samples?metric=Hourly${count - 1}&finalOnly=true`;
        const answer = await fetch(server.url + last, { headers: { authorization: server.authorization } });
        return answer.status === 200 && (await answer.json()).data.length > 0;
      };
      const startMs = performance.now();
      while (!(await isDone()) && performance.now() - startMs < 60_000) await pause(20);
      times[count] = ms + performance.now() - startMs;
      const beside = await good.take();
      const what = isOneSeries ? `one sample that ${count} items read` : `a body that ${count} items read`;
      console.log(
        `  ${what}: ${status} in ${ms.toFixed(0)} ms, results ${times[count].toFixed(0)} ms; ${show(beside)}`,
      );
      await good.end();
      await stop(server);
    }
    const [[few, fewMs], [many, manyMs]] = Object.entries(times);
    const what = isOneSeries ? 'items of one series' : 'items of one body';
    check(
      `${what}: linear`,
      manyMs < 3 * fewMs + 200,
      `${few}: ${fewMs.toFixed(0)} ms, ${many}: ${manyMs.toFixed(0)} ms`,
    );
    if (!isOneSeries) check('10,000 items of one body within 2 s', manyMs < 2000, `${manyMs.toFixed(0)} ms`);
  }
}

/** 3: bodies that take memory or time out of proportion. */
async function bodies() {
  const server = await start();
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
  const chain = (count) => {
    const at = (k) => [{ timeseriesId: 'a', metric: k === 0 ? 'Raw' : `Step${k}` }];
    const operations = Array.from({ length: count }, (_, k) => {
      return { operation: 'Mul', input: at(k), output: at(k + 1), parameters: { scalar: 1.1 } };
    });
    return { metric: `Step${count}`, processingType: 'stream', operations };
  };
  const fresh = Array.from({ length: 250_000 }, (_, i) => `{"timeseriesId":"f${i}","timestamp":0,"val":1}`);
  function* longLine() {
    yield Buffer.from('timestamp,value\n');
    for (let i = 0; i < 2048; i++) yield Buffer.alloc(2 ** 20, 0x78);
  }
  function* frames() {
    for (let i = 0; i < 400; i++) {
      yield Buffer.concat(Array.from({ length: 5000 }, (_, j) => frame(`frame-${i}-${j}`)));
    }
  }
  const [json, csv, columns] = ['application/json', 'text/csv', 'application/vnd.windrow.columns'];
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
    ['JSON: 400,000 ranges', json, JSON.stringify([item]), '/operations'],
    ['JSON of 16 MiB: operations', json, filled('{"metric":"a","operations":[{"operation":"Ad"}]},'), '/operations'],
    ['JSON: 20,000 steps that are none', json, JSON.stringify([{ operations: Array(20_000).fill({}) }]), '/operations'],
    ['JSON: a plan of 20,000 steps', json, JSON.stringify([chain(20_000)]), '/operations'],
    ['JSON: a plan of 3,000 steps', json, JSON.stringify([chain(3000)]), '/operations?dryRun=true'],
    ['a key of 16 MiB', json, `[{"${'k'.repeat(MIB16 - 20)}":1}]`, '/operations'],
    ['1 GiB of blank lines, packed, CSV', csv, blank, undefined, gzip],
    ['1 GiB of blank lines, packed, NDJSON', 'application/x-ndjson', blank, undefined, gzip],
  ];
  const good = await probe(server);
  await pause(10_000);
  // Of a machine that has other things to do as well.
  const usual = await good.take();
  console.log(`  before: ${show(usual)}`);
  for (const [what, type, given, path = '/core/samples', headers = {}] of cases) {
    const body = typeof given === 'function' ? ReadableStream.from(given()) : given;
    const options = { method: 'POST', body, ...(typeof given === 'function' ? { duplex: 'half' } : {}) };
    const startMs = performance.now();
    const told = await fetch(server.url + path, {
      ...options,
      headers: { authorization: server.authorization, 'content-type': type, ercollectionid: 'none', ...headers },
    }).then(
      async (answer) => `${answer.status} ${JSON.parse(await answer.text()).status.message.slice(0, 70)}`,
      (error) => `the connection was ended (${error.cause?.code ?? error.message})`,
    );
    const ms = performance.now() - startMs;
    await pause(300);
    const beside = await good.take();
    check(
      what,
      isAlive(server) && beside.max < STALL_MS_MAX + usual.max && !told.startsWith('500'),
      `${told}; ${ms.toFixed(0)} ms; ${show(beside)}`,
    );
  }
  check('memory at most, of all of these', peakMb(server) < 1500, `${peakMb(server).toFixed(0)} MB`);
  await good.end();
  await stop(server);
}

/** 4: a disk that fills up under the service. */
async function disk() {
  const data = folder();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=80m', 'tmpfs', data]);
  if (mounted.status !== 0) return console.log('  left out: only root may make a small file system');
  const server = await start({ data, words: ['--token-failures-per-minute', '1000'] });
  const chunk = (i) => {
    const rows = Array.from({ length: 20_000 }, (_, k) => `${1.7e9 + i * 20_000 + k},s${i % 7},${Math.random()}\n`);
    return `timestamp,timeseriesId,value\n${rows.join('')}`;
  };
  let last = { status: 200, text: '' };
  let written = 0;
  for (; written < 500 && last.status === 200; written++)
    last = await post(server, '/core/samples', 'text/csv', chunk(written));
  check(
    'a full disk: writing is refused, with one sentence',
    last.status === 503,
    `${last.status} ${last.text.slice(0, 150)}`,
  );
  const headers = { authorization: server.authorization };
  const tokens = await askToken(server);
  check('a full disk: new tokens', tokens.status === 200, tokens.status);
  const page = await fetch(`${server.url}/core/timeseries/s1/samples?limit=10`, { headers });
  const token = (await page.json()).paging?.continuationToken;
  const next = await fetch(`${server.url}/core/timeseries/s1/samples?limit=10`, {
    headers: { ...headers, continuationToken: token },
  });
  check('a full disk: paged reads', page.status === 200 && next.status === 200, `${page.status} ${next.status}`);
  const listed = await fetch(`${server.url}/core/timeseries`, { headers });
  check('a full disk: lists', listed.status === 200, listed.status);
  const statuses = [];
  for (let i = 0; i < 6; i++) {
    const path = `${server.url}/core/timeseries/s${i}/samples?all=true`;
    let told = '';
    // A machine that is busy with other things says so, which is not what is looked at here.
    for (let tries = 0; tries < 20 && (told === '' || told.includes('overloaded')); tries++) {
      if (tries > 0) await pause(500);
      const answer = await fetch(path, { method: 'DELETE', headers });
      told = `${answer.status} ${answer.status === 200 ? '' : await answer.text()}`;
    }
    statuses.push(told.trim());
  }
  check(
    'a full disk: deletions',
    statuses.every((told) => told === '200'),
    statuses.join(' '),
  );
  let again = { status: 0 };
  const startMs = performance.now();
  while (again.status !== 200 && performance.now() - startMs < 120_000) {
    await pause(1000);
    again = await post(server, '/core/samples', 'text/csv', `timestamp,timeseriesId,value\n${TIME},s1,1\n`);
  }
  check(
    'a full disk: writing goes on once there is room',
    again.status === 200,
    `after ${((performance.now() - startMs) / 1000).toFixed(0)} s`,
  );
  check('a full disk: the process goes on', isAlive(server), isAlive(server) ? 'alive' : 'ended');
  await stop(server);
}

/** 5: followers of one series, and the writes of another. */
async function followers() {
  const server = await start();
  const speed = async () => {
    const one = JSON.stringify([{ timeseriesId: 'other', timestamp: 0, val: 1 }]);
    let count = 0;
    const endMs = performance.now() + 5000;
    while (performance.now() < endMs) {
      await Promise.all(Array.from({ length: 8 }, () => post(server, '/core/samples', 'application/json', one)));
      count += 8;
    }
    return count / 5;
  };
  await post(
    server,
    '/core/samples',
    'application/json',
    JSON.stringify([{ timeseriesId: 'a', timestamp: 0, val: 1 }]),
  );
  await speed();
  const alone = await speed();
  const aborting = new AbortController();
  for (let i = 0; i < 200; i++) {
    const headers = { authorization: server.authorization };
    const answer = await fetch(`${server.url}/core/timeseries/a/live`, { headers, signal: aborting.signal });
    answer.body.pipeTo(new WritableStream()).catch(() => {});
  }
  const followed = await speed();
  aborting.abort();
  const figure = `${alone.toFixed(0)} requests a second alone, ${followed.toFixed(0)} with 200 followers of another`;
  check('200 followers cost the writes of others nothing to speak of', followed > 0.85 * alone, figure);
  await stop(server);
}

/** 6: addresses that callers make up, and typos. */
async function proxies() {
  const server = await start({ words: ['--trust-proxy', '1'], grant: 'client_credentials,password' });
  const user = (name) => ['user', 'add', name, '--org', 'acme', '--password-stdin', '--data-dir', server.data];
  for (const name of ['zoe', 'ben']) spawnSync(process.execPath, [command, ...user(name)], { input: `${name}\n` });
  const login = async (username, password, forwarded) => {
    const form = { grant_type: 'password', scope: 'core_read', username, password };
    return (await askToken(server, form, { 'x-forwarded-for': forwarded })).status;
  };
  const typos = [];
  for (let i = 0; i < 11; i++) typos.push(await login('zoe', 'typo', `203.0.113.${i}, 192.0.2.1`));
  check('made-up addresses evade no throttle', typos.at(-1) === 429, typos.join(' '));
  const ben = await login('ben', 'ben', '203.0.113.1, 192.0.2.1');
  check('typos of one user lock out no other at the address', ben === 200, ben);
  const elsewhere = await login('zoe', 'zoe', '192.0.2.2');
  check('nor the user elsewhere', elsewhere === 200, elsewhere);
  spawnSync(process.execPath, [command, 'user', 'unlock', 'zoe', '--org', 'acme', '--data-dir', server.data]);
  const unlocked = await login('zoe', 'zoe', '192.0.2.1');
  check('windrow user unlock lets the user in again', unlocked === 200, unlocked);
  await stop(server);
}

// ------------------------------------------------------------------------------------------------------ all of it

const parts = { sockets, items, bodies, disk, followers, proxies };
const chosen = process.argv.slice(2);
try {
  for (const [name, part] of Object.entries(parts)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    console.log(`\n${name}`);
    await part();
  }
} finally {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) {
    spawnSync('umount', ['-l', folder], { stdio: 'ignore' });
    rmSync(folder, { recursive: true, force: true });
  }
}
console.log(failures.length === 0 ? '\nall held' : `\nfailed:\n  ${failures.join('\n  ')}`);
process.exit(failures.length === 0 ? 0 : 1);
