import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { type DestinationStream, pino } from 'pino';
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
  /** Stops gracefully: takes no new work, finishes running commits, ends streams, then closes the store. */
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

/** Standard output. A write that fails, as on a full disk, must not end the service. */
function openLog(): DestinationStream {
  const destination = pino.destination({ dest: 1, sync: true, maxLength: LOG_LENGTH_MAX });
  destination.on('error', () => {});
  return destination;
}

// Longer than a request of an attentive client should take, shorter than what a service manager waits for.
const STOP_GRACE_MS = 8000;

async function stop(app: FastifyInstance, service: OwnService): Promise<void> {
  const { log, scheduler } = service.context;
  log.info('stopping');
  await service.stop();
  const cancel = scheduler.after(STOP_GRACE_MS, () => {
    log.warn('closing connections whose requests did not end in time');
    app.server.closeAllConnections();
  });
  await app.close();
  cancel();
  await service.close();
  log.info('stopped');
}
