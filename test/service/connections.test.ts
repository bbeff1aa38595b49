// Callers that send nothing, or too little: they lock out nobody else, and lose only their own connection.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, type MockInstance, onTestFinished, vi } from 'vitest';
import { startServer } from '../../src/service/server.js';
import { writeFrame } from '../../src/service/timeseries/columns-format.js';
import { openTestService, type TestService } from './app.js';
import { addClient, commandPath, listening, temporaryFolder, tokenOf } from './serving.js';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** A connection and everything received on it. */
interface Talk {
  readonly socket: Socket;
  text: string;
  isClosed: boolean;
}

async function talk(url: string, first = ''): Promise<Talk> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const talk: Talk = { socket, text: '', isClosed: false };
  socket.on('data', (data) => {
    talk.text += data;
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    talk.isClosed = true;
  });
  await once(socket, 'connect');
  if (first !== '') await new Promise((resolve) => socket.write(first, resolve));
  return talk;
}

const tokenHead = (length: number) =>
  'POST /idm/ims/connect/token HTTP/1.1\r\nhost: x\r\nauthorization: Basic eDp5\r\n' +
  `content-type: application/x-www-form-urlencoded\r\ncontent-length: ${length}\r\n\r\n`;

it.each(['/core/samples', '/operations', '/core/events', '/core/retention', '/idm/ims/connect/token'])(
  'a client that still sends a body too large for %s reads the answer, and may go on',
  async (path) => {
    const service = await openTestService({ settings: { bodyBytesMax: 100_000 } });
    onTestFinished(() => service.close());
    const url = await service.app.listen({ port: 0 });
    const { authorization } = await service.bearer(await service.addClient({ organisation: 'acme' }));
    // More than the buffers of a connection hold.
    const body = ' '.repeat(30_000_000);
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\nercollectionid: main\r\n`;
    const type = path.startsWith('/idm') ? 'application/x-www-form-urlencoded' : 'application/json';
    const fields = `content-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n`;
    const client = await talk(url, `${head}${fields}${body}GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n`);
    await expect.poll(() => client.text.match(/HTTP\/1.1 \d+/g)?.length).toBe(2);
    expect(client.text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 413', 'HTTP/1.1 200']);
    expect(client.isClosed).toBe(false);
  },
);

describe('requests that are sent ahead of the answers', () => {
  let service: TestService;
  let url: string;
  let authorization: string;
  let read: MockInstance;
  beforeEach(async () => {
    service = await openTestService();
    url = await service.app.listen({ port: 0 });
    ({ authorization } = await service.bearer(await service.addClient({ organisation: 'acme' })));
    read = vi.spyOn(service.service.context.samples, 'read');
  });
  afterEach(() => service.close());

  const heads = (path: string, count: number) =>
    `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n\r\n`.repeat(count);
  const post = (count: number) => {
    const rows = Array.from({ length: count }, (_, i) => `${new Date(i * 1000).toISOString()},a,Raw,${i / 7}`);
    const payload = `${['timestamp,timeseriesId,metric,value', ...rows].join('\n')}\n`;
    const headers = { authorization, 'content-type': 'text/csv' };
    return service.app.inject({ method: 'POST', url: '/core/samples', headers, payload });
  };

  it('are answered in their order', async () => {
    const client = await talk(url, heads('/health/live', 30) + heads('/nope', 30) + heads('/core/retention', 30));
    await expect.poll(() => client.text.match(/HTTP\/1.1 \d+/g)?.length).toBe(90);
    const statuses = client.text.match(/HTTP\/1.1 \d+/g)!.map((line) => line.slice(-3));
    expect(statuses).toEqual([...Array(30).fill('200'), ...Array(30).fill('404'), ...Array(30).fill('200')]);
  });

  it.each(['timezone=Nowhere', 'states=on', 'unknown=1'])(
    'are answered after a packed body that %s refuses',
    async (query) => {
      const random = new Uint8Array(200_000);
      for (let i = 0; i < random.length; i += 65_536) crypto.getRandomValues(random.subarray(i, i + 65_536));
      const body = gzipSync(`timestamp,value\n${Buffer.from(random).toString('hex')}`);
      const head = `POST /core/samples?${query} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n`;
      const type = `content-type: text/csv\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`;
      const client = await talk(url, head + type);
      client.socket.write(body);
      client.socket.write(heads('/health/live', 1));
      await expect.poll(() => client.text.match(/HTTP\/1.1 \d+/g)?.length, { timeout: 4000 }).toBe(2);
      expect(client.text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 400', 'HTTP/1.1 200']);
    },
  );

  it('wait while the caller takes no answer', async () => {
    // More than the buffers of a connection hold.
    expect((await post(100_000)).statusCode).toBe(200);
    const client = await talk(url);
    client.socket.pause();
    client.socket.write(heads('/core/timeseries/a/samples?limit=100000', 5));
    await expect.poll(() => read.mock.calls.length).toBe(1);
    // A request on another connection, sent later, has its answer.
    const other = await talk(url, heads('/core/timeseries/a/samples?limit=1', 1));
    await expect.poll(() => other.text).toContain('HTTP/1.1 200');
    expect(read).toHaveBeenCalledTimes(2);
    client.socket.resume();
    await expect.poll(() => read.mock.calls.length, { timeout: 60_000 }).toBe(6);
    // Fastify would wait for more requests on the connection, as its answer has begun before the stop.
    client.socket.destroy();
  });

  it('are a hundred at most', async () => {
    const client = await talk(url, heads('/core/samples/live?timeseries_ids=a', 300));
    await expect.poll(() => client.isClosed).toBe(true);
    const other = await talk(url, heads('/core/retention', 1));
    await expect.poll(() => other.text).toContain('HTTP/1.1 200');
    const metrics = await service.app.inject({ url: '/metrics' });
    expect(metrics.body).toMatch(/connections_ended_total\{reason="ahead"\} 1\n/);
  });
});

describe('a body that does not arrive', () => {
  let service: TestService;
  let url: string;
  const sockets: Socket[] = [];

  beforeEach(async () => {
    service = await openTestService();
    sockets.length = 0;
    service.app.server.on('connection', (socket) => sockets.push(socket));
    url = await service.app.listen({ port: 0 });
  });

  afterEach(() => service.close());

  /** Waits until the server has received this many bytes. */
  const seen = async (bytes: number) => {
    const received = () => {
      let count = 0;
      for (const one of sockets) count += one.bytesRead;
      return count;
    };
    await expect.poll(received).toBe(bytes);
  };
  it('at the token endpoint gets 408 after a while, and the connection is closed', async () => {
    const head = `${tokenHead(1000)}grant_type=`;
    const stalled = await talk(url, head);
    await seen(head.length);
    service.clock.advance(20_000);
    expect(stalled.text).toBe('');
    service.clock.advance(2000);
    await expect.poll(() => stalled.text).toMatch(/^HTTP\/1.1 408 .*did not come in time","code":"408"/s);
    await expect.poll(() => stalled.isClosed).toBe(true);
    expect(service.logLines.some((line) => line.includes('the body did not come in time'))).toBe(true);
    const told = () => service.logLines.filter((line) => line.includes('"method"')).map((line) => JSON.parse(line));
    await expect.poll(told).toMatchObject([{ path: '/idm/ims/connect/token', statusCode: 408, msg: 'answered' }]);
    const { connectionsEnded } = service.service.context.metrics;
    expect((await connectionsEnded.get()).values).toMatchObject([{ labels: { reason: 'body' }, value: 1 }]);
  });

  it('leaves nothing in memory if its connection ends while the token is looked up', async () => {
    const { authorization } = await service.bearer(await service.addClient({ organisation: 'acme' }));
    await service.app.inject({ url: '/core/retention', headers: { authorization } });
    const { storage } = service.service.context;
    let isAsked = false;
    let answer = () => {};
    const lookUp = vi.spyOn(storage, 'recentCommit').mockImplementation((shard) => {
      isAsked = true;
      return new Promise((resolve) => {
        answer = () => resolve(storage.lastCommit(shard));
      });
    });
    onTestFinished(() => lookUp.mockRestore());
    const caller = await talk(
      url,
      `POST /core/samples HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n` +
        'content-type: application/json\r\ncontent-length: 1000\r\n\r\n[',
    );
    await expect.poll(() => isAsked, { timeout: 3000 }).toBe(true);
    const refs = sockets.map((socket) => new WeakRef(socket));
    caller.socket.destroy();
    await expect.poll(() => sockets.every(({ destroyed }) => destroyed)).toBe(true);
    sockets.length = 0;
    answer();
    const isLeft = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      collect();
      return refs.some((ref) => ref.deref() !== undefined);
    };
    await expect.poll(isLeft, { timeout: 5000 }).toBe(false);
  });

  it('has the same limit if its length stands behind thousands of headers', async () => {
    const head = tokenHead(1000).replace('content-length', `${'a:\r\n'.repeat(3000)}content-length`);
    const stalled = await talk(url, head);
    await seen(head.length);
    service.clock.advance(22_000);
    await expect.poll(() => stalled.text).toMatch(/^HTTP\/1.1 408 .*did not come in time","code":"408"/s);
    await expect.poll(() => stalled.isClosed).toBe(true);
  });

  it('is cut off if it trickles; one that keeps its speed is waited for', async () => {
    const { authorization } = await service.bearer(await service.addClient({ organisation: 'acme' }));
    const head =
      `POST /core/timeseries/a/samples HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n` +
      'content-type: application/x-ndjson\r\ncontent-length: 900000\r\n\r\n';
    const [slow, steady] = [await talk(url, head), await talk(url, head)];
    const line = `{"timestamp":"2026-01-01T00:00:00Z","val":1}${' '.repeat(1980)}\n`;
    let sent = 2 * head.length;
    for (let second = 0; second < 30; second++) {
      slow.socket.write(' ');
      steady.socket.write(line);
      sent += line.length + (slow.isClosed || slow.text !== '' ? 0 : 1);
      await expect
        .poll(() => slow.text !== '' || sockets.reduce((sum, one) => sum + one.bytesRead, 0) >= sent)
        .toBe(true);
      service.clock.advance(1000);
    }
    await expect.poll(() => slow.text).toMatch(/^HTTP\/1.1 408 /);
    expect([steady.text, steady.isClosed]).toEqual(['', false]);
    steady.socket.destroy();
  });

  it('of a request already answered keeps its connection for only a few seconds', async () => {
    const head = 'POST /core/samples HTTP/1.1\r\nhost: x\r\ncontent-type: text/csv\r\ncontent-length: 1000\r\n\r\n';
    const refused = await talk(url, head);
    await expect.poll(() => refused.text).toMatch(/^HTTP\/1.1 401 /);
    service.clock.advance(1000);
    expect(refused.isClosed).toBe(false);
    service.clock.advance(10_000);
    await expect.poll(() => refused.isClosed).toBe(true);
  });
});

describe('an answer that nobody reads', () => {
  it('ends its connection after five minutes without progress, however long it takes in all', async () => {
    const service = await openTestService();
    onTestFinished(() => service.close());
    let sending: Socket | undefined;
    service.app.server.on('connection', (socket) => {
      sending = socket;
    });
    const url = await service.app.listen({ port: 0 });
    const { authorization } = await service.bearer(await service.addClient({ organisation: 'acme' }));
    // More than the buffers of a connection hold, several times.
    const COUNT = 1_000_000;
    const timeMs = Float64Array.from({ length: COUNT }, (_, i) => Date.UTC(2026, 0) + i * 1000);
    const value = Float64Array.from({ length: COUNT }, (_, i) => i * 1.25);
    const headers = { authorization, 'content-type': 'application/vnd.windrow.columns' };
    const payload = Buffer.from(writeFrame({ timeseriesId: 'a', metric: 'Raw', timeMs, value }));
    const posted = await service.app.inject({ method: 'POST', url: '/core/samples', headers, payload });
    expect(posted.statusCode).toBe(200);

    const head = 'GET /core/timeseries/a/samples HTTP/1.1\r\nhost: x\r\naccept: text/csv\r\n';
    const client = await talk(url);
    client.socket.pause();
    client.socket.write(`${head}authorization: ${authorization}\r\n\r\n`);
    const takenBytes = () => sending!.bytesWritten - sending!.writableLength;
    /** Until the connection takes nothing more: the same twice, with time for much more in between. */
    const stands = async () => {
      let last = -1;
      const isSame = () => {
        const now = takenBytes();
        const same = now === last && now > 100_000;
        last = now;
        return same;
      };
      await expect.poll(isSame, { interval: 300 }).toBe(true);
    };
    const endedCount = async () => {
      const { values } = await service.service.context.metrics.connectionsEnded.get();
      return values.find(({ labels }) => labels.reason === 'answer')?.value ?? 0;
    };
    await stands();
    service.clock.advance(2000);
    service.clock.advance(297_000);
    expect([await endedCount(), sending!.destroyed]).toEqual([0, false]);
    const before = takenBytes();
    client.socket.resume();
    await expect.poll(takenBytes, { interval: 1 }).toBeGreaterThan(before);
    client.socket.pause();
    await stands();
    expect(client.text.length).toBeLessThan(COUNT * 20);
    service.clock.advance(2000);
    service.clock.advance(297_000);
    expect([await endedCount(), sending!.destroyed]).toEqual([0, false]);
    service.clock.advance(5000);
    expect([await endedCount(), sending!.destroyed]).toEqual([1, true]);
  });
});

describe('the connection that gives way to one too many', () => {
  it('is one on which no answer is due, even of requests that were sent together', async () => {
    const settings = { connectionsMax: 2 };
    const server = await startServer({ dataDirectory: temporaryFolder(), settings, logLevel: 'silent' });
    onTestFinished(() => server.stop());
    const scopes = ['core_read', 'core_write'];
    const account = { organisation: 'acme', name: 'reader', scopes, grants: ['client_credentials'] };
    const { authorization } = await tokenOf(
      server.url,
      await server.service.identity.administration.addClient(account),
    );
    const stored = await fetch(`${server.url}/core/samples`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify([{ timeseriesId: 'a', timestamp: '2026-01-01T00:00:00Z', val: 1 }]),
    });
    expect(stored.status).toBe(200);
    const live = '/core/timeseries/a/live';
    const following = await talk(
      server.url,
      'GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n' +
        `GET ${live} HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n\r\n`,
    );
    await expect.poll(() => following.text).toContain('text/event-stream');
    const answered = await talk(server.url, 'GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n');
    await expect.poll(() => answered.text).toContain('HTTP/1.1 200');
    await talk(server.url);
    await expect.poll(() => answered.isClosed).toBe(true);
    expect(following.isClosed).toBe(false);
  });
});

describe('a stop', () => {
  const start = () => startServer({ dataDirectory: join(temporaryFolder(), 'data'), logLevel: 'silent' });

  it('answers a request that has come on a connection kept alive, and was not read yet', async () => {
    const server = await start();
    const kept = await talk(server.url, 'GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n');
    await expect.poll(() => kept.text).toContain('live');
    // The system has it once it is written; this thread, which is the server's too, reads it later.
    kept.socket.write('GET /core/status HTTP/1.1\r\nhost: x\r\n\r\n');
    await server.stop();
    await expect.poll(() => kept.isClosed).toBe(true);
    expect(kept.text).toMatch(/HTTP\/1\.1 503 .*connection: close.*the service is stopping/is);
  });

  it('says in the answers to what it still takes that their connections close', async () => {
    const server = await start();
    const body = 'grant_type=client_credentials';
    const head = tokenHead(body.length).replace('host: x', 'host: x\r\nexpect: 100-continue');
    const sending = await talk(server.url, head);
    await expect.poll(() => sending.text).toContain('100 Continue');
    const stopped = server.stop();
    sending.socket.write(body);
    await stopped;
    await expect.poll(() => sending.isClosed).toBe(true);
    expect(sending.text).toMatch(/HTTP\/1\.1 401 .*connection: close.*invalid_client/is);
  });
});

describe.skipIf(process.platform === 'win32')('a process with few descriptors', () => {
  const DESCRIPTORS = 256;

  it('keeps running and accepts new callers, however many silent connections there are', async () => {
    const folder = temporaryFolder();
    const data = join(folder, 'data');
    const client = await addClient(data);
    const words = `ulimit -n ${DESCRIPTORS}; exec "$@"`;
    const command = [process.execPath, commandPath, 'serve', '--port', '0', '--data-dir', data];
    const server = await listening(spawn('sh', ['-c', words, 'sh', ...command], { stdio: ['ignore', 'pipe', 'pipe'] }));
    const kept = await tokenOf(server.url, client);
    const silent: Talk[] = [];
    for (let i = 0; i < 2 * DESCRIPTORS; i++) silent.push(await talk(server.url));
    const headers = await tokenOf(server.url, client);
    for (const one of [kept, headers]) {
      const answer = await fetch(`${server.url}/core/samples`, {
        method: 'POST',
        headers: { ...one, 'content-type': 'application/json' },
        body: JSON.stringify([{ timeseriesId: 'a', timestamp: '2026-01-01T00:00:00Z', val: 1 }]),
      });
      expect(answer.status).toBe(200);
    }
    const metrics = async () => (await fetch(`${server.url}/metrics`)).text();
    const ended = /^windrow_connections_ended_total\{reason="limit"\} (\d+)$/m.exec(await metrics())?.[1];
    expect(Number(ended)).toBeGreaterThanOrEqual(DESCRIPTORS);
    await expect.poll(() => silent.filter(({ isClosed }) => isClosed).length).toBeGreaterThanOrEqual(DESCRIPTORS);
    // The process's periodic checks must have run; the disk is that of this process.
    await expect.poll(metrics).toMatch(/^windrow_disk_free_bytes [1-9]/m);
    await expect.poll(metrics).toMatch(/^windrow_store_bytes [1-9]/m);
    expect(server.child.exitCode).toBeNull();
  });
});

describe.skipIf(process.platform !== 'linux')('a log that cannot be written', () => {
  it('does not end the process', async () => {
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const data = join(temporaryFolder(), 'data');
    const client = await addClient(data);
    const command = [commandPath, 'serve', '--port', '0', '--data-dir', data];
    const server = await listening(spawn(process.execPath, command, { stdio: ['ignore', full, 'pipe'] }));
    for (let i = 0; i < 10; i++) await tokenOf(server.url, client);
    expect([server.child.exitCode, server.child.signalCode]).toEqual([null, null]);
  });

  it('does not stop it while the reader of a pipe does not read', async () => {
    const pipe = join(temporaryFolder(), 'log');
    spawnSync('mkfifo', [pipe]);
    const ends = [openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK), openSync(pipe, 'w')] as const;
    onTestFinished(() => ends.forEach(closeSync));
    const data = join(temporaryFolder(), 'data');
    const client = await addClient(data);
    const command = [commandPath, 'serve', '--port', '0', '--data-dir', data];
    const server = await listening(spawn(process.execPath, command, { stdio: ['ignore', ends[1], 'pipe'] }));
    // A pipe holds 64 KiB, and each request is told of in some 300 bytes.
    for (let i = 0; i < 400; i++) await fetch(`${server.url}/health/ready`);
    await tokenOf(server.url, client);
    server.child.kill('SIGTERM');
    expect(await server.ended).toBe(0);
  });

  it('does not stop it while the reader of a socket does not read', async () => {
    const data = join(temporaryFolder(), 'data');
    const client = await addClient(data);
    // What Node calls a pipe is a pair of sockets, as systemd gives to a service.
    const command = [commandPath, 'serve', '--port', '0', '--data-dir', data];
    const server = await listening(spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'] }));
    server.child.stdout?.pause();
    // It holds some 200 KiB, and its reader 64 before it pauses.
    for (let i = 0; i < 1500; i++) await fetch(`${server.url}/health/ready`);
    await tokenOf(server.url, client);
    server.child.kill('SIGTERM');
    await expect.poll(() => server.child.exitCode).toBe(0);
  });
});

describe.skipIf(process.platform !== 'linux')('a message at the start that cannot be written', () => {
  it('does not end the process', async () => {
    const full = openSync('/dev/full', 'w');
    onTestFinished(() => closeSync(full));
    const command = [commandPath, 'serve', '--port', '0', '--data-dir', join(temporaryFolder(), 'data')];
    const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', full] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let log = '';
    child.stdout?.on('data', (text) => {
      log += text;
    });
    await expect.poll(() => log).toContain('"msg":"ready"');
    const url = /"url":"([^"]+)"/.exec(log)![1]!;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  });
});
