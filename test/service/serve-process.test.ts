// `windrow serve`, as a user starts it.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import nodeFs, { chmodSync, mkdirSync, readdirSync, rmdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { demoFolder } from '../../src/cli/demo-folder.js';
import { createWorld } from '../cli/world.js';
import { type EventReader, readEvents } from './server-sent-events.js';
import {
  addClient,
  commandPath,
  listening,
  type Serving,
  serve,
  temporaryFolder,
  tokenOf,
  windrow,
} from './serving.js';

const walkPath = fileURLToPath(new URL('../../docs/examples/service-walk.sh', import.meta.url));
// The walk needs a shell with curl, which `.ci/run` installs if missing.
const hasCurl = spawnSync('curl', ['--version']).status === 0 && spawnSync('bash', ['--version']).status === 0;
const quiet = ['--log-level', 'error'];

const sampleOf = (timeseriesId: string, i: number) => ({
  timeseriesId,
  timestamp: new Date(Date.UTC(2026, 0, 1) + i * 1000).toISOString(),
  val: i,
});

async function write(url: string, headers: Record<string, string>, rows: readonly object[]): Promise<number> {
  const all = { ...headers, 'content-type': 'application/json' };
  return (await fetch(`${url}/core/samples`, { method: 'POST', headers: all, body: JSON.stringify(rows) })).status;
}

async function follow(url: string, headers: Record<string, string>, id = 'a'): Promise<EventReader> {
  const answer = await fetch(`${url}/core/timeseries/${id}/live`, { headers });
  expect(answer.status).toBe(200);
  const reader = readEvents(answer.body!);
  await reader.next();
  return reader;
}

function printed(demo: Serving): Record<string, string> {
  const found = [...demo.stderr.matchAll(/^ {2}export (WINDROW_\w+)=(\S+)$/gm)];
  return Object.fromEntries(found.map(([, name, value]) => [name!, value!]));
}

const demoIsReady = /\/core\/events"\n\n$/;

describe('windrow serve over a store without clients', () => {
  it('prints a command that adds a client, which works', async () => {
    const directory = join(temporaryFolder(), 'a data folder');
    const line = /nobody may use it yet.*\n {2}npx windrow (client add .*)\n/;
    const empty = await serve(['--data-dir', directory, ...quiet], line);
    const [, words = ''] = line.exec(empty.stderr) ?? [];
    const added = await run('bash', ['-c', `"${process.execPath}" "${commandPath}" ${words} --json`], {});
    expect(await tokenOf(empty.url, JSON.parse(added.stdout))).toHaveProperty('authorization');
    empty.child.kill('SIGTERM');
    expect(await empty.ended).toBe(0);
    const again = await serve(['--data-dir', directory, ...quiet]);
    again.child.kill('SIGTERM');
    expect(await again.ended).toBe(0);
    expect(again.stderr).not.toContain('nobody may use it');
  });
});

it('serves --data-dir though the environment names a database, and says so', async () => {
  const child = spawn(process.execPath, [commandPath, 'serve', '--port', '0', '--data-dir', temporaryFolder()], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, WINDROW_STORE: 'postgres://windrow@127.0.0.1:1/windrow' },
  });
  await listening(child, /^windrow: WINDROW_STORE is ignored beside --data-dir$/m);
});

