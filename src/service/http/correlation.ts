import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ServiceContext } from '../context.js';
import { badRequest } from './errors.js';
import { pathOf } from './path.js';

export const CORRELATION_HEADER = 'x-correlation-id';
// The form that `createRequestIds` makes. Another server's ids are mere counters, useless later.
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
// Accepts ids of other systems: `Root=1-67891233-abcdef`, `|7d5d747b.1a2b.`, `urn:uuid:…`, `{guid}`. Excludes
// what separates items of a list or has a meaning in HTML.
export const CORRELATION_ID = /^[!#-+\--;=?-[\]-~]{1,128}$/;

/** Request ids of our own server: the caller's correlation id, or a new one. */
export function createRequestIds({ random }: Pick<ServiceContext, 'random'>) {
  return (request: IncomingMessage): string => {
    const given = request.headers[CORRELATION_HEADER];
    return isCorrelationId(given) ? given : random.uuid();
  };
}

function isCorrelationId(given: unknown): given is string {
  return typeof given === 'string' && CORRELATION_ID.test(given);
}

/**
 * Gives every request its correlation id: the caller's (`x-correlation-id`: at most 128 ASCII characters without
 * spaces, double quotes, commas, `<`, `>` and backslashes), or a new one. It is echoed, and is in every line that the
 * request logs.
 */
export function addCorrelation(app: FastifyInstance, { random }: Pick<ServiceContext, 'random'>): void {
  app.decorateRequest('windrowCorrelationId', '');
  app.addHook('onRequest', (request, reply, done) => {
    const given = request.headers[CORRELATION_HEADER];
    const isAllowed = isCorrelationId(given);
    const own = UUID.test(request.id) ? request.id : undefined;
    const correlationId = isAllowed ? given : (own ?? random.uuid());
    request.windrowCorrelationId = correlationId;
    // In our own server Fastify's request id is the correlation id, and the logger has it already.
    if (request.id !== correlationId) {
      request.log = request.log.child({ correlationId });
      reply.log = request.log;
    }
    reply.header(CORRELATION_HEADER, correlationId);
    if (given !== undefined && !isAllowed) {
      const expected = '1 to 128 ASCII characters without spaces, double quotes, commas, <, > and backslashes';
      throw badRequest(`header ${CORRELATION_HEADER}: expected ${expected}; leave it out to get a new one`);
    }
    done();
  });
}

/** The status of an answer that was written to a connection itself, which ends with it. */
export const answeredOn = new WeakMap<Socket, number>();

/** Logs one line per request: what, by whom, and the outcome. No query, header or body. */
export function addRequestLog(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    logAnswer(request, reply);
    done();
  });
  app.addHook('onRequestAbort', async (request) => {
    const statusCode = answeredOn.get(request.raw.socket);
    if (statusCode === undefined) request.log.info(describe(request), 'broken off');
    else request.log.info({ ...describe(request), statusCode }, 'answered');
  });
}

/** Logs the line of a request that was answered. */
export function logAnswer(request: FastifyRequest, reply: FastifyReply): void {
  const { unavailableReason: reason, log } = request;
  const level = reason === undefined ? 'info' : 'warn';
  if (!isLogged(log, level)) return;
  const durationMs = Math.round(reply.elapsedTime * 1000) / 1000;
  const line = { ...describe(request), statusCode: reply.statusCode, durationMs };
  if (reason === undefined) log.info(line, 'answered');
  else log.warn({ ...line, reason }, 'unavailable');
}

// Building the line is the most expensive part here. A host's logger need not have this method.
function isLogged(log: FastifyBaseLogger & { isLevelEnabled?(level: string): boolean }, level: string): boolean {
  return log.isLevelEnabled?.(level) ?? true;
}

function describe({ method, url, windrowPrincipal: principal }: FastifyRequest) {
  const caller = principal === undefined ? {} : { clientId: principal.clientId, organisation: principal.organisation };
  return { method, path: pathOf(url), ...caller };
}
