import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { findJsonFault } from '../../formats/json-fault.js';
import { placeOf } from '../../formats/json-place.js';
import { badRequest, ServiceError } from './errors.js';

/** JSON bodies, with the place of a fault; an empty body is none, as many clients send the header with every call. */
export function addJsonBodies(app: FastifyInstance): void {
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    const text = readTextBody(request, body);
    return text.trim() === '' ? undefined : parseJson(text);
  });
}

/** The value of a whole JSON body. @throws ServiceError 400 with the place of the fault. */
export function parseJsonBody(bytes: Uint8Array): unknown {
  return parseJson(decodeBody(bytes));
}

function parseJson(text: string): unknown {
  try {
    // A key "__proto__" is data like any other here: JSON.parse makes it an own property.
    return JSON.parse(text);
  } catch (cause) {
    throw badRequest(`the body is not JSON: ${describeJsonFault(text, cause)}`, { code: 'request.json' });
  }
}

// The walk to the fault holds others up; V8 tells something of the place as well.
const WALKED_CHARS_MAX = 2 ** 20;

function describeJsonFault(text: string, cause: unknown): string {
  const fault = text.length > WALKED_CHARS_MAX ? undefined : findJsonFault(text);
  if (fault === undefined) return cause instanceof Error ? cause.message : String(cause);
  const { line, column } = placeOf(text, fault.offset);
  const mend = fault.suggestion === undefined ? '' : `; ${fault.suggestion}`;
  return `line ${line}, column ${column}: expected ${fault.expected}, received ${fault.received}${mend}`;
}

/** Text of a body. @throws ServiceError 400 where it is not UTF-8. */
export function decodeBody(bytes: Uint8Array, place = 'the body'): string {
  if (!isUtf8(bytes)) throw badRequest(`${place} is not UTF-8; send its text in that encoding`);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/**
 * The text of a body that was read as a whole.
 *
 * @throws ServiceError 415 for one that is packed, 400 where it is not UTF-8.
 */
export function readTextBody({ headers }: FastifyRequest, body: Buffer): string {
  const { 'content-encoding': encoding = 'identity' } = headers;
  if (encoding.toLowerCase() === 'identity') return decodeBody(body);
  const received = JSON.stringify(encoding);
  throw new ServiceError(415, `Content-Encoding: expected none at this endpoint, received ${received}`);
}