describe('windrow serve --demo', () => {
  it('keeps its data in a folder of its user alone, and refuses a link, or a folder that others may open', async () => {
    const world = createWorld();
    const io = { fs: nodeFs, tempFolder: world.folder };
    const path = demoFolder(io);
    expect(path).toBe(join(world.folder, `windrow-demo-${userInfo().uid}`));
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(demoFolder(io)).toBe(path);
    chmodSync(path, 0o777);
    const open = await world.run('serve', '--demo', '--port', '0');
    expect([open.code, open.stderr]).toEqual([
      1,
      expect.stringMatching(/: expected .*, received one of another user, or /),
    ]);
    rmdirSync(path);
    mkdirSync(world.path('elsewhere'), { mode: 0o700 });
    symlinkSync(world.path('elsewhere'), path);
    const linked = await world.run('serve', '--demo', '--port', '0');
    expect([linked.code, linked.stderr]).toEqual([1, expect.stringMatching(/received a link .*--data-dir$/m)]);
    expect(readdirSync(world.path('elsewhere'))).toEqual([]);
  });

  it('never adds its organisation to the database of WINDROW_STORE, only to one named by --store', async () => {
    const world = createWorld({ environment: { WINDROW_STORE: 'postgres://windrow@127.0.0.1:1/windrow' } });
    // Its folder is refused, so it was that folder that it meant to use.
    writeFileSync(world.path(`windrow-demo-${userInfo().uid}`), '');
    const { code, stderr } = await world.run('serve', '--demo', '--port', '0');
    expect([code, stderr]).toEqual([1, expect.stringContaining('for the data of --demo')]);
  });

  it.skipIf(!hasCurl)('prints working credentials, and the walk through the service succeeds', async () => {
    const folder = temporaryFolder();
    const demo = await serve(['--demo', '--data-dir', join(folder, 'data')], demoIsReady);
    const environment = printed(demo);
    expect(Object.keys(environment)).toEqual(['WINDROW_URL', 'WINDROW_CLIENT', 'WINDROW_SECRET']);
    expect(environment.WINDROW_URL).toBe(demo.url);
    const walk = await run('bash', [walkPath], environment);
    expect([walk.code, walk.stderr]).toEqual([0, '']);
    const parts = new Map(walk.stdout.split('\n== ').map((part) => [part.split('\n')[0]!, part.split('\n').slice(1)]));
    expect([...parts.keys()].map((title) => title.split(/[ ,]/)[0])).toEqual([
      '',
      'A',
      'Samples',
      'An',
      'Its',
      'Its',
      'A',
      'Events',
    ]);
    const text = (start: string) =>
      [...parts]
        .find(([title]) => title.startsWith(start))![1]
        .join('\n')
        .trim();
    expect(text('A token')).toBe('43 characters');
    expect(JSON.parse(text('Samples')).data).toEqual({ samples: 4, missing: 0, duplicate: 0, isRepeated: false });
    expect(text('Its status')).toBe('Active');
    const csv = (average: string) =>
      [
        'timestamp,timeseriesId,metric,value',
        `2026-01-01T08:00:00.000Z,room-1,QuarterHourly,${average}`,
        '2026-01-01T08:15:00.000Z,room-1,QuarterHourly,23.5',
      ].join('\n');
    expect(text('Its results')).toBe(csv('20.5'));
    const late = text('A late sample');
    expect(late.slice(late.indexOf('timestamp,'))).toBe(csv('21.5'));
    const events = JSON.parse(text('Events'));
    expect(events.data).toHaveLength(2);
    expect(events.data.map((event: { name: string }) => event.name)).toEqual(['Warm day', 'Warm day']);

    // Restarted, it has the same data, without duplicates, and new credentials.
    demo.child.kill('SIGTERM');
    expect(await demo.ended).toBe(0);
    const again = await serve(['--demo', '--data-dir', join(folder, 'data')], demoIsReady);
    const { WINDROW_CLIENT: clientId, WINDROW_SECRET: clientSecret } = printed(again) as Record<string, string>;
    const headers = await tokenOf(again.url, { clientId: clientId!, clientSecret: clientSecret! });
    const rows = await (
      await fetch(`${again.url}/core/timeseries/room-1/samples?metric=QuarterHourly`, {
        headers: { ...headers, accept: 'text/csv' },
      })
    ).text();
    expect(rows.trim()).toBe(csv('21.5'));
    const page = await fetch(`${again.url}/core/events`, { headers: { ...headers, ercollectionid: 'demo-building' } });
    expect(((await page.json()) as { paging: unknown }).paging).toEqual({ totalCount: 5, continuationToken: null });
    again.child.kill('SIGTERM');
    expect(await again.ended).toBe(0);
    expect(demo.stdout).not.toContain(environment.WINDROW_SECRET);
  });
});

