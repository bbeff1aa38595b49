import type { FastifyInstance } from 'fastify';
import { badRequest, ServiceError } from './errors.js';

/** JSON bodies, with the place of a fault; an empty body is none, as many clients send the header with every call. */
export function addJsonBodies(app: FastifyInstance): void {
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const { 'content-encoding': encoding = 'identity' } = request.headers;
    if (encoding.toLowerCase() !== 'identity') {
      const received = JSON.stringify(encoding);
      done(new ServiceError(415, `Content-Encoding: expected none at this endpoint, received ${received}`));
      return;
    }
    const text = String(body);
    if (text.trim() === '') return done(null, undefined);
    try {
      // A key "__proto__" is data like any other here: JSON.parse makes it an own property.
      done(null, JSON.parse(text));
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      done(badRequest(`the body is not JSON: ${reason}`, { code: 'request.json' }));
    }
  });
}
