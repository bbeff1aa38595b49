import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorEnvelope } from './envelope.js';

/** Answers paths that there are none of, 404, and methods that a path does not have, 405 with `Allow`. */
export function addNotFound(app: FastifyInstance): void {
  const routes: { readonly path: RegExp; readonly methods: readonly string[] }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    routes.push({ path: pathPattern(url), methods: [method].flat() });
  });
  app.setNotFoundHandler(async (request: FastifyRequest, reply: FastifyReply) => {
    const path = request.url.replace(/\?.*$/s, '');
    const methods = routes.filter((route) => route.path.test(path)).flatMap((route) => route.methods);
    if (methods.length === 0) {
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
