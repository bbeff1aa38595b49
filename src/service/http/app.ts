import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from 'fastify';
import type { ServiceContext } from '../context.js';
import { defaultSettings } from '../settings.js';
import { createRequestIds } from './correlation.js';
import { errorEnvelope } from './envelope.js';
import { answerError } from './errors.js';

/** What a server of our own is made with. */
export interface AppOptions extends Pick<ServiceContext, 'clock' | 'random'> {
  readonly log: FastifyBaseLogger;
  /** How many proxies of one's own stand in front: so far from its end `x-forwarded-for` tells the caller's address. */
  readonly trustedProxyCount?: number;
  /** How long the headers of a request may take, from the begin of the connection or their first byte. */
  readonly headersMsMax?: number;
}

const IDLE_CHECK_MS = 50;
const LINGER_MS = 1000;
/** Node's own, of headers and URL together. */
const HEADERS_BYTES_MAX = 16 * 1024;
/** How often Node looks for headers that are late. */
const HEADERS_CHECK_MS = 1000;

/** A Fastify instance of our own, whose every answer is one of the service, also where no route is reached. */
export function createApp(options: AppOptions): FastifyInstance {
  const { log, clock, random, trustedProxyCount = 0, headersMsMax = defaultSettings.headersMsMax } = options;
  const app = fastify({
    // A request without Host is refused by ours, with an envelope.
    http: {
      headersTimeout: headersMsMax,
      connectionsCheckingInterval: HEADERS_CHECK_MS,
      requireHostHeader: false,
    },
    loggerInstance: log,
    // The service logs one line a request itself, with its correlation id.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'correlationId' }),
    // Of the header's addresses the last ones are written by these proxies, all before them by anybody.
    trustProxy: trustedProxyCount > 0 ? (_address, hop) => hop < trustedProxyCount : false,
    genReqId: createRequestIds({ clock, random }),
    // Idle keep-alive connections do not hold up a stop; requests that run do.
    forceCloseConnections: 'idle',
    // The service refuses requests itself while it stops, in its own form.
    return503OnClosing: false,
    // No limit of its own: headers and URL have one together.
    routerOptions: { maxParamLength: HEADERS_BYTES_MAX, ignoreTrailingSlash: true },
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
  const end = (): void => {
    runningCount--;
  };
  app.addHook('onRequest', (_request, reply, done) => {
    runningCount++;
    reply.raw.once('close', end);
    done();
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

/** Answers paths that there are none of, 404, and methods that a path does not have, 405 with `Allow`. */
export function addNotFound(app: FastifyInstance): void {
  const routes: { readonly path: RegExp; readonly methods: readonly string[] }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    // Of CORS, for any path, also those that there are none of.
    if (method === 'OPTIONS' && url.endsWith('*')) return;
    routes.push({ path: pathPattern(url), methods: [method].flat() });
  });
  app.setNotFoundHandler(async (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.replace(/\?.*$/s, '');
    const methods = routes.filter((route) => route.path.test(path)).flatMap((route) => route.methods);
    // A route that found nothing hands on to here as well.
    if (methods.length === 0 || methods.includes(request.method)) {
      const message = `there is no ${request.method} ${path}; ${app.prefix}/docs lists every endpoint`;
      return reply.code(404).send(errorEnvelope(404, message, {}));
    }
    const allowed = [...new Set(methods)].sort().join(', ');
    const message = `${path} has no ${request.method}; expected ${allowed}`;
    return reply
      .code(405)
      .header('allow', allowed)
      .send(errorEnvelope(405, message, {}));
  });
}

// Fastify's paths: a parameter is a part of the path, and a star the rest of it.
function pathPattern(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (part.startsWith(':')) return '[^/]+';
    return part === '*' ? '.*' : part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('/')}/?$`);
}

const ANSWERS: Readonly<Record<string, readonly [statusCode: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'the headers and the URL are larger than 16 KiB together; ask for less at once'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the headers of the request did not come in time'],
};

/** Answers what is no HTTP that Node can read, so that no request of it ever came to be. */
function answerBrokenRequest(error: Error & { readonly code?: string }, socket: Socket): void {
  // A connection that is gone, or in the middle of an answer, cannot be told.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy();
    return;
  }
  const [statusCode, message] = ANSWERS[error.code ?? ''] ?? [400, 'this is no HTTP request'];
  answerOnSocket(socket, statusCode, message);
}

/** The last answer on a connection, whose request Node or Fastify can no longer answer. */
export function answerOnSocket(socket: Socket, statusCode: number, message: string): void {
  const body = JSON.stringify(errorEnvelope(statusCode, message, {}));
  const head = [
    `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // Whoever leaves its half open would keep the connection. At once it might not read the answer.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
