import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseDuration } from '../core/duration.js';
import { WindrowError } from '../core/errors.js';
import type { Server } from '../service/server.js';
import {
  type LimitName,
  limitNames,
  originFault,
  publicUrlFault,
  RETENTION_INTERVAL_MS_MAX,
  type ServiceSettings,
  settingFault,
  TOKEN_LIFETIME_S_MAX,
} from '../service/settings.js';
import { type Command, countOf, defined, type Given, nameOf, shellWord, textOf } from './command.js';
import { demoFolder } from './demo-folder.js';
import { EXIT_DONE, fileFailure } from './failure.js';
import { givenPlace, placeOf, storeOptions } from './store.js';
import type { Interrupt, Io } from './terminal/io.js';
import { readWorkbench } from './workbench.js';

const PORT = 8090;
// Temperatures of an office; see LICENSE-NAB.txt beside it. The package contains it.
const DEMO_DATA = new URL('../../docs/examples/office-temperature.csv', import.meta.url);
// Built from docs/, beside the command's own files.
const GUIDE = fileURLToPath(new URL('../../dist/site/', import.meta.url));
const PORT_MAX = 65_535;
const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;

export const serve: Command = {
  name: 'serve',
  summary: 'Run the service: samples in over HTTP, operations kept up to date, events; in a directory or PostgreSQL.',
  options: [
    ...storeOptions,
    { flag: '--port', value: 'N', summary: `the port to listen on; 0 takes a free one (default: ${PORT})` },
    { flag: '--host', value: 'ADDRESS', summary: 'the address to listen on (default: 127.0.0.1, this machine only)' },
    {
      flag: '--demo',
      summary:
        'start with a demo organisation: real data, registered items, printed credentials; ignores WINDROW_STORE',
    },
    { flag: '--token-lifetime', value: 'SECONDS', summary: 'how long an access token lives (default: 3600)' },
    {
      flag: '--requests-per-minute',
      value: 'N',
      summary: 'how many requests a client may make in a minute before it gets 429 (default: no limit)',
    },
    {
      flag: '--strict-rfc',
      summary: 'answer an unknown grant_type with unsupported_grant_type (RFC 6749), not unauthorized_client',
    },
    {
      flag: '--public-url',
      value: 'URL',
      summary:
        'the URL that callers use, such as https://ts.example.com, for the metadata (default: that of each request)',
    },
    {
      flag: '--trust-proxy',
      value: 'N',
      summary: "how many of your own proxies stand in front: the N-th last of x-forwarded-for is the caller's address",
    },
    {
      flag: '--cors-origin',
      value: 'ORIGIN',
      summary: 'origins whose pages may call it from a browser, such as https://app.example.com; * allows any',
      isList: true,
    },
    {
      flag: '--token-failures-per-minute',
      value: 'N',
      summary:
        'failed logins a minute of a client or user at one address before 429; ten times as many in all (default: 10)',
    },
    {
      flag: '--limit',
      value: 'NAME=N',
      summary: `change a limit on what callers may send: ${limitNames.join(', ')}`,
      isList: true,
    },
    {
      flag: '--retention-interval',
      value: 'DURATION',
      summary:
        'how long to pause between deletions of samples that have outlived their rule, up to P1D (default: PT10M)',
    },
    { flag: '--workers', value: 'N', summary: 'threads that compute history (default: 1)' },
    {
      flag: '--log-level',
      value: 'LEVEL',
      values: LOG_LEVELS,
      summary: 'silent, error, warn, info or debug (default: info; with --demo warn)',
    },
  ],
  notes: [
    'Log lines are JSON on standard output. Ctrl-C, SIGTERM or SIGHUP stops it gracefully: running requests are ' +
      'answered, waiting work goes on at the next start. A second one ends it at once; nothing acknowledged is lost.',
    'It speaks HTTP; for TLS, put a proxy in front. docs/service.md says how to deploy it.',
  ],
  examples: [
    { line: 'windrow serve --demo', does: 'try it: makes a folder for the data, and prints where' },
    { line: 'windrow serve --data-dir /var/lib/windrow --port 8090', does: 'run it' },
    {
      line: 'windrow serve --store postgres://windrow@db1,db2/windrow',
      does: 'run one of many processes on a database and its standby',
    },
    {
      line: 'windrow client add gateway --org acme --scope "core_read core_write" --data-dir /var/lib/windrow',
      does: 'add a client; it may be running meanwhile',
    },
  ],
  act: async (given, io) => {
    const place = placeToServe(given, io);
    const service = await import('../service/command.js');
    const options = { ...place, ...optionsOf(given), workbench: readWorkbench(io.fs), guide: GUIDE };
    const signal = signalOf(io);
    const hint = firstClient(place);
    let server: Server;
    try {
      server = await service.startServer({ ...options, signal });
    } catch (error) {
      if (signal.aborted) return EXIT_DONE;
      throw startFailure(error, options);
    }
    const isStopped = stopAt(signal, server);
    // The service runs, even if nobody can be told.
    const tell = (text: string) => io.stderr.write(text).catch(() => undefined);
    await tell(
      `windrow listens at ${server.url}; data in ${place.dataDirectory ?? 'PostgreSQL'}; ` +
        `${server.url}/ is the workbench, /guide/ the guide, /docs the list of endpoints\n`,
    );
    if (given.options.has('--data-dir') && (io.environment.WINDROW_STORE ?? '') !== '') {
      await tell('windrow: WINDROW_STORE is ignored beside --data-dir\n');
    }
    try {
      if (given.options.has('--demo')) {
        // A service that has stopped may leave what the demo asks of it without an answer.
        const told = await Promise.race([service.prepareDemo(server, DEMO_DATA), isStopped]);
        if (told !== undefined) await tell(told);
      } else if (await hasNoClients(server)) await tell(hint);
    } catch (error) {
      // A stop refuses what the demo still asks of the service.
      if (!signal.aborted) {
        await server.stop();
        throw error;
      }
    }
    await isStopped;
    return EXIT_DONE;
  },
};

