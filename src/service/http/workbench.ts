import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import Negotiator from 'negotiator';
import { addVary } from './vary.js';

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
  // Packed for the first browser that asks: most starts of a service are not for the page.
  let packing: Promise<Buffer> | undefined;
  const headers = { ...own, 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' };
  app.get(path, { schema: { hide: true } }, async (request, reply) => {
    reply.headers(headers);
    addVary(reply, 'accept-encoding');
    const [encoding] = new Negotiator(request).encodings(['gzip', 'identity']);
    if (encoding !== 'gzip') return reply.send(text);
    packing ??= promisify(gzip)(text);
    return reply.header('content-encoding', 'gzip').send(await packing);
  });
}
