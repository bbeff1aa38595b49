import { gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';

/** The files of the workbench. */
export interface WorkbenchFiles {
  readonly html: string;
  /** The script that reads Parquet, Arrow and others, which the page loads with the first such file. */
  readonly formatReaders: string;
}

/** The workbench at `/`: one page, which asks nothing of anybody but this service. */
export function registerWorkbench(app: FastifyInstance, { html, formatReaders }: WorkbenchFiles): void {
  // The page names what it may do itself; who may frame it only a header can say.
  const [, policy = "default-src 'none'"] = /Content-Security-Policy" content="([^"]*)"/.exec(html) ?? [];
  registerText(app, '/', html, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `${policy}; frame-ancestors 'none'`,
    'referrer-policy': 'no-referrer',
  });
  registerText(app, '/workbench-formats.js', formatReaders, { 'content-type': 'text/javascript; charset=utf-8' });
}

function registerText(app: FastifyInstance, path: string, text: string, own: Readonly<Record<string, string>>): void {
  const packed = gzipSync(text);
  const headers = { ...own, 'cache-control': 'no-cache', vary: 'accept-encoding', 'x-content-type-options': 'nosniff' };
  app.get(path, { schema: { hide: true } }, async (request, reply) => {
    reply.headers(headers);
    const isPacked = /\bgzip\b/.test(String(request.headers['accept-encoding']));
    return isPacked ? reply.header('content-encoding', 'gzip').send(packed) : reply.send(text);
  });
}