// Failing to give a hint must not end the service.
async function hasNoClients({ service }: Server): Promise<boolean> {
  const clients = await service.identity.administration.listClients({}).catch(() => undefined);
  return clients?.length === 0;
}

// The address of the store may contain a password, so it is not shown.
function firstClient({ dataDirectory }: { readonly dataDirectory?: string }): string {
  const store = dataDirectory === undefined ? '--store ADDRESS' : `--data-dir ${shellWord(resolve(dataDirectory))}`;
  const line = `npx windrow client add me --org acme --scope "core_read core_write core_admin" ${store}`;
  return `windrow: nobody may use it yet; to add a client, run in another terminal:\n  ${line}\n`;
}

// A refusal by the system is not a bug in windrow.
function startFailure(error: unknown, { dataDirectory = '', host, port }: StartOptions): unknown {
  if (!(error instanceof Error && 'syscall' in error && 'code' in error)) return error;
  if (error.syscall !== 'listen' && error.syscall !== 'getaddrinfo') {
    return fileFailure(error, `the data directory ${dataDirectory}`, 'write');
  }
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another process listens there; stop it, or give another --port',
    EACCES: 'this user may not listen there; give a --port from 1024 on',
    EADDRNOTAVAIL: 'this machine has no such address; give another --host',
    ENOTFOUND: 'there is no such host; give another --host',
  };
  const reason = reasons[String(error.code)] ?? error.message;
  const place = `${host === undefined ? '' : `--host ${host} `}--port ${port}`;
  return new WindrowError('arguments', `${place}: ${reason} (${error.code})`, { cause: error });
}

interface StartOptions {
  readonly dataDirectory?: string;
  readonly host?: string;
  readonly port: number;
}

function placeToServe(given: Given, io: Io): { readonly dataDirectory?: string; readonly store?: string } {
  const isDemo = given.options.has('--demo');
  // A demo must not put an organisation into the database that other commands of this shell work with.
  const named = givenPlace(given, serve, isDemo ? { environment: {} } : io);
  const { directory, address } = named ?? (isDemo ? { directory: demoFolder(io) } : placeOf(given, serve, io));
  return address === undefined ? { dataDirectory: directory } : { store: address };
}

