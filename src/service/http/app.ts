import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
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
import { answeredOn, CORRELATION_HEADER, createRequestIds, logAnswer } from './correlation.js';
import { errorEnvelope } from './envelope.js';
import { answerError } from './errors.js';
import { pathOf } from './path.js';

/** Options of our own server. */
export interface AppOptions extends Pick<ServiceContext, 'random'> {
  readonly log: FastifyBaseLogger;
  /**
   * How many trusted proxies are in front: the caller's address is so many entries from the end of `x-forwarded-for`.
   */
  readonly trustedProxyCount?: number;
  /** How long a request's headers may take, from the start of the connection or their first byte. */
  readonly headersMsMax?: number;
}

const LINGER_MS = 1000;
/** Node's own limit, for headers and URL together. */
const HEADERS_BYTES_MAX = 16 * 1024;
/** How often Node checks for late headers. */
const HEADERS_CHECK_MS = 1000;

/** Our own Fastify instance. Every answer has the service's form, even if no route is reached. */
export function createApp(options: AppOptions): FastifyInstance {
  const { log, random, trustedProxyCount = 0, headersMsMax = defaultSettings.headersMsMax } = options;
  const app = fastify({
    // A request without Host is refused by ours, with an envelope.
    http: {
      headersTimeout: headersMsMax,
      connectionsCheckingInterval: HEADERS_CHECK_MS,
      requireHostHeader: false,
    },
    // A start on a busy machine takes as long as it needs.
    pluginTimeout: 0,
    loggerInstance: log,
    // The service logs one line per request itself, with its correlation id.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'correlationId' }),
    // Without options, which Fastify would pass, pino makes a child in a fraction of the time.
    childLoggerFactory: (logger, bindings) => logger.child(bindings),
    // These proxies wrote the last addresses in the header; anybody may have written the ones before.
    trustProxy: trustedProxyCount > 0 ? (_address, hop) => hop < trustedProxyCount : false,
    genReqId: createRequestIds({ random }),
    // A stop waits for running requests, but not for idle keep-alive connections.
    forceCloseConnections: 'idle',
    // While stopping, the service itself refuses requests, in its own form.
    return503OnClosing: false,
    // No separate limit: headers and URL share one.
    routerOptions: { maxParamLength: HEADERS_BYTES_MAX, ignoreTrailingSlash: true },
    frameworkErrors: (error, request, reply) => {
      reply.header('x-correlation-id', request.id);
      answerError(error, request, reply);
      // The hook that logs does not run for these.
      logAnswer(request, reply);
    },
    rewriteUrl: originForm,
    clientErrorHandler: answerBrokenRequest,
  });
  // Node would leave out all headers after the 2000th, the length of a body too: their bytes are bounded instead.
  app.server.maxHeadersCount = 0;
  const idOf = createRequestIds({ random });
  app.server.on('checkExpectation', (request, response) => refuseExpectation(request, response, log, idOf(request)));
  app.server.on('request', (request, response) => latest.set(request.socket, response));
  addNotFound(app);
  return app;
}

/**
 * The path and query of a request's target. One in absolute form, `GET http://host/path`, names the host too, and
 * counts instead of the Host header (RFC 9112, 3.2.2).
 */
function originForm({ url = '', headers }: Pick<IncomingMessage, 'url' | 'headers'>): string {
  if (url.startsWith('/')) return url;
  const [, host, path] = /^https?:\/\/(?:[^/?#]*@)?([^/?#]+)(.*)$/is.exec(url) ?? [];
  if (host === undefined || path === undefined) return url;
  headers.host = host;
  return path.startsWith('/') ? path : `/${path}`;
}

/**
 * Answers a request that expects something other than 100-continue, which Node would refuse without a word. It reaches
 * no route, nor the hook that logs.
 */
function refuseExpectation(
  { headers: { expect }, method, url = '' }: IncomingMessage,
  response: ServerResponse,
  log: FastifyBaseLogger,
  correlationId: string,
): void {
  const message = `header Expect: expected 100-continue or none, received ${JSON.stringify(expect)}`;
  const type = 'application/json; charset=utf-8';
  // The body may follow or not: nothing more can be read on this connection.
  response.writeHead(417, { [CORRELATION_HEADER]: correlationId, 'content-type': type, connection: 'close' });
  response.end(JSON.stringify(errorEnvelope(417, message, {})));
  log.info({ correlationId, method, path: pathOf(url), statusCode: 417, durationMs: 0 }, 'answered');
}

/** Answers unknown paths with 404, and methods that a path does not have with 405 and `Allow`. */
export function addNotFound(app: FastifyInstance): void {
  const routes: { readonly path: RegExp; readonly methods: readonly string[] }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    // The route of CORS matches every path, even unknown ones.
    if (method === 'OPTIONS' && url.endsWith('*')) return;
    routes.push({ path: pathPattern(url), methods: [method].flat() });
  });
  const refuse = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = pathOf(request.url);
    const methods = routes.filter((route) => route.path.test(path)).flatMap((route) => route.methods);
    // Routes that find nothing end here too.
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
  };
  app.setNotFoundHandler(refuse);
  // Before the body, which would be read, and told of if it is at fault.
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (request.is404) refuse(request, reply);
    else done(null, payload);
  });
}

