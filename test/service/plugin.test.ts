import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import cors from '@fastify/cors';
import rateLimit from '@fastify/rate-limit';
import swagger from '@fastify/swagger';
import { type FastifyInstance, fastify } from 'fastify';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { windrowService } from '../../src/service/index.js';
import { openService } from './open-service.js';
import { silentLog } from './silent-log.js';

let folder: string;
let host: FastifyInstance;

// The load of the test machine must not matter: it may take seconds to start a service, and to answer.
const openHost = () => fastify({ pluginTimeout: 0 });
const settings = { eventLoopDelayMsMax: 0 };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'windrow-plugin-'));
  host = openHost();
});

afterEach(async () => {
  await host.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A client in the store of a folder that no service uses. */
async function addClient(directory: string) {
  const service = await openService({ dataDirectory: directory }, silentLog);
  const scopes = ['core_read', 'core_write', 'core_admin'];
  const grants = ['client_credentials'];
  const client = await service.identity.administration.addClient({ organisation: 'acme', name: 'a', scopes, grants });
  await service.close();
  return client;
}

async function tokenAt(prefix: string, client: { clientId: string; clientSecret: string }) {
  const basic = Buffer.from(`${client.clientId}:${client.clientSecret}`).toString('base64');
  const answer = await host.inject({
    method: 'POST',
    url: `${prefix}/idm/ims/connect/token`,
    headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'grant_type=client_credentials&scope=core_read%20core_write',
  });
  expect(answer.statusCode, answer.body).toBe(200);
  return { authorization: `Bearer ${answer.json().access_token}` };
}

async function writeAndRead(prefix: string, client: { clientId: string; clientSecret: string }, val: number) {
  const headers = await tokenAt(prefix, client);
  const payload = [{ timeseriesId: 'a', timestamp: '2026-01-01T00:00:00Z', val }];
  const written = await host.inject({ method: 'POST', url: `${prefix}/core/samples`, headers, payload });
  expect(written.statusCode, written.body).toBe(200);
  const read = await host.inject({ url: `${prefix}/core/timeseries/a/samples`, headers });
  return read.json().data.map((sample: { val: number }) => sample.val);
}

describe('the service in an existing server', () => {
  it('answers under its prefix, stops with its host, and continues in the next one', async () => {
    const client = await addClient(folder);
    await host.register(windrowService, { dataDirectory: folder, prefix: '/windrow', settings });
    expect(await writeAndRead('/windrow', client, 7)).toEqual([7]);
    await host.close();
    host = openHost();
    await host.register(windrowService, { dataDirectory: folder, prefix: '/elsewhere', settings });
    const headers = await tokenAt('/elsewhere', client);
    const read = await host.inject({ url: '/elsewhere/core/timeseries/a/samples', headers });
    expect(read.json().data).toHaveLength(1);
    // The host's router may tell a slash at the end from none.
    const listed = await host.inject({ url: '/elsewhere/core/status/', headers });
    expect([listed.headers['content-type'], listed.json().data]).toEqual(['application/json; charset=utf-8', []]);
  });

  it("does not change the host's own errors, bodies, headers and unknown paths", async () => {
    const plain = fastify();
    for (const app of [host, plain]) {
      app.get('/fails', async () => {
        throw new Error('of the host');
      });
      app.post('/echo', async (request) => ({ body: request.body, type: typeof request.body }));
      app.get(
        '/schema',
        { schema: { querystring: { type: 'object', properties: { n: { type: 'integer' } } } } },
        async (r) => r.query,
      );
    }
    await host.register(windrowService, { dataDirectory: folder, prefix: '/windrow', settings });
    const ask = async (app: FastifyInstance) => {
      const json = { 'content-type': 'application/json' };
      const answers = await Promise.all([
        app.inject({ url: '/fails' }),
        app.inject({ url: '/nowhere' }),
        app.inject({ method: 'POST', url: '/echo', headers: json, payload: '{"a":1}' }),
        app.inject({ method: 'POST', url: '/echo', headers: json, payload: '{"a":' }),
        app.inject({ method: 'POST', url: '/echo', headers: json, payload: '' }),
        app.inject({ method: 'POST', url: '/echo', headers: { 'content-type': 'text/plain' }, payload: 'text' }),
        app.inject({
          method: 'POST',
          url: '/echo',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          payload: 'a=1',
        }),
        app.inject({ url: '/schema?n=5&other=1' }),
        app.inject({ url: '/schema?n=x' }),
        app.inject({ url: '/health/live' }),
      ]);
      return answers.map(({ statusCode, headers, body }) => [statusCode, { ...headers, date: '' }, body]);
    };
    expect(await ask(host)).toEqual(await ask(plain));
    expect((await host.inject({ url: '/windrow/health/live' })).statusCode).toBe(200);
    await plain.close();
  });

  it("2.2: unknown paths and methods below the prefix get its envelope, others the host's response", async () => {
    host.setNotFoundHandler(async (_request, reply) => reply.code(404).send('nothing of the host'));
    await host.register(windrowService, { dataDirectory: folder, prefix: '/windrow', settings });
    for (const url of ['/windrow/nowhere', '/windrow', '/windrow/', '/windrow/core/status/a/b?x=1']) {
      const answer = await host.inject({ url, headers: { 'x-correlation-id': 'mine' } });
      expect([url, answer.statusCode, answer.json()]).toEqual([
        url,
        404,
        {
          status: {
            code: '404',
            message: `there is no GET ${url.replace(/\?.*/, '')}; /windrow/docs lists every endpoint`,
          },
          data: {},
        },
      ]);
      expect(answer.headers['x-correlation-id']).toBe('mine');
    }
    const wrong = await host.inject({ method: 'PUT', url: '/windrow/core/status' });
    expect([wrong.statusCode, wrong.headers.allow]).toEqual([405, 'GET, HEAD']);
    expect(wrong.json().status.message).toBe('/windrow/core/status has no PUT; expected GET, HEAD');
    for (const url of ['/nowhere', '/windrows', '/'])
      expect((await host.inject({ url })).body).toBe('nothing of the host');
  });

  it.each(['', '/api'])('without a prefix of its own, unknown paths are left to the host (%s)', async (prefix) => {
    const scoped = async (scope: FastifyInstance): Promise<void> => {
      scope.setNotFoundHandler(async (_request, reply) => reply.code(404).send('nothing of the host'));
      await scope.register(windrowService, { dataDirectory: folder, settings });
    };
    await host.register(scoped, { prefix });
    expect((await host.inject({ url: `${prefix}/nowhere` })).body).toBe('nothing of the host');
    expect((await host.inject({ url: `${prefix}/health/live` })).statusCode).toBe(200);
  });

  it('runs twice under two prefixes, each with its own store', async () => {
    const folders = [join(folder, 'one'), join(folder, 'two')] as const;
    const clients = [await addClient(folders[0]), await addClient(folders[1])] as const;
    await host.register(windrowService, { dataDirectory: folders[0], prefix: '/one', settings });
    await host.register(windrowService, { dataDirectory: folders[1], prefix: '/two', settings });
    expect(await writeAndRead('/one', clients[0], 1)).toEqual([1]);
    expect(await writeAndRead('/two', clients[1], 2)).toEqual([2]);
    const stranger = { method: 'POST', url: '/two/idm/ims/connect/introspect' } as const;
    const { authorization } = await tokenAt('/one', clients[0]);
    expect((await host.inject({ url: '/two/core/timeseries', headers: { authorization } })).statusCode).toBe(401);
    expect((await host.inject(stranger)).statusCode).toBe(401);
    for (const prefix of ['/one', '/two']) {
      const document = (await host.inject({ url: `${prefix}/openapi.json` })).json();
      const paths = Object.keys(document.paths);
      expect(paths.filter((path) => !path.startsWith(`${prefix}/`))).toEqual([]);
      expect(paths).toContain(`${prefix}/core/events`);
      expect(document.paths[`${prefix}/core/status/{transactionId}`].get.responses).toHaveProperty('404');
      for (const page of [`${prefix}/docs`, `${prefix}/docs/`]) {
        const html = (await host.inject({ url: page })).body;
        const links = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(
          ([, link]) => new URL(link!, `http://host${page}`),
        );
        expect(links.length).toBeGreaterThan(3);
        for (const { pathname } of links) {
          expect([pathname, (await host.inject({ url: pathname })).statusCode]).toEqual([pathname, 200]);
        }
      }
      const metrics = (await host.inject({ url: `${prefix}/metrics` })).body;
      expect(metrics).toMatch(/^windrow_samples_ingested_total 1$/m);
    }
  });

  it('starts in a host with parsers of its types and its names for requests, and serves long ids', async () => {
    const client = await addClient(folder);
    await host.close();
    host = fastify({ pluginTimeout: 0, routerOptions: { maxParamLength: 512 } });
    for (const type of ['text/csv', 'application/x-ndjson', 'application/json', 'application/vnd.windrow.columns']) {
      host.removeContentTypeParser(type);
      host.addContentTypeParser(type, { parseAs: 'string' }, (_request, body, done) => done(null, body));
    }
    host.decorateRequest('principal', undefined);
    host.decorateRequest('correlationId', '');
    await host.register(windrowService, { dataDirectory: folder, prefix: '/windrow', settings });
    const headers = await tokenAt('/windrow', client);
    const url = `/windrow/core/timeseries/${encodeURIComponent('🌡'.repeat(256))}/samples`;
    const payload = 'timestamp,value\n2026-01-01T00:00:00Z,5\n';
    const written = await host.inject({
      method: 'POST',
      url,
      headers: { ...headers, 'content-type': 'text/csv' },
      payload,
    });
    expect(written.statusCode, written.body).toBe(200);
    const read = await host.inject({ url, headers });
    expect(read.json().data.map(({ val }: { val: number }) => val)).toEqual([5]);
  });

  it('warns of a host that answers 414 for ids that are longer than Fastify lets a part of a path be', async () => {
    const lines: string[] = [];
    const stream = { write: (line: string) => void lines.push(line) };
    await host.close();
    host = fastify({ pluginTimeout: 0, logger: { level: 'warn', stream } });
    await host.register(windrowService, { dataDirectory: folder, prefix: '/windrow', settings });
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
      'the server answers 414 where an id in a path is longer than 100 characters; ' +
        'create it with routerOptions: { maxParamLength: 512 }',
    ]);
  });

  it('refuses the setting corsOrigins in a host that has @fastify/cors, and applies it in any other', async () => {
    const corsOrigins = ['https://app.example.com'];
    const options = { dataDirectory: folder, prefix: '/windrow', settings: { ...settings, corsOrigins } };
    const own = openHost();
    onTestFinished(() => own.close());
    await own.register(cors, { origin: true });
    await expect(async () => {
      await own.register(windrowService, options);
      await own.ready();
    }).rejects.toThrow('settings.corsOrigins: expected none, as the server has @fastify/cors');
    await host.register(windrowService, options);
    const headers = { origin: corsOrigins[0]! };
    const answer = await host.inject({ url: '/windrow/health/live', headers });
    expect(answer.headers['access-control-allow-origin']).toBe(corsOrigins[0]);
  });

  it.skipIf(process.platform === 'win32')(
    'makes its files accessible to their owner only, whatever umask the host has',
    async () => {
      const umask = process.umask(0o022);
      onTestFinished(() => void process.umask(umask));
      await host.register(windrowService, { dataDirectory: folder, prefix: '/windrow', settings });
      await host.ready();
      const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
      const modes = files.map(({ name }) => [name, statSync(join(folder, name)).mode & 0o077]);
      expect(modes.map(([name]) => name)).toEqual(expect.arrayContaining(['windrow.db', 'windrow.db-wal']));
      expect(modes.filter(([, mode]) => mode !== 0)).toEqual([]);
    },
  );

  it('works beside the same plugins in the host: its OpenAPI, its limits', async () => {
    await host.register(swagger, { openapi: { openapi: '3.0.0', info: { title: 'host', version: '1' } } });
    await host.register(rateLimit, { max: 1000 });
    host.get('/own', { schema: { summary: 'of the host' } }, async () => 'own');
    const limited = { ...settings, requestsPerMinuteMax: 100 };
    await host.register(windrowService, { dataDirectory: folder, prefix: '/windrow', settings: limited });
    await host.ready();
    expect((await host.inject({ url: '/own' })).body).toBe('own');
    expect((await host.inject({ url: '/windrow/openapi.json' })).json().info.title).toBe('windrow');
    expect(host.swagger()).toMatchObject({ info: { title: 'host' }, paths: { '/own': {} } });
    expect((await host.inject({ url: '/windrow/core/timeseries' })).statusCode).toBe(401);
  });

  it.each([
    [{ settings: { bodyBytesMax: -1 } }, 'the setting bodyBytesMax: expected a number from 1 up, received -1'],
    [{ settings: { bodyBytesMax: 1.5 } }, 'the setting bodyBytesMax: expected a whole number of bytes, received 1.5'],
    [{ settings: { pollIntervalMs: 0 } }, 'the setting pollIntervalMs: expected a number from 1 up, received 0'],
    [{ settings: { pollIntervalMs: 1e12 } }, 'the setting pollIntervalMs: expected at most 86400000, received 1'],
    [
      { settings: { csvLineBytesMax: 50 } },
      'the setting csvLineBytesMax: expected a number from 65536 up, received 50',
    ],
    [{ store: 'postgres://a/b' }, 'expected dataDirectory or store, received both'],
    [{ store: 5 }, 'store: expected the address of a database, received 5'],
    [{ settings: { tokenLifetimeS: 1e13 } }, 'the setting tokenLifetimeS: expected at most 3153600000, received 1'],
    [
      { settings: { retentionIntervalMs: 1e9 } },
      'the setting retentionIntervalMs: expected at most 86400000, received',
    ],
    [{ settings: { strictRfc: 'yes' } }, 'the setting strictRfc: expected true or false, received "yes"'],
    [
      { settings: { corsOrigins: 'https://a' } },
      'the setting corsOrigins: expected an array of origins, received "https://a"',
    ],
    [{ settings: { corsOrigins: ['a'] } }, 'the setting corsOrigins: expected an origin such as'],
    [{ settings: { corsOrigins: ['https://*.x.com'] } }, 'the setting corsOrigins: expected an origin such as'],
    [{ settings: { foo: 1 } }, 'the setting foo: expected one of tokenLifetimeS,'],
    [{ bodyBytesMax: 5 }, 'bodyBytesMax: expected it among the settings: { bodyBytesMax: … }'],
    [{ foo: 5 }, 'foo: expected one of dataDirectory, store, storage, settings,'],
    [{ dataDirectory: 5 }, 'expected dataDirectory, store, or a storage of your own'],
    [{ dataDirectory: 'postgres://a/b' }, 'dataDirectory: expected a folder, received the address of a database'],
  ])('refuses %j', async (options, message) => {
    // `as`: as a program without types may give them.
    const given = { dataDirectory: folder, ...options } as Parameters<typeof windrowService>[1];
    await expect(host.register(windrowService, given).ready()).rejects.toThrow(message);
  });

  it('leaves nothing open where the server does not wait as long for the store as it takes', async () => {
    const open = new Set<Socket>();
    // It takes connections and says nothing.
    const database = createServer((socket) => {
      open.add(socket);
      socket
        .resume()
        .on('error', () => undefined)
        .on('close', () => open.delete(socket));
    });
    onTestFinished(() => void database.close());
    await once(database.listen(0, '127.0.0.1'), 'listening');
    const { port } = database.address() as AddressInfo; // as it listens on a port
    const impatient = fastify({ pluginTimeout: 300 });
    impatient.register(windrowService, { store: `postgres://127.0.0.1:${port}/none`, settings });
    await expect(impatient.ready()).rejects.toMatchObject({ code: 'FST_ERR_PLUGIN_TIMEOUT' });
    await impatient.close();
    await expect.poll(() => open.size).toBe(0);
    // Nor does it try again.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(open.size).toBe(0);
  });

  it('a second service over the same data directory uses the same store', async () => {
    await host.register(windrowService, { dataDirectory: folder, prefix: '/windrow', settings });
    await host.register(windrowService, { dataDirectory: folder, prefix: '/beside', settings });
    await host.ready();
    for (const prefix of ['/windrow', '/beside']) {
      expect((await host.inject({ url: `${prefix}/health/ready` })).statusCode).toBe(200);
    }
  });
});
