import type { FastifyInstance, FastifyRequest } from 'fastify';

/** One line for each request: what was asked for, by whom, and how it went. No query, header or body. */
export function addRequestLog(app: FastifyInstance): void {
  app.addHook('onResponse', async (request, reply) => {
    const durationMs = Math.round(reply.elapsedTime * 1000) / 1000;
    request.log.info({ ...describe(request), statusCode: reply.statusCode, durationMs }, 'answered');
  });
  app.addHook('onRequestAbort', async (request) => {
    request.log.info(describe(request), 'the caller went away');
  });
}

function describe({ method, url, principal }: FastifyRequest) {
  const caller = principal === undefined ? {} : { clientId: principal.clientId, organisation: principal.organisation };
  return { method, path: url.replace(/\?.*$/s, ''), ...caller };
}
