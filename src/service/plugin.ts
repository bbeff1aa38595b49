import type { FastifyInstance } from 'fastify';
import { openService, type ServiceOptions } from './open.js';

/**
 * The service as a Fastify plugin, for those who have a server already: its routes, errors and limits stay within
 * the scope that it is registered in. It starts when the server is ready, and stops with it.
 *
 * @example
 * ```ts
 * const app = Fastify();
 * await app.register(windrowService, { dataDirectory: './data', prefix: '/windrow' });
 * await app.listen({ port: 3000 });
 * ```
 */
export async function windrowService(app: FastifyInstance, options: ServiceOptions): Promise<void> {
  const service = await openService(options, app.log);
  app.addHook('onReady', async () => service.start());
  app.addHook('preClose', () => service.stop());
  app.addHook('onClose', () => service.close());
  await service.register(app);
}
