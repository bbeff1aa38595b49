import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, RequestError, WindrowError } from '../../core/errors.js';
import { DamagedSamplesError } from '../../storage/errors.js';
import { errorEnvelope } from './envelope.js';

/** An answer other than success, thrown by a route; the app makes it an envelope (interface 2.2). */
export class ServiceError extends Error {
  readonly statusCode: number;
  /** Goes into `data`: what is wrong where. */
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

/** 503: the same request may do later. */
export function unavailable(message: string, options: { details?: unknown; cause?: unknown } = {}): ServiceError {
  return new ServiceError(503, message, { ...options, headers: { 'retry-after': '5' } });
}

// Of codes that begin with request. or csv. all are 400.
const httpStatuses: Partial<Readonly<Record<ErrorCode, number>>> = {
  'option.value': 400,
  'input.columns': 400,
  'input.time': 400,
  'output.limit': 400,
  'storage.value': 400,
  'storage.full': 503,
  'storage.ended': 503,
  'storage.locked': 503,
  'storage.failed': 503,
};

/** The HTTP status of an error that a caller can bring about; undefined for a fault of ours, which is 500. */
export function httpStatusOf(code: ErrorCode): number | undefined {
  return /^(?:request|csv)\./.test(code) ? 400 : httpStatuses[code];
}

/** How many problems there are, and the first ten. */
const MESSAGE_LINES_MAX = 11;

/** Makes every error of the app's routes an envelope (interface 2.2, 7.2), and logs those that are ours. */
export function addErrorHandler(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => answerError(error, request, reply));
}

export function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { statusCode, message, details, headers } = describeError(error);
  noteFailure(error, statusCode, request);
  return reply
    .code(statusCode)
    .headers(headers)
    .type('application/json')
    .send(errorEnvelope(statusCode, message, details));
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Why the request was answered with 503, for the line that is logged of it. */
    unavailableReason?: string;
  }
}

/** Our faults are logged with their stack. A 503 is told of in the one line of its request: there may be very many. */
export function noteFailure(error: Error, statusCode: number, request: FastifyRequest): void {
  if (statusCode < 500) return;
  if (statusCode !== 503) {
    request.log.error({ err: error }, 'request failed');
    return;
  }
  const { message, cause } = error;
  request.unavailableReason = cause instanceof Error ? `${message}: ${cause.message}` : message;
}

function describeError(error: FastifyError): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof RequestError) return badRequest(shortened(error.message), { issues: error.issues });
  if (error instanceof WindrowError) return describeWindrowError(error);
  const { statusCode = 500 } = error;
  if (statusCode >= 400 && statusCode < 500) return describeFastifyError(error, statusCode);
  if (statusCode === 503) return unavailable('the service is overloaded; try again later');
  return new ServiceError(500, 'internal failure; the log has it under this x-correlation-id');
}

// A line for each issue: of many the first will do, for all are in the details.
function shortened(message: string): string {
  const lines = message.split('\n');
  const hidden = lines.splice(MESSAGE_LINES_MAX);
  return hidden.length === 0 ? message : `${lines.join('\n')}\n  and ${hidden.length} more, in data.issues`;
}

function describeWindrowError(error: WindrowError): ServiceError {
  const { code } = error;
  if (code === 'storage.full') {
    return unavailable('the disk of the service is full: nothing was written; reading, tokens and deletions go on');
  }
  if (code === 'storage.failed' || code === 'storage.locked') {
    return unavailable('the store of the service takes no writes now; its log says why');
  }
  const statusCode = httpStatusOf(code) ?? 500;
  if (statusCode === 503) return unavailable(error.message);
  const isTold = statusCode < 500 || error instanceof DamagedSamplesError;
  return new ServiceError(statusCode, isTold ? error.message : `internal failure (${code})`, { details: { code } });
}

// What Fastify says of bodies and paths, in sentences that say how to mend it.
function describeFastifyError(error: FastifyError, statusCode: number): ServiceError {
  const details = error.code === undefined ? {} : { code: error.code };
  const messages: Record<number, string> = {
    413: 'the body is larger than this endpoint takes; send it in parts',
    415: 'the Content-Type is not one that this endpoint takes; /docs names them',
  };
  return new ServiceError(statusCode, messages[statusCode] ?? error.message, { details });
}
