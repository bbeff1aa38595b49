import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { type DestinationStream, pino } from 'pino';
import { createApp } from './http/app.js';
import { limitConnections } from './http/connections.js';
import { registerGuide } from './http/guide.js';
import { registerWorkbench, type WorkbenchFiles } from './http/workbench.js';
import { openService, type ServiceOptions } from './open.js';
import type { Service } from './service.js';
import { defaultSettings } from './settings.js';
import { systemClock, systemRandom } from './system.js';

export interface ServerOptions extends ServiceOptions {
  /** The address to listen at: 127.0.0.1 by default, so that a proxy with TLS stands in front. */
  readonly host?: string;
  /** 0 takes any free port. */
  readonly port?: number;
  /** `silent`, `error`, `warn`, `info` (a line for each request) or `debug`. */
  readonly logLevel?: string;
  /** Where log lines go; standard output by default. */
  readonly logDestination?: DestinationStream;
  /** The workbench, to be at `/`; none without it. */
  readonly workbench?: WorkbenchFiles;
  /** The folder of the docs as HTML, shown at `/guide/`. */
  readonly guide?: string;
  /** How many proxies of one's own stand in front: so far from its end `x-forwarded-for` tells the caller's address. */
  readonly trustedProxyCount?: number;
}

export interface Server {
  readonly service: Service;
  /** Where it listens, as `http://host:port`. */
  readonly url: string;
  /** Graceful: no new work, running commits finish, streams are told, then the store is let go. */
  stop(): Promise<void>;
}

/** Starts the service on a port of its own. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { host = '127.0.0.1', port = 0, logLevel = 'info', trustedProxyCount = 0 } = options;
  const log: FastifyBaseLogger = pino(
    { level: logLevel, redact: ['req.headers.authorization'] },
    options.logDestination ?? openLog(),
  );
  const { clock = systemClock, random = systemRandom } = options;
  const headersMsMax = options.settings?.headersMsMax ?? defaultSettings.headersMsMax;
  const app = createApp({ log, trustedProxyCount, clock, random, headersMsMax });
  const service = await openService(options, app.log);
  limitConnections(app.server, service.context);
  try {
    await service.register(app);
    if (options.workbench !== undefined) registerWorkbench(app, options.workbench);
    if (options.guide !== undefined) await registerGuide(app, options.guide);
    const url = await app.listen({ host, port });
    service.start();
    log.info({ url }, 'listening');
    return { service, url, stop: () => stop(app, service) };
  } catch (error) {
    await service.close();
    throw error;
  }
}

/** Lines that wait for a pipe that is full, in characters; what comes on top is dropped. */
const LOG_LENGTH_MAX = 2 ** 20;

/** Standard output, whose disk may be full without an end to the service. */
function openLog(): DestinationStream {
  const destination = pino.destination({ dest: 1, sync: true, maxLength: LOG_LENGTH_MAX });
  destination.on('error', () => {});
  return destination;
}

// Longer than any request of a caller who listens should take, shorter than what a service manager waits for.
const STOP_GRACE_MS = 8000;

async function stop(app: FastifyInstance, service: Service & { close(): Promise<void> }): Promise<void> {
  const { log, scheduler } = service.context;
  log.info('stopping');
  await service.stop();
  const callOff = scheduler.after(STOP_GRACE_MS, () => {
    log.warn('requests that did not end in time are cut off');
    app.server.closeAllConnections();
  });
  await app.close();
  callOff();
  await service.close();
  log.info('stopped');
}