// In Fastify's paths a parameter is one part of the path, and a star the rest of it.
function pathPattern(url: string): RegExp {
  const parts = url.split('/').map((part) => {
    if (part.startsWith(':')) return '[^/]+';
    return part === '*' ? '.*' : part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${parts.join('/')}/?$`);
}

const UNCLEAR_LENGTH: Answer = [
  400,
  'the length of the body is unclear: expected one Content-Length, a whole number, or Transfer-Encoding: chunked, ' +
    'not both',
];

type Answer = readonly [statusCode: number, message: string];

/** By the code of Node or of its parser. */
const ANSWERS: Readonly<Record<string, Answer>> = {
  HPE_HEADER_OVERFLOW: [431, 'the headers and the URL are larger than 16 KiB together; ask for less at once'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the headers of the request did not come in time'],
  HPE_INVALID_EOF_STATE: [400, 'the request ended early: its headers, or the body that they announce, are not whole'],
  HPE_INVALID_HEADER_TOKEN: [400, 'a header is malformed: expected lines of `name: value` that end with CRLF'],
  HPE_INVALID_URL: [
    400,
    'the URL is malformed: expected a path, with what is neither printable nor ASCII percent-encoded, a space as %20',
  ],
  HPE_INVALID_CONSTANT: [
    400,
    'the first line of the request is malformed: expected `METHOD URL HTTP/1.1`, with a space in the URL as %20',
  ],
  HPE_UNEXPECTED_CONTENT_LENGTH: UNCLEAR_LENGTH,
  HPE_INVALID_CONTENT_LENGTH: UNCLEAR_LENGTH,
  HPE_INVALID_TRANSFER_ENCODING: UNCLEAR_LENGTH,
};

const BAD_CHUNK: Answer = [
  400,
  'a chunk of the body is malformed: expected its length in hexadecimal, CRLF, its bytes, CRLF',
];

function answerTo({ code = '', reason = '' }: ParserError): Answer {
  // Several codes, some of which headers have too.
  if (/chunk/i.test(`${code} ${reason}`)) return BAD_CHUNK;
  return ANSWERS[code] ?? [400, 'this is no HTTP request'];
}

interface ParserError extends Error {
  readonly code?: string;
  readonly reason?: string;
}

/** The answer to the last request that Node could read on a connection. */
const latest = new WeakMap<Socket, ServerResponse>();
/** Connections whose last answer waits for those before it. */
const ending = new WeakSet<Socket>();

/** Answers what Node cannot parse as HTTP, so that there is no request, behind the answers that are due before it. */
function answerBrokenRequest(error: ParserError, socket: Socket): void {
  // What comes behind a fault is faulty, too.
  if (ending.has(socket)) return;
  // A closed connection cannot be answered.
  if (error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const answer = (): void => {
    if (socket.writable) answerOnSocket(socket, ...answerTo(error));
  };
  const before = latest.get(socket);
  if (before === undefined || before.closed) answer();
  else if (before.req.complete) {
    ending.add(socket);
    before.once('close', answer);
  } else if (before.socket === null) {
    // The fault is in the body of a request that waits for its turn.
    ending.add(socket);
    before.once('socket', answer);
  } else if (before.headersSent) socket.destroy();
  else answer();
}

/** Sends the last answer on a connection whose request Node or Fastify can no longer answer. */
export function answerOnSocket(socket: Socket, statusCode: number, message: string): void {
  answeredOn.set(socket, statusCode);
  const body = JSON.stringify(errorEnvelope(statusCode, message, {}));
  const head = [
    `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // A client that keeps its half open would hold the connection; closed at once, it might not read the answer.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
