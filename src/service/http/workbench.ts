import { gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';

/** The files of the workbench. */
export interface WorkbenchFiles {
  readonly html: string;
  /** The script that reads Parquet, Arrow and other formats; the page loads it for the first such file. */
  readonly formatReaders: string;
}

/** Serves the workbench at `/`: one page, which sends requests only to this service. */
export function registerWorkbench(app: FastifyInstance, { html, formatReaders }: WorkbenchFiles): void {
  // The page contains its policy, but only a header can set frame-ancestors.
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
