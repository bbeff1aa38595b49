import { constants, fstatSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { type DestinationStream, pino } from 'pino';
import { nextTurn } from '../storage/next-turn.js';
import { systemCode } from '../storage/system-code.js';
import type { ServiceContext } from './context.js';
import { createApp } from './http/app.js';
import { limitConnections } from './http/connections.js';
import { registerGuide } from './http/guide.js';
import { registerWorkbench, type WorkbenchFiles } from './http/workbench.js';
import { createOpeningService, type OwnService, type ServiceOptions } from './open.js';
import type { Service } from './service.js';
import { defaultSettings } from './settings.js';
import { systemRandom } from './system.js';

export interface ServerOptions extends ServiceOptions {
  /** The address to listen on; 127.0.0.1 by default, for a TLS proxy in front. */
  readonly host?: string;
  /** 0 takes any free port. */
  readonly port?: number;
  /** `silent`, `error`, `warn`, `info` (a line for each request) or `debug`. */
  readonly logLevel?: string;
  /** Where log lines go; standard output by default. */
  readonly logDestination?: DestinationStream;
  /** The workbench, served at `/` if given. */
  readonly workbench?: WorkbenchFiles;
  /** The folder of the docs as HTML, served at `/guide/` if given. */
  readonly guide?: string;
  /**
   * How many trusted proxies are in front: the caller's address is so many entries from the end of `x-forwarded-for`.
   */
  readonly trustedProxyCount?: number;
  /** Ends a start that waits for its database. A server that has started is ended by its `stop`. */
  readonly signal?: AbortSignal;
}

export interface Server {
  readonly service: Service;
  /** The address it listens on, as `http://host:port`. */
  readonly url: string;
  /**
   * Stops gracefully: takes no new work, finishes running commits, ends streams, then closes the store. Resolves some
   * seconds after the store has stopped answering, even if work still waits for it.
   */
  stop(): Promise<void>;
}

/**
 * Starts the service on a port of its own. It listens at once, and resolves when its store is open: until then all
 * requests but `/health/live` and `/metrics` are 503.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { host = '127.0.0.1', port = 0, logLevel = 'info', trustedProxyCount = 0 } = options;
  const log: FastifyBaseLogger = pino(
    { level: logLevel, redact: ['req.headers.authorization'] },
    options.logDestination ?? openLog(),
  );
  const { random = systemRandom } = options;
  const headersMsMax = options.settings?.headersMsMax ?? defaultSettings.headersMsMax;
  const app = createApp({ log, trustedProxyCount, random, headersMsMax });
  const service = createOpeningService(options, app.log);
  limitConnections(app, service.context);
  const end = () => void service.close();
  options.signal?.addEventListener('abort', end);
  try {
    options.signal?.throwIfAborted();
    await service.register(app);
    if (options.workbench !== undefined) registerWorkbench(app, options.workbench);
    if (options.guide !== undefined) await registerGuide(app, options.guide);
    const url = await app.listen({ host, port });
    log.info({ url }, 'listening');
    await service.opened;
    options.signal?.throwIfAborted();
    service.start();
    log.info({ url }, 'ready');
    return { service, url, stop: () => stop(app, service) };
  } catch (error) {
    await app.close();
    await service.close();
    throw error;
  } finally {
    options.signal?.removeEventListener('abort', end);
  }
}

/** How many characters of log lines may wait for a full pipe; further lines are dropped. */
const LOG_LENGTH_MAX = 2 ** 20;
const LOG_RETRY_MS = 100;

/** Standard output. A write that fails, as on a full disk or to a full pipe, must not end the service. */
function openLog(): DestinationStream {
  // Its own retries would block.
  const retryEAGAIN = () => false;
  const destination = pino.destination({ dest: outputOf(1), sync: true, maxLength: LOG_LENGTH_MAX, retryEAGAIN });
  let retry: NodeJS.Timeout | undefined;
  destination.on('error', (error) => {
    if (retry !== undefined || systemCode(error) !== 'EAGAIN') return;
    // What waits is written with the next line, or now.
    retry = setTimeout(() => {
      retry = undefined;
      destination.write('');
    }, LOG_RETRY_MS).unref();
  });
  return destination;
}

/** A descriptor for the same output that does not wait for a reader; others that have it still do. */
function outputOf(descriptor: number): number {
  try {
    const stat = fstatSync(descriptor);
    // Node itself makes a socket not wait, once it is opened as a stream; it cannot be opened again.
    if (stat.isSocket()) void process.stdout.writable;
    if (!stat.isFIFO() && !isatty(descriptor)) return descriptor;
    return openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    // Only Linux has this, and another user's pipe may not be opened.
    return descriptor;
  }
}

// Longer than a request of an attentive client should take, shorter than what a service manager waits for.
const STOP_GRACE_MS = 8000;

/** How long the store may take to answer a stop, and how often in a row it may not, before the stop gives up. */
const LOOK_MS = 3000;
const MISSED_COUNT_MAX = 2;

async function stop(app: FastifyInstance, service: OwnService): Promise<void> {
  const { log } = service.context;
  log.info('stopping');
  const watch = watchStore(service.context);
  const ended = endGracefully(app, service).then(() => true);
  // If the stop gives up, nobody waits for its end any more.
  ended.catch(() => {});
  const isDone = await Promise.race([ended, watch.isAway.then(() => false)]).finally(watch.end);
  if (isDone) log.info('stopped');
  else log.warn('stopped without the store, which does not answer: results since the last checkpoints are due again');
}

async function endGracefully(app: FastifyInstance, service: OwnService): Promise<void> {
  const { log, scheduler } = service.context;
  await service.stop();
  const cancel = scheduler.after(STOP_GRACE_MS, () => {
    log.warn('closing connections whose requests did not end in time');
    app.server.closeAllConnections();
  });
  await app.close();
  cancel();
  // Requests that were broken off are told of when their connections have closed, which is after the server has.
  await nextTurn();
  await nextTurn();
  await service.close();
}

/**
 * `isAway` resolves once the store does not answer any more. What a stop still does needs the store, and each piece of
 * it would wait as long as at any other time, all together for longer than service managers wait.
 */
function watchStore({ storage, scheduler }: ServiceContext): { readonly isAway: Promise<void>; end(): void } {
  let cancel = () => {};
  const isAway = new Promise<void>((resolve) => {
    const look = (missedCount: number): void => {
      let isThere = false;
      storage.check().then(
        () => {
          isThere = true;
        },
        () => {},
      );
      cancel = scheduler.after(LOOK_MS, () => {
        const count = isThere ? 0 : missedCount + 1;
        if (count < MISSED_COUNT_MAX) look(count);
        else resolve();
      });
    };
    look(0);
  });
  return { isAway, end: () => cancel() };
}
