import { gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';

/** The workbench at `/`: one page, which asks nothing of anybody but this service. */
export function registerWorkbench(app: FastifyInstance, html: string): void {
  const packed = gzipSync(html);
  // The page names what it may do itself; who may frame it only a header can say.
  const [, policy = "default-src 'none'"] = /Content-Security-Policy" content="([^"]*)"/.exec(html) ?? [];
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `${policy}; frame-ancestors 'none'`,
    'cache-control': 'no-cache',
    vary: 'accept-encoding',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  };
  app.get('/', { schema: { hide: true } }, async (request, reply) => {
    reply.headers(headers);
    const isPacked = /\bgzip\b/.test(String(request.headers['accept-encoding']));
    return isPacked ? reply.header('content-encoding', 'gzip').send(packed) : reply.send(html);
  });
}