function run(command: string, words: readonly string[], environment: Record<string, string>) {
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    const child = spawn(command, words, { env: { ...process.env, ...environment } });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (text) => {
      stdout += text;
    });
    child.stderr.on('data', (text) => {
      stderr += text;
    });
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

/** Sends the start of an upload and waits until the service reads it. */
async function beginUpload(url: string, { authorization }: { authorization: string }): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  socket.write(`POST /core/samples HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\nexpect: 100-continue\r\n`);
  socket.write('content-type: text/csv\r\ncontent-length: 100000\r\n\r\ntimestamp,value\n');
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
}

describe('--retention-interval', () => {
  it('is how often what has outlived its rule is deleted', async () => {
    const directory = temporaryFolder();
    const client = await addClient(directory);
    const { url } = await serve(['--data-dir', directory, '--retention-interval', 'PT0.05S', ...quiet]);
    const headers = await tokenOf(url, client);
    const hourMs = 3_600_000;
    const nowMs = Date.now();
    const rows = Array.from({ length: 10 }, (_, i) => ({ ...sampleOf('a', i), timestamp: nowMs - (9.5 - i) * hourMs }));
    expect(await write(url, headers, rows)).toBe(200);
    const set = await windrow('retention', 'set', '--org', 'acme', '--keep', 'PT5H', '--data-dir', directory);
    expect(set.code, set.stderr).toBe(0);
    const left = async (): Promise<number[]> => {
      const answer = await fetch(`${url}/core/samples?timeseries_ids=a`, { headers });
      const { data } = (await answer.json()) as { data: { val: number }[] }; // `as`: docs/service.md
      return data.map(({ val }) => val);
    };
    await expect.poll(async () => (await left()).length).toBeLessThan(6);
    expect(await left()).toEqual([5, 6, 7, 8, 9]);
  });

  it.each(['10', 'PT0S', 'P2D', ''])('%j is no interval', async (text) => {
    const world = createWorld();
    const { code, stderr } = await world.run('serve', '--data-dir', 'data', '--retention-interval', text);
    const expected = 'expected a duration above 0 and up to P1D, such as PT10M';
    expect([code, stderr]).toEqual([
      2,
      `windrow: --retention-interval: ${expected}, received ${JSON.stringify(text)}\n`,
    ]);
    expect(world.files()).toEqual([]);
  });
});

describe('--limit', () => {
  it.each([
    ['csvLineBytesMax=10', '--limit csvLineBytesMax: expected a number from 65536 up, received 10\n'],
    ['csvLinesMax=10', '--limit: expected NAME=N, with a whole number from 1 on and one of connectionsMax,'],
    ['csvColumnsMax=0', '--limit: expected NAME=N, with a whole number from 1 on and one of connectionsMax,'],
  ])('%s is refused', async (text, message) => {
    const world = createWorld();
    const { code, stderr } = await world.run('serve', '--data-dir', 'data', '--limit', text);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`windrow: ${message}`)]);
    expect(world.files()).toEqual([]);
  });
});

