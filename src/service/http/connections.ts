import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { nextTurn } from '../../storage/next-turn.js';
import type { ServiceContext } from '../context.js';
import { answerOnSocket } from './app.js';

/** What the store, its threads and their queues open beside connections. */
const DESCRIPTORS_KEPT = 256;
/** A connection takes some ten kilobytes, also where nobody asks anything on it. */
const CONNECTIONS_USUAL_MAX = 10_000;
/** How often a stop looks for connections without a request. */
const IDLE_CHECK_MS = 50;

/** How many files and sockets the system lets the process open; undefined where it does not say. */
function descriptorLimit(): number | undefined {
  try {
    const [, soft] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined; // not Linux; elsewhere Node raises the limit to what the system allows
  }
}

/** Connections that leave the process descriptors to work with. */
function connectionsWithin(descriptors = Number.POSITIVE_INFINITY): number {
  return Math.min(CONNECTIONS_USUAL_MAX, Math.max(descriptors - DESCRIPTORS_KEPT, Math.floor(descriptors / 2)));
}

/**
 * Holds the connections of a server of our own below the limit of descriptors. Where one too many comes, the one that
 * has been silent for longest gives way to it: first those that nobody ever asked anything on, then those that wait
 * for another request. So whoever opens connections and says nothing shuts out nobody but himself. A stop ends those
 * without a request, which would delay it for as long as they are kept alive.
 */
export function limitConnections(app: FastifyInstance, { settings, metrics, log }: ServiceContext): void {
  const { server } = app;
  const { connectionsMax } = settings;
  const most = connectionsMax > 0 ? connectionsMax : connectionsWithin(descriptorLimit());
  // How many answers are due on each.
  const open = new Map<Socket, { dueCount: number }>();
  // Both in the order in which their silence began.
  const silent = new Set<Socket>();
  const idle = new Set<Socket>();
  let dueCount = 0;
  server.on('connection', (socket) => {
    open.set(socket, { dueCount: 0 });
    silent.add(socket);
    socket.once('close', () => {
      open.delete(socket);
      silent.delete(socket);
      idle.delete(socket);
    });
    if (open.size <= most) return;
    const [first] = silent.size > 1 ? silent : idle.size > 0 ? idle : silent;
    metrics.connectionsEnded.inc({ reason: 'limit' });
    first?.destroy();
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = open.get(socket);
    if (connection === undefined) return;
    silent.delete(socket);
    idle.delete(socket);
    dueCount++;
    connection.dueCount++;
    response.once('close', () => {
      dueCount--;
      connection.dueCount--;
      if (connection.dueCount === 0 && !socket.destroyed) idle.add(socket);
    });
  });
  metrics.watch('connections', 'Open connections', () => open.size);
  // Accepting failed, as where another process took the last descriptors of the system: those that are open go on.
  // A server that could not listen says so to who started it.
  server.on('error', (err) => {
    if (server.listening) log.error({ err }, 'a connection was not accepted');
  });
  app.addHook('preClose', async () => {
    const timer = setInterval(() => {
      if (dueCount === 0) server.closeAllConnections();
      else server.closeIdleConnections();
    }, IDLE_CHECK_MS);
    server.once('close', () => clearInterval(timer));
    timer.unref();
    // Requests that have come are read, and refused in words: Node takes their connections for idle, and cuts them off.
    await nextTurn();
    await nextTurn();
  });
}

/** How many requests a caller may send ahead of the answers on one connection. */
const AHEAD_MAX = 100;

/**
 * Begins a request only when the answers before it on its connection have gone out. Node would begin all that came in
 * one packet, hundreds of them, and keep their answers in memory while the caller reads none.
 */
export function answerInTurn(app: FastifyInstance, { metrics }: ServiceContext): void {
  const aheadCounts = new WeakMap<Socket, number>();
  app.addHook('onRequest', ({ raw: { socket } }, { raw }, done) => {
    // Node gives the connection to the first answer that is due.
    if (raw.socket !== null) return done();
    const count = (aheadCounts.get(socket) ?? 0) + 1;
    aheadCounts.set(socket, count);
    if (count > AHEAD_MAX) {
      // Others of the same packet come here too.
      if (socket.destroyed) return;
      metrics.connectionsEnded.inc({ reason: 'ahead' });
      socket.destroy();
      return;
    }
    raw.once('socket', () => {
      aheadCounts.set(socket, aheadCounts.get(socket)! - 1);
      done();
    });
  });
}

/**
 * Refuses a body in a transfer coding other than chunked. Node undoes no other, and would take the bytes of `gzip,
 * chunked` for the body (RFC 9112, 6.1).
 */
export function refuseCodings(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw: { headers, socket }, log }, _reply, done) => {
    const coding = headers['transfer-encoding'];
    if (coding === undefined || coding.toLowerCase() === 'chunked' || !(socket instanceof Socket)) return done();
    log.info('the body is in a transfer coding that is not known');
    const received = JSON.stringify(coding);
    answerOnSocket(socket, 501, `header Transfer-Encoding: expected chunked or none, received ${received}`);
  });
}

