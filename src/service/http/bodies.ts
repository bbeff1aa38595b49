import type { FastifyInstance, FastifyRequest } from 'fastify';
import { badRequest, ServiceError } from './errors.js';

/** JSON bodies, with the place of a fault; an empty body is none, as many clients send the header with every call. */
export function addJsonBodies(app: FastifyInstance): void {
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    const text = readTextBody(request, body);
    if (text.trim() === '') return undefined;
    try {
      // A key "__proto__" is data like any other here: JSON.parse makes it an own property.
      return JSON.parse(text);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw badRequest(`the body is not JSON: ${reason}`, { code: 'request.json' });
    }
  });
}

/**
 * The text of a body that was read as a whole.
 *
 * @throws ServiceError 415 for one that is packed, 400 where it is not UTF-8.
 */
export function readTextBody({ headers }: FastifyRequest, body: Buffer): string {
  const { 'content-encoding': encoding = 'identity' } = headers;
  if (encoding.toLowerCase() !== 'identity') {
    const received = JSON.stringify(encoding);
    throw new ServiceError(415, `Content-Encoding: expected none at this endpoint, received ${received}`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (cause) {
    throw new ServiceError(400, 'the body is not UTF-8; send its text in that encoding', { cause });
  }
}
