import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from 'fastify';
import { answerBrokenRequest } from './broken-request.js';
import type { ServiceContext } from './context.js';
import { createRequestIds } from './correlation.js';
import { answerError } from './error-handler.js';
import { addNotFound } from './not-found.js';

/** What a server of our own is made with. */
export interface AppOptions extends Pick<ServiceContext, 'clock' | 'random'> {
  readonly log: FastifyBaseLogger;
  /** Whether `x-forwarded-for` of a proxy tells the caller's address. */
  readonly trustProxy?: boolean;
}

const IDLE_CHECK_MS = 50;

/** A Fastify instance of our own, whose every answer is one of the service, also where no route is reached. */
export function createApp({ log, clock, random, trustProxy = false }: AppOptions): FastifyInstance {
  const app = fastify({
    loggerInstance: log,
    // The service logs one line a request itself, with its correlation id.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'correlationId' }),
    trustProxy,
    genReqId: createRequestIds({ clock, random }),
    // Idle keep-alive connections do not hold up a stop; requests that run do.
    forceCloseConnections: 'idle',
    // The service refuses requests itself while it stops, in its own form.
    return503OnClosing: false,
    routerOptions: { maxParamLength: 1024, ignoreTrailingSlash: true },
    frameworkErrors: (error, request, reply) => {
      reply.header('x-correlation-id', request.id);
      answerError(error, request, reply);
    },
    clientErrorHandler: answerBrokenRequest,
  });
  addNotFound(app);
  closeQuietConnections(app);
  return app;
}

// Once a stop has begun, connections that nobody has asked anything on would hold it up for as long as they are kept.
function closeQuietConnections(app: FastifyInstance): void {
  let runningCount = 0;
  app.addHook('onRequest', async (_request, reply) => {
    runningCount++;
    reply.raw.once('close', () => runningCount--);
  });
  app.addHook('preClose', async () => {
    const timer = setInterval(() => {
      if (runningCount === 0) app.server.closeAllConnections();
      else app.server.closeIdleConnections();
    }, IDLE_CHECK_MS);
    app.server.once('close', () => clearInterval(timer));
    timer.unref();
  });
}