const CHECK_INTERVAL_MS = 1000;
/** An answer that went out before the body had come stands for a while, to be read. */
const ANSWERED_MS = 5000;
/** How long a caller may read nothing of an answer. */
const ANSWER_STALL_MS = 300_000;

interface Connection {
  /** The request whose body was arriving at the last check. */
  receiving: Receiving | undefined;
}

interface Receiving {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly startMs: number;
  readonly startBytes: number;
  /** When it was seen first that the answer was out and the body was not in. */
  answeredMs?: number;
}

interface Sending {
  takenBytes: number;
  sinceMs: number;
}

/**
 * Ends requests whose body does not come (408) and answers that nobody takes. A body has a while; from then on it must
 * keep a least speed, of what came before too, so that it is no use to send a byte now and then.
 */
export function endStalls(app: FastifyInstance, context: ServiceContext): void {
  const { clock, scheduler, metrics } = context;
  // Keyed by connection, not by request: V8 copies a map that is full of deleted entries, and an old copy that has been
  // promoted keeps every request alive that was in a later one.
  const connections = new Map<Socket, Connection>();
  const sending = new Map<ServerResponse, Sending>();
  let isDue = false;
  const check = (): void => {
    isDue = false;
    const nowMs = clock.monotonicMs();
    let receivingCount = 0;
    for (const [socket, connection] of connections) {
      const one = connection.receiving;
      if (one === undefined) continue;
      receivingCount++;
      if (one.request.raw.complete || socket.destroyed) connection.receiving = undefined;
      else if (isBodyStalled(one, nowMs, context)) {
        connection.receiving = undefined;
        metrics.connectionsEnded.inc({ reason: 'body' });
        one.request.log.info('the body did not come in time');
        if (one.reply.raw.headersSent) socket.destroy();
        else answerOnSocket(socket, 408, 'the body of the request did not come in time');
      }
    }
    for (const [response, one] of sending) {
      if (response.socket === null || response.destroyed) sending.delete(response);
      else if (isAnswerStalled(response.socket, one, nowMs)) {
        sending.delete(response);
        metrics.connectionsEnded.inc({ reason: 'answer' });
        response.socket.destroy();
      }
    }
    if (receivingCount + sending.size > 0) checkLater();
  };
  const checkLater = (): void => {
    if (isDue) return;
    isDue = true;
    scheduler.after(CHECK_INTERVAL_MS, check);
  };
  /** Follows a body that has not come with its head, as small ones do. */
  const follow = (request: FastifyRequest, reply: FastifyReply): void => {
    const { raw } = request;
    // Not where a request comes without a connection, as `inject` of Fastify makes it.
    if (!isArriving(raw) || !(raw.socket instanceof Socket)) return;
    // It may have closed while the token was looked up: nothing would ever take it out of the map again.
    if (raw.socket.destroyed) return;
    const connection = connections.get(raw.socket) ?? remember(connections, raw.socket);
    if (connection.receiving?.request === request) return;
    connection.receiving = { request, reply, startMs: clock.monotonicMs(), startBytes: raw.socket.bytesRead };
    checkLater();
  };
  app.addHook('preParsing', (request, reply, payload, done) => {
    follow(request, reply);
    done(null, payload);
  });
  app.addHook('onSend', (_request, { raw }, payload, done) => {
    if (typeof payload === 'object' && payload !== null && 'pipe' in payload) {
      sending.set(raw, { takenBytes: -1, sinceMs: clock.monotonicMs() });
      checkLater();
    }
    done(null, payload);
  });
  app.addHook('onResponse', (request, reply, done) => {
    // One that was refused before its body came.
    follow(request, reply);
    sending.delete(reply.raw);
    done();
  });
}

function isArriving({ complete, headers, readableLength }: IncomingMessage): boolean {
  if (complete) return false;
  return headers['transfer-encoding'] !== undefined || readableLength < Number(headers['content-length'] ?? 0);
}

function remember(connections: Map<Socket, Connection>, socket: Socket): Connection {
  const connection: Connection = { receiving: undefined };
  connections.set(socket, connection);
  socket.once('close', () => connections.delete(socket));
  return connection;
}

function isBodyStalled(one: Receiving, nowMs: number, { settings }: ServiceContext): boolean {
  const { socket, readableLength } = one.request.raw;
  const elapsedMs = nowMs - one.startMs;
  if (elapsedMs > settings.bodyMsMax) return true;
  if (one.reply.raw.writableEnded) {
    one.answeredMs ??= nowMs;
    return nowMs - one.answeredMs > ANSWERED_MS;
  }
  // What has come waits for us.
  if (readableLength > 0) return false;
  const expectedBytes = ((elapsedMs - settings.bodyGraceMs) / 1000) * settings.bodyBytesPerSecondMin;
  return elapsedMs > settings.bodyGraceMs && socket.bytesRead - one.startBytes < expectedBytes;
}

function isAnswerStalled(socket: Socket, one: Sending, nowMs: number): boolean {
  const takenBytes = socket.bytesWritten - socket.writableLength;
  if (takenBytes !== one.takenBytes || socket.writableLength === 0) {
    one.takenBytes = takenBytes;
    one.sinceMs = nowMs;
  }
  return nowMs - one.sinceMs > ANSWER_STALL_MS;
}
