import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type ParseErrorCode, printParseErrorCode, visit } from 'jsonc-parser';
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
    const fault = findJsonFault(text) ?? (cause instanceof Error ? cause.message : String(cause));
    throw badRequest(`the body is not JSON: ${fault}`, { code: 'request.json' });
  }
}

/** What is wrong with a text that JSON.parse refuses, and where. */
function findJsonFault(text: string): string | undefined {
  let fault: string | undefined;
  const onError = (code: ParseErrorCode, _offset: number, _length: number, line: number, column: number): void => {
    const words = printParseErrorCode(code)
      .replaceAll(/(?<!^)(?=[A-Z])/g, ' ')
      .toLowerCase();
    fault ??= `line ${line + 1}, column ${column + 1}: ${words}`;
  };
  visit(text, { onError }, { disallowComments: true });
  return fault;
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
