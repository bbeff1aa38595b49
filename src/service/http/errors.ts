import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { describeValue, type ErrorCode, RequestError, WindrowError } from '../../core/errors.js';
import { optionName } from '../../formats/table/table-options.js';
import { DamagedSamplesError, StorageFullError } from '../../storage/errors.js';
import { errorEnvelope } from './envelope.js';
import { BODY_TYPES } from './media-types.js';
import { pathOf } from './path.js';

/** An error answer, thrown by a route; the app wraps it in an envelope (interface 2.2). */
export class ServiceError extends Error {
  readonly statusCode: number;
  /** Goes into `data`: what is wrong, and where. */
  readonly details: unknown;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    statusCode: number,
    message: string,
    options: { details?: unknown; headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = new.target.name;
    this.statusCode = statusCode;
    this.details = options.details ?? {};
    this.headers = options.headers ?? {};
  }
}

export function badRequest(message: string, details?: unknown): ServiceError {
  return new ServiceError(400, message, { details });
}

export function notFound(message: string): ServiceError {
  return new ServiceError(404, message);
}

/** 503: the same request may succeed later. */
export function unavailable(message: string, options: { details?: unknown; cause?: unknown } = {}): ServiceError {
  return new ServiceError(503, message, { ...options, headers: { 'retry-after': '5' } });
}

// Codes that begin with request. or csv. are all 400.
const httpStatuses: Partial<Readonly<Record<ErrorCode, number>>> = {
  'option.value': 400,
  'input.columns': 400,
  'input.time': 400,
  'output.limit': 400,
  'storage.value': 400,
  'storage.full': 503,
  'storage.newer': 503,
  'storage.ended': 503,
  'storage.locked': 503,
  'storage.failed': 503,
  'storage.closed': 503,
  'storage.unknown': 504,
};

/** The HTTP status of an error that a caller can cause; undefined for our own faults, which are 500. */
export function httpStatusOf(code: ErrorCode): number | undefined {
  return /^(?:request|csv)\./.test(code) ? 400 : httpStatuses[code];
}

/** The number of problems, and the first ten of them. */
const MESSAGE_LINES_MAX = 11;

/** Wraps every error of the app's routes in an envelope (interface 2.2, 7.2), and logs our own faults. */
export function addErrorHandler(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => answerError(error, request, reply));
}

export function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { statusCode, message, details, headers } = describeError(error, request);
  logFailure(error, statusCode, request);
  keepConnection(reply);
  return reply
    .code(statusCode)
    .headers(headers)
    .type('application/json; charset=utf-8')
    .send(errorEnvelope(statusCode, message, details));
}

/**
 * Fastify ends the connection of a body that is refused, and a client that still sends it would not read the answer.
 * Without that, the rest is read and dropped; `endStalls` ends what does not come.
 */
export function keepConnection(reply: FastifyReply): void {
  reply.removeHeader('connection');
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Why the request was answered with 503 or 504, for its log line. */
    unavailableReason?: string;
  }
}

/**
 * Logs our faults with their stack. The reason of a 503 or 504 goes into the request's own line instead, as there may
 * be very many.
 */
export function logFailure(error: Error, statusCode: number, request: FastifyRequest): void {
  if (statusCode < 500) return;
  if (statusCode !== 503 && statusCode !== 504) {
    request.log.error({ err: error }, 'request failed');
    return;
  }
  const { message, cause } = error;
  request.unavailableReason = cause instanceof Error ? `${message}: ${cause.message}` : message;
}

function describeError(error: FastifyError, request: FastifyRequest): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof RequestError) return badRequest(shortened(error.message), { issues: error.issues });
  if (error instanceof WindrowError) return describeWindrowError(error);
  const { statusCode = 500 } = error;
  if (statusCode >= 400 && statusCode < 500) return describeFastifyError(error, statusCode, request);
  if (statusCode === 503) return unavailable('the service is overloaded; try again later');
  return new ServiceError(500, 'internal error; the log has it under this x-correlation-id');
}

// One line per issue. The first ones are enough here, as the details have all.
function shortened(message: string): string {
  const lines = message.split('\n');
  const hidden = lines.splice(MESSAGE_LINES_MAX);
  return hidden.length === 0 ? message : `${lines.join('\n')}\n  and ${hidden.length} more, in data.issues`;
}

/** The message without what only the command has: `; the option decimal says which (--decimal point)`. */
export function messageForBody({ message, options }: Pick<WindrowError, 'message' | 'options'>): string {
  const flags = options.map(({ option }) => `--${optionName(option)}`);
  const [reason = '', ...mends] = message.split('; ');
  const left = mends.filter((mend) => !flags.some((flag) => mend.includes(flag)));
  return [flags.reduce((text, flag) => text.replace(` (${flag})`, ''), reason), ...left].join('; ');
}

export function describeWindrowError(error: WindrowError): ServiceError {
  const { code } = error;
  if (error instanceof StorageFullError) {
    return unavailable(`the disk of the service is full: nothing was written; ${error.stillWorks} still work`);
  }
  if (code === 'storage.newer') {
    return unavailable('a newer version has upgraded the store of the service; this process has to be replaced by it');
  }
  if (code === 'storage.failed' || code === 'storage.locked') {
    return unavailable('the store of the service cannot do this now; try again later, the log says why');
  }
  if (code === 'storage.unknown') {
    const mend = 'whether it took effect is not known: read what is stored before you send it again';
    return new ServiceError(504, `the store was lost while it committed the request, so ${mend}`);
  }
  if (code === 'storage.closed') return unavailable('the service is stopping');
  const statusCode = httpStatusOf(code) ?? 500;
  if (statusCode === 503) return unavailable(error.message);
  const isShown = statusCode < 500 || error instanceof DamagedSamplesError;
  return new ServiceError(statusCode, isShown ? messageForBody(error) : `internal error (${code})`, {
    details: { code },
  });
}

// Errors of Fastify and its plugins about bodies and paths, in our words; their codes are not ours.
function describeFastifyError({ code, message }: FastifyError, statusCode: number, request: FastifyRequest) {
  return new ServiceError(statusCode, messageInOurWords(code, statusCode, message, request) ?? message);
}

function messageInOurWords(
  code: string,
  statusCode: number,
  message: string,
  request: FastifyRequest,
): string | undefined {
  const path = pathOf(request.url);
  if (code === 'FST_ERR_BAD_URL') return `the path ${path} is not percent-encoded UTF-8; send a % itself as %25`;
  // Of the folders with pages.
  if (message === 'Bad Request') return `the path ${path} has a character that no page has in its name, such as %00`;
  if (statusCode === 403) return `the path ${path} leads out of the folder of its pages; send one without ..`;
  if (statusCode === 413) return `the body is larger than ${request.routeOptions.bodyLimit} bytes; send it in parts`;
  if (statusCode !== 415) return undefined;
  const accepted = BODY_TYPES.filter((type) => request.server.hasContentTypeParser(type));
  const expected = accepted.length > 2 ? `one of ${accepted.join(', ')}` : accepted.join(' or ');
  return `Content-Type: expected ${expected}, received ${describeValue(request.headers['content-type'])}`;
}