describe('a stop', () => {
  it('at SIGTERM is graceful: followers are told, requests are answered, what was acknowledged is stored', async () => {
    const data = join(temporaryFolder(), 'data');
    const client = await addClient(data);
    const first = await serve(['--data-dir', data, ...quiet]);
    const headers = await tokenOf(first.url, client);
    expect(await write(first.url, headers, [sampleOf('a', 0)])).toBe(200);
    const followers = await Promise.all(Array.from({ length: 5 }, () => follow(first.url, headers)));
    const acknowledged: string[] = [];
    let sent = 0;
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let i = 0; ; i++) {
        const id = `w${writer}-${i}`;
        sent++;
        const status = await write(first.url, headers, [sampleOf(id, i)]).catch(() => 0);
        if (status === 200) acknowledged.push(id);
        else return status;
      }
    });
    await expect.poll(() => acknowledged.length).toBeGreaterThan(50);
    first.child.kill('SIGTERM');
    // Refused, or not reached any more: stored data is never answered with a broken response.
    const ends = await Promise.all(writers);
    expect(ends.every((status) => status === 503 || status === 0)).toBe(true);
    expect(await first.ended).toBe(0);
    expect(first.stderr).toContain('SIGTERM received, stopping');
    for (const reader of followers) {
      let event = await reader.next();
      while (event?.type === 'samples') event = await reader.next();
      expect(event?.type).toBe('stop');
      expect(await reader.next()).toBeUndefined();
    }

    const second = await serve(['--data-dir', data, ...quiet]);
    const again = await tokenOf(second.url, client);
    const missing = [];
    for (let at = 0; at < acknowledged.length; at += 100) {
      const ids = acknowledged.slice(at, at + 100);
      const answer = await fetch(`${second.url}/core/samples?timeseries_ids=${ids.join(',')}`, { headers: again });
      if (answer.status !== 200) missing.push(await answer.text());
    }
    expect([missing, sent >= acknowledged.length]).toEqual([[], true]);
  });

  it('while the demo is still prepared is no failure', async () => {
    const server = await serve(['--demo', '--data-dir', join(temporaryFolder(), 'demo')]);
    server.child.kill('SIGINT');
    expect([await server.ended, server.stderr]).toEqual([0, expect.not.stringMatching(/bug in windrow|the demo:/)]);
  });

  it('does not wait for ever: a stalled upload is cut off, and the exit code is 0', async () => {
    const data = join(temporaryFolder(), 'data');
    const client = await addClient(data);
    const server = await serve(['--data-dir', data, ...quiet]);
    await beginUpload(server.url, await tokenOf(server.url, client));
    server.child.kill('SIGTERM');
    expect(await server.ended).toBe(0);
  });

  it('stores all work also where the working directory was deleted, in which no thread could begin', async () => {
    const folder = temporaryFolder();
    const release = join(folder, 'release');
    mkdirSync(release);
    const client = await addClient(join(folder, 'data'));
    const words = [commandPath, 'serve', '--port', '0', '--data-dir', '../data', ...quiet];
    const server = await listening(spawn(process.execPath, words, { cwd: release, stdio: ['ignore', 'pipe', 'pipe'] }));
    rmdirSync(release);
    const headers = await tokenOf(server.url, client);
    // More than an item computes beside the requests.
    const rows = Array.from({ length: 70_000 }, (_, i) => sampleOf('a', i));
    expect(await write(server.url, headers, rows)).toBe(200);
    const operation = {
      operation: 'Aggregate',
      parameters: { function: 'Average', interval: 'Hourly' },
      input: [{ timeseriesId: 'a', metric: 'Raw' }],
      output: [{ timeseriesId: 'a', metric: 'M' }],
    };
    const body = JSON.stringify([{ metric: 'M', processingType: 'stream', operations: [operation] }]);
    const json = { ...headers, 'content-type': 'application/json' };
    expect((await fetch(`${server.url}/operations`, { method: 'POST', headers: json, body })).status).toBe(202);
    const results = async (): Promise<number> => {
      const answer = await fetch(`${server.url}/core/timeseries/a/samples?metric=M`, { headers });
      return answer.status === 200 ? ((await answer.json()) as { data: object[] }).data.length : 0; // `as`: as above
    };
    await expect.poll(results).toBeGreaterThan(18);
    server.child.kill('SIGTERM');
    expect(await server.ended).toBe(0);
  });

  it('is immediate at a second signal', async () => {
    const data = join(temporaryFolder(), 'data');
    const client = await addClient(data);
    const server = await serve(['--data-dir', data, ...quiet]);
    await beginUpload(server.url, await tokenOf(server.url, client));
    server.child.kill('SIGTERM');
    await expect.poll(() => server.stderr).toContain('a second one ends it at once');
    server.child.kill('SIGTERM');
    expect(await server.ended).toBe('SIGTERM');
    const after = await serve(['--data-dir', data, ...quiet]);
    expect((await fetch(`${after.url}/health/ready`)).status).toBe(200);
  });
});