function optionsOf(given: Given) {
  const port = countOf(given, '--port', 0) ?? PORT;
  if (port > PORT_MAX) throw new WindrowError('arguments', `--port: expected at most ${PORT_MAX}, received ${port}`);
  const publicUrl = textOf(given, '--public-url');
  const fault = publicUrl === undefined ? undefined : publicUrlFault(publicUrl);
  if (fault !== undefined) throw new WindrowError('arguments', `--public-url: ${fault}`);
  const settings = {
    ...defined({
      publicUrl,
      tokenLifetimeS: countOf(given, '--token-lifetime', 1, TOKEN_LIFETIME_S_MAX),
      requestsPerMinuteMax: countOf(given, '--requests-per-minute', 1),
      retentionIntervalMs: retentionIntervalOf(given),
      workerCount: countOf(given, '--workers', 1),
      tokenFailuresPerMinuteMax: countOf(given, '--token-failures-per-minute', 1),
    }),
    ...limitsOf(given),
    corsOrigins: originsOf(given),
    strictRfc: given.options.has('--strict-rfc'),
  };
  // With the demo, only its own text and warnings appear on the terminal.
  const logLevel = nameOf(given, '--log-level', LOG_LEVELS) ?? (given.options.has('--demo') ? 'warn' : undefined);
  return {
    port,
    settings,
    ...defined({ host: hostOf(given), trustedProxyCount: countOf(given, '--trust-proxy', 1), logLevel }),
  };
}

// Node would take an empty one, as of a variable that is not set, for every address of the machine.
function hostOf(given: Given): string | undefined {
  const host = textOf(given, '--host');
  if (host !== '') return host;
  const expected = 'an address such as 127.0.0.1, or 0.0.0.0 for all of this machine';
  throw new WindrowError('arguments', `--host: expected ${expected}; received an empty text`);
}

function originsOf(given: Given): readonly string[] {
  const origins = given.options.get('--cors-origin') ?? [];
  for (const origin of origins) {
    const fault = originFault(origin);
    if (fault !== undefined) throw new WindrowError('arguments', `--cors-origin: ${fault}`);
  }
  return origins;
}

function retentionIntervalOf(given: Given): number | undefined {
  const text = textOf(given, '--retention-interval');
  if (text === undefined) return undefined;
  const intervalMs = parseDuration(text);
  if (intervalMs !== undefined && intervalMs > 0 && intervalMs <= RETENTION_INTERVAL_MS_MAX) return intervalMs;
  const expected = 'a duration above 0 and up to P1D, such as PT10M';
  throw new WindrowError('arguments', `--retention-interval: expected ${expected}, received ${JSON.stringify(text)}`);
}

function limitsOf(given: Given): Partial<ServiceSettings> {
  const limits: Partial<Record<LimitName, number>> = {};
  for (const text of given.options.get('--limit') ?? []) {
    const [, word, digits] = /^(\w+)=(\d{1,15})$/.exec(text) ?? [];
    const name = limitNames.find((known) => known === word);
    if (name === undefined || Number(digits) < 1) {
      const expected = `NAME=N, with a whole number from 1 on and one of ${limitNames.join(', ')}`;
      throw new WindrowError('arguments', `--limit: expected ${expected}; received ${JSON.stringify(text)}`);
    }
    const fault = settingFault(name, Number(digits));
    if (fault !== undefined) throw new WindrowError('arguments', `--limit ${name}: ${fault}`);
    limits[name] = Number(digits);
  }
  return limits;
}

// The first signal stops gracefully; the second one ends the process, as the default would.
function signalOf(io: Io): AbortSignal {
  const stopping = new AbortController();
  const removeListener = io.onInterrupt((signal: Interrupt) => {
    removeListener();
    const message = `windrow: ${signal} received, stopping; a second one ends it at once\n`;
    io.stderr.write(message).catch(() => undefined);
    stopping.abort();
  });
  return stopping.signal;
}

function stopAt(signal: AbortSignal, server: Server): Promise<void> {
  return new Promise((done, reject) => {
    const stop = () => void server.stop().then(done, reject);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
  });
}