it('RFC 8414: the metadata has the URL given by --public-url', async () => {
  const words = ['--data-dir', join(temporaryFolder(), 'data'), '--public-url', 'https://example.com/ts'];
  const server = await serve([...words, ...quiet]);
  const metadata = await (await fetch(`${server.url}/.well-known/oauth-authorization-server`)).json();
  expect(metadata).toMatchObject({
    issuer: 'https://example.com/ts',
    token_endpoint: 'https://example.com/ts/idm/ims/connect/token',
  });
});

describe('problems at startup are reported without a stack', () => {
  it('a port in use, an invalid address, an impossible folder', async () => {
    const folder = temporaryFolder();
    const data = join(folder, 'data');
    const server = await serve(['--data-dir', data, ...quiet]);
    const { port } = new URL(server.url);
    writeFileSync(join(folder, 'file'), '');
    const words = ['serve', '--log-level', 'error'];
    const start = (...more: string[]) => run(process.execPath, [commandPath, ...words, ...more], {});
    // What is wrong with the words themselves is told before there is a service.
    const ask = (...more: string[]) => windrow(...words, ...more);
    const failures = [
      [/--port \d+: another process listens there/, start, ['--port', port, '--data-dir', join(folder, 'b')]],
      [
        /--host 192\.0\.2\.1 --port \d+: this machine has no such address/,
        start,
        ['--port', '0', '--host', '192.0.2.1', '--data-dir', join(folder, 'c')],
      ],
      [/the data directory .*file: cannot create files in/, start, ['--port', '0', '--data-dir', join(folder, 'file')]],
      [
        /the data directory .*file\/in: cannot create files in .*file /,
        start,
        ['--port', '0', '--data-dir', join(folder, 'file/in')],
      ],
      [/expected --data-dir DIR/, ask, ['--port', '0']],
      [/expected --data-dir DIR, received an empty text/, ask, ['--port', '0', '--data-dir', '']],
      [/--public-url: expected a URL such as https/, ask, ['--port', '0', '--demo', '--public-url', 'example.com']],
      [/^windrow: --store: postgres:\/\/h:…\/x: expected .* 1 to 65535$/m, ask, ['--store', 'postgres://h:notaport/x']],
      [/--host: expected an address such as 127/, ask, ['--port', '0', '--host', '', '--data-dir', join(folder, 'd')]],
      [/--port: expected at most 65535/, ask, ['--port', '70000', '--data-dir', join(folder, 'd')]],
    ] as const;
    for (const [message, by, more] of failures) {
      const failure = await by(...more);
      expect([failure.code, failure.stderr]).toEqual([2, expect.stringMatching(message)]);
      expect(failure.stderr).not.toMatch(/bug in windrow|\n\s+at /);
      expect(failure.stdout).toBe('');
    }
    // Nothing is left behind that would block the next start.
    const next = await serve(['--data-dir', join(folder, 'b'), ...quiet]);
    expect((await fetch(`${next.url}/health/live`)).status).toBe(200);
  });
});

it.skipIf(process.platform === 'win32')('nobody else can read the data directory or any file in it', async () => {
  const data = join(temporaryFolder(), 'data');
  const server = await serve(['--data-dir', data, ...quiet]);
  const headers = await tokenOf(server.url, await addClient(data));
  expect(await write(server.url, headers, [sampleOf('a', 0)])).toBe(200);
  const open = (path: string) => [path, (statSync(path).mode & 0o077).toString(8)];
  const files = readdirSync(data, { recursive: true }).map((name) => join(data, String(name)));
  expect(files.length).toBeGreaterThan(2);
  expect([data, ...files].map(open)).toEqual([data, ...files].map((path) => [path, '0']));
});
